#include "maxmargin/solver/decremental/decremental.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "maxmargin/solver/decremental/homotopy.hpp"

namespace maxmargin {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
// Changes that are judged at once, by one product.
constexpr std::size_t changes_at_once = 32;
// Rounds in which a solution is made exact, to this share of the tolerance; a larger one will do.
constexpr int most_rounds = 12;
constexpr double share_wanted = 1e-4, share_enough = 0.05;

bool is_plain(const DualQp& qp) {
  return qp.A.size() <= 1 && qp.K->definite() == Definite::yes &&
         std::ranges::all_of(qp.block,
                             [](const Block& block) { return block.entropy == Entropy::none; });
}

/// How far g is from what is asked of it.
double missed(BoundState standing, double g) {
  switch (standing) {
    case BoundState::free:
      return g;
    case BoundState::lower:
      return std::min(0.0, g);
    case BoundState::upper:
      return std::max(0.0, g);
    default:
      return 0;
  }
}

class Unlearning final : public Decremental {
 public:
  Unlearning(const DualQp& qp, const Certified& solved, const Stop& stop,
             const UnlearnChoice& choice)
      : qp_(qp),
        stop_(stop),
        choice_(choice),
        rows_(qp),
        a_(solved.solution.a),
        lambda_(qp.A.empty() ? 0.0 : solved.solution.lambda.at(0)) {
    for (std::size_t v = 0; v < qp.size(); ++v) {
      const Block& block = qp.block[v];
      standing_.push_back(!(block.lower < block.upper) ? BoundState::fixed
                          : a_[v] <= block.lower       ? BoundState::lower
                          : a_[v] >= block.upper       ? BoundState::upper
                                                       : BoundState::free);
    }
  }

  /// Makes the solution exact, and the tableau of it.
  bool prepare(std::size_t bytes, const Threads& threads);

  std::vector<double> values(std::span<const std::vector<Bounds>> changes, const Threads& threads,
                             const GoOn& go_on) const override;

 private:
  /// What a homotopy left: what has changed at the free variables of the tableau, elsewhere, and
  /// the multiplier.
  struct Left {
    bool done = false;
    std::vector<double> at_free;
    std::vector<std::pair<Index, double>> elsewhere;
    double lambda = 0;
  };
  /// Changes that are asked for: those of them that are still open.
  struct Asked {
    std::span<const std::vector<Bounds>> changes;
    std::span<const std::size_t> which;
    const Threads& threads;
    const GoOn& go_on;
  };
  struct Verdict {
    bool passes = false;
    Index worst = 0;  ///< the variable that is farthest from its optimality condition
  };
  /// Fills in what passes; returns those for which a variable without a position should have moved.
  std::vector<std::size_t> follow(const PivotedSolution& pivoted, const Asked& asked,
                                  std::vector<double>& result) const;
  Left left_by(const PivotedSolution& pivoted, std::span<const Bounds> change) const;
  std::vector<double> finished(const Left& left, const PivotedSolution& pivoted,
                               std::span<double> g) const;
  /// With the bounds of `change`, the optimality conditions and the gap of a, whose slopes are g.
  Verdict judged(std::vector<double> a, std::span<const double> g, double lambda,
                 std::span<const Bounds> change) const;

  bool fits(std::size_t bytes) const;
  double find_slopes(const Threads& threads);
  std::unique_ptr<PivotedSolution> pivoted(std::size_t near, const Threads& threads) const;
  void prepare_columns(const Threads& threads);
  /// Variables that can change sides at first beside so many free ones: those that stand at their
  /// bounds for the least reason.
  std::size_t near_beside(std::size_t free) const {
    return choice_.least_near + choice_.near_for_free * free;
  }
  double border(Index v) const { return qp_.A.empty() ? 0.0 : qp_.A[0][v]; }
  std::vector<Index> support() const {
    std::vector<Index> list;
    for (std::size_t v = 0; v < a_.size(); ++v)
      if (a_[v] != 0) list.push_back(static_cast<Index>(v));
    return list;
  }

