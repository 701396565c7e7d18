#include "maxmargin/certify/streamed.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/problem/evaluate.hpp"

namespace maxmargin {
namespace {

using Constant = StreamedProblem::Constant;

// The deviation of a product in double from the true one, relative to the largest.
constexpr double double_deviation = 1e-15;

/// What the first pass sums up.
struct Gathered {
  explicit Gathered(std::size_t numbers) : point(numbers, 0.0) {}
  std::vector<double> point;  ///< X'beta, and the sum of beta where there is a constant
  double squares = 0;         ///< of beta
  double largest = 0;         ///< squared length of a row
  double bound_residual = 0;
};

void gather(const StreamedProblem& problem, const RowChunk& chunk, std::span<const double> a,
            Gathered& sums) {
  std::vector<double> Z(rows_at_once * problem.numbers()), beta(rows_at_once);
  const std::size_t N = problem.numbers(), features = problem.rows->columns();
  std::size_t variable = 0;
  Block block[2];
  for (std::size_t begin = 0; begin < chunk.rows; begin += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, chunk.rows - begin);
    widen(problem, chunk, begin, count, Z.data());
    for (std::size_t i = 0; i < count; ++i) {
      beta[i] = 0;
      const std::size_t blocks = problem.blocks_of(chunk, begin + i, block);
      for (std::size_t k = 0; k < blocks; ++k, ++variable) {
        beta[i] += block[k].sign * a[variable];
        sums.bound_residual = std::max(
            {sums.bound_residual, block[k].lower - a[variable], a[variable] - block[k].upper});
      }
      sums.squares += beta[i] * beta[i];
      double length = 0;
      for (std::size_t j = 0; j < features; ++j) length += Z[i * N + j] * Z[i * N + j];
      if (blocks > 0) sums.largest = std::max(sums.largest, length);
    }
    gather_rows(Z.data(), count, beta.data(), sums.point);
  }
}

}  // namespace

StreamedExaminer::StreamedExaminer(const StreamedProblem& problem, std::vector<double> point)
    : problem_(problem), point_(std::move(point)), bias_(0), quadratic_(0), parts_(stream_parts) {
  if (problem.constant == Constant::free) bias_ = point_.back();
  const std::size_t penalised = point_.size() - (problem.constant == Constant::free ? 1 : 0);
  for (std::size_t j = 0; j < penalised; ++j) quadratic_ += point_[j] * point_[j];
}

void StreamedExaminer::add_variable(Sums& sums, const Block& block, double a, double f) const {
  const double h = block.sign * f;
  const double value = block.value(a), conjugate = block.conjugate(-h);
  sums.values += value;
  sums.conjugates += conjugate;
  sums.gap += std::max(0.0, value + conjugate + h * a);
  const double slope = block.slope(a);
  const bool can_grow = a < block.upper, can_fall = block.lower < a;
  if (problem_.constant == Constant::free) {
    const double level = -(block.sign * (f - bias_) + slope) / block.sign;
    if (block.sign > 0 ? can_grow : can_fall) sums.highest = std::max(sums.highest, level);
    if (block.sign > 0 ? can_fall : can_grow) sums.lowest = std::min(sums.lowest, level);
  } else {
    if (can_grow) sums.violation = std::max(sums.violation, -2 * (h + slope));
    if (can_fall) sums.violation = std::max(sums.violation, 2 * (h + slope));
  }
}

void StreamedExaminer::add(std::size_t part, const RowChunk& chunk, std::span<const double> a,
                           std::span<const double> f) {
  Block block[2];
  Sums sums = parts_[part];
  std::size_t variable = 0;
  for (std::size_t i = 0; i < chunk.rows; ++i) {
    const std::size_t blocks = problem_.blocks_of(chunk, i, block);
    for (std::size_t k = 0; k < blocks; ++k) add_variable(sums, block[k], a[variable++], f[i]);
  }
  parts_[part] = sums;
}

Certificate StreamedExaminer::certificate() const {
  Sums all;
  for (const Sums& part : parts_) {
    all.values += part.values;
    all.conjugates += part.conjugates;
    all.gap += part.gap;
    all.highest = std::max(all.highest, part.highest);
    all.lowest = std::min(all.lowest, part.lowest);
    all.violation = std::max(all.violation, part.violation);
  }
  Certificate result;
  result.primal = quadratic_ / 2 + all.conjugates;
  result.dual = -(quadratic_ / 2 + all.values);
  result.gap = all.gap;
  result.relative_gap = relative_gap(result.dual + result.gap, result.dual);
  result.kkt = std::max(all.violation, all.highest - all.lowest);
  result.best_primal = result.primal;
  result.best_dual = result.dual;
  return result;
}

StreamedCertified certify(const StreamedProblem& problem, const StreamedVariables& variables,
                          double bias, const Threads& threads) {
  const Stopwatch clock;
  std::vector<Gathered> parts(stream_parts, Gathered(problem.numbers()));
  for_each_chunk(*problem.rows, threads, {[&](std::size_t part, const RowChunk& chunk) {
    gather(problem, chunk, variables(chunk), parts[part]);
  }});
  Gathered all(problem.numbers());
  for (const Gathered& part : parts) {
    for (std::size_t j = 0; j < all.point.size(); ++j) all.point[j] += part.point[j];
    all.squares += part.squares;
    all.largest = std::max(all.largest, part.largest);
    all.bound_residual = std::max(all.bound_residual, part.bound_residual);
  }
  StreamedCertified result;
  result.point = all.point;
  double equality_residual = 0;
  if (problem.constant == Constant::free) {
    equality_residual = std::abs(all.point.back());
    result.point.back() = bias;
  }
  StreamedExaminer examiner(problem, result.point);
  for_each_chunk(*problem.rows, threads, {[&](std::size_t part, const RowChunk& chunk) {
    examiner.add(part, chunk, variables(chunk), decision_values(problem, chunk, result.point));
  }});
  result.certificate = examiner.certificate();
  result.certificate.equality_residual = equality_residual;
  result.certificate.bound_residual = all.bound_residual;
  result.certificate.rounding = double_deviation * all.largest * std::sqrt(all.squares);
  result.seconds = clock.seconds();
  return result;
}

}  // namespace maxmargin
