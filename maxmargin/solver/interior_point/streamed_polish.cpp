#include "maxmargin/solver/interior_point/streamed_polish.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"
#include "maxmargin/solver/interior_point/interior_point.hpp"
#include "maxmargin/solver/interior_point/streamed_pass.hpp"

namespace maxmargin {
namespace {

// Of sums over the rows at their bounds.
constexpr double polished_rounding = 1e-13;

bool is_at_corner(const Block* block, std::size_t blocks, double f, double reach) {
  for (std::size_t k = 0; k < blocks; ++k)
    if (has_corner(block[k]) && std::abs(beyond_corner(block[k], block[k].sign * f)) <= reach)
      return true;
  return false;
}

/// What one chunk has to tell; `beta` of the rows that stay at their bounds goes into the sums.
struct Found {
  std::vector<double> Z, free;
  std::vector<Index> row;  ///< of each variable, among those found here
  std::vector<Block> block;
  std::size_t rows = 0;
  double fixed_size = 0;
};

void look_through(const StreamedProblem& problem, const RowChunk& chunk, std::span<const double> f,
                  double reach, std::vector<double>& fixed, Found& found) {
  const std::size_t N = problem.numbers(), columns = problem.penalised();
  std::vector<double> Z(rows_at_once * N), beta(rows_at_once);
  Block block[2];
  for (std::size_t begin = 0; begin < chunk.rows; begin += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, chunk.rows - begin);
    widen(problem, chunk, begin, count, Z.data());
    for (std::size_t i = 0; i < count; ++i) {
      beta[i] = 0;
      const double value = f[begin + i];
      const std::size_t blocks = problem.blocks_of(chunk, begin + i, block);
      if (is_at_corner(block, blocks, value, reach)) {
        const double* row = Z.data() + i * N;
        found.Z.insert(found.Z.end(), row, row + columns);
        found.free.insert(found.free.end(), row + columns, row + N);
        found.block.insert(found.block.end(), block, block + blocks);
        found.row.insert(found.row.end(), blocks, static_cast<Index>(found.rows++));
        continue;
      }
      for (std::size_t k = 0; k < blocks; ++k)
        beta[i] += block[k].sign * on_path(block[k], block[k].sign * value, 0).t;
      found.fixed_size += std::abs(beta[i]);
    }
    gather_rows(Z.data(), count, beta.data(), fixed);
  }
}

void append(CornerRows& to, const Found& found, std::size_t columns) {
  const auto first = static_cast<Index>(columns > 0      ? to.Z.size() / columns
                                        : to.row.empty() ? 0
                                                         : to.row.back() + 1);
  to.Z.append(found.Z);
  to.free.insert(to.free.end(), found.free.begin(), found.free.end());
  for (const Index row : found.row) to.row.push_back(first + row);
  to.block.insert(to.block.end(), found.block.begin(), found.block.end());
}

}  // namespace

std::vector<double> variables_of(const StreamedProblem& problem, const StreamedPosition& position,
                                 const RowChunk& chunk) {
  const std::vector<double> f = decision_values(problem, chunk, position.point);
  const bool corners = !position.beside.empty();
  const std::vector<double> aside =
      corners ? decision_values(problem, chunk, position.beside) : std::vector<double>();
  const double* own = position.own.data();
  if (!position.own.empty()) own += position.own_before[chunk.number];
  std::vector<double> a;
  a.reserve(chunk.rows);
  Block block[2];
  for (std::size_t i = 0; i < chunk.rows; ++i) {
    const std::size_t blocks = problem.blocks_of(chunk, i, block);
    const bool has_own = !corners && is_at_corner(block, blocks, f[i], position.reach);
    for (std::size_t k = 0; k < blocks; ++k) {
      const double sign = block[k].sign, h = sign * f[i];
      a.push_back(corners   ? at_corner(block[k], h, sign * aside[i], position.reach).t
                  : has_own ? *own++
                            : on_path(block[k], h, position.mu).t);
    }
  }
  return a;
}

