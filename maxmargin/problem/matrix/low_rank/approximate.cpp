#include "maxmargin/problem/matrix/low_rank/approximate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/linalg/blas.hpp"

namespace maxmargin {
namespace {

constexpr std::array<std::pair<Selection, std::string_view>, 3> selections{
    {{Selection::sgma, "sgma"}, {Selection::random, "random"}, {Selection::pivoted, "pivoted"}}};

constexpr double usual_residual = 1e-3;
// A point whose residual is below this share of its kernel value counts as in the span: dividing by
// it would amplify rounding errors.
constexpr double in_the_span = 1e-9;
// Above this share of the trace float kernel values suffice to compare candidates.
constexpr double float_is_enough = 1e-3;
// A random basis is taken in batches, so that most of the work is matrix products.
constexpr std::size_t batch = 32;
constexpr std::size_t points_per_task = 256;
constexpr std::size_t columns_at_first = 64;

class Builder {
 public:
  Builder(const Quadratic& K, const Approximate& options, const Threads& threads)
      : K_(K), options_(options), threads_(threads), m_(K.size()), rng_(options.seed) {
    error_.assign(K.diagonal().begin(), K.diagonal().end());
    result_.trace = std::accumulate(error_.begin(), error_.end(), 0.0);
    most_ = std::min(m_, options.rank > 0 ? options.rank : m_);
    goal_ = options.residual > 0 ? options.residual * result_.trace
            : options.rank > 0   ? 0
                                 : usual_residual * result_.trace;
    open_.resize(m_);
    std::iota(open_.begin(), open_.end(), Index{0});
    reserve(std::min(most_, options.rank > 0 ? most_ : columns_at_first));
  }

  /// Starts from a basis; further functions are chosen by the residual of a function.
  void start_from(const Grow& grow) {
    reserve(std::min(m_, std::max(most_, grow.basis.size())));
    for (std::size_t begin = 0; begin < grow.basis.size(); begin += batch) {
      const auto some = grow.basis.subspan(begin, std::min(batch, grow.basis.size() - begin));
      add({some.begin(), some.end()});
    }
    rest_.assign(grow.rest.begin(), grow.rest.end());
  }

  Approximated build(const GoOn& go_on) {
    double left = remaining();
    while (result_.basis.size() < most_ && left > goal_) {
      if (go_on && !go_on()) {
        result_.stopped = true;
        break;
      }
      std::erase_if(open_, [&](Index p) { return is_covered(p); });
      const std::vector<Index> next = choose();
      if (next.empty()) break;
      add(next);
      left = result_.residual.empty() ? left : result_.residual.back();
    }
    finish();
    return std::move(result_);
  }

 private:
  std::size_t rank() const { return result_.basis.size(); }
  double* row(std::size_t point) { return Z_.data() + point * columns_; }
  const double* row(std::size_t point) const { return Z_.data() + point * columns_; }
  bool is_covered(Index p) const { return error_[p] <= in_the_span * K_.diagonal()[p]; }

  /// Reserves memory for so many columns.
  void reserve(std::size_t columns) {
    if (columns <= columns_) return;
    Z_.resize(m_ * columns);
    for (std::size_t i = m_; i-- > 0;)
      std::copy_backward(Z_.data() + i * columns_, Z_.data() + i * columns_ + rank(),
                         Z_.data() + i * columns + rank());
    columns_ = columns;
  }

  std::vector<Index> choose() {
    if (open_.empty()) return {};
    if (!rest_.empty()) return {best_match()};
    if (options_.selection == Selection::pivoted)
      return {*std::max_element(open_.begin(), open_.end(), [&](Index x, Index y) {
        return error_[x] < error_[y] || (error_[x] == error_[y] && x > y);
      })};
    if (options_.selection == Selection::random) return drawn(std::min(batch, most_ - rank()));
    return best_of(drawn(options_.candidates));
  }

  Index best_match() const {
    const auto gain = [&](Index p) { return rest_[p] * rest_[p] / error_[p]; };
    Index best = open_.front();
    for (const Index p : open_)
      if (gain(p) > gain(best) || (gain(p) == gain(best) && p < best)) best = p;
    return best;
  }

  /// Different points that are not in the span yet, at random.
  std::vector<Index> drawn(std::size_t count) {
    count = std::min(count, open_.size());
    for (std::size_t i = 0; i < count; ++i)
      std::swap(open_[i], open_[i + rng_.below(open_.size() - i)]);
    std::vector<Index> some(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(count));
    std::sort(some.begin(), some.end());
    return some;
  }

