#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "maxmargin/kernel/engine/panel/tiles.hpp"

namespace maxmargin {

/// Features that share a lane of a panel and an entry of a list.
template <class T>
inline constexpr std::size_t features_a_slot = std::is_same_v<T, std::int8_t>    ? 4
                                               : std::is_same_v<T, std::int16_t> ? 2
                                                                                 : 1;

/// Subtracted from the packed values of quads.
inline constexpr int quad_origin = 128;

/// Rows brought into the form that the tiles take: as lists of slots, or whole.
template <class T, class Sum>
struct PreparedRows {
  using Value = typename SumOf<T>::type;

  std::vector<std::uint32_t> slots;
  std::vector<Value> values;
  std::vector<std::size_t> offsets{0};  ///< of each list; the lists of groups hold several rows
  std::vector<T> dense;
  std::vector<const T*> whole;         ///< where each dense row begins, here or at others
  std::vector<ListedRow<T>> borrowed;  ///< lists that others own, in place of the above
  std::vector<Sum> base;               ///< of each row: what is added to its sums
  std::vector<Index> foreign;          ///< positions of rows that T cannot hold exactly enough
  std::vector<double> centered;        ///< the values of the row that is being prepared
  std::vector<std::int16_t> units;     ///< the same as whole numbers

  /// Adds a feature to the list that is being made; features come in increasing order.
  void add(std::size_t number, Value value) {
    constexpr std::size_t many = features_a_slot<T>;
    const auto slot = static_cast<std::uint32_t>(number / many);
    if constexpr (many == 1) {
      slots.push_back(slot);
      values.push_back(value);
    } else {
      constexpr std::size_t bits = 32 / many;
      const auto part = (static_cast<std::uint32_t>(value) & ((1u << bits) - 1))
                        << (number % many * bits);
      if (slots.size() == offsets.back() || slots.back() != slot) {
        slots.push_back(slot);
        values.push_back(0);
      }
      values.back() = static_cast<Value>(static_cast<std::uint32_t>(values.back()) | part);
    }
  }
  void end_list() { offsets.push_back(slots.size()); }

  /// Adds row r of others, a list or `length` values.
  void copy_row(const PreparedRows& others, std::size_t r, std::size_t length) {
    const auto append = [](auto& to, const auto& from, std::size_t begin, std::size_t end) {
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
                from.begin() + static_cast<std::ptrdiff_t>(end));
    };
    append(slots, others.slots, others.offsets[r], others.offsets[r + 1]);
    append(values, others.values, others.offsets[r], others.offsets[r + 1]);
    append(dense, others.dense, r * length, (r + 1) * length);
    base.push_back(others.base[r]);
    end_list();
  }

  /// Adds row r of others, a list, which must stay where it is.
  void borrow_list(const PreparedRows& others, std::size_t r) {
    borrowed.push_back(others.list(r));
    base.push_back(others.base[r]);
  }
  /// The same for `length` values.
  void borrow_whole(const PreparedRows& others, std::size_t r, std::size_t length) {
    whole.push_back(others.dense.data() + r * length);
    base.push_back(others.base[r]);
  }

  /// When all rows of `length` values are there.
  void find_whole(std::size_t length) {
    for (std::size_t r = 0; r < base.size(); ++r) whole.push_back(dense.data() + r * length);
  }

  ListedRow<T> list(std::size_t number, std::size_t values_each = 1) const {
    if (!borrowed.empty()) return borrowed[number];
    const std::size_t begin = offsets[number];
    return {slots.data() + begin, values.data() + begin * values_each, offsets[number + 1] - begin};
  }
};

/// Many rows, in parts that are prepared side by side.
template <class T, class Sum>
class PreparedParts {
 public:
  static constexpr std::size_t rows_a_part = 8 * panel_width<T>;

  /// Calls prepare(first row, last but one, part) for each part.
  template <class Prepare>
  void prepare(std::size_t rows, const Threads& threads, Prepare&& prepare) {
    parts_.resize((rows + rows_a_part - 1) / rows_a_part);
    threads.split(rows, rows_a_part, [&](std::size_t begin, std::size_t end) {
      prepare(begin, end, parts_[begin / rows_a_part]);
    });
  }

  const PreparedRows<T, Sum>& part_of(std::size_t row) const { return parts_[row / rows_a_part]; }
  static std::size_t place_of(std::size_t row) { return row % rows_a_part; }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const PreparedRows<T, Sum>& part : parts_)
      sum += part.slots.size() * sizeof(std::uint32_t) +
             part.values.size() * sizeof(typename PreparedRows<T, Sum>::Value) +
             part.dense.size() * sizeof(T);
    return sum;
  }

 private:
  std::vector<PreparedRows<T, Sum>> parts_;
};

/// Lists of single rows as lists of groups; the last group may have empty rows.
template <class Sum>
PreparedRows<float, Sum> grouped(PreparedRows<float, Sum> rows, std::size_t slots) {
  PreparedRows<float, Sum> groups;
  std::vector<float> values(slots * rows_a_group, 0.0f);
  std::vector<char> present(slots, false);
  for (std::size_t first = 0; first < rows.base.size(); first += rows_a_group) {
    const std::size_t end = std::min(first + rows_a_group, rows.base.size());
    for (std::size_t r = first; r < end; ++r)
      for (std::size_t k = rows.offsets[r]; k < rows.offsets[r + 1]; ++k) {
        values[rows.slots[k] * rows_a_group + (r - first)] = rows.values[k];
        present[rows.slots[k]] = true;
      }
    for (std::size_t j = 0; j < slots; ++j) {
      if (!present[j]) continue;
      float* mine = values.data() + j * rows_a_group;
      groups.slots.push_back(static_cast<std::uint32_t>(j));
      groups.values.insert(groups.values.end(), mine, mine + rows_a_group);
      std::fill_n(mine, rows_a_group, 0.0f);
      present[j] = false;
    }
    groups.end_list();
  }
  groups.base = std::move(rows.base);
  groups.foreign = std::move(rows.foreign);
  return groups;
}

}  // namespace maxmargin
