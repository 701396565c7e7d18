#include "maxmargin/problem/matrix/kernel_diagonal.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/kernel/engine/engine.hpp"

namespace maxmargin {
namespace {

// Beyond this, sums of float kernel values may overflow.
constexpr double largest_value = 1e35;

// Below this they are denormal floats, or zeros, where they are not at their largest.
constexpr double least_value = 1e-30;

[[noreturn]] void throw_overflow() {
  throw Error(Fault::data, "the kernel's values overflow on this data",
              "scale the features (--scale), or choose a smaller gamma or degree");
}

}  // namespace

std::vector<double> checked_diagonal(std::vector<double> diagonal) {
  double largest = 0;
  for (const double value : diagonal) largest = std::max(largest, std::abs(value));
  if (largest > 0 && largest < least_value)
    throw Error(Fault::data, "the kernel's values underflow on this data",
                "scale the features (--scale), or choose a larger gamma");
  for (const double value : diagonal)
    if (!(std::abs(value) < largest_value)) throw_overflow();
  return diagonal;
}

std::vector<double> diagonal_of(const Kernel& kernel, const Rows& rows, const Threads& threads) {
  constexpr double largest_sum = 1e37;  // of float, in which sums are split
  const auto form = form_of(kernel);
  if (form && std::holds_alternative<HyperbolicTangent>(form->map))
    for (std::size_t i = 0; i < rows.count; ++i) {
      double squares = 0;
      rows.for_each(i, [&](Index, double value) { squares += value * value; });
      if (!(squares < largest_sum)) throw_overflow();
    }
  return checked_diagonal(self_values(kernel, rows, threads));
}

}  // namespace maxmargin
