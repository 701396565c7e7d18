#include "maxmargin/train/formulate/formulate.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/data/constant_features.hpp"
#include "maxmargin/kernel/engine/locality.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/loss/two_sided.hpp"
#include "maxmargin/problem/matrix/biased.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin {
namespace {

constexpr Index none = 0xffffffffu;

/// Finds the variable of an equal block on the same point, with the same values of the unpenalised
/// functions; a point has few of them.
class VariableList {
 public:
  VariableList(DualQp& qp, const FunctionValues& functions, std::span<const Example> examples)
      : qp_(qp), functions_(functions), examples_(examples) {}

  /// The variable's number, and whether it is new.
  std::pair<Index, bool> find_or_add(Index point, const Block& block, Index number) {
    if (point >= first_.size()) first_.resize(point + 1, none);
    for (Index v = first_[point]; v != none; v = next_[v])
      if (qp_.block[v].sign == block.sign && qp_.block[v].linear == block.linear &&
          functions_.agree(examples_[example[v]].row, examples_[number].row))
        return {v, false};
    const auto v = static_cast<Index>(qp_.size());
    qp_.row.push_back(point);
    qp_.block.push_back(block);
    example.push_back(number);
    next_.push_back(first_[point]);
    first_[point] = v;
    return {v, true};
  }

  std::vector<Index> example;  ///< the first of each variable

 private:
  DualQp& qp_;
  const FunctionValues& functions_;
  std::span<const Example> examples_;
  std::vector<Index> first_;  // of each point
  std::vector<Index> next_;   // of each variable
};

/// Equal rows share a variable in proportion to their costs, to which every block is scaled.
double weight_of(const Block& block) {
  if (block.lower == block.upper) return 0;
  if (block.curvature > 0) return 1 / block.curvature;
  if (block.entropy == Entropy::exponential || block.entropy == Entropy::own) return block.scale;
  return std::isinf(block.upper) ? 1 : block.upper - block.lower;
}

/// The block of two equal rows together: the smallest phi(t) + phi(t') with t + t' given.
void merge(const Block& block, Block& into) {
  if (block.lower == block.upper) return;  // closed at 0
  if (into.lower == into.upper) {
    into = block;
    return;
  }
  into.lower += block.lower;
  into.upper += block.upper;
  into.scale += block.scale;
  into.linear_error = std::max(into.linear_error, block.linear_error);
  if (block.curvature > 0) into.curvature = 1 / (1 / into.curvature + 1 / block.curvature);
}

/// Sums of costs in other orders differ in their last digits: a nu that just fits must stay
/// feasible.
double reachable(double total, const DualQp& qp, double sign) {
  double most = 0;
  for (const Block& block : qp.block) most += block.sign == sign ? block.upper : 0;
  return std::min(total, most);
}

/// Calls add(block) for the blocks of an example.
template <class Add>
void for_each_block(const Loss& loss, const Example& example, Add&& add) {
  visit_list(
      [&](const auto& chosen) {
        if (example.cost_over)
          return add_two_sided(chosen, example.target, example.cost, *example.cost_over, add);
        for (const Block& block : chosen.blocks(example.target, example.cost)) add(block);
      },
      loss);
}

/// The shares of variables that were summed up, each a part of its variable.
void normalise(std::vector<Formulated::Share>& shares, std::span<const double> summed) {
  for (Formulated::Share& share : shares)
    share.part = summed[share.variable] > 0 ? share.part / summed[share.variable] : 0;
}

/// Returns the sum of s_v a_v, where the rows determine it.
template <class Chosen>
double add_equality(const Chosen& loss, std::span<const Example> examples, Bias bias, DualQp& qp) {
  double total = 0;
  if constexpr (requires { loss.nu; }) {
    for (const Example& example : examples) total += example.cost;
    total *= loss.nu;
    if (bias != Bias::unpenalised) {
      // What is left is the row of the width.
      double most = 0;
      for (const Block& block : qp.block) most += block.upper;
      qp.A.emplace_back(qp.size(), 1.0);
      qp.d.push_back(std::min(total, most));
      return 0;
    }
  }
  if (bias != Bias::unpenalised) return 0;
  if constexpr (requires { loss.by_side; }) {
    for (const double sign : {1.0, -1.0}) {
      auto& row = qp.A.emplace_back(qp.size(), 0.0);
      for (std::size_t v = 0; v < qp.size(); ++v)
        if (qp.block[v].sign == sign) row[v] = sign;
      qp.d.push_back(sign * reachable(total / 2, qp, sign));
    }
  } else {
    auto& row = qp.A.emplace_back(qp.size());
    for (std::size_t v = 0; v < qp.size(); ++v) row[v] = qp.block[v].sign;
    qp.d.push_back(total > 0 ? reachable(total, qp, 1) : 0);
  }
  double sum = 0;
  for (const double d : qp.d) sum += d;
  return sum;
}

}  // namespace

