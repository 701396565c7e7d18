#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin::made {

enum class Cost { hinge, squared_hinge, huberised, logistic, exponential, tube };

/// Two noisy classes, or a noisy function, of rows of some numbers, with `functions` unpenalised
/// functions: powers of the second number, the first of which is the bias.
struct Noisy {
  Cost cost = Cost::hinge;
  std::size_t size = 50, functions = 1, columns = 2;
  double C = 1;
  Kernel kernel = Rbf{1};
  std::uint64_t seed = 5;
};

/// The blocks of an example with label y and target `f`.
inline std::vector<Block> blocks_of(Cost cost, double C, double y, double f) {
  switch (cost) {
    case Cost::hinge:
      return {{y, -1, 0, C, 0}};
    case Cost::squared_hinge:
      return {{y, -1, 0, infinity, 1 / C}};
    case Cost::huberised:
      return {{y, -1, 0, C, 0.5 / C}};
    case Cost::logistic:
      return {{.sign = y, .upper = C, .entropy = Entropy::logistic}};
    case Cost::exponential:
      return {{.sign = y, .upper = infinity, .entropy = Entropy::exponential, .scale = C}};
    case Cost::tube:
      return {{1, 0.1 - f, 0, C, 0}, {-1, 0.1 + f, 0, C, 0}};
  }
  return {};
}

inline DualQp machine(const Noisy& noisy) {
  Rng rng(noisy.seed);
  Features x = Features::dense(noisy.columns);
  DualQp qp;
  qp.A.resize(noisy.functions);
  qp.d.assign(noisy.functions, 0.0);
  for (std::size_t i = 0; i < noisy.size; ++i) {
    const double y = i % 2 == 0 ? 1 : -1;
    std::vector<double> values{rng.normal() + y};
    while (values.size() < noisy.columns) values.push_back(rng.normal());
    x.append(values);
    for (const Block& block : blocks_of(noisy.cost, noisy.C, y, std::sin(values[0]))) {
      qp.row.push_back(static_cast<Index>(i));
      qp.block.push_back(block);
      for (std::size_t r = 0; r < noisy.functions; ++r)
        qp.A[r].push_back(block.sign * std::pow(values[1], static_cast<double>(r)));
    }
  }
  qp.K = make_kernel_quadratic(noisy.kernel, std::make_shared<const Features>(std::move(x)));
  return qp;
}

}  // namespace maxmargin::made
