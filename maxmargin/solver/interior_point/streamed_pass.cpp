#include "maxmargin/solver/interior_point/streamed_pass.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/linalg/double_rows.hpp"
#include "maxmargin/solver/interior_point/path_variables.hpp"

namespace maxmargin {
namespace {

/// Where the pass is: on the path of mu, or at corners with the direction beside them, if it is
/// known.
struct PassPoint {
  enum class At { path, corners, corners_to_fit };
  At at;
  std::span<const double> point;
  double mu = 0;
  std::span<const double> on_path = {};
  double reach = -1;
  std::span<const double> beside = {};
};

/// The sums of one part of the rows, and room to work on some of them.
struct Part {
  explicit Part(std::size_t numbers)
      : sums(numbers),
        Z(rows_at_once * numbers),
        scaled(rows_at_once * numbers),
        f(rows_at_once),
        f_on_path(rows_at_once),
        aside(rows_at_once),
        beta(rows_at_once),
        drift(rows_at_once),
        give(rows_at_once),
        cornered(2 * rows_at_once),
        row_of(2 * rows_at_once),
        sign_of(2 * rows_at_once) {}
  Newton sums;
  std::vector<double> Z, scaled, f, f_on_path, aside, beta, drift, give;
  PathVariables cornered;           ///< variables with a corner,
  std::vector<std::size_t> row_of;  ///< the row of each,
  std::vector<double> sign_of;      ///< and its sign
  double conjugates = 0, values = 0, squares = 0;

  void add(const Block& block, double h, const OnPath& on, std::size_t i) {
    beta[i] += block.sign * on.t;
    drift[i] += block.sign * on.drift;
    give[i] += on.give;
    conjugates += block.conjugate(-h);
    values += block.value(on.t);
  }

  void add_to_fit(const Block& block, double h, std::size_t i) {
    beta[i] += block.sign * beyond_corner(block, h);
    give[i] += 1;
  }

  void add_at_corners(const PassPoint& position, const Block& block, double h, std::size_t i) {
    const double h_on_path = block.sign * f_on_path[i];
    const double side = beyond_corner(block, h_on_path), here = beyond_corner(block, h);
    const bool on_corner = std::abs(side) <= position.reach;
    if (position.at == PassPoint::At::corners_to_fit) {
      if (on_corner && has_corner(block) && block.lower < block.upper) add_to_fit(block, h, i);
      return;
    }
    add(block, h, at_corner(block, h_on_path, block.sign * aside[i], position.reach), i);
    sums.off_corners = std::max(sums.off_corners, on_corner  ? std::abs(here)
                                                  : side > 0 ? -here
                                                             : here);
  }
};

/// beta, its derivatives, and the terms of the objectives at the rows in hand.
void add_rows(const StreamedProblem& problem, const RowChunk& chunk, std::size_t begin,
              std::size_t count, const PassPoint& position, Part& part) {
  PathVariables& cornered = part.cornered;
  std::size_t corners = 0;
  Block block[2];
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t blocks = problem.blocks_of(chunk, begin + i, block);
    part.beta[i] = part.drift[i] = part.give[i] = 0;
    double nearest = infinity;
    for (std::size_t k = 0; k < blocks; ++k) {
      const double sign = block[k].sign, h = sign * part.f[i];
      if (has_corner(block[k])) nearest = std::min(nearest, std::abs(beyond_corner(block[k], h)));
      if (position.at != PassPoint::At::path) {
        part.add_at_corners(position, block[k], h, i);
      } else if (!has_corner(block[k])) {
        part.add(block[k], h, on_path(block[k], h, position.mu), i);
      } else {
        cornered.h[corners] = h;
        cornered.linear[corners] = block[k].linear;
        cornered.lower[corners] = block[k].lower;
        cornered.upper[corners] = block[k].upper;
        part.sign_of[corners] = sign;
        part.row_of[corners++] = i;
      }
    }
    if (nearest < infinity) part.sums.distances.add(nearest);
  }
  const PathVariables::Sums sums = cornered.find(corners, position.mu);
  part.values += sums.values;
  part.conjugates += sums.conjugates;
  for (std::size_t c = 0; c < corners; ++c) {
    part.beta[part.row_of[c]] += part.sign_of[c] * cornered.t[c];
    part.drift[part.row_of[c]] += part.sign_of[c] * cornered.drift[c];
    part.give[part.row_of[c]] += cornered.give[c];
  }
}

void add_chunk(const StreamedProblem& problem, const RowChunk& chunk, const PassPoint& position,
               Part& part) {
  const std::size_t N = position.point.size();
  const double* Z = part.Z.data();
  for (std::size_t begin = 0; begin < chunk.rows; begin += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, chunk.rows - begin);
    widen(problem, chunk, begin, count, part.Z.data());
    multiply_rows(Z, count, position.point, part.f.data());
    if (position.at != PassPoint::At::path)
      multiply_rows(Z, count, position.on_path, part.f_on_path.data());
    if (position.at == PassPoint::At::corners)
      multiply_rows(Z, count, position.beside, part.aside.data());
    add_rows(problem, chunk, begin, count, position, part);
    if (N == 0) continue;
    gather_rows(Z, count, part.beta.data(), part.sums.gradient);
    gather_rows(Z, count, part.drift.data(), part.sums.drift);
    part.squares = std::max(part.squares, largest_square(Z, N, count));
    for (std::size_t i = 0; i < count; ++i) {
      part.sums.gives += part.give[i];
      part.give[i] = std::sqrt(part.give[i]);
    }
    const std::size_t kept = scale_rows(Z, N, count, part.give.data(), part.scaled.data());
    blas().cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, as_int(N), as_int(kept), 1,
                       part.scaled.data(), as_int(N), 1, part.sums.matrix.data(), as_int(N));
  }
}

