#include "maxmargin/certify/streamed.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/certify/enclosure.hpp"
#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/linalg/serial_blas.hpp"
#include "maxmargin/problem/evaluate.hpp"

namespace maxmargin {
namespace {

using Constant = StreamedProblem::Constant;

/// What the first pass sums up.
struct Gathered {
  explicit Gathered(std::size_t numbers) : point(numbers, 0.0) {}
  std::vector<double> point;  ///< Z'beta
  double reach = 0;           ///< sum |beta| |x|
  double size = 0;            ///< sum |beta| |what is free|
  double largest = 0;         ///< length of a row
  double count = 0;
  double bound_residual = 0;
};

/// The length of some numbers, rounded up.
double length_of(std::span<const double> x) {
  double squares = 0;
  for (const double each : x) squares += each * each;
  return std::sqrt(squares) * (1 + (static_cast<double>(x.size()) + 4) * unit_roundoff);
}

void gather(const StreamedProblem& problem, const RowChunk& chunk, std::span<const double> a,
            Gathered& sums) {
  std::vector<double> Z(rows_at_once * problem.numbers()), beta(rows_at_once);
  std::size_t variable = 0;
  Block block[2];
  for (std::size_t begin = 0; begin < chunk.rows; begin += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, chunk.rows - begin);
    widen(problem, chunk, begin, count, Z.data());
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const double> row(Z.data() + i * problem.numbers(), problem.numbers());
      const double length = length_of(row.first(problem.penalised()));
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
      sums.reach += size * length;
      sums.size += size * length_of(row.subspan(problem.penalised()));
      sums.count += 1;
      if (blocks > 0) sums.largest = std::max(sums.largest, length);
    }
    gather_rows(Z.data(), count, beta.data(), sums.point);
  }
}

/// The rows of a chunk: the length of the penalised part of each, and its free part.
struct ChunkRows {
  std::vector<double> length, free;
};
ChunkRows rows_of(const StreamedProblem& problem, const RowChunk& chunk) {
  const std::size_t N = problem.numbers(), penalised = problem.penalised();
  ChunkRows result;
  std::vector<double> Z(rows_at_once * N);
  for (std::size_t begin = 0; begin < chunk.rows; begin += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, chunk.rows - begin);
    widen(problem, chunk, begin, count, Z.data());
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const double> row(Z.data() + i * N, N);
      result.length.push_back(length_of(row.first(penalised)));
      const auto free = row.subspan(penalised);
      result.free.insert(result.free.end(), free.begin(), free.end());
    }
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
  norm_ = norm_of(std::span(point_).first(problem.penalised()));
  free_norm_ = norm_of(std::span(point_).subspan(problem.penalised()));
  for (Sums& part : parts_) part.shared.gram.assign(problem.free() * problem.free(), 0.0);
}

