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

/// One row of a stream: increasing features and their values, none of them zero, and its number in
/// the stream (which a precomputed kernel needs).
struct StreamRow {
  std::span<const Index> features;
  std::span<const double> values;
  std::uint64_t number = 0;
};

/// The rows of a kernel expansion that grows and shrinks by one row at a time, and k(x_i, x) of all
/// of them for a new x, in double.
///
/// A row has a slot, which a later row may take over when it is gone. Where they fit, the values
/// stand in a panel, [feature][slot]. Wide rows are kept as they are, and x is spread out instead.
/// Both sum in the order of the features. As long as every value met is 1, the panel has bytes,
/// common features are counted, and the kernel is a table over whole numbers. All three give the
/// same values to the last bit, also of k(z, x) for k(x, z).
class Expansion {
 public:
  explicit Expansion(Kernel kernel);

  const Kernel& kernel() const { return kernel_; }
  /// Slots in use or free: all arrays over slots have this size.
  std::size_t slots() const { return terms_.size(); }
  std::size_t count() const { return terms_.size() - free_.size(); }
  bool used(std::size_t slot) const { return terms_[slot].used; }

  /// Throws Error where the kernel does not take the values of a row.
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

  /// The free slots in the order in which they will not be taken: the last one is the next.
  std::span<const Index> free_slots() const { return free_; }
  /// The same slots again, empty ones free in this order.
  struct Slot {
    std::vector<Index> features;
    std::vector<double> values;
    std::uint64_t number = 0;
  };
  void restore(std::vector<Slot> slots, std::vector<Index> free_slots);

  /// Whether all values met are 1, so that a row of kernel values is cheap.
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
  void leave_bytes(const StreamRow& x);
  void values_by_counts(const StreamRow& x);
  void sums_by_panel(const StreamRow& x);
  void sums_by_terms(const StreamRow& x);
  void spread(const StreamRow& x);
  void gather(const StreamRow& x);
  void custom_values(const StreamRow& x);
  void mend_small_distances(const StreamRow& x, double base);
  double map_of(double sum) const;
  void map_sums(std::span<double> sums) const;

  Kernel kernel_;
  std::optional<Form> form_;  ///< of a kernel that has one
  std::vector<Term> terms_;
  std::vector<Index> free_;
  std::size_t columns_ = 0;  ///< that the rows need
  bool linear_sum_ = false;  ///< the sum over features is an inner product and shares of each row
  std::vector<double> out_, base_;
  Buffer<double> spread_;  ///< x, by feature; zero between calls

  enum class Layout { bytes, doubles, rows };
  Layout layout_ = Layout::rows;
  std::size_t panel_bytes_ = std::size_t{256} << 20;
  Panel<double> panel_;
  Panel<std::uint8_t> bits_;
  std::vector<std::int32_t> lengths_;  ///< bytes: |x_i|^2 where the kernel is one of distances
  std::vector<double> by_sum_;         ///< bytes: the kernel as a table over the sum
  std::vector<const double*> at_;      ///< scratch: the panel rows of x
  std::vector<const std::uint8_t*> bits_at_;
  std::vector<double> times_;
};

}  // namespace maxmargin
