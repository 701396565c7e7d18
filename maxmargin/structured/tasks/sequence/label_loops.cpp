#include "maxmargin/structured/tasks/sequence/label_loops.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/structured/tasks/sequence/label_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace label_loops {
namespace hn = hwy::HWY_NAMESPACE;

using Labels = hn::CappedTag<double, 8>;

/// Some vectors of labels from `at` on stay in registers; the last one ends with the last label,
/// and so may begin inside the one before it.
template <std::size_t vectors>
HWY_INLINE void max_labels(const double* from, const double* pair, std::size_t labels,
                           std::size_t at, double* to) {
  const Labels d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<Labels> best[vectors];
  std::size_t begin[vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    begin[v] = std::min(at + v * lanes, labels - lanes);
    best[v] = hn::Set(d, -std::numeric_limits<double>::infinity());
  }
  for (std::size_t k = 0; k < labels; ++k) {
    const auto before = hn::Set(d, from[k]);
    const double* row = pair + k * labels;
    for (std::size_t v = 0; v < vectors; ++v)
      best[v] = hn::Max(best[v], hn::Add(before, hn::LoadU(d, row + begin[v])));
  }
  for (std::size_t v = 0; v < vectors; ++v) hn::StoreU(best[v], d, to + begin[v]);
}

void best_before_loop(const double* from, const double* pair, std::size_t labels, double* to) {
  const std::size_t lanes = hn::Lanes(Labels());
  if (labels < lanes) {
    std::fill(to, to + labels, -std::numeric_limits<double>::infinity());
    for (std::size_t k = 0; k < labels; ++k)
      for (std::size_t l = 0; l < labels; ++l)
        to[l] = std::max(to[l], from[k] + pair[k * labels + l]);
    return;
  }
  std::size_t at = 0;
  for (; at + 2 * lanes < labels; at += 3 * lanes) max_labels<3>(from, pair, labels, at, to);
  for (; at < labels; at += lanes) max_labels<1>(from, pair, labels, at, to);
}

}  // namespace label_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(best_before_loop);

void best_before(const double* from, const double* pair, std::size_t labels, double* to) {
  HWY_DYNAMIC_DISPATCH(best_before_loop)(from, pair, labels, to);
}

}  // namespace maxmargin
#endif
