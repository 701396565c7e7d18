#include "maxmargin/certify/extended.hpp"

#include <algorithm>
#include <vector>

#include "maxmargin/certify/enclosure.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"

namespace maxmargin {
namespace {

// verify repeats certificates in the same arithmetic, with bounds of this order: room for these.
constexpr double repeatable = 4;

}  // namespace

bool has_extended_product(const Quadratic& K, std::size_t nonzeros, const CertifyChoice& choice) {
  const ExtendedProducts* extended = K.can().extended;
  return extended != nullptr && extended->extended_work(nonzeros) <= choice.most_extended_work;
}

double extended_product(const Quadratic& K, std::span<const double> x, std::span<double> f,
                        const Threads& threads) {
  std::vector<long double> sums(K.size());
  K.can().extended->multiply_extended(x, sums, threads);
  double largest = 0;  // |f_p| / sqrt(K_pp); f is 0 where K_pp is
  for (std::size_t p = 0; p < f.size(); ++p) {
    f[p] = static_cast<double>(sums[p]);
    if (f[p] != 0) largest = std::max(largest, std::abs(f[p]) / scale_of(K, p));
  }
  return rounded_up(repeatable * extended_product_error(K, x) + 1.01 * unit_roundoff * largest);
}

}  // namespace maxmargin