std::vector<std::pair<Index, double>> Formulated::coefficients(std::span<const double> a) const {
  std::vector<std::pair<Index, double>> result;
  for (const Share& share : shares) {
    const double part = qp.block[share.variable].sign * a[share.variable] * share.part;
    if (part == 0) continue;
    if (!result.empty() && result.back().first == share.row)
      result.back().second += part;
    else
      result.emplace_back(share.row, part);
  }
  std::erase_if(result, [](const auto& each) { return each.second == 0; });
  return result;
}

std::vector<double> Formulated::unpenalised(std::vector<double> lambda,
                                            std::span<const double> a) const {
  if (basis) basis->translate(lambda);
  return with_bias(std::move(lambda), a);
}

std::vector<double> Formulated::with_bias(std::vector<double> lambda,
                                          std::span<const double> a) const {
  double bias = 0;
  // Of the coefficients, as the model has them: variables that share a point may be much larger.
  if (is_biased)
    for (const double coefficient : qp.coefficients(a)) bias += coefficient;
  if (is_biased || (basis && !basis->has_bias)) lambda.insert(lambda.begin(), bias);
  return lambda;
}

namespace {

/// The points of a problem, and for each first row of equal ones its point.
struct Points {
  std::vector<Index> row;  ///< of each point
  std::vector<Index> of_leader;
  std::shared_ptr<const Quadratic> K;
};

bool is_of_differences(const Kernel& kernel) {
  return visit_list(
      [](const auto& chosen) {
        if constexpr (requires { chosen.form(); }) return chosen.form().pairing != Pairing::dot;
        return false;
      },
      kernel);
}

/// Chosen rows with what the kernel values between them depend on: where only differences count,
/// features that have one value in all rows are left at zero.
std::shared_ptr<const Features> needed_rows(const Examples& data, std::span<const Index> rows,
                                            const Kernel& kernel, const Threads& threads) {
  std::vector<Index> constant;
  if (is_of_differences(kernel)) constant = constant_features(*data.x, rows);
  const bool all = rows.size() == data.x->count() && std::is_sorted(rows.begin(), rows.end());
  if (all && constant.empty()) return data.x;
  Features copy = Features::compact(*data.x, rows, threads);
  if (!constant.empty()) {
    std::vector<bool> is_constant(copy.columns(), false);
    for (const Index feature : constant) is_constant[feature] = true;
    copy.transform([&](Index feature, double value) { return is_constant[feature] ? 0.0 : value; });
  }
  return std::make_shared<const Features>(std::move(copy));
}

/// In the order of the examples, with a matrix of their own.
Points own_points(const Examples& data, std::span<const Example> examples, const Kernel& kernel,
                  const Context& context) {
  const bool by_number = is_given(kernel);
  Points points{{}, std::vector<Index>(data.x->count(), none), nullptr};
  for (const Example& example : examples) {
    const Index leader = by_number ? example.row : data.first_equal[example.row];
    if (points.of_leader[leader] != none) continue;
    points.of_leader[leader] = 0;
    points.row.push_back(leader);
  }
  if (are_mostly_far(kernel, *data.x, context.costs))
    points.row = neighbours_together(*data.x, std::move(points.row));
  for (std::size_t k = 0; k < points.row.size(); ++k)
    points.of_leader[points.row[k]] = static_cast<Index>(k);
  if (by_number) {
    points.K = make_kernel_quadratic(kernel, data.x, points.row, data.definite, context);
  } else {
    points.K = make_kernel_quadratic(kernel, needed_rows(data, points.row, kernel, context.threads),
                                     {}, Definite::unknown, context);
  }
  return points;
}

/// In the order of the shared matrix.
Points shared_points(const Examples& data, std::span<const Example> examples) {
  std::vector<Index> leader_of(data.K->size(), none);  // of each point that occurs
  for (const Example& example : examples) {
    const Index leader = data.first_equal[example.row];
    leader_of[data.point[leader]] = leader;
  }
  Points points{{}, std::vector<Index>(data.x->count(), none), nullptr};
  std::vector<Index> shared;
  for (std::size_t point = 0; point < leader_of.size(); ++point) {
    if (leader_of[point] == none) continue;
    points.of_leader[leader_of[point]] = static_cast<Index>(points.row.size());
    points.row.push_back(leader_of[point]);
    shared.push_back(static_cast<Index>(point));
  }
  points.K = data.K->restrict_to(shared);
  return points;
}

/// In the order of the approximation; all of its points share its numbers.
Points approximated_points(const Examples& data, std::span<const Example> examples,
                           const CostModel& costs) {
  const ApproximatedKernel& kernel = *data.approximation;
  std::vector<Index> which;
  for (const Example& example : examples) which.push_back(kernel.point_of_row[example.row]);
  std::sort(which.begin(), which.end());
  which.erase(std::unique(which.begin(), which.end()), which.end());
  Points points{{}, std::vector<Index>(data.x->count(), none), nullptr};
  for (std::size_t k = 0; k < which.size(); ++k) {
    points.row.push_back(kernel.row_of_point[which[k]]);
    points.of_leader[points.row.back()] = static_cast<Index>(k);
  }
  const auto& Z = kernel.low.Z;
  points.K = make_low_rank_quadratic(
      which.size() == Z->points() ? Z : std::make_shared<const LowRank>(Z->chosen(which)), costs);
  return points;
}

}  // namespace

