#include "maxmargin/linalg/class_sums.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/linalg/class_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace class_sums_loops {
namespace hn = hwy::HWY_NAMESPACE;

using Classes = hn::CappedTag<double, 8>;

/// Calls `visit(feature, value)` for each value of a row: the kinds of rows are told apart once.
template <class Visit>
HWY_INLINE void for_each_value(const ClassRow& row, Visit&& visit) {
  const auto with = [&](auto&& value) HWY_ATTR {
    if (row.feature == nullptr)
      for (std::size_t k = 0; k < row.count; ++k) visit(k, value(k));
    else
      for (std::size_t k = 0; k < row.count; ++k) visit(row.feature[k], value(k));
  };
  if (row.doubles != nullptr)
    with([&](std::size_t k) HWY_ATTR { return row.doubles[k]; });
  else if (row.floats != nullptr)
    with([&](std::size_t k) HWY_ATTR { return static_cast<double>(row.floats[k]); });
  else
    with([](std::size_t) HWY_ATTR { return 1.0; });
}

/// Some vectors of classes from `at` on stay in registers; the last one ends with the last class,
/// and so may begin inside the one before it.
template <std::size_t vectors>
HWY_INLINE void sum_classes(const double* w, const ClassRow& row, std::size_t classes,
                            std::size_t at, double* sums) {
  const Classes d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<Classes> sum[vectors];
  std::size_t begin[vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    begin[v] = std::min(at + v * lanes, classes - lanes);
    sum[v] = hn::Zero(d);
  }
  for_each_value(row, [&](std::size_t feature, double value) HWY_ATTR {
    const double* weights = w + feature * classes;
    const auto factor = hn::Set(d, value);
    for (std::size_t v = 0; v < vectors; ++v)
      sum[v] = hn::Add(sum[v], hn::Mul(factor, hn::LoadU(d, weights + begin[v])));
  });
  for (std::size_t v = 0; v < vectors; ++v) hn::StoreU(sum[v], d, sums + begin[v]);
}

void class_sums_loop(const double* w, const ClassRow& row, std::size_t classes, double* sums) {
  const std::size_t lanes = hn::Lanes(Classes());
  if (classes < lanes) {
    std::fill(sums, sums + classes, 0.0);
    for_each_value(row, [&](std::size_t feature, double value) {
      for (std::size_t c = 0; c < classes; ++c) sums[c] += value * w[feature * classes + c];
    });
    return;
  }
  std::size_t at = 0;
  for (; at + 2 * lanes < classes; at += 3 * lanes) sum_classes<3>(w, row, classes, at, sums);
  for (; at < classes; at += lanes) sum_classes<1>(w, row, classes, at, sums);
}

void add_to_classes_loop(double* w, const ClassRow& row, std::size_t classes,
                         const double* change) {
  const Classes d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t at = 0;
  for (; at + lanes <= classes; at += lanes) {
    if (std::all_of(change + at, change + at + lanes, [](double each) { return each == 0; }))
      continue;
    const auto by = hn::LoadU(d, change + at);
    for_each_value(row, [&](std::size_t feature, double value) HWY_ATTR {
      double* weights = w + feature * classes + at;
      hn::StoreU(hn::Add(hn::LoadU(d, weights), hn::Mul(hn::Set(d, value), by)), d, weights);
    });
  }
  for (; at < classes; ++at)
    if (change[at] != 0)
      for_each_value(row, [&](std::size_t feature, double value) {
        w[feature * classes + at] += value * change[at];
      });
}

}  // namespace class_sums_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(class_sums_loop);
HWY_EXPORT(add_to_classes_loop);

void class_sums(const double* w, const ClassRow& row, std::size_t classes, double* sums) {
  HWY_DYNAMIC_DISPATCH(class_sums_loop)(w, row, classes, sums);
}
void add_to_classes(double* w, const ClassRow& row, std::size_t classes, const double* change) {
  HWY_DYNAMIC_DISPATCH(add_to_classes_loop)(w, row, classes, change);
}

}  // namespace maxmargin
#endif
