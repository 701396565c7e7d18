#include "maxmargin/problem/matrix/cache/segment_store.hpp"

#include <algorithm>
#include <utility>

namespace maxmargin {

SegmentStore::~SegmentStore() {
  for (auto& segment : segments_) delete segment.load();
}

const float* SegmentStore::find(std::size_t row, std::size_t begin, std::size_t count) const {
  const Segment* segment = segments_[row].load(std::memory_order_acquire);
  if (segment == nullptr || segment->begin != begin || segment->count != count) return nullptr;
  return segment->values.get();
}

void SegmentStore::add(std::size_t row, std::size_t begin, std::size_t count, const float* values) {
  if (segments_[row].load(std::memory_order_relaxed) != nullptr || room() < count) return;
  auto copy = std::make_unique_for_overwrite<float[]>(count);
  std::copy_n(values, count, copy.get());
  add(row, begin, count, std::move(copy));
}

void SegmentStore::add(std::size_t row, std::size_t begin, std::size_t count,
                       std::unique_ptr<float[]> values) {
  const std::size_t bytes = count * sizeof(float);
  if (used_.fetch_add(bytes) + bytes > bytes_) {
    used_ -= bytes;
    return;
  }
  auto fresh = std::make_unique<Segment>(Segment{begin, count, std::move(values)});
  const Segment* expected = nullptr;
  if (segments_[row].compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel))
    fresh.release();
  else
    used_ -= bytes;
}

}  // namespace maxmargin
