#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"

namespace maxmargin {

/// The kernel cache: rows of a Quadratic in one arena of a fixed number of bytes, as floats or as
/// codes of one byte where there are such. Rows that the Quadratic caches itself are read there.
/// The least recently used row is evicted first, those marked as precious last.
class RowCache {
 public:
  /// Room for at least `least_rows` rows, whatever the budget.
  RowCache(std::shared_ptr<const Quadratic> K, std::size_t bytes, std::size_t least_rows);

  /// Which rows are worth caching: `keep[k]` for the k-th row of a call of add(), and `precious` by
  /// point, which is used only when lacks_room_for(those).
  struct Wishes {
    std::vector<bool> keep;
    std::vector<bool> precious;
  };

  /// f += sum over k of coefficients[k] * row points[k]. Rows that are not cached are computed;
  /// those that are worth it are cached from now on, no more than there is room for.
  void add(std::span<const Index> points, std::span<const double> coefficients,
           const Wishes& wishes, std::span<double> f, const Threads& threads);

  bool holds(Index point) const { return slot_of_[point] != none || stored_row(point) != nullptr; }
  /// out[i] = K(point, columns[i]) from a cached row.
  void pick(Index point, std::span<const Index> columns, float* out) const;

  /// Computes and caches rows of these points; false if there is no room without evicting others.
  bool fetch(std::span<const Index> points, const Threads& threads);
  /// A row that is cached here as floats, or null; behind its values zeros up to a multiple of
  /// row_unit.
  const float* floats(Index point) const {
    if (coded_ != nullptr || slot_of_[point] == none) return nullptr;
    return reinterpret_cast<const float*>(slot(slot_of_[point]));
  }
  static constexpr std::size_t row_unit = 32;  ///< floats

  std::size_t capacity() const { return capacity_; }
  /// Rows that are cached here.
  std::size_t size() const { return point_of_.size() - free_.size(); }
  /// Whether so many new rows would evict others.
  bool lacks_room_for(std::size_t rows) const {
    return free_.size() + (capacity_ - point_of_.size()) < rows;
  }
  std::uint64_t computed() const { return computed_; }

  /// Frees the memory, before another cache takes its place: both at a time would be twice the
  /// limit.
  void release() { arena_ = {}; }

  /// Replaces the matrix by `K`, the old one restricted to `points`: rows of other points are
  /// dropped, the rest is cut to the columns that remain, in place.
  void restrict_to(std::shared_ptr<const Quadratic> K, std::span<const Index> points,
                   const Threads& threads);

 private:
  static constexpr std::uint32_t none = 0xffffffffu;

  std::size_t room() const;
  std::byte* slot(std::size_t number) { return arena_.data() + number * length_; }
  const std::byte* slot(std::size_t number) const { return arena_.data() + number * length_; }
  /// Of a cached row.
  const std::byte* row(Index point) const {
    if (slot_of_[point] != none) return slot(slot_of_[point]);
    return reinterpret_cast<const std::byte*>(stored_row(point));
  }
  /// That the matrix itself caches, or null.
  const float* stored_row(Index point) const {
    return stored_ != nullptr ? stored_->row(point) : nullptr;
  }
  void make_room(std::size_t missing, const std::vector<bool>& precious);
  void compute(std::span<const Index> points, const Threads& threads);
  template <class Cell, class Adding>
  void add_held(std::span<const Index> points, std::span<const double> coefficients,
                std::span<double> f, const Threads& threads, Adding&& adding);

  std::shared_ptr<const Quadratic> K_;
  const CodedRows* coded_;    ///< of K, may be null
  const StoredRows* stored_;  ///< of K, may be null
  std::size_t bytes_;
  std::size_t least_rows_;
  std::size_t length_;  ///< bytes a row takes, a multiple of row_unit floats
  std::size_t capacity_;
  Buffer<std::byte> arena_;
  std::vector<std::uint32_t> slot_of_;  ///< of each point
  std::vector<Index> point_of_;         ///< of each slot in use
  std::vector<std::uint64_t> used_at_;  ///< of each slot in use
  std::vector<std::uint32_t> free_;     ///< slots given back, the next to use last
  std::uint64_t now_ = 0;
  std::uint64_t computed_ = 0;
};

}  // namespace maxmargin
