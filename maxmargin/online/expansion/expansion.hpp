#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/data/rows.hpp"
#include "maxmargin/kernel/kernels.hpp"
#include "maxmargin/online/expansion/panel.hpp"

namespace maxmargin {

/// A row of a stream: increasing features, their values, none of them zero, and its number in the
/// stream, which a precomputed kernel needs.
struct StreamRow {
  std::span<const Index> features;
  std::span<const double> values;
  std::uint64_t number = 0;
};

/// Calls visit(feature, value of x, value of z) for the features of both rows, in their order.
template <class Visit>
void for_each_feature(const StreamRow& x, const StreamRow& z, Visit&& visit) {
  std::size_t i = 0, j = 0;
  while (i < x.features.size() || j < z.features.size()) {
    const bool from_x =
        j == z.features.size() || (i < x.features.size() && x.features[i] <= z.features[j]);
    const bool from_z =
        i == x.features.size() || (j < z.features.size() && z.features[j] <= x.features[i]);
    visit(from_x ? x.features[i] : z.features[j], from_x ? x.values[i] : 0.0,
          from_z ? z.values[j] : 0.0);
    i += from_x;
    j += from_z;
  }
}

/// The rows of a kernel expansion to which rows are added and from which they are removed one at a
/// time, and k(x_i, x) of all of them for a new x, in double.
///
/// A row has a slot, which is used again after the row was removed. There are three layouts: a
/// panel of doubles, [feature][slot]; a panel of bytes while all values are 1, where common
/// features are counted and the kernel is a table over whole numbers; and, where a panel would take
/// too much memory, sparse rows against which x is scattered into a dense vector. All three sum in
/// the order of the features and give the same bits, and k(z, x) has those of k(x, z).
class Expansion {
 public:
  explicit Expansion(Kernel kernel);

  const Kernel& kernel() const { return kernel_; }
  /// Slots in use or free: all arrays over slots have this size.
  std::size_t slots() const { return terms_.size(); }
  std::size_t count() const { return terms_.size() - free_.size(); }
  bool used(std::size_t slot) const { return terms_[slot].used; }

  /// Throws Error where the kernel does not accept the values of a row.
  void check(const StreamRow& x) const;
  /// k(x, x)
  double self(const StreamRow& x) const;
  double self(std::size_t slot) const { return terms_[slot].self; }
  /// out[slot] = k(x_slot, x); 0 in free slots. Valid until the next call.
  std::span<const double> values(const StreamRow& x);
  std::span<const double> values(std::size_t slot) { return values(row(slot)); }

  StreamRow row(std::size_t slot) const;
  std::size_t columns() const { return columns_; }

  /// The slot of a new row.
  std::size_t add(const StreamRow& x);
  void remove(std::size_t slot);

  /// A stack: the last one is used next.
  std::span<const Index> free_slots() const { return free_; }
  struct Slot {
    std::vector<Index> features;
    std::vector<double> values;
    std::uint64_t number = 0;
  };
  /// Replaces all rows; those of free slots are ignored.
  void restore(std::vector<Slot> slots, std::vector<Index> free_slots);

  /// Whether the layout is the panel of bytes.
  bool counts_features() const { return layout_ == Layout::bytes; }
  /// Bytes that a panel may take.
  void limit_panel(std::size_t bytes);

 private:
  struct Term {
    std::vector<Index> features;
    std::vector<double> values;
    std::uint64_t number = 0;
    double self = 0;
    bool used = false;
  };

  void fill(std::size_t slot, const StreamRow& x);
  void put_in_panel(std::size_t slot);
  void make_panel(std::size_t slots);
  std::size_t capacity() const;
  void switch_to_doubles_for(const StreamRow& x);
  void values_by_counts(const StreamRow& x);
  void sums_by_panel(const StreamRow& x);
  void sums_by_terms(const StreamRow& x);
  void scatter(const StreamRow& x);
  void gather(const StreamRow& x);
  void custom_values(const StreamRow& x);
  void recompute_small_distances(const StreamRow& x, double base);
  double map_of(double sum) const;
  void map_sums(std::span<double> sums) const;

  Kernel kernel_;
  std::optional<Form> form_;  ///< of a kernel that has one
  std::vector<Term> terms_;
  std::vector<Index> free_;
  std::size_t columns_ = 0;  ///< largest feature + 1
  bool linear_sum_ =
      false;  ///< the sum over features follows from x'z and sums over each row alone
  std::vector<double> out_, base_;
  Buffer<double> dense_x_;  ///< x by feature; zero between calls

  enum class Layout { bytes, doubles, rows };
  Layout layout_ = Layout::rows;
  std::size_t panel_bytes_ = std::size_t{256} << 20;
  Panel<double> panel_;
  Panel<std::uint8_t> bits_;
  std::vector<std::int32_t> lengths_;  ///< bytes: |x_i|^2 where the kernel is one of distances
  std::vector<double> table_;          ///< bytes: the kernel by the sum over the features
  // Scratch: the panel rows of the features of x, and its values.
  std::vector<const double*> panel_rows_;
  std::vector<const std::uint8_t*> bit_rows_;
  std::vector<double> times_;
};

}  // namespace maxmargin
