#include "maxmargin/certify/streamed.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/certify/enclosure.hpp"
#include "maxmargin/problem/evaluate.hpp"

namespace maxmargin {
namespace {

using Constant = StreamedProblem::Constant;

/// What the first pass sums up.
struct Gathered {
  explicit Gathered(std::size_t numbers) : point(numbers, 0.0) {}
  std::vector<double> point;  ///< X'beta, and the sum of beta where there is a constant
  double reach = 0;           ///< sum |beta| |x|
  double size = 0;            ///< sum |beta|
  double largest = 0;         ///< length of a row
  double count = 0;
  double bound_residual = 0;
};

/// Lengths of widened rows, with the constant where it is penalised, rounded up.
std::vector<double> lengths(const StreamedProblem& problem, const double* Z, std::size_t count) {
  const std::size_t N = problem.numbers(), features = problem.rows->columns();
  const double constant = problem.constant == Constant::penalised ? 1 : 0;
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    double squares = constant;
    for (std::size_t j = 0; j < features; ++j) squares += Z[i * N + j] * Z[i * N + j];
    result[i] = std::sqrt(squares) * (1 + (static_cast<double>(features) + 4) * unit_roundoff);
  }
  return result;
}

void gather(const StreamedProblem& problem, const RowChunk& chunk, std::span<const double> a,
            Gathered& sums) {
  std::vector<double> Z(rows_at_once * problem.numbers()), beta(rows_at_once);
  std::size_t variable = 0;
  Block block[2];
  for (std::size_t begin = 0; begin < chunk.rows; begin += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, chunk.rows - begin);
    widen(problem, chunk, begin, count, Z.data());
    const std::vector<double> length = lengths(problem, Z.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
      beta[i] = 0;
      double size = 0;
      const std::size_t blocks = problem.blocks_of(chunk, begin + i, block);
      for (std::size_t k = 0; k < blocks; ++k, ++variable) {
        const double within = std::clamp(a[variable], block[k].lower, block[k].upper);
        beta[i] += block[k].sign * within;
        size += std::abs(block[k].sign * within);
        sums.bound_residual = std::max(
            {sums.bound_residual, block[k].lower - a[variable], a[variable] - block[k].upper});
      }
      sums.reach += size * length[i];
      sums.size += size;
      sums.count += 1;
      if (blocks > 0) sums.largest = std::max(sums.largest, length[i]);
    }
    gather_rows(Z.data(), count, beta.data(), sums.point);
  }
}

/// Lengths of the rows of a chunk.
std::vector<double> chunk_lengths(const StreamedProblem& problem, const RowChunk& chunk) {
  std::vector<double> result, Z(rows_at_once * problem.numbers());
  for (std::size_t begin = 0; begin < chunk.rows; begin += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, chunk.rows - begin);
    widen(problem, chunk, begin, count, Z.data());
    for (const double length : lengths(problem, Z.data(), count)) result.push_back(length);
  }
  return result;
}

/// |w|, rounded up.
double norm_of(std::span<const double> w) {
  EnclosedSum squares;
  for (const double each : w) squares.add(each * each, unit_roundoff * each * each);
  return rounded_up(std::sqrt(squares.upper()));
}

}  // namespace

StreamedExaminer::StreamedExaminer(const StreamedProblem& problem, std::vector<double> point,
                                   const StreamedSums& sums)
    : problem_(problem), point_(std::move(point)), first_(sums), bias_(0), parts_(stream_parts) {
  if (problem.constant == Constant::free) bias_ = point_.back();
  const std::size_t penalised = point_.size() - (problem.constant == Constant::free ? 1 : 0);
  norm_ = norm_of(std::span(point_).first(penalised));
}

void StreamedExaminer::add_variable(Sums& sums, const Block& block, double given, double f,
                                    double length) const {
  const double a = std::clamp(given, block.lower, block.upper);
  const double h = block.sign * f, slope = block.slope(a);
  // f is a sum of so many products, of w and a row; b is added to it.
  const double terms = static_cast<double>(point_.size()) + 4;
  const double error = terms * unit_roundoff * (norm_ * length + 2 * std::abs(bias_));
  const double rest = -h - block.linear;
  const Near conjugate = highest_conjugate(
      block, {rest, error + unit_roundoff * (std::abs(h) + std::abs(block.linear))});
  const Near value = value_at(block, a);
  sums.values.add(value.value, value.error);
  sums.conjugates.add(conjugate.value, conjugate.error);
  const bool can_grow = a < block.upper, can_fall = block.lower < a;
  if (problem_.constant != Constant::free) {
    if (can_grow) sums.violation = std::max(sums.violation, -2 * (h + slope));
    if (can_fall) sums.violation = std::max(sums.violation, 2 * (h + slope));
    return;
  }
  const double multiplier = -(block.sign * (f - bias_) + slope) / block.sign;
  if (block.sign > 0 ? can_grow : can_fall) sums.highest = std::max(sums.highest, multiplier);
  if (block.sign > 0 ? can_fall : can_grow) sums.lowest = std::min(sums.lowest, multiplier);
  const double steep =
      std::abs(block.sign * (f - bias_) + slope) + error + 8 * unit_roundoff * std::abs(h);
  const double bend =
      block.entropy == Entropy::none ? block.curvature : 2 * block.bend(a);  // half of the way
  const auto offer = [&](Room& room, double width) {
    if (width / 2 > room.width) room = {width / 2, steep, bend + length * length};
  };
  offer(block.sign > 0 ? sums.adding : sums.taking, block.upper - a);
  offer(block.sign > 0 ? sums.taking : sums.adding, a - block.lower);
}