void add_to(Newton& all, const Part& part) {
  for (std::size_t k = 0; k < all.matrix.size(); ++k) all.matrix[k] += part.sums.matrix[k];
  for (std::size_t j = 0; j < all.gradient.size(); ++j) {
    all.gradient[j] += part.sums.gradient[j];
    all.drift[j] += part.sums.drift[j];
  }
  all.gives += part.sums.gives;
  all.off_corners = std::max(all.off_corners, part.sums.off_corners);
  all.distances.add(part.sums.distances);
}

Newton pass(const StreamedProblem& problem, const PassPoint& position, const Threads& threads,
            const GoOn& go_on) {
  const Stopwatch clock;
  const std::span<const double> point = position.point;
  const std::size_t N = point.size();
  const std::size_t lanes = stream_lanes(N);
  std::vector<Part> parts(lanes, Part(N));
  Newton result(N);
  result.traffic = for_each_chunk(
      *problem.rows, threads,
      {[&](std::size_t part, const RowChunk& chunk) {
         add_chunk(problem, chunk, position, parts[part % lanes]);
       },
       [&](std::span<const RowChunk>) { return result.complete = !go_on || go_on(); }, lanes});
  double conjugates = 0, values = 0, squares = 0;
  for (const Part& part : parts) {
    add_to(result, part);
    conjugates += part.conjugates;
    values += part.values;
    squares = std::max(squares, part.squares);
  }
  result.seconds = clock.seconds();
  if (position.at == PassPoint::At::corners_to_fit) return result;
  // So far gradient is Z'beta.
  double primal = 0, dual = 0;
  for (std::size_t j = 0; j < N; ++j) {
    const bool free = j >= problem.penalised();
    if (!free) {
      if (position.at == PassPoint::At::path) result.matrix[j * N + j] += 1;
      primal += point[j] * point[j] / 2;
      dual -= result.gradient[j] * result.gradient[j] / 2;
    }
    result.gradient[j] = (free ? 0 : point[j]) - result.gradient[j];
  }
  result.primal = primal + conjugates;
  result.dual = dual - values;
  result.longest = std::sqrt(squares);
  return result;
}

// Bisections alone would take 53 for the last digit.
constexpr int most_root_steps = 60;

/// Without curvature: e + w/g - w/r = 0 for the distances g and r of t from its bounds, g + r = W,
/// a quadratic equation whose roots are taken without cancellation.
OnPath between(const Block& block, double e, double mu) {
  const double width = block.upper - block.lower, half = width / 2, weight = mu * width;
  const double change_of_half = std::abs(e) * half;
  const double root = std::sqrt(weight * weight + change_of_half * change_of_half);
  const double near = half * (weight + weight * weight / (root + change_of_half)) / (weight + root);
  const double far = width - near;
  const double give = near * near * far * far / (weight * (near * near + far * far));
  const double inward = (width / near - width / far) * give;  // away from the nearer bound
  return e > 0 ? OnPath{block.upper - near, give, -inward}
               : OnPath{block.lower + near, give, inward};
}

}  // namespace

