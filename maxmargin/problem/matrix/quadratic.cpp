#include "maxmargin/problem/matrix/quadratic.hpp"

#include <algorithm>
#include <vector>

#include "maxmargin/problem/matrix/by_rows.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"

namespace maxmargin {

void Quadratic::block(std::span<const Index> which, std::span<const Index> columns,
                      std::span<float* const> out, const Threads& threads) const {
  if (const PartialProducts* partial = can().partial)
    partial->block(which, columns, out, threads);
  else
    block_by_rows(*this, which, columns, out, threads);
}

void Quadratic::among(std::span<const Index> points, std::span<const Index> which,
                      std::span<float* const> out, const Threads& threads) const {
  if (const PartialProducts* partial = can().partial)
    partial->among(points, which, out, threads);
  else
    among_by_rows(*this, points, which, out, threads);
}

void Quadratic::add_product(std::span<const Index> which, std::span<const double> coefficients,
                            std::span<double> y, const Threads& threads) const {
  if (const PartialProducts* partial = can().partial)
    partial->add_product(which, coefficients, y, threads);
  else
    add_product_by_rows(*this, which, coefficients, y, threads);
}

std::shared_ptr<const LowRank> Quadratic::low_rank(std::size_t most_columns) const {
  const Factored* factored = can().factored;
  return factored != nullptr ? factored->low_rank(most_columns) : nullptr;
}

double nonzero_share(const Quadratic& K) {
  const TruncatedRows* truncated = K.can().truncated;
  return truncated != nullptr ? truncated->nonzero_share() : 1;
}

bool stores_truncated_rows(const Quadratic& K) {
  const StoredRows* stored = K.can().stored;
  return stored != nullptr && stored->are_truncated() && stored->has_room();
}

void block_by_rows(const Quadratic& K, std::span<const Index> which, std::span<const Index> columns,
                   std::span<float* const> out, const Threads& threads) {
  constexpr std::size_t rows_at_once = 64;
  const std::size_t size = K.size();
  std::vector<float> values(std::min(rows_at_once, which.size()) * size);
  for (std::size_t begin = 0; begin < which.size(); begin += rows_at_once) {
    const auto some = which.subspan(begin, std::min(rows_at_once, which.size() - begin));
    std::vector<float*> to;
    for (std::size_t r = 0; r < some.size(); ++r) to.push_back(values.data() + r * size);
    K.rows(some, 0, size, to, threads);
    for (std::size_t r = 0; r < some.size(); ++r)
      for (std::size_t c = 0; c < columns.size(); ++c) out[begin + r][c] = to[r][columns[c]];
  }
}

void among_by_rows(const Quadratic& K, std::span<const Index> points, std::span<const Index> which,
                   std::span<float* const> out, const Threads& threads) {
  K.restrict_to(points)->rows(which, 0, points.size(), out, threads);
}

void add_product_by_rows(const Quadratic& K, std::span<const Index> which,
                         std::span<const double> coefficients, std::span<double> y,
                         const Threads& threads) {
  constexpr std::size_t rows_at_once = 32;
  const std::size_t size = K.size();
  std::vector<float> values(std::min(rows_at_once, which.size()) * size);
  std::vector<float*> out;
  for (std::size_t r = 0; r < std::min(rows_at_once, which.size()); ++r)
    out.push_back(values.data() + r * size);
  for (std::size_t k = 0; k < which.size(); k += rows_at_once) {
    const std::size_t some = std::min(rows_at_once, which.size() - k);
    K.rows(which.subspan(k, some), 0, size, std::span(out).first(some), threads);
    const std::vector<const float*> in(out.begin(),
                                       out.begin() + static_cast<std::ptrdiff_t>(some));
    add_scaled_rows(in, coefficients.subspan(k, some), size, y.data());
  }
}

}  // namespace maxmargin
