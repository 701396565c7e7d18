#include "maxmargin/kernel/engine/product/extended_product.hpp"

#include <utility>
#include <vector>

#include "maxmargin/base/visit.hpp"
#include "maxmargin/kernel/engine/error_bound.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t points_a_task = 16;

using NonZeros = std::vector<std::pair<Index, long double>>;

NonZeros nonzeros_of(const Rows& rows, Index row) {
  NonZeros list;
  rows.for_each(row, [&](Index feature, double value) {
    if (value != 0) list.emplace_back(feature, value);
  });
  return list;
}

long double pairing_sum(Pairing pairing, const NonZeros& x, const NonZeros& z) {
  long double sum = 0;
  std::size_t i = 0, j = 0;
  if (pairing == Pairing::dot) {
    while (i < x.size() && j < z.size()) {
      if (x[i].first == z[j].first) sum += x[i].second * z[j].second;
      const bool first = x[i].first <= z[j].first, second = z[j].first <= x[i].first;
      i += first;
      j += second;
    }
    return sum;
  }
  while (i < x.size() || j < z.size()) {
    const bool first = j == z.size() || (i < x.size() && x[i].first <= z[j].first);
    const bool second = i == x.size() || (j < z.size() && z[j].first <= x[i].first);
    sum += safe_pair_term(pairing, first ? x[i].second : 0, second ? z[j].second : 0);
    i += first;
    j += second;
  }
  return sum;
}

}  // namespace

void extended_product(const Form& form, const Rows& rows, std::span<const Index> points,
                      std::span<const Index> support, std::span<const double> coefficients,
                      std::span<long double> y, const Threads& threads) {
  std::vector<NonZeros> right(support.size());
  for (std::size_t s = 0; s < support.size(); ++s) right[s] = nonzeros_of(rows, support[s]);
  threads.split(points.size(), points_a_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const NonZeros left = nonzeros_of(rows, points[k]);
      y[k] = 0;
      for (std::size_t s = 0; s < support.size(); ++s) {
        const long double sum = pairing_sum(form.pairing, left, right[s]);
        y[k] += coefficients[s] * visit_list([&](const auto& map) { return map(sum); }, form.map);
      }
    }
  });
}

double extended_error(const Form& form, std::size_t features) {
  // A term of a distance is made of up to six operations, none of which cancels.
  constexpr std::size_t operations = 6;
  const SumError sum = form.pairing == Pairing::dot
                           ? product_sums(form, extended_roundoff, features, 0)
                           : difference_sums_error(extended_roundoff, features + operations, 0);
  return value_error(form, sum, extended_roundoff);
}

}  // namespace maxmargin