  const DualQp& qp_;
  Stop stop_;
  UnlearnChoice choice_;
  mutable SignedRows rows_;
  std::vector<double> a_, g_;
  std::vector<BoundState> standing_;
  double lambda_, largest_diagonal_ = 0;
  std::unique_ptr<const PivotedSolution> pivoted_;
  std::vector<double> free_rows_;  ///< of Q, of the free variables over all
};

bool Unlearning::fits(std::size_t bytes) const {
  double support = 0, free = 0;
  for (std::size_t v = 0; v < a_.size(); ++v) {
    support += a_[v] != 0;
    free += standing_[v] == BoundState::free;
  }
  // Rows and columns, those of variables that come near too; the inverse and its factor.
  const auto near = static_cast<double>(near_beside(static_cast<std::size_t>(free)));
  const double numbers =
      static_cast<double>(qp_.size()) * (2 * support + 3 * free + 2 * near) + 3 * free * free;
  return numbers * sizeof(double) <= static_cast<double>(bytes);
}

/// g of all variables, from kernel rows; the largest miss.
double Unlearning::find_slopes(const Threads& threads) {
  const std::vector<Index> support = this->support();
  rows_.compute(support, threads);
  std::vector<const std::vector<double>*> rows;
  for (const Index v : support) rows.push_back(&rows_.of(v));
  g_.resize(qp_.size());
  threads.split(qp_.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v)
      g_[v] = qp_.block[v].linear + qp_.block[v].curvature * a_[v] +
              lambda_ * border(static_cast<Index>(v));
    for (std::size_t k = 0; k < support.size(); ++k)
      for (std::size_t v = begin; v < end; ++v) g_[v] += a_[support[k]] * (*rows[k])[v];
  });
  double most = 0;
  for (std::size_t v = 0; v < qp_.size(); ++v)
    most = std::max(most, std::abs(missed(standing_[v], g_[v])));
  return most;
}

/// The tableau of the free variables over `near` others.
std::unique_ptr<PivotedSolution> Unlearning::pivoted(std::size_t near,
                                                     const Threads& threads) const {
  std::vector<Index> order(qp_.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::vector<double> reason(qp_.size());
  for (std::size_t v = 0; v < qp_.size(); ++v)
    reason[v] = standing_[v] == BoundState::free    ? -infinity
                : standing_[v] == BoundState::lower ? g_[v]
                : standing_[v] == BoundState::upper ? -g_[v]
                                                    : infinity;
  const auto free = static_cast<std::size_t>(std::ranges::count(standing_, BoundState::free));
  const std::size_t count = std::min(qp_.size(), free + near);
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](Index x, Index y) { return reason[x] != reason[y] ? reason[x] < reason[y] : x < y; });
  order.resize(count);
  auto tableau = Tableau::make(qp_, order, free, rows_, threads);
  if (!tableau) return nullptr;
  auto result = std::make_unique<PivotedSolution>(*std::move(tableau), rows_, choice_);
  result->lambda = lambda_;
  for (const Index v : order) {
    result->a.push_back(a_[v]);
    result->g.push_back(g_[v]);
    result->lower.push_back(qp_.block[v].lower);
    result->upper.push_back(qp_.block[v].upper);
    result->standing.push_back(standing_[v]);
  }
  return result;
}

bool Unlearning::prepare(std::size_t bytes, const Threads& threads) {
  if (!fits(bytes)) return false;
  for (const double value : qp_.K->diagonal())
    largest_diagonal_ = std::max(largest_diagonal_, value);
  double most = find_slopes(threads);
  for (int round = 0; round < most_rounds && most > share_wanted * stop_.kkt; ++round) {
    const auto free = static_cast<std::size_t>(std::ranges::count(standing_, BoundState::free));
    const auto from = pivoted(near_beside(free), threads);
    if (!from) return false;
    const Tableau& tableau = from->tableau;
    std::vector<double> violation;
    for (std::size_t i = 0; i < tableau.positions(); ++i)
      violation.push_back(missed(from->standing[i], from->g[i]));
    Homotopy homotopy(*from);
    if (homotopy.mend(violation) == Homotopy::Outcome::stuck) return false;
    for (std::size_t i = 0; i < tableau.positions(); ++i) {
      a_[tableau.variable(i)] = homotopy.a(i);
      standing_[tableau.variable(i)] = homotopy.standing(i);
    }
    lambda_ = homotopy.lambda();
    most = find_slopes(threads);
  }
  if (!(most <= share_enough * stop_.kkt) || !fits(bytes)) return false;
  prepare_columns(threads);
  return pivoted_ != nullptr;
}

