#pragma once

#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "maxmargin/kernel/engine/engine.hpp"
#include "tests/made_data.hpp"

// The list of kernels as tests use it.
namespace maxmargin::made {

struct NamedKernel {
  std::string name;
  Kernel kernel;
};
inline void PrintTo(const NamedKernel& kernel, std::ostream* out) { *out << kernel.name; }

/// (1 + x'z)^2 by blocks, as a user would write it.
inline void quadratic_kernel(const Rows& left, std::span<const Index> left_rows, const Rows& right,
                             std::size_t right_begin, std::size_t right_count, double* out) {
  const Kernel plain = Polynomial{.gamma = 1, .degree = 2, .coef0 = 1};
  for (const Index row : left_rows)
    for (std::size_t c = 0; c < right_count; ++c)
      *out++ = naive_value(plain, left, row, right, right_begin + c);
}

inline std::vector<NamedKernel> all_kernels() {
  std::vector<NamedKernel> result;
  for_each_component<Kernel>([&]<class K>(K kernel) {
    if constexpr (requires { kernel.coef0; }) kernel.coef0 = 0.5;
    if constexpr (requires { kernel.gamma; }) kernel.gamma = 0.75;
    if constexpr (requires { kernel.function; }) kernel.function = quadratic_kernel;
    if constexpr (requires { kernel.distance; }) {
      for (const Distance distance :
           {Distance::squared_euclidean, Distance::euclidean, Distance::manhattan,
            Distance::chi_squared, Distance::hellinger}) {
        kernel.distance = distance;
        result.push_back({std::string(K::name) + "_" + std::string(to_string(distance)), kernel});
      }
    } else {
      result.push_back({std::string(K::name), kernel});
    }
  });
  result.push_back({"polynomial_indefinite", Polynomial{.gamma = 0.5, .degree = 2, .coef0 = -0.5}});
  return result;
}

/// K(x_i, x_j) of the rows as the data of a precomputed kernel.
inline Dataset gram_of(Dataset data) {
  const Kernel kernel = Rbf{.gamma = 0.5};
  Features gram = Features::dense(data.rows());
  for (std::size_t i = 0; i < data.rows(); ++i) {
    std::vector<double> row;
    for (std::size_t j = 0; j < data.rows(); ++j)
      row.push_back(naive_value(kernel, data.x, i, data.x, j));
    gram.append(row);
  }
  data.x = std::move(gram);
  return data;
}

}  // namespace maxmargin::made