OnPath on_path(const Block& block, double h, double mu) {
  if (block.lower == block.upper) return {block.lower, 0, 0};
  if (!has_barrier(block) || mu == 0) {
    const double t = block.argmax(-h);
    const bool bent = !has_corner(block) && block.lower < t && t < block.upper;
    return {t, bent ? 1 / block.bend(t) : 0, 0};
  }
  const double slope = h + block.linear;
  if (block.curvature == 0) return between(block, -slope, mu);
  // t = between(-slope - curvature t), where the right side falls: one root, by Newton's steps that
  // do not leave what is known to contain it.
  double low = block.lower, high = block.upper, t = block.argmax(-h);
  for (int step = 0; step < most_root_steps; ++step) {
    const OnPath on = between(block, -slope - block.curvature * t, mu);
    const double rest = t - on.t;
    (rest > 0 ? high : low) = t;
    const double next = t - rest / (1 + block.curvature * on.give);
    if (std::abs(next - t) <= 1e-16 * (high - low) || next == t) break;
    t = low < next && next < high ? next : low + (high - low) / 2;
  }
  const OnPath on = between(block, -slope - block.curvature * t, mu);
  const double stiff = block.curvature * on.give, shared = 1 / (1 + stiff);
  // Of the two, the one that multiplies the other's rounding is left.
  return {stiff > 1 ? t : on.t, on.give * shared, on.drift * shared};
}

OnPath at_corner(const Block& block, double h, double aside, double reach) {
  if (!has_corner(block) || std::abs(beyond_corner(block, h)) > reach) return on_path(block, h, 0);
  return on_path(block, aside - block.linear, 1);
}

// The exponent and three digits of a double are an eighth of an octave, or so.
std::size_t Distances::step_of(double distance) {
  const auto step = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(distance) >> 49);
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(step - first_step, 0, per_octave * octaves - 1));
}

double Distances::end_of(std::size_t step) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(step + 1 + first_step) << 49);
}

void Distances::add(double distance) { ++count_[step_of(distance)]; }

void Distances::add(const Distances& others) {
  for (std::size_t k = 0; k < count_.size(); ++k) count_[k] += others.count_[k];
}

std::size_t Distances::within(double distance) const {
  std::size_t sum = 0;
  for (std::size_t k = 0; k <= step_of(distance); ++k) sum += count_[k];
  return sum;
}

double Distances::holding(std::size_t count, double most) const {
  std::size_t sum = 0;
  double distance = 0;
  for (std::size_t k = 0; k < count_.size() && sum + count_[k] <= count; ++k) {
    sum += count_[k];
    distance = end_of(k);
    if (distance >= most) return most;
  }
  return std::min(distance, most);
}

double Distances::gap(double from, double to, double share) const {
  const std::size_t last = step_of(to);
  // Calls with where each empty stretch begins and how long it is, until that says true.
  const auto each = [&](const auto& use) {
    std::size_t begin = step_of(from);
    for (std::size_t k = begin + 1; k <= last; ++k) {
      if (count_[k] == 0 && k < last) continue;
      if (use(begin, k - 1 - begin)) return;
      begin = k;
    }
  };
  std::size_t widest = 0;
  double position = from;
  each([&](std::size_t, std::size_t width) {
    widest = std::max(widest, width);
    return false;
  });
  each([&](std::size_t begin, std::size_t width) {
    position = end_of(begin + width / 2);
    return static_cast<double>(width) >= share * static_cast<double>(widest);
  });
  return position;
}

Newton newton_pass(const StreamedProblem& problem, std::span<const double> point, double mu,
                   const Threads& threads, const GoOn& go_on) {
  return pass(problem, {PassPoint::At::path, point, mu}, threads, go_on);
}

Newton corner_pass(const StreamedProblem& problem, const Corners& corners,
                   std::span<const double> beside, const Threads& threads, const GoOn& go_on) {
  return pass(problem,
              {PassPoint::At::corners, corners.end, 0, corners.on_path, corners.reach, beside},
              threads, go_on);
}

Newton corner_fit_pass(const StreamedProblem& problem, const Corners& corners,
                       const Threads& threads, const GoOn& go_on) {
  return pass(problem,
              {PassPoint::At::corners_to_fit, corners.end, 0, corners.on_path, corners.reach},
              threads, go_on);
}

}  // namespace maxmargin
