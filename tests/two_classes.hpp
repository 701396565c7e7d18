#pragma once

#include <memory>
#include <vector>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/problem/matrix/biased.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin::made {

/// The machine of two noisy classes in the plane: with an unpenalised bias an equality row, with a
/// penalised one another matrix.
inline DualQp two_classes(std::size_t rows, double cost, bool penalised) {
  Rng rng(5);
  std::vector<double> values;
  DualQp qp;
  for (std::size_t i = 0; i < rows; ++i) {
    const double y = i % 2 == 0 ? 1 : -1;
    values.push_back(rng.normal() + y);
    values.push_back(rng.normal());
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back({y, -1, 0, cost, 0});
  }
  qp.K =
      make_kernel_quadratic(Rbf{1.0}, std::make_shared<const Features>(Features::dense(2, values)));
  if (penalised) {
    qp.K = make_biased(qp.K);
    return qp;
  }
  qp.A.emplace_back();
  for (const Block& block : qp.block) qp.A[0].push_back(block.sign);
  qp.d = {0};
  return qp;
}

}  // namespace maxmargin::made
