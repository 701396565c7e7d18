#include "maxmargin/problem/matrix/linear_product.hpp"

#include <algorithm>
#include <vector>

namespace maxmargin {
namespace {

// Parts of the rows that are summed up on their own, whatever the number of threads; with so many
// features that the sums would take more memory than they save time, one.
constexpr std::size_t most_parts = 16;
constexpr std::size_t rows_a_part = 1024;
constexpr std::size_t most_sums = std::size_t{1} << 20;

}  // namespace

void linear_product(const Rows& rows, std::span<const Index> which, std::span<const double> x,
                    std::span<double> y, const Threads& threads) {
  const std::size_t m = which.size(), n = rows.columns;
  std::size_t parts = std::clamp<std::size_t>(m / rows_a_part, 1, most_parts);
  if (parts * n > most_sums) parts = 1;
  std::vector<double> w(parts * n, 0.0);
  threads.run(parts, [&](std::size_t part) {
    double* sum = w.data() + part * n;
    for (std::size_t i = part * m / parts; i < (part + 1) * m / parts; ++i)
      if (x[i] != 0)
        rows.for_each(which[i], [&](Index feature, double value) { sum[feature] += x[i] * value; });
  });
  for (std::size_t part = 1; part < parts; ++part)
    for (std::size_t j = 0; j < n; ++j) w[j] += w[part * n + j];
  threads.split(m, rows_a_part, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double sum = 0;
      rows.for_each(which[i], [&](Index feature, double value) { sum += w[feature] * value; });
      y[i] = sum;
    }
  });
}

}  // namespace maxmargin