  /// The candidate that makes the residual trace smallest, (10.42): it falls by |r|^2 / error, r
  /// the column of K - K~.
  std::vector<Index> best_of(std::vector<Index> candidates) {
    if (candidates.size() == 1) return candidates;
    const std::size_t many = candidates.size();
    const bool fast = remaining() > float_is_enough * result_.trace;
    const std::size_t tasks = (m_ + points_per_task - 1) / points_per_task;
    std::vector<double> squares(tasks * many, 0.0);
    std::vector<float> values;
    if (fast) {
      values.resize(many * m_);
      std::vector<float*> out(many);
      for (std::size_t c = 0; c < many; ++c) out[c] = values.data() + c * m_;
      K_.rows(candidates, 0, m_, out, threads_);
    }
    threads_.run(tasks, [&](std::size_t task) {
      const std::size_t begin = task * points_per_task;
      const std::size_t count = std::min(points_per_task, m_ - begin);
      std::vector<double> block(many * count);
      if (fast)
        for (std::size_t c = 0; c < many; ++c)
          std::copy_n(values.data() + c * m_ + begin, count, block.data() + c * count);
      else
        K_.exact_block(candidates, begin, count, block.data(), count);
      subtract_known(candidates, begin, count, block.data());
      for (std::size_t c = 0; c < many; ++c)
        for (std::size_t i = 0; i < count; ++i)
          squares[task * many + c] += block[c * count + i] * block[c * count + i];
    });
    std::size_t best = 0;
    double most = -1;
    for (std::size_t c = 0; c < many; ++c) {
      double gain = 0;
      for (std::size_t task = 0; task < tasks; ++task) gain += squares[task * many + c];
      gain /= error_[candidates[c]];
      if (gain > most) {
        most = gain;
        best = c;
      }
    }
    return {candidates[best]};
  }

  double remaining() const {
    return result_.residual.empty() ? result_.trace : result_.residual.back();
  }

  /// block[c][i] -= z_c'z_i: what the basis so far explains of these rows of K.
  void subtract_known(std::span<const Index> which, std::size_t begin, std::size_t count,
                      double* block) const {
    if (rank() == 0) return;
    std::vector<double> left(which.size() * rank());
    for (std::size_t c = 0; c < which.size(); ++c)
      std::copy_n(row(which[c]), rank(), left.data() + c * rank());
    blas().cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, as_int(which.size()), as_int(count),
                       as_int(rank()), -1, left.data(), as_int(rank()), row(begin),
                       as_int(columns_), 1, block, as_int(count));
  }

  /// Adds basis functions: a new column of Z each, (10.144).
  void add(const std::vector<Index>& chosen) {
    if (rank() + chosen.size() > columns_)
      reserve(std::min(most_, std::max(rank() + chosen.size(), 2 * columns_)));
    const std::size_t many = chosen.size(), before = rank();
    std::vector<double> columns(many * m_);
    threads_.split(m_, points_per_task, [&](std::size_t begin, std::size_t end) {
      std::vector<double> block(many * (end - begin));
      K_.exact_block(chosen, begin, end - begin, block.data(), end - begin);
      subtract_known(chosen, begin, end - begin, block.data());
      for (std::size_t c = 0; c < many; ++c)
        std::copy_n(block.data() + c * (end - begin), end - begin, columns.data() + c * m_ + begin);
    });
    for (std::size_t c = 0; c < many; ++c) {
      const Index p = chosen[c];
      // Earlier ones of the batch may have covered this one, or reached the goal.
      if (is_covered(p)) continue;
      if (c > 0 && remaining() <= goal_) break;
      const std::size_t position = rank();
      const double tau = std::sqrt(error_[p]);
      threads_.split(m_, points_per_task, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          double value = columns[c * m_ + i];
          for (std::size_t j = before; j < position; ++j) value -= row(p)[j] * row(i)[j];
          row(i)[position] = value / tau;
        }
      });
      // T is triangular: values above its diagonal are rounding errors.
      for (std::size_t j = 0; j < position; ++j) row(result_.basis[j])[position] = 0;
      row(p)[position] = tau;
      result_.basis.push_back(p);
      update_errors(position);
      if (!rest_.empty()) {
        const double share = rest_[p] / tau;
        for (std::size_t i = 0; i < m_; ++i) rest_[i] -= share * row(i)[position];
      }
    }
  }

  void update_errors(std::size_t position) {
    double left = 0;
    for (std::size_t i = 0; i < m_; ++i) {
      const double z = row(i)[position];
      error_[i] = std::max(0.0, error_[i] - z * z);
    }
    for (const Index p : result_.basis) error_[p] = 0;
    for (const double error : error_) left += error;
    result_.residual.push_back(left);
  }

  void finish() {
    for (std::size_t i = 0; i < m_; ++i) std::copy_n(row(i), rank(), Z_.data() + i * rank());
    Z_.resize(m_ * rank());
    Z_.fit();
    result_.Z = std::make_shared<const LowRank>(m_, rank(), std::move(Z_));
  }

  const Quadratic& K_;
  const Approximate& options_;
  const Threads& threads_;
  std::size_t m_;
  std::size_t most_ = 0;
  double goal_ = 0;
  Rng rng_;
  std::vector<Index> open_;    // points that may become basis functions
  std::vector<double> error_;  // K_ii - K~_ii
  std::vector<double> rest_;   // see Grow
  std::size_t columns_ = 0;
  Buffer<double> Z_;  // m rows of `columns_` numbers
  Approximated result_;
  SerialBlas serial_;
};

}  // namespace

std::optional<Selection> selection_named(std::string_view name) {
  for (const auto& [selection, text] : selections)
    if (text == name) return selection;
  return std::nullopt;
}

