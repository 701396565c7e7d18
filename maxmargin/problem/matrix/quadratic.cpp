#include "maxmargin/problem/matrix/quadratic.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/problem/matrix/low_rank.hpp"

namespace maxmargin {

void Quadratic::block(std::span<const Index> which, std::span<const Index> columns,
                      std::span<float* const> out, const Threads& threads) const {
  constexpr std::size_t rows_at_once = 64;
  std::vector<float> values(std::min(rows_at_once, which.size()) * size());
  for (std::size_t begin = 0; begin < which.size(); begin += rows_at_once) {
    const auto some = which.subspan(begin, std::min(rows_at_once, which.size() - begin));
    std::vector<float*> to;
    for (std::size_t r = 0; r < some.size(); ++r) to.push_back(values.data() + r * size());
    rows(some, 0, size(), to, threads);
    for (std::size_t r = 0; r < some.size(); ++r)
      for (std::size_t c = 0; c < columns.size(); ++c) out[begin + r][c] = to[r][columns[c]];
  }
}

void Quadratic::among(std::span<const Index> points, std::span<const Index> which,
                      std::span<float* const> out, const Threads& threads) const {
  restrict_to(points)->rows(which, 0, points.size(), out, threads);
}

void Quadratic::code_rows(std::span<const Index>, std::size_t, std::size_t,
                          std::span<std::uint8_t* const>, const Threads&) const {
  throw std::logic_error("these rows have no codes");
}

void Quadratic::add_product(std::span<const Index> which, std::span<const double> coefficients,
                            std::span<double> y, const Threads& threads) const {
  constexpr std::size_t rows_at_once = 32;
  std::vector<float> values(std::min(rows_at_once, which.size()) * size());
  std::vector<float*> out;
  for (std::size_t r = 0; r < std::min(rows_at_once, which.size()); ++r)
    out.push_back(values.data() + r * size());
  for (std::size_t k = 0; k < which.size(); k += rows_at_once) {
    const std::size_t some = std::min(rows_at_once, which.size() - k);
    rows(which.subspan(k, some), 0, size(), std::span(out).first(some), threads);
    const std::vector<const float*> in(out.begin(),
                                       out.begin() + static_cast<std::ptrdiff_t>(some));
    add_scaled_rows(in, coefficients.subspan(k, some), size(), y.data());
  }
}

void Quadratic::near_values(std::span<const Index> which, std::size_t begin, std::size_t count,
                            double, const NearValues& body) const {
  const Threads alone(1);
  std::vector<float> row(count);
  float* const out[] = {row.data()};
  for (std::size_t r = 0; r < which.size(); ++r) {
    rows(which.subspan(r, 1), begin, count, out, alone);
    body(r, begin, row);
  }
}

void Quadratic::exact_block(std::span<const Index> which, std::size_t begin, std::size_t count,
                            double* out, std::size_t stride) const {
  const Threads alone(1);
  std::vector<double> unit(size(), 0.0), row(size());
  for (std::size_t r = 0; r < which.size(); ++r) {
    unit[which[r]] = 1;
    multiply(unit, row, Precision::exact, alone);
    unit[which[r]] = 0;
    std::copy_n(row.data() + begin, count, out + r * stride);
  }
}

std::shared_ptr<const LowRank> Quadratic::low_rank(std::size_t) const { return nullptr; }

}  // namespace maxmargin
