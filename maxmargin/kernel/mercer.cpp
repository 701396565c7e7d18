#include "maxmargin/kernel/mercer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/linalg/blas.hpp"

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

std::vector<double> gram_of(const Kernel& kernel, const Rows& rows, std::span<const Index> which,
                            const Threads& threads) {
  const std::size_t n = which.size();
  std::vector<double> gram(n * n);
  if (std::holds_alternative<Precomputed>(kernel)) {
    std::vector<double> row(rows.columns);
    for (std::size_t i = 0; i < n; ++i) {
      std::fill(row.begin(), row.end(), 0.0);
      rows.for_each(which[i], [&](Index feature, double value) { row[feature] = value; });
      for (std::size_t j = 0; j < n; ++j)
        gram[i * n + j] = which[j] < row.size() ? row[which[j]] : 0;
    }
    return gram;
  }
  Features sample = rows.sparse() ? Features::sparse(rows.columns) : Features::dense(rows.columns);
  sample.append(rows, which);
  const auto engine = make_engine(kernel, sample);
  std::vector<Index> every(n);
  std::iota(every.begin(), every.end(), Index{0});
  threads.split(n, 64, [&](std::size_t begin, std::size_t end) {
    engine->exact_block(sample, std::span(every).subspan(begin, end - begin), 0, n,
                        gram.data() + begin * n, n);
  });
  return gram;
}

}  // namespace

Mercer mercer_check(const Kernel& kernel, const Rows& rows, std::size_t most_rows,
                    std::uint64_t seed, const Threads& threads) {
  Mercer result;
  result.sample = std::min(rows.count, most_rows);
  const std::size_t n = result.sample;
  if (n == 0) return result;
  const std::vector<Index> which = sample_rows(rows.count, n, seed);
  std::vector<double> gram = gram_of(kernel, rows, which, threads);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      result.asymmetry = std::max(result.asymmetry, std::abs(gram[i * n + j] - gram[j * n + i]));
      gram[i * n + j] = gram[j * n + i] = (gram[i * n + j] + gram[j * n + i]) / 2;
    }
  std::vector<double> eigenvalues(n);
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
  // The rounding of the eigenvalues themselves.
  const double rounding =
      1e-13 * static_cast<double>(n) * std::max(std::abs(result.largest), 1e-300);
  result.holds = result.smallest >= -rounding;
  return result;
}

}  // namespace maxmargin
