#include "maxmargin/kernel/engine/panel/panel_boxes.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/kernel/engine/panel/panel_boxes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace panel_boxes_loops {
namespace hn = hwy::HWY_NAMESPACE;

/// Appends those of `among` whose squared distance from the box is below the limit.
void find_near(const float* box, std::size_t stride, const float* rows, const Index* among,
               std::size_t count, float limit, std::vector<Index>& near) {
  const hn::CappedTag<float, 16> d;
  const float *low = box, *high = box + stride;
  for (std::size_t k = 0; k < count; ++k) {
    const float* row = rows + among[k] * stride;
    auto sum = hn::Zero(d);
    for (std::size_t j = 0; j < stride; j += hn::Lanes(d)) {
      const auto x = hn::Load(d, row + j);
      const auto below = hn::Sub(hn::Load(d, low + j), x),
                 above = hn::Sub(x, hn::Load(d, high + j));
      const auto outside = hn::Max(hn::Max(below, above), hn::Zero(d));
      sum = hn::MulAdd(outside, outside, sum);
    }
    if (hn::GetLane(hn::SumOfLanes(d, sum)) < limit) near.push_back(among[k]);
  }
}

}  // namespace panel_boxes_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {
namespace {

HWY_EXPORT(find_near);

// More than the rounding of a float sum of squares.
constexpr double safety = 1.0001;

std::vector<Index> near(const float* box, std::size_t stride, const float* rows,
                        std::span<const Index> among, double limit) {
  std::vector<Index> found;
  HWY_DYNAMIC_DISPATCH(find_near)
  (box, stride, rows, among.data(), among.size(), static_cast<float>(limit * safety), found);
  return found;
}

AlignedVector<float> no_boxes(std::size_t count, std::size_t stride, std::size_t slots) {
  AlignedVector<float> boxes(2 * count * stride, 0.0f);
  for (std::size_t b = 0; b < count; ++b) {
    float* low = boxes.data() + 2 * b * stride;
    std::fill_n(low, slots, std::numeric_limits<float>::max());
    std::fill_n(low + stride, slots, std::numeric_limits<float>::lowest());
  }
  return boxes;
}

void widen(float* box, std::size_t stride, const float* row) {
  for (std::size_t j = 0; j < stride; ++j) {
    box[j] = std::min(box[j], row[j]);
    box[stride + j] = std::max(box[stride + j], row[j]);
  }
}

}  // namespace

PanelBoxes::PanelBoxes(std::size_t panels, std::size_t slots)
    : stride_((slots + 15) / 16 * 16),
      panels_(no_boxes(panels, stride_, slots)),
      groups_(no_boxes((panels + panels_a_group - 1) / panels_a_group, stride_, slots)) {}

void PanelBoxes::add(std::size_t panel, const float* row) {
  widen(panels_.data() + 2 * panel * stride_, stride_, row);
  widen(groups_.data() + 2 * (panel / panels_a_group) * stride_, stride_, row);
}

std::vector<Index> PanelBoxes::near_panel(std::size_t panel, const float* rows,
                                          std::span<const Index> among, double limit) const {
  return near(panels_.data() + 2 * panel * stride_, stride_, rows, among, limit);
}

std::vector<Index> PanelBoxes::near_group(std::size_t panel, const float* rows,
                                          std::span<const Index> among, double limit) const {
  return near(groups_.data() + 2 * (panel / panels_a_group) * stride_, stride_, rows, among, limit);
}

}  // namespace maxmargin
#endif
