#pragma once

#include <cstddef>

namespace maxmargin {

/// Values of several classes at the same columns: g[class * stride + column]. Where bar is 0 a
/// class may give way to others, where it is infinite it may not.
struct ClassColumns {
  double* g;
  const double* bar;
  std::size_t stride, classes, count;
};

/// g of each class += by[class] row, where by is not 0; then spread[c] = max g - min (g + bar) over
/// the classes of each column. `row` may be null: nothing is added. Returns the first column with
/// the largest spread. The same bits on any machine.
std::size_t add_and_spread(const ClassColumns& columns, const float* row, const double* by,
                           double* spread);

}  // namespace maxmargin