void StreamedExaminer::add_variable(Sums& sums, const Block& block, double given,
                                    const RowAt& at) const {
  const double a = std::clamp(given, block.lower, block.upper), f = at.f, length = at.length;
  const double h = block.sign * f, slope = block.slope(a);
  // f is a sum of so many products, of a point and a row.
  const double terms = static_cast<double>(point_.size()) + 4;
  const double error = terms * unit_roundoff * (norm_ * length + 2 * free_norm_ * at.free_length);
  const double rest = -h - block.linear;
  const Near conjugate = highest_conjugate(
      block, {rest, error + unit_roundoff * (std::abs(h) + std::abs(block.linear))});
  const Near value = value_at(block, a);
  sums.values.add(value.value, value.error);
  sums.conjugates.add(conjugate.value, conjugate.error);
  if (problem_.functions > 0 && !at.free.empty()) add_room(sums.shared, block, a, at, error);
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

void StreamedExaminer::add_room(SharedRoom& room, const Block& block, double a, const RowAt& at,
                                double error) const {
  // Half of the way, so that bends are known along it; without bounds any way will do.
  const double way = std::min({(block.upper - a) / 2, (a - block.lower) / 2, 1.0});
  const double size = std::abs(block.sign) * at.free_length;
  if (!(way > 0) || size == 0) return;
  const double amiss =
      std::abs(block.sign * at.f + block.slope(a)) + error +
      8 * unit_roundoff *
          (std::abs(at.f * block.sign) + std::abs(block.linear) + std::abs(block.curvature * a));
  const double bend = block.entropy == Entropy::none ? block.curvature : 2 * block.bend(a);
  const double move = way * way * size;
  room.widest = std::max(room.widest, way * size);
  room.slope += move * amiss;
  room.length += move * std::abs(block.sign) * at.length;
  room.bend += move * move * bend;
  const double weight = way * way * block.sign * block.sign;
  for (std::size_t j = 0; j < at.free.size(); ++j)
    for (std::size_t k = 0; k < at.free.size(); ++k)
      room.gram[j * at.free.size() + k] += weight * at.free[j] * at.free[k];
}

/// What the dual loses by the moves of all variables (SharedRoom) that make the equality rows hold:
/// c'residual and the price of the moves; infinite where y is too long for some variable's room.
double StreamedExaminer::shared_price(const SharedRoom& room, double residual) const {
  const std::size_t count = problem_.free();
  std::vector<double> G = room.gram, values(count);
  double trace = 0;
  for (std::size_t j = 0; j < count; ++j) trace += G[j * count + j];
  const SerialBlas serial;
  const auto n = static_cast<int>(count);
  if (syevd('L', n, G.data(), n, values.data()) != 0) return infinity;
  // Of the sums over all rows, in any order, and of the eigenvalues.
  const double wrong =
      1.01 * (first_.count + 100 * static_cast<double>(count)) * unit_roundoff * trace;
  const double least = values.front() - wrong;
  if (!(least > 0)) return infinity;
  const double y = rounded_up(residual / least);
  if (!(rounded_up(room.widest * y) <= 1)) return infinity;
  const double sums = 1 + 2 * (first_.count + 8) * unit_roundoff;
  const double length = room.length * y * sums;
  const double moves = (room.slope * y + room.bend * y * y / 2) * sums + length * length / 2;
  return rounded_up(rounded_up(free_norm_ * residual) + moves * (1 + 1e-9));
}

void StreamedExaminer::add(std::size_t part, const RowChunk& chunk, std::span<const double> a,
                           const RowValues& rows) {
  Block block[2];
  Sums sums = parts_[part];
  std::size_t variable = 0;
  const std::size_t count = problem_.free();
  for (std::size_t i = 0; i < chunk.rows; ++i) {
    RowAt at{rows.f[i], rows.length.empty() ? 0 : rows.length[i], 0, {}};
    if (!rows.free.empty()) {
      at.free = rows.free.subspan(i * count, count);
      at.free_length = length_of(at.free);
    }
    const std::size_t blocks = problem_.blocks_of(chunk, i, block);
    for (std::size_t k = 0; k < blocks; ++k) add_variable(sums, block[k], a[variable++], at);
  }
  parts_[part] = sums;
}

/// As for a problem in memory, by moving one variable; with functions, all of them.
double StreamedExaminer::equality_price(const Sums& all) const {
  const double residual = std::abs(first_.residual) + first_.residual_error;
  if (residual == 0) return 0;
  if (problem_.functions > 0) return shared_price(all.shared, residual);
  // Rounding may have turned the sign of the residual: there must be room on both sides.
  if (!(residual <= std::min(all.adding.width, all.taking.width))) return infinity;
  const double slope = std::max(all.adding.slope, all.taking.slope);
  const double bend = std::max(all.adding.bend, all.taking.bend);
  return rounded_up(rounded_up(slope * residual) + rounded_up(bend * residual * residual / 2));
}

Certificate StreamedExaminer::certificate() const {
  Sums all;
  all.shared.gram.assign(problem_.free() * problem_.free(), 0.0);
  for (const Sums& part : parts_) {
    for (std::size_t k = 0; k < all.shared.gram.size(); ++k)
      all.shared.gram[k] += part.shared.gram[k];
    all.shared.widest = std::max(all.shared.widest, part.shared.widest);
    all.shared.slope += part.shared.slope;
    all.shared.length += part.shared.length;
    all.shared.bend += part.shared.bend;
    all.values.add(part.values);
    all.conjugates.add(part.conjugates);
    all.highest = std::max(all.highest, part.highest);
    all.lowest = std::min(all.lowest, part.lowest);
    all.violation = std::max(all.violation, part.violation);
    if (part.adding.width > all.adding.width) all.adding = part.adding;
    if (part.taking.width > all.taking.width) all.taking = part.taking;
  }
  // The primal is that of w, the dual that of X'beta; the two differ by rounding.
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
                          std::span<const double> free, const Threads& threads) {
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
  double largest_residual = 0;
  if (problem.free() > 0) {
    const auto residuals = std::span<double>(result.point).subspan(problem.penalised());
    sums.residual = length_of(residuals);
    for (const double each : residuals)
      largest_residual = std::max(largest_residual, std::abs(each));
    sums.residual_error = 1.01 * (all.count + 4) * unit_roundoff * all.size;
    std::copy_n(free.begin(), residuals.size(), residuals.begin());
  }
  StreamedExaminer examiner(problem, result.point, sums);
  for_each_chunk(*problem.rows, threads, {[&](std::size_t part, const RowChunk& chunk) {
    const ChunkRows rows = rows_of(problem, chunk);
    examiner.add(part, chunk, variables(chunk),
                 {decision_values(problem, chunk, result.point), rows.length, rows.free});
  }});
  result.certificate = examiner.certificate();
  result.certificate.equality_residual = largest_residual;
  result.certificate.bound_residual = all.bound_residual;
  result.certificate.rounding = 1.01 * (all.count + static_cast<double>(problem.numbers()) + 4) *
                                unit_roundoff * all.reach * all.largest;
  result.seconds = clock.seconds();
  return result;
}

}  // namespace maxmargin
