#include "maxmargin/problem/sub_problem.hpp"

#include <algorithm>

namespace maxmargin {

std::vector<double> SubProblem::part_of(std::span<const double> a) const {
  std::vector<double> part(variables.size());
  for (std::size_t k = 0; k < part.size(); ++k) part[k] = a[variables[k]];
  return part;
}

void SubProblem::put_back(std::span<const double> part, std::span<double> a) const {
  for (std::size_t k = 0; k < variables.size(); ++k) a[variables[k]] = part[k];
}

std::vector<Index> points_of(std::span<const Index> row, std::span<const Index> variables) {
  std::vector<Index> points;
  points.reserve(variables.size());
  for (const Index v : variables) points.push_back(row[v]);
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

std::vector<Index> positions_of(std::span<const Index> row, std::span<const Index> variables,
                                std::span<const Index> points) {
  std::vector<Index> positions;
  positions.reserve(variables.size());
  for (const Index v : variables)
    positions.push_back(
        static_cast<Index>(std::ranges::lower_bound(points, row[v]) - points.begin()));
  return positions;
}

SubProblem sub_problem(const DualQp& qp, std::span<const Index> variables) {
  SubProblem part;
  part.variables.assign(variables.begin(), variables.end());
  part.points = points_of(qp.row, variables);
  part.qp.K = qp.K->restrict_to(part.points);
  part.qp.row = positions_of(qp.row, variables, part.points);
  part.qp.d = qp.d;
  part.qp.A.resize(qp.A.size());
  for (const Index v : variables) {
    part.qp.block.push_back(qp.block[v]);
    for (std::size_t r = 0; r < qp.A.size(); ++r) part.qp.A[r].push_back(qp.A[r][v]);
  }
  return part;
}

SubProblem sub_problem(const DualQp& qp, std::span<const Index> variables,
                       std::span<const double> a, std::span<const double> f,
                       const Threads& threads) {
  SubProblem part = sub_problem(qp, variables);
  const std::vector<double> own = part.part_of(a);
  std::vector<double> own_f(part.points.size());
  part.qp.K->multiply(part.qp.coefficients(own), own_f, Precision::fast, threads);
  for (std::size_t k = 0; k < variables.size(); ++k) {
    Block& block = part.qp.block[k];
    block.linear += block.sign * (f[qp.row[variables[k]]] - own_f[part.qp.row[k]]);
  }
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    for (std::size_t v = 0; v < qp.size(); ++v) part.qp.d[r] -= qp.A[r][v] * a[v];
    for (std::size_t k = 0; k < own.size(); ++k) part.qp.d[r] += part.qp.A[r][k] * own[k];
  }
  return part;
}

}  // namespace maxmargin