void StreamedExaminer::add(std::size_t part, const RowChunk& chunk, std::span<const double> a,
                           std::span<const double> f, std::span<const double> length) {
  Block block[2];
  Sums sums = parts_[part];
  std::size_t variable = 0;
  for (std::size_t i = 0; i < chunk.rows; ++i) {
    const std::size_t blocks = problem_.blocks_of(chunk, i, block);
    for (std::size_t k = 0; k < blocks; ++k)
      add_variable(sums, block[k], a[variable++], f[i], length.empty() ? 0 : length[i]);
  }
  parts_[part] = sums;
}

/// As that of a problem in memory, by one variable.
double StreamedExaminer::equality_price(const Sums& all) const {
  const double missed = std::abs(first_.residual) + first_.residual_error;
  if (missed == 0) return 0;
  // The sign of what is missed may be a matter of rounding: either may have to take it.
  if (!(missed <= std::min(all.adding.width, all.taking.width))) return infinity;
  const double slope = std::max(all.adding.slope, all.taking.slope);
  const double bend = std::max(all.adding.bend, all.taking.bend);
  return rounded_up(rounded_up(slope * missed) + rounded_up(bend * missed * missed / 2));
}

Certificate StreamedExaminer::certificate() const {
  Sums all;
  for (const Sums& part : parts_) {
    all.values.add(part.values);
    all.conjugates.add(part.conjugates);
    all.highest = std::max(all.highest, part.highest);
    all.lowest = std::min(all.lowest, part.lowest);
    all.violation = std::max(all.violation, part.violation);
    if (part.adding.width > all.adding.width) all.adding = part.adding;
    if (part.taking.width > all.taking.width) all.taking = part.taking;
  }
  // The primal is that of w as it is; the dual that of X'beta, which w is up to rounding.
  const double off = 1.01 * (first_.count + 4) * unit_roundoff * first_.reach;
  const double norm = rounded_up(norm_ + off);
  Certificate result;
  result.primal = rounded_up(rounded_up(norm_ * norm_) / 2 + all.conjugates.upper());
  result.dual = -rounded_up(rounded_up(norm * norm) / 2 + all.values.upper() + equality_price(all));
  if (std::isnan(result.primal)) result.primal = infinity;
  if (std::isnan(result.dual)) result.dual = -infinity;
  result.gap = rounded_up(std::max(0.0, result.primal - result.dual));
  result.relative_gap = relative_gap(result.primal, result.dual);
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
    all.reach += part.reach;
    all.size += part.size;
    all.count += part.count;
    all.largest = std::max(all.largest, part.largest);
    all.bound_residual = std::max(all.bound_residual, part.bound_residual);
  }
  StreamedCertified result;
  result.point = all.point;
  StreamedSums sums{all.reach, all.count, 0, 0};
  if (problem.constant == Constant::free) {
    sums.residual = all.point.back();
    sums.residual_error = 1.01 * (all.count + 4) * unit_roundoff * all.size;
    result.point.back() = bias;
  }
  StreamedExaminer examiner(problem, result.point, sums);
  for_each_chunk(*problem.rows, threads, {[&](std::size_t part, const RowChunk& chunk) {
    examiner.add(part, chunk, variables(chunk), decision_values(problem, chunk, result.point),
                 chunk_lengths(problem, chunk));
  }});
  result.certificate = examiner.certificate();
  result.certificate.equality_residual = std::abs(sums.residual);
  result.certificate.bound_residual = all.bound_residual;
  result.certificate.rounding = 1.01 * (all.count + static_cast<double>(problem.numbers()) + 4) *
                                unit_roundoff * all.reach * all.largest;
  result.seconds = clock.seconds();
  return result;
}

}  // namespace maxmargin