void share_matrix(Examples& data, std::span<const std::vector<Index>> rows_of_classes,
                  const Kernel& kernel, MemoryBudget room, const Context& context) {
  data.point.assign(data.x->count(), none);
  std::vector<Index> rows;
  const bool is_far = are_mostly_far(kernel, *data.x, context.costs);
  for (const auto& members : rows_of_classes)
    for (const Index row : is_far ? neighbours_together(*data.x, members) : members) {
      Index& point = data.point[data.first_equal[row]];
      if (point != none) continue;
      point = static_cast<Index>(rows.size());
      rows.push_back(row);
    }
  data.K = make_shared_quadratic(kernel, needed_rows(data, rows, kernel, context.threads),
                                 room.bytes, context);
}

Formulated formulate(const Examples& data, std::span<const Example> examples, const Loss& loss,
                     const Kernel& kernel, Bias bias, const Context& context) {
  Formulated result;
  DualQp& qp = result.qp;
  const bool by_number = is_given(kernel);
  Points points = data.approximation ? approximated_points(data, examples, context.costs)
                  : data.K           ? shared_points(data, examples)
                                     : own_points(data, examples, kernel, context);
  VariableList variables(qp, data.functions, examples);
  std::vector<double> summed;  // the weights of the blocks that share a variable

  for (std::size_t number = 0; number < examples.size(); ++number) {
    const Example& example = examples[number];
    const Index leader = by_number ? example.row : data.first_equal[example.row];
    const auto add = [&](const Block& block) {
      const auto [v, fresh] =
          variables.find_or_add(points.of_leader[leader], block, static_cast<Index>(number));
      const double share = weight_of(block);
      if (fresh) {
        summed.push_back(share);
      } else {
        merge(block, qp.block[v]);
        summed[v] += share;
      }
      result.shares.push_back({example.row, v, share});
    };
    for_each_block(loss, example, add);
  }
  normalise(result.shares, summed);

  const double sum = visit_list(
      [&](const auto& chosen) { return add_equality(chosen, examples, bias, qp); }, loss);
  if (data.functions.count() > 0) {
    result.basis.emplace(data.functions, examples, bias);
    result.basis->add_rows(variables.example, sum, qp);
    result.given_rows = result.basis->given_rows(variables.example, qp);
  }
  qp.K = points.K;
  result.is_biased = bias == Bias::penalised;
  if (result.is_biased) qp.K = make_biased(std::move(qp.K));
  result.point_rows = std::move(points.row);
  return result;
}

Formulated without(const Formulated& whole, std::span<const Example> examples, const Loss& loss,
                   Bias bias, const std::vector<bool>& left_out) {
  // One by one: where a copy in the braces of an aggregate throws, GCC 12 frees those before it
  // twice.
  Formulated result;
  DualQp& qp = result.qp;
  qp.K = whole.qp.K;
  qp.row = whole.qp.row;
  qp.block = whole.qp.block;
  result.point_rows = whole.point_rows;
  result.is_biased = whole.is_biased;
  for (Block& block : qp.block) block.lower = block.upper = 0;
  std::vector<double> summed(qp.size(), 0.0);  // the weights of the blocks that share a variable
  std::vector<Example> kept;
  std::size_t share = 0;
  const auto add = [&](const Example& example, const Block& block) {
    const Index v = whole.shares[share++].variable;
    if (left_out[example.row]) return;
    if (summed[v] > 0)
      merge(block, qp.block[v]);
    else
      qp.block[v] = block;
    summed[v] += weight_of(block);
    result.shares.push_back({example.row, v, weight_of(block)});
  };
  for (const Example& example : examples) {
    if (!left_out[example.row]) kept.push_back(example);
    for_each_block(loss, example, [&](const Block& block) { add(example, block); });
  }
  normalise(result.shares, summed);
  visit_list([&](const auto& chosen) { add_equality(chosen, kept, bias, qp); }, loss);
  return result;
}

}  // namespace maxmargin
