#include "maxmargin/kernel/mercer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/linalg/symmetric.hpp"

namespace maxmargin {
namespace {

/// `count` different rows out of `rows`, increasing.
std::vector<Index> sample_rows(std::size_t rows, std::size_t count, std::uint64_t seed) {
  std::vector<Index> all(rows);
  std::iota(all.begin(), all.end(), Index{0});
  Rng rng(seed);
  for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + rng.below(rows - i)]);
  all.resize(count);
  std::sort(all.begin(), all.end());
  return all;
}

/// Calls `take(i, values)` with kernel row i of the chosen rows, by several threads.
template <class Take>
void for_each_kernel_row(const Kernel& kernel, const Rows& rows, std::span<const Index> which,
                         const Threads& threads, Take&& take) {
  const std::size_t n = which.size();
  if (is_given(kernel)) {
    threads.split(n, 16, [&](std::size_t begin, std::size_t end) {
      std::vector<double> row(rows.columns), values(n);
      for (std::size_t i = begin; i < end; ++i) {
        std::fill(row.begin(), row.end(), 0.0);
        rows.for_each(which[i], [&](Index feature, double value) { row[feature] = value; });
        for (std::size_t j = 0; j < n; ++j) values[j] = which[j] < row.size() ? row[which[j]] : 0;
        take(i, values);
      }
    });
    return;
  }
  Features sample = none_like(rows);
  sample.append(rows, which);
  const auto engine = make_engine(kernel, sample);
  threads.split(n, 16, [&](std::size_t begin, std::size_t end) {
    std::vector<double> values(n);
    for (std::size_t i = begin; i < end; ++i) {
      const Index one = static_cast<Index>(i);
      engine->exact_block(sample, std::span(&one, 1), 0, n, values.data(), n);
      take(i, values);
    }
  });
}

/// Puts D^-1/2 K D^-1/2, the mean of both halves, into the lower triangle. False where no matrix
/// with its diagonal is positive semi-definite: an entry is negative, or zero in a row that is not.
bool scale_into(SymmetricMatrix& matrix, const Kernel& kernel, const Rows& rows,
                std::span<const Index> which, const Threads& threads) {
  const std::size_t n = which.size();
  bool possible = true;
  std::vector<double> diagonal(n), largest(n, 0.0), halves;
  const bool given = is_given(kernel);
  if (given) halves.resize(n * n);
  for_each_kernel_row(
      kernel, rows, which, threads, [&](std::size_t i, std::span<const double> row) {
        diagonal[i] = row[i];
        for (std::size_t j = 0; j < n; ++j) largest[i] = std::max(largest[i], std::abs(row[j]));
        std::copy_n(row.begin(), i + 1, matrix.row(i));
        if (given) std::ranges::copy(row, halves.begin() + static_cast<std::ptrdiff_t>(i * n));
      });
  for (std::size_t i = 0; i < n; ++i)
    if (diagonal[i] < 0 || (diagonal[i] == 0 && largest[i] > 0)) possible = false;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double& value = matrix.row(i)[j];
      if (given) value = value / 2 + halves[j * n + i] / 2;
      // One after the other: their product may overflow.
      const double left = std::sqrt(std::abs(diagonal[i])),
                   right = std::sqrt(std::abs(diagonal[j]));
      value = left > 0 && right > 0 ? value / left / right : 0;
    }
  return possible;
}

/// Four sums, which processors add side by side.
double product(const double* x, const double* y, std::size_t size) {
  double sum[4] = {0, 0, 0, 0};
  std::size_t k = 0;
  for (; k + 4 <= size; k += 4)
    for (std::size_t s = 0; s < 4; ++s) sum[s] += x[k + s] * y[k + s];
  for (; k < size; ++k) sum[0] += x[k] * y[k];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// Replaces the lower triangle by Cholesky's factor; false: there is none.
bool has_factor(SymmetricMatrix& matrix) {
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    double* const row = matrix.row(i);
    for (std::size_t j = 0; j < i; ++j)
      row[j] = (row[j] - product(row, matrix.row(j), j)) / matrix.row(j)[j];
    const double pivot = row[i] - product(row, row, i);
    if (!(pivot > 0)) return false;
    row[i] = std::sqrt(pivot);
  }
  return true;
}