std::string_view to_string(Selection selection) {
  for (const auto& [each, text] : selections)
    if (each == selection) return text;
  return {};
}

std::vector<double> Approximated::basis_coefficients(std::span<const double> beta,
                                                     const Threads& threads) const {
  return combined(Z->gather(beta, threads));
}

std::vector<double> Approximated::fitted(std::span<const double> values,
                                         const Threads& threads) const {
  // K_mn = Z T': with u = T'c the equations are Z'Z u = Z'values.
  const std::size_t n = Z->rank();
  std::vector<Index> all(Z->points());
  std::iota(all.begin(), all.end(), Index{0});
  const std::vector<double> gram = Z->gram(all, std::vector<double>(all.size(), 1.0), threads);
  Factor factor(n);
  for (std::size_t i = 0; i < n; ++i)
    std::copy_n(gram.data() + i * n, i + 1, factor.matrix().row(i));
  std::vector<double> u = Z->gather(values, threads);
  if (factor.cholesky(threads) != Factor::Outcome::done)
    throw Error(Fault::data, "the basis functions depend on each other at these points",
                "choose fewer of them");
  if (n > 0) factor.solve(u.data(), 1, threads);
  return combined(std::move(u));
}

std::vector<double> Approximated::combined(std::vector<double> w) const {
  // T is lower triangular: T'w = Z'beta from the last to the first.
  for (std::size_t j = basis.size(); j-- > 0;) {
    w[j] /= Z->row(basis[j])[j];
    for (std::size_t i = 0; i < j; ++i) w[i] -= Z->row(basis[j])[i] * w[j];
  }
  return w;
}

namespace {

void require_definite(const Quadratic& K) {
  if (K.definite() == Definite::no)
    throw Error(Fault::usage, "a kernel that is not positive semi-definite has no approximation",
                "leave --approximate out, or choose another kernel");
}

}  // namespace

Approximated approximate(const Quadratic& K, const Approximate& options, const Threads& threads,
                         const GoOn& go_on) {
  require_definite(K);
  return Builder(K, options, threads).build(go_on);
}

Approximated extend(const Quadratic& K, const Grow& grow, const Approximate& options,
                    const Threads& threads, const GoOn& go_on) {
  require_definite(K);
  Builder builder(K, options, threads);
  builder.start_from(grow);
  return builder.build(go_on);
}

std::optional<std::size_t> estimated_rank(const Quadratic& K, double residual,
                                          const Threads& threads) {
  constexpr std::size_t most_in_sample = 400;
  const std::size_t m = K.size(), sample = std::min(most_in_sample, m);
  if (sample < 2 || K.definite() == Definite::no) return std::nullopt;
  std::vector<Index> points(m);
  std::iota(points.begin(), points.end(), Index{0});
  Rng rng(0);
  for (std::size_t i = 0; i < sample; ++i) std::swap(points[i], points[i + rng.below(m - i)]);
  // With more than half of its points the sample is too small for the kernel.
  const auto needed = [&](std::size_t count) -> std::optional<std::size_t> {
    Approximate how;
    how.selection = Selection::pivoted;
    how.rank = count / 2;
    how.residual = residual;
    const auto part = K.restrict_to(std::span(points).first(count));
    const Approximated low = approximate(*part, how, threads);
    const double left = low.residual.empty() ? 0 : low.residual.back();
    if (left > residual * low.trace) return std::nullopt;
    return low.basis.size();
  };
  const auto all = needed(sample);
  if (!all || sample == m) return all;
  const auto half = needed(sample / 2);
  if (!half || *half == 0) return std::nullopt;
  const double power =
      std::log2(std::max(1.0, static_cast<double>(*all) / static_cast<double>(*half)));
  const double grown = static_cast<double>(*all) *
                       std::pow(static_cast<double>(m) / static_cast<double>(sample), power);
  return std::min(m, static_cast<std::size_t>(std::ceil(grown)));
}

std::vector<double> principal_residuals(const Quadratic& K, std::size_t rank,
                                        const Threads& threads) {
  const SerialBlas serial;
  const std::size_t m = K.size();
  rank = std::min(rank, m);
  std::vector<double> matrix(m * m), values(m);
  std::vector<Index> all(m);
  std::iota(all.begin(), all.end(), Index{0});
  threads.split(m, 32, [&](std::size_t begin, std::size_t end) {
    K.exact_block(std::span(all).subspan(begin, end - begin), 0, m, matrix.data() + begin * m, m);
  });
  const int n = as_int(m);
  if (syevr('U', n, matrix.data(), n, n - as_int(rank) + 1, n, values.data()) != 0)
    throw Error(Fault::data, "the eigenvalues of the kernel matrix cannot be computed",
                "check the data for extreme values");
  double left = std::accumulate(K.diagonal().begin(), K.diagonal().end(), 0.0);
  std::vector<double> residual;
  for (std::size_t k = 0; k < rank; ++k) {
    left -= values[rank - 1 - k];
    residual.push_back(std::max(0.0, left));
  }
  return residual;
}

}  // namespace maxmargin