void Unlearning::prepare_columns(const Threads& threads) {
  const auto free = static_cast<std::size_t>(std::ranges::count(standing_, BoundState::free));
  pivoted_ = pivoted(near_beside(free), threads);
  if (!pivoted_) return;
  const Tableau& tableau = pivoted_->tableau;
  std::vector<Index> bounded = support();
  std::erase_if(bounded, [&](Index v) { return standing_[v] == BoundState::free; });
  pivoted_->columns.prepare(bounded, threads);
  for (std::size_t f = 0; f < free; ++f) {
    const std::vector<double>& row = rows_.of(tableau.variable(f));
    free_rows_.insert(free_rows_.end(), row.begin(), row.end());
  }
}

Unlearning::Left Unlearning::left_by(const PivotedSolution& pivoted,
                                     std::span<const Bounds> change) const {
  const Tableau& tableau = pivoted.tableau;
  Homotopy homotopy(pivoted);
  std::vector<std::pair<Index, double>> moved;
  for (const Bounds& each : change) {
    const double target = std::clamp(a_[each.variable], each.lower, each.upper);
    if (target == a_[each.variable] && each.lower < each.upper) continue;
    homotopy.fix(each.variable);
    moved.emplace_back(each.variable, target);
  }
  Left left;
  for (const auto& [v, target] : moved)
    if (homotopy.move(v, a_[v], target) != Homotopy::Outcome::done) return left;
  left.done = true;
  left.lambda = homotopy.lambda();
  for (std::size_t f = 0; f < tableau.free(); ++f)
    left.at_free.push_back(homotopy.a(f) - pivoted.a[f]);
  for (const std::size_t position : homotopy.exchanged())
    if (position >= tableau.free())
      left.elsewhere.emplace_back(tableau.variable(position),
                                  homotopy.a(position) - pivoted.a[position]);
  // What was let go and came to another bound is no longer among those exchanged.
  for (std::size_t i = tableau.free(); i < tableau.positions(); ++i)
    if (homotopy.standing(i) != BoundState::free && homotopy.standing(i) != BoundState::fixed &&
        homotopy.a(i) != pivoted.a[i])
      left.elsewhere.emplace_back(tableau.variable(i), homotopy.a(i) - pivoted.a[i]);
  for (const auto& [v, target] : moved)
    if (const Index position = tableau.position(v); position >= tableau.free() && target != a_[v])
      left.elsewhere.emplace_back(v, target - a_[v]);
  return left;
}

/// Makes g of the products of what has changed at the free variables; returns the variables.
std::vector<double> Unlearning::finished(const Left& left, const PivotedSolution& pivoted,
                                         std::span<double> g) const {
  std::vector<double> a = a_;
  for (std::size_t f = 0; f < left.at_free.size(); ++f)
    a[pivoted.tableau.variable(f)] += left.at_free[f];
  for (const auto& [v, by] : left.elsewhere) {
    const std::vector<double>& row = rows_.of(v);
    for (std::size_t w = 0; w < g.size(); ++w) g[w] += by * row[w];
    a[v] += by;
  }
  const double lambda_change = left.lambda - lambda_;
  for (std::size_t v = 0; v < g.size(); ++v)
    g[v] += g_[v] + qp_.block[v].curvature * (a[v] - a_[v]) +
            lambda_change * border(static_cast<Index>(v));
  return a;
}

Unlearning::Verdict Unlearning::judged(std::vector<double> a, std::span<const double> g,
                                       double lambda, std::span<const Bounds> change) const {
  Verdict verdict;
  double size = 0, sum = 0, worst = 0, gap = 0, twice = 0, room = 0;
  std::size_t free = 0;
  const auto look = [&](std::size_t v, const Block& block) {
    const auto [lower, upper] = std::pair(block.lower, block.upper);
    if (lower == upper) return;
    // Rounding may have left a variable beyond its bound by a last digit.
    const double beyond = std::max(lower - a[v], a[v] - upper);
    if (beyond > 1e-12 * (upper - lower)) worst = infinity;
    a[v] = std::clamp(a[v], lower, upper);
    const double inside = std::min(a[v] - lower, upper - a[v]);
    free += inside > 1e-9 * std::min(upper - lower, 1 + std::abs(a[v]));
    const double miss = std::max(a[v] < upper ? -g[v] : 0.0, a[v] > lower ? g[v] : 0.0);
    if (miss > worst) {
      worst = miss;
      verdict.worst = static_cast<Index>(v);
    }
    if (a[v] != 0) {
      size += std::abs(a[v]);
      sum += border(static_cast<Index>(v)) * a[v];
      twice += a[v] * (g[v] + block.linear);
    }
    const double rest = -g[v] + block.curvature * a[v];
    gap += block.curvature * a[v] * a[v] / 2 + block.conjugate_beyond(rest) - rest * a[v];
    if (g[v] < stop_.kkt) room += std::isinf(upper) ? a[v] : upper - lower;
  };
  for (std::size_t v = 0; v < g.size(); ++v) {
    const auto changed =
        std::ranges::find_if(change, [&](const Bounds& each) { return each.variable == v; });
    if (changed == change.end()) {
      look(v, qp_.block[v]);
    } else {
      Block block = qp_.block[v];
      block.lower = changed->lower;
      block.upper = changed->upper;
      look(v, block);
    }
  }
  // Kernel values and sums in double, of as many terms as there are variables.
  const double digits = qp_.K->value_error(Precision::exact) +
                        static_cast<double>(g.size()) * std::numeric_limits<double>::epsilon();
  const double error = digits * size * largest_diagonal_;
  const double d = qp_.d.empty() ? 0.0 : qp_.d[0];
  const double missing = std::abs(sum - d);
  gap += error * room + missing * std::abs(lambda);
  const double dual = -(twice - lambda * d) / 2;
  const double sizes = std::abs(dual) + std::abs(dual + gap);
  verdict.passes = 2 * (worst + error) <= stop_.kkt && 2 * gap <= stop_.relative_gap * sizes &&
                   missing <= 1e-9 * (1 + size);
  // Where none is free, lambda may be anything in an interval; certificates choose in it.
  verdict.passes = verdict.passes && (free > 0 || qp_.A.empty());
  return verdict;
}

