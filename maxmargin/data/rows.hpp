#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/base/threads.hpp"

namespace maxmargin {

/// Numbers rows and features.
using Index = std::uint32_t;

/// A view of rows of numbers that somebody else owns: dense (row-major) or sparse (CSR), float or
/// double. Within a sparse row the indices increase strictly and are below `columns`.
struct Rows {
  std::size_t count = 0;
  std::size_t columns = 0;
  const float* floats = nullptr;         ///< the values, or
  const double* doubles = nullptr;       ///< the values, whichever is not null
  const std::uint64_t* start = nullptr;  ///< sparse only: count + 1 offsets into index and values
  const Index* index = nullptr;          ///< sparse only: the feature of each value

  bool sparse() const { return start != nullptr; }
  /// Whether both are views of the same rows of the same owner.
  bool is_same_as(const Rows& other) const {
    return count == other.count && columns == other.columns && floats == other.floats &&
           doubles == other.doubles && start == other.start && index == other.index;
  }
  /// The stored values: the non-zeros of sparse rows, count * columns of dense ones.
  std::uint64_t stored() const {
    return sparse() ? start[count] - start[0] : static_cast<std::uint64_t>(count) * columns;
  }
  /// Where the values of a row begin, and how many are stored of it.
  std::uint64_t first(std::size_t row = 0) const {
    return sparse() ? start[row] : static_cast<std::uint64_t>(row) * columns;
  }
  std::size_t stored(std::size_t row) const {
    return sparse() ? start[row + 1] - start[row] : columns;
  }
  double value(std::uint64_t position) const {
    return floats != nullptr ? static_cast<double>(floats[position]) : doubles[position];
  }

  /// The rows [begin, end).
  Rows slice(std::size_t begin, std::size_t end) const {
    Rows part = *this;
    part.count = end - begin;
    if (sparse()) {
      part.start += begin;
    } else {
      if (floats != nullptr) part.floats += begin * columns;
      if (doubles != nullptr) part.doubles += begin * columns;
    }
    return part;
  }

  /// Calls `visit(feature, value)` for each stored value of a row, in order of the features.
  template <class Visit>
  void for_each(std::size_t row, Visit&& visit) const {
    if (floats != nullptr)
      visit_values(floats, row, visit);
    else
      visit_values(doubles, row, visit);
  }

 private:
  template <class Value, class Visit>
  void visit_values(const Value* values, std::size_t row, Visit& visit) const {
    if (sparse()) {
      for (std::uint64_t k = start[row]; k < start[row + 1]; ++k)
        visit(index[k], static_cast<double>(values[k]));
    } else {
      const Value* first = values + static_cast<std::uint64_t>(row) * columns;
      for (std::size_t j = 0; j < columns; ++j)
        visit(static_cast<Index>(j), static_cast<double>(first[j]));
    }
  }
};

/// Whether nothing is lost where each value becomes a float.
bool all_exact_floats(const Rows& rows);

/// Rows of numbers that it owns. Values are float as long as every one of them is exactly a float,
/// double otherwise: nothing is rounded, and what was float stays float.
class Features {
 public:
  Features() = default;

  static Features dense(std::size_t columns);
  static Features sparse(std::size_t columns);
  /// Dense rows from values in row-major order.
  static Features dense(std::size_t columns, std::span<const double> values);
  /// Rows that stay where they are, in somebody else's arrays; copied before they are changed.
  /// Taken to be right already.
  static Features borrow(const Rows& rows);
  /// A copy of chosen rows: dense where that takes less memory.
  static Features compact(const Rows& rows, std::span<const Index> which, const Threads& threads);

  // The two that append one row check it: lengths, increasing features below columns(), finite
  // values; anything else is an Error. Rows and parts of them are taken to be right already.

  /// Appends one row given by increasing features and their values (a dense row: zero elsewhere).
  void append(std::span<const Index> features, std::span<const double> values);
  /// Appends one dense row (`columns` values); to sparse rows, its non-zeros.
  void append(std::span<const double> values);
  /// Appends all of another set of rows of the same kind (dense with dense, sparse with sparse).
  /// Sparse rows widen these if they have more columns.
  void append(const Rows& others);
  /// The same for several sets of rows, each copied by its own task. Where room has to be made, it
  /// is made for `times` as much as there is with them.
  void append(std::span<const Rows> parts, const Threads& threads, double times = 1);
  /// Appends chosen rows.
  void append(const Rows& others, std::span<const Index> which,
              const Threads& threads = Threads(1));
  /// More features than so far (sparse rows only).
  void widen(std::size_t columns);
  /// Numbers every feature of sparse rows one higher, modulo 2^32. The columns stay as they are.
  void shift_features(const Threads& threads);
  /// Gives back memory reserved for growth.
  void fit();

  std::size_t count() const { return count_; }
  std::size_t columns() const { return columns_; }
  bool is_sparse() const { return sparse_; }
  Rows view() const;
  operator Rows() const { return view(); }
  /// Bytes that the rows take.
  std::size_t bytes() const;

  /// Replaces every stored value by `change(feature, value)`; used for scaling.
  template <class Change>
  void transform(Change&& change) {
    Features changed = sparse_ ? sparse(columns_) : dense(columns_);
    std::vector<Index> features;
    std::vector<double> values;
    const Rows rows = view();
    for (std::size_t i = 0; i < count_; ++i) {
      features.clear();
      values.clear();
      rows.for_each(i, [&](Index feature, double value) {
        features.push_back(feature);
        values.push_back(change(feature, value));
      });
      changed.append(features, values);
    }
    changed.fit();
    *this = std::move(changed);
  }

 private:
  void own();
  void store(double value);
  void promote();
  void check(std::span<const Index> features, std::span<const double> values) const;
  void copy_part(const Rows& part, std::size_t row, std::uint64_t position);

  std::size_t count_ = 0;
  std::size_t columns_ = 0;
  bool sparse_ = false;
  bool is_double_ = false;
  std::optional<Rows> borrowed_;
  Buffer<float> floats_;
  Buffer<double> doubles_;
  Buffer<std::uint64_t> start_;
  Buffer<Index> index_;
};

}  // namespace maxmargin
