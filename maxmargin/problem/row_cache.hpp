#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/problem/quadratic.hpp"

namespace maxmargin {

/// Rows of a Quadratic kept in one arena of a fixed number of bytes. Rows that have to go are the
/// longest unused ones, those marked as precious last.
class RowCache {
 public:
  /// Room for at least `least_rows` rows, whatever the budget.
  RowCache(std::shared_ptr<const Quadratic> K, std::size_t bytes, std::size_t least_rows);

  /// Pointers to the rows of the points, computed if need be, valid until the next call. No more
  /// points at a time than there is room for.
  std::vector<const float*> rows(std::span<const Index> points, const std::vector<bool>& precious,
                                 const Threads& threads);

  /// Gives back the rows of these points where that is cheaper than keeping them: rows that were
  /// asked for only once and are computed about as fast as fresh memory is had. Their memory is the
  /// next to be used.
  void release(std::span<const Index> points);

  bool holds(Index point) const { return slot_of_[point] != none; }
  /// A row that is held.
  const float* row(Index point) const { return arena_.data() + slot_of_[point] * length_; }
  std::size_t capacity() const { return capacity_; }
  /// Whether so many new rows would push out others; if not, `precious` is not looked at.
  bool lacks_room_for(std::size_t rows) const {
    return free_.size() + (capacity_ - point_of_.size()) < rows;
  }
  std::uint64_t computed() const { return computed_; }

  /// From now on rows of `K`, which is the old one restricted to `points`: rows of other points are
  /// dropped, the rest is cut to the columns that remain, in place.
  void restrict_to(std::shared_ptr<const Quadratic> K, std::span<const Index> points);

 private:
  static constexpr std::uint32_t none = 0xffffffffu;

  float* slot(std::size_t number) { return arena_.data() + number * length_; }
  void make_room(std::size_t missing, const std::vector<bool>& precious);
  void compute(std::span<const Index> points, const Threads& threads);

  std::shared_ptr<const Quadratic> K_;
  std::size_t bytes_;
  std::size_t least_rows_;
  std::size_t length_;  ///< floats a row takes, a multiple of 16
  std::size_t capacity_;
  Buffer<float> arena_;
  std::vector<std::uint32_t> slot_of_;  ///< of each point
  std::vector<Index> point_of_;         ///< of each slot in use
  std::vector<std::uint64_t> used_at_;  ///< of each slot in use
  std::vector<std::uint32_t> free_;     ///< slots given back, the next to use last
  std::vector<bool> asked_before_;      ///< of each point
  std::uint64_t now_ = 0;
  std::uint64_t computed_ = 0;
};

}  // namespace maxmargin