std::vector<std::size_t> Unlearning::follow(const PivotedSolution& pivoted, const Asked& asked,
                                            std::vector<double>& result) const {
  const std::size_t free = pivoted.tableau.free(), size = qp_.size(), count = asked.which.size();
  const SerialBlas serial;
  std::atomic<bool> is_over = false;
  std::vector<char> is_too_near(count, 0);
  asked.threads.split(count, changes_at_once, [&](std::size_t begin, std::size_t end) {
    if (is_over || (asked.go_on && !asked.go_on())) {
      is_over = true;
      return;
    }
    std::vector<Left> left;
    std::vector<double> at_free((end - begin) * free, 0.0), g((end - begin) * size, 0.0);
    for (std::size_t k = begin; k < end; ++k) {
      left.push_back(left_by(pivoted, asked.changes[asked.which[k]]));
      std::ranges::copy(left.back().at_free, &at_free[(k - begin) * free]);
    }
    add_product({end - begin, free, size}, 1, {at_free.data(), free}, {free_rows_.data(), size},
                g.data(), size);
    for (std::size_t k = begin; k < end; ++k) {
      if (!left[k - begin].done) continue;
      const auto& change = asked.changes[asked.which[k]];
      const std::span own = std::span(g).subspan((k - begin) * size, size);
      const std::vector<double> a = finished(left[k - begin], pivoted, own);
      const Verdict verdict = judged(a, own, left[k - begin].lambda, change);
      is_too_near[k] = !verdict.passes && pivoted.tableau.position(verdict.worst) == Tableau::none;
      const Index first = change.front().variable;
      const Block& block = qp_.block[first];
      if (verdict.passes)
        result[asked.which[k]] =
            block.sign * (own[first] - block.linear - block.curvature * a[first]);
    }
  });
  std::vector<std::size_t> again;
  for (std::size_t k = 0; k < count; ++k)
    if (is_too_near[k]) again.push_back(asked.which[k]);
  return again;
}

std::vector<double> Unlearning::values(std::span<const std::vector<Bounds>> changes,
                                       const Threads& threads, const GoOn& go_on) const {
  std::vector<double> result(changes.size(), unknown);
  std::vector<std::size_t> which(changes.size());
  std::iota(which.begin(), which.end(), std::size_t{0});
  which = follow(*pivoted_, {changes, which, threads, go_on}, result);
  // Those that reached farther than was thought, over all variables.
  if (which.empty()) return result;
  if (const auto all = pivoted(qp_.size(), threads))
    follow(*all, {changes, which, threads, go_on}, result);
  return result;
}

}  // namespace

std::unique_ptr<Decremental> Decremental::make(const DualQp& qp, const Certified& solved,
                                               const Stop& stop, std::size_t bytes,
                                               const Context& context) {
  if (!is_plain(qp)) return nullptr;
  auto result = std::make_unique<Unlearning>(qp, solved, stop, context.costs.unlearning);
  if (!result->prepare(bytes, context.threads)) return nullptr;
  return result;
}

}  // namespace maxmargin