void take_eigenvalues(const SymmetricMatrix& matrix, Mercer& result) {
  const std::size_t n = std::min(matrix.size(), eigenvalue_rows);
  std::vector<double> gram(n * n), eigenvalues(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) gram[i * n + j] = gram[j * n + i] = matrix.row(i)[j];
  const auto size = static_cast<int>(n);
  if (syevd('U', size, gram.data(), size, eigenvalues.data()) != 0)
    throw Error(Fault::data, "the eigenvalues of the Gram matrix cannot be computed",
                "check the data for extreme values");
  result.smallest = eigenvalues.front();
  result.largest = eigenvalues.back();
  double negative = 0, all = 0;
  for (const double value : eigenvalues) {
    negative += std::max(0.0, -value);
    all += std::abs(value);
  }
  result.negative_share = all > 0 ? negative / all : 0;
}

}  // namespace

double mercer_tolerance(std::size_t rows) {
  const auto n = static_cast<double>(rows);
  return 1e-13 * n + 4e-16 * n * n;
}

Mercer mercer_check(const Kernel& kernel, const Rows& rows, std::size_t most_rows,
                    std::uint64_t seed, const Threads& threads) {
  Mercer result;
  result.rows = rows.count;
  result.sample = std::min(rows.count, most_rows);
  const std::size_t n = result.sample;
  if (n == 0) return result;
  const std::vector<Index> which = sample_rows(rows.count, n, seed);
  Factor factor(n);
  SymmetricMatrix& matrix = factor.matrix();
  const bool possible = scale_into(matrix, kernel, rows, which, threads);
  take_eigenvalues(matrix, result);
  if (n <= eigenvalue_rows) {
    result.holds = possible && result.smallest >= -mercer_tolerance(n);
    return result;
  }
  for (std::size_t i = 0; i < n; ++i) matrix.row(i)[i] += mercer_tolerance(n);
  result.holds = possible && result.smallest >= -mercer_tolerance(eigenvalue_rows) &&
                 factor.cholesky(threads) == Factor::Outcome::done;
  return result;
}

Mercer mercer_holds(const Kernel& kernel, const Rows& rows, std::size_t most_rows,
                    std::uint64_t seed, const Threads& threads) {
  const std::size_t n = std::min(rows.count, most_rows);
  if (n == 0 || n > eigenvalue_rows) return mercer_check(kernel, rows, most_rows, seed, threads);
  Mercer result;
  result.rows = rows.count;
  result.sample = n;
  SymmetricMatrix matrix(n);
  const bool possible = scale_into(matrix, kernel, rows, sample_rows(rows.count, n, seed), threads);
  for (std::size_t i = 0; i < n; ++i) matrix.row(i)[i] += mercer_tolerance(n);
  result.holds = possible && has_factor(matrix);
  return result;
}

Asymmetry asymmetry_of(const Rows& matrix, const Threads& threads) {
  const std::size_t n = matrix.count;
  const auto entry = [&](std::size_t i, std::size_t j) {
    if (j >= matrix.columns) return 0.0;
    if (!matrix.sparse()) return matrix.value(i * matrix.columns + j);
    const Index *begin = matrix.index + matrix.start[i], *end = matrix.index + matrix.start[i + 1];
    const Index* found = std::lower_bound(begin, end, static_cast<Index>(j));
    return found == end || *found != j
               ? 0.0
               : matrix.value(static_cast<std::uint64_t>(found - matrix.index));
  };
  std::vector<double> root(n);
  for (std::size_t i = 0; i < n; ++i) root[i] = std::sqrt(std::abs(entry(i, i)));
  std::vector<Asymmetry> worst(n);
  constexpr std::size_t tile = 64;  // so that both halves of a tile stay in the cache
  threads.split(n, tile, [&](std::size_t begin, std::size_t end) {
    const auto compare = [&](std::size_t i, std::size_t j, double value, double other) {
      const double size = std::max(std::abs(value), std::abs(other)) + root[i] * root[j];
      const double difference = value == other ? 0 : std::abs(value - other) / size;
      if (difference > worst[i].difference)
        worst[i] = {difference, static_cast<Index>(i), static_cast<Index>(j)};
    };
    if (matrix.sparse()) {
      for (std::size_t i = begin; i < end; ++i)
        matrix.for_each(i, [&](Index j, double value) {
          if (j < n && j != i) compare(i, j, value, entry(j, i));
        });
      return;
    }
    for (std::size_t column = 0; column < end; column += tile)
      for (std::size_t i = begin; i < end; ++i)
        for (std::size_t j = column; j < std::min(column + tile, i); ++j)
          compare(i, j, entry(i, j), entry(j, i));
  });
  const auto most = std::ranges::max_element(worst, {}, &Asymmetry::difference);
  return most == worst.end() ? Asymmetry{} : *most;
}

}  // namespace maxmargin
