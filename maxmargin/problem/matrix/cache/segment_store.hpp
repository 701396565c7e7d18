#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// Pieces of kernel rows that several problems need: for each row its values over the stretch of
/// rows it lies in itself (its class). Several threads may look up and add at the same time.
/// Segments are never removed; all threads compute the same values, and the first one stores them.
class SegmentStore {
 public:
  /// For so many rows, within a number of bytes.
  SegmentStore(std::size_t rows, std::size_t bytes) : bytes_(bytes), segments_(rows) {}
  ~SegmentStore();
  SegmentStore(const SegmentStore&) = delete;
  SegmentStore& operator=(const SegmentStore&) = delete;

  /// The values of a row over [begin, begin + count), or null.
  const float* find(std::size_t row, std::size_t begin, std::size_t count) const;
  /// Stores a copy if there is room and nothing is stored for this row yet.
  void add(std::size_t row, std::size_t begin, std::size_t count, const float* values);
  /// The same with the values themselves.
  void add(std::size_t row, std::size_t begin, std::size_t count, std::unique_ptr<float[]> values);
  /// How many values there is room for.
  std::size_t room() const {
    return (bytes_ - std::min<std::size_t>(bytes_, used_)) / sizeof(float);
  }

 private:
  struct Segment {
    std::size_t begin, count;
    std::unique_ptr<float[]> values;
  };

  std::size_t bytes_;
  std::atomic<std::size_t> used_ = 0;
  std::vector<std::atomic<const Segment*>> segments_;
};

}  // namespace maxmargin
