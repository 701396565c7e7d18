#include "maxmargin/problem/consistent.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "maxmargin/base/error.hpp"

namespace maxmargin {
namespace {

// Relative rounding error of a sum.
constexpr double rounding = 1e-12;

void check_block(const Block& block, std::size_t v) {
  const auto variable = [&] { return "variable " + std::to_string(v); };
  // Not `>`: a bound that is not a number is wrong too.
  if (!(block.lower <= block.upper))
    throw Error(Fault::data, variable() + " has its lower bound above its upper bound",
                "check costs and weights");
  if (!std::isfinite(block.linear) || !std::isfinite(block.sign))
    throw Error(Fault::data, variable() + " has a cost that is not a finite number",
                "check labels, costs and weights");
  if (!(block.curvature >= 0) || !std::isfinite(block.curvature))
    throw Error(Fault::data, variable() + " has a negative or infinite curvature",
                "choose larger costs and weights (of a squared loss it is 1 / (2 C)), or check the "
                "loss's parameters");
}

void check_row(const DualQp& qp, std::size_t r) {
  double least = 0, most = 0, size = std::abs(qp.d[r]);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const double weight = qp.A[r][v];
    if (weight == 0) continue;
    const double x = weight * qp.block[v].lower, y = weight * qp.block[v].upper;
    least += std::min(x, y);
    most += std::max(x, y);
    if (std::isfinite(x) && std::isfinite(y)) size += std::max(std::abs(x), std::abs(y));
  }
  const double slack = rounding * size;
  if (qp.d[r] >= least - slack && qp.d[r] <= most + slack) return;
  throw Error(Fault::data,
              "no coefficients within their bounds fulfil equality row " + std::to_string(r) +
                  ": its sum lies between " + std::to_string(least) + " and " +
                  std::to_string(most) + ", and should be " + std::to_string(qp.d[r]),
              "choose a smaller nu, or larger costs");
}

}  // namespace

void require_consistent(const DualQp& qp) {
  for (std::size_t v = 0; v < qp.size(); ++v) check_block(qp.block[v], v);
  for (std::size_t r = 0; r < qp.A.size(); ++r) check_row(qp, r);
}

}  // namespace maxmargin