CornerRows collect_corner_rows(const StreamedProblem& problem, const CornerSearch& search,
                               const Threads& threads, const GoOn& go_on) {
  const Stopwatch clock;
  const std::size_t N = problem.numbers(), columns = problem.penalised();
  CornerRows result;
  result.position.point.assign(search.point.begin(), search.point.end());
  result.position.reach = search.reach;
  result.position.own_before.resize(problem.rows->chunks());
  std::vector<std::vector<double>> fixed(stream_parts, std::vector<double>(N, 0.0));
  std::vector<Found> found(stream_parts);
  std::size_t rows = 0;
  StreamedExaminer examiner(problem, result.position.point);
  result.traffic = for_each_chunk(
      *problem.rows, threads,
      {[&](std::size_t part, const RowChunk& chunk) {
         const std::vector<double> f = decision_values(problem, chunk, search.point);
         found[part] = Found{};
         look_through(problem, chunk, f, search.reach, fixed[part], found[part]);
         if (search.before != nullptr)
           examiner.add(part, chunk, variables_of(problem, *search.before, chunk), {f});
       },
       [&](std::span<const RowChunk> chunks) {
         for (std::size_t k = 0; k < chunks.size(); ++k) {
           result.position.own_before[chunks[k].number] = result.block.size();
           rows += found[k].rows;
           result.fixed_size += found[k].fixed_size;
           result.too_many = result.too_many || rows > search.most;
           if (!result.too_many) append(result, found[k], columns);
         }
         return result.complete = !go_on || go_on();
       }});
  result.fixed.assign(N, 0.0);
  for (const auto& part : fixed)
    for (std::size_t j = 0; j < N; ++j) result.fixed[j] += part[j];
  if (search.before != nullptr) result.examined = examiner.certificate();
  result.seconds = clock.seconds();
  return result;
}

namespace {

/// The rows of A for what is free, each with what the variables outside leave for it; false if the
/// bounds do not let the variables sum up to that.
bool add_free_rows(std::span<const double> values, std::span<const double> outside, double nothing,
                   DualQp& qp) {
  const std::size_t count = outside.size();
  for (std::size_t j = 0; j < count; ++j) {
    auto& row = qp.A.emplace_back(qp.size());
    double least = 0, most = 0;
    for (std::size_t v = 0; v < qp.size(); ++v) {
      const Block& block = qp.block[v];
      row[v] = block.sign * values[qp.row[v] * count + j];
      if (row[v] == 0) continue;
      least += std::min(row[v] * block.lower, row[v] * block.upper);
      most += std::max(row[v] * block.lower, row[v] * block.upper);
    }
    if (-outside[j] < least - nothing || -outside[j] > most + nothing) return false;
    qp.d.push_back(std::clamp(-outside[j], least, most));
  }
  return true;
}

}  // namespace

std::optional<Restricted> solve_restricted(const StreamedProblem& problem, CornerRows on_corners,
                                           const Run& run) {
  const std::size_t columns = problem.penalised();
  Restricted result;
  result.position = std::move(on_corners.position);
  result.point = std::move(on_corners.fixed);
  const std::vector<double> outside(result.point.begin() + static_cast<std::ptrdiff_t>(columns),
                                    result.point.end());
  std::copy(result.position.point.begin() + static_cast<std::ptrdiff_t>(columns),
            result.position.point.end(),
            result.point.begin() + static_cast<std::ptrdiff_t>(columns));
  const double nothing = polished_rounding * on_corners.fixed_size;
  if (on_corners.block.empty()) {
    const auto is_left = [&](double each) { return std::abs(each) > nothing; };
    return std::ranges::any_of(outside, is_left) ? std::nullopt : std::optional(result);
  }

  const std::size_t points = on_corners.row.back() + 1;
  const auto Z = std::make_shared<const LowRank>(points, columns, std::move(on_corners.Z));
  DualQp qp;
  qp.K = make_low_rank_quadratic(Z, run.costs);
  qp.row = std::move(on_corners.row);
  qp.block = std::move(on_corners.block);
  std::vector<double> shift(points);
  Z->spread(std::span(result.point).first(columns), shift, run.threads);
  for (std::size_t v = 0; v < qp.size(); ++v)
    qp.block[v].linear += qp.block[v].sign * shift[qp.row[v]];
  if (!add_free_rows(on_corners.free, outside, nothing, qp)) return std::nullopt;
  InteriorPoint options;
  options.stop.kkt = options.stop.relative_gap = 1e-13;
  const Solution solution = maxmargin::run(qp, options, run);
  const std::vector<double> w = Z->gather(qp.coefficients(solution.a), run.threads);
  for (std::size_t j = 0; j < columns; ++j) result.point[j] += w[j];
  for (std::size_t j = 0; j < outside.size(); ++j)
    result.point[columns + j] = solution.lambda.at(j);
  result.position.own = solution.a;
  return result;
}

}  // namespace maxmargin
