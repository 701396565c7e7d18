#include "maxmargin/problem/margin.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace maxmargin {
namespace {

// A hard margin below this share of the data's radius counts as none.
constexpr double least_margin = 1e-6;
// Of |w|^2, so that |w| has ten digits less than its terms.
constexpr double no_digits = 1e-20;

std::vector<double> signed_by_block(const DualQp& qp, std::span<const double> a) {
  std::vector<double> beta(a.begin(), a.end());
  for (std::size_t v = 0; v < beta.size(); ++v) beta[v] *= qp.block[v].sign;
  return beta;
}

}  // namespace

Sizes::Sizes(std::span<const double> beta, std::span<const Index> point, std::span<const double> f,
             std::span<const double> diagonals) {
  for (std::size_t v = 0; v < beta.size(); ++v) {
    norm += beta[v] * f[point[v]];
    sum += std::abs(beta[v]);
    squares += beta[v] * beta[v];
    diagonal = std::max(diagonal, diagonals[point[v]]);
  }
}

Sizes::Sizes(const DualQp& qp, std::span<const double> a, std::span<const double> f)
    : Sizes(signed_by_block(qp, a), qp.row, f, qp.K->diagonal()) {}

bool Sizes::are_unbounded() const {
  return norm < least_margin * least_margin * diagonal * sum * sum;
}

bool Sizes::are_of_no_margin() const { return norm <= float_rounding * diagonal * squares; }

bool Sizes::are_of_no_digits() const { return norm <= no_digits * diagonal * squares; }

bool has_hard_margin(const DualQp& qp) {
  return std::any_of(qp.block.begin(), qp.block.end(),
                     [](const Block& block) { return block.is_hard(); });
}

bool is_homogeneous(const DualQp& qp) {
  return std::all_of(qp.block.begin(), qp.block.end(), [](const Block& block) {
    return block.linear == 0 && block.curvature == 0 && block.entropy == Entropy::none;
  });
}

std::string why_unbounded(const DualQp& qp) {
  if (has_hard_margin(qp))
    return "no function of this kernel separates the classes: allow errors at a --cost, or take "
           "another kernel";
  if (is_homogeneous(qp)) return std::string(no_margin);
  return "the kernel is not positive semi-definite, and the objective falls without end: take a "
         "loss that grows linearly, or another kernel";
}

}  // namespace maxmargin
