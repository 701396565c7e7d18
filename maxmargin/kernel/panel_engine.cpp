#include "maxmargin/kernel/panel_engine.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "maxmargin/kernel/left_panel.hpp"
#include "maxmargin/kernel/tiles.hpp"

namespace maxmargin {
namespace {

// Rows that share one pass over a panel; their sums (8 KB) stay in L1.
constexpr std::size_t rows_at_once = 32;

/// The rows of one block, brought into the form that the tiles take.
template <class T>
struct PreparedRows {
  using Sum = typename SumOf<T>::type;
  std::vector<std::uint32_t> features;
  std::vector<Sum> values;
  std::vector<std::size_t> offsets{0};
  std::vector<T> dense;
  std::vector<Sum> base;
  std::vector<Index> foreign;  ///< positions of rows that T cannot hold exactly enough
};

template <class T>
class PanelEngine final : public Engine {
  using Sum = typename SumOf<T>::type;
  static constexpr std::size_t width = panel_width<T>;
  static constexpr bool in_pairs = std::is_same_v<T, std::int16_t>;
  static constexpr bool is_binary = std::is_same_v<T, std::uint8_t>;
  static constexpr std::size_t features_a_slot = in_pairs ? 2 : 1;

 public:
  PanelEngine(const Form& form, const Rows& columns, double unit, LeftSide side,
              double trusted_norm, UsedFeatures used)
      : form_(form),
        summation_(form.pairing),
        columns_(columns),
        unit_(unit),
        side_(side),
        trusted_norm_(trusted_norm),
        used_(std::move(used)),
        slots_((used_.count + features_a_slot - 1) / features_a_slot),
        panel_size_(slots_ * width * features_a_slot) {
    const std::size_t panels = (columns.count + width - 1) / width;
    packed_.resize(panels * panel_size_);
    base_.resize(panels * width);
    for (std::size_t c = 0; c < columns.count; ++c) pack(c);
  }

  void block(const Rows& left, std::span<const Index> which, std::size_t begin, std::size_t count,
             std::span<float* const> out) const override {
    const PreparedRows<T> rows = prepare(left, which);
    // A panel comes from far away and is used by all rows before the next.
    for (std::size_t at = begin; at < begin + count;) {
      const std::size_t first = at % width;
      const std::size_t here = std::min(width - first, begin + count - at);
      evaluate(rows, at / width, first, here, out.data(), at - begin);
      at += here;
    }
    for (const Index position : rows.foreign)
      left_panel_block<double>(form_, left, which.subspan(position, 1), columns_, begin, count,
                               out.subspan(position, 1));
  }

  void exact_block(const Rows& left, std::span<const Index> which, std::size_t begin,
                   std::size_t count, double* out, std::size_t stride) const override {
    exact_left_panel_block(form_, left, which, columns_, begin, count, out, stride);
  }

  std::unique_ptr<Engine> for_columns(const Rows& columns) const override {
    return std::make_unique<PanelEngine>(form_, columns, unit_, side_, trusted_norm_, used_);
  }

  double value_cost() const override {
    // The map, and the additions: per feature of a dense row, per non-zero of a listed one.
    const double features = side_ == LeftSide::dense ? 0.6 * static_cast<double>(slots_)
                                                     : static_cast<double>(columns_.stored()) /
                                                           static_cast<double>(columns_.count + 1);
    return 0.4 + 0.04 * features * static_cast<double>(sizeof(Sum)) / sizeof(float);
  }

  std::size_t bytes() const override {
    return packed_.size() * sizeof(T) + base_.size() * sizeof(Sum);
  }

 private:
  /// What one unit of a sum is worth: sums of products count in squares.
  double scale() const {
    if (unit_ == 0) return 1;
    return summation_.is_product() ? unit_ * unit_ : unit_;
  }

  /// The value in units; false when T cannot hold it.
  bool in_units(double value, Sum& result) const {
    if constexpr (std::is_same_v<T, double>) {
      result = value;
      return true;
    } else {
      double units = value;
      if (unit_ != 0 && !whole_units(value, unit_, units)) return false;
      if (is_binary && units != 1) return false;
      result = static_cast<Sum>(units);
      return true;
    }
  }

  /// Sums of bytes are taken modulo 256; a row whose sum does not fit is not trusted anyway.
  static Sum whole_sum(double base) {
    if constexpr (is_binary)
      return static_cast<Sum>(static_cast<std::uint64_t>(base));
    else
      return static_cast<Sum>(base);
  }

  void pack(std::size_t c) {
    T* panel = packed_.data() + c / width * panel_size_;
    const std::size_t lane = c % width;
    double base = 0;
    columns_.for_each(c, [&](Index feature, double raw) {
      if (raw == 0) return;
      Sum value{};
      in_units(summation_.value(raw), value);
      const std::size_t number = used_.number[feature];
      panel[(number / features_a_slot * width + lane) * features_a_slot +
            number % features_a_slot] = static_cast<T>(value);
      base += summation_.alone(static_cast<double>(value));
    });
    base_[c] = whole_sum(base);
  }

  PreparedRows<T> prepare(const Rows& left, std::span<const Index> which) const {
    PreparedRows<T> rows;
    rows.base.resize(which.size());
    if (side_ == LeftSide::dense) rows.dense.assign(which.size() * slots_, T{0});
    for (std::size_t r = 0; r < which.size(); ++r)
      if (!prepare_row(left, which[r], r, rows)) rows.foreign.push_back(static_cast<Index>(r));
    return rows;
  }

  bool prepare_row(const Rows& left, std::size_t row, std::size_t r, PreparedRows<T>& rows) const {
    double base = 0, norm = 0;
    bool fits = true;
    left.for_each(row, [&](Index feature, double raw) {
      if (raw == 0) return;
      const double exact = summation_.value(raw);
      Sum value{};
      fits = in_units(exact, value) && fits;
      norm += exact * exact;
      const std::size_t number =
          feature < used_.number.size() ? used_.number[feature] : UsedFeatures::unused;
      const bool used = number != UsedFeatures::unused;
      if (!used || summation_.is_euclidean()) base += summation_.alone(static_cast<double>(value));
      if (!used) return;
      if constexpr (in_pairs)
        list_half(rows, number, value);
      else if (side_ == LeftSide::dense)
        rows.dense[r * slots_ + number] = value;
      else {
        rows.features.push_back(static_cast<std::uint32_t>(number));
        rows.values.push_back(value);
      }
    });
    rows.offsets.push_back(rows.features.size());
    rows.base[r] = whole_sum(base);
    return fits && norm <= trusted_norm_;
  }

  static void list_half(PreparedRows<T>& rows, std::size_t number, Sum value) {
    const auto slot = static_cast<std::uint32_t>(number / 2);
    const auto half = static_cast<std::uint32_t>(static_cast<std::uint16_t>(value))
                      << (number % 2 * 16);
    const bool begun = rows.features.size() > rows.offsets.back() && rows.features.back() == slot;
    if (begun) {
      rows.values.back() = static_cast<Sum>(static_cast<std::uint32_t>(rows.values.back()) | half);
    } else {
      rows.features.push_back(slot);
      rows.values.push_back(static_cast<Sum>(half));
    }
  }

  /// Columns `first` to `first + count` of one panel against all rows.
  void evaluate(const PreparedRows<T>& rows, std::size_t panel, std::size_t first,
                std::size_t count, float* const* out, std::size_t at) const {
    alignas(64) Sum sums[rows_at_once * width];
    for (std::size_t r = 0; r < rows.base.size(); r += rows_at_once) {
      const std::size_t some = std::min(rows_at_once, rows.base.size() - r);
      multiply(rows, r, some, packed_.data() + panel * panel_size_, sums);
      const Finish<Sum> finish{static_cast<Sum>(static_cast<int>(summation_.factor)), scale(),
                               rows.base.data() + r, base_.data() + panel * width};
      finish_sums<Sum>(form_.map, finish, sums, width, some, first, count, out + r, at);
    }
  }

  void multiply(const PreparedRows<T>& rows, std::size_t from, std::size_t count, const T* panel,
                Sum* sums) const {
    if constexpr (!in_pairs && !is_binary) {
      if (side_ == LeftSide::dense)
        return dense_sums<T>(panel, rows.dense.data() + from * slots_, count, slots_, sums);
    }
    ListedRow<T> lists[rows_at_once];
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t begin = rows.offsets[from + r];
      lists[r] = {rows.features.data() + begin, rows.values.data() + begin,
                  rows.offsets[from + r + 1] - begin};
    }
    list_sums<T>(summation_.pairing, panel, {lists, count}, sums);
  }

  Form form_;
  Summation summation_;
  Rows columns_;
  double unit_;
  LeftSide side_;
  double trusted_norm_;
  UsedFeatures used_;
  std::size_t slots_;
  std::size_t panel_size_;
  Buffer<T> packed_;  // pages: aligned for every vector
  std::vector<Sum> base_;
};

}  // namespace

UsedFeatures used_features(const Rows& rows) {
  UsedFeatures used;
  used.number.assign(rows.columns, UsedFeatures::unused);
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index feature, double value) {
      if (value != 0) used.number[feature] = 0;
    });
  for (std::uint32_t& number : used.number)
    if (number == 0) number = static_cast<std::uint32_t>(used.count++);
  return used;
}

template <class T>
std::size_t panel_bytes(std::size_t used_features, std::size_t rows) {
  const std::size_t panels = (rows + panel_width<T> - 1) / panel_width<T>;
  return panels * panel_width<T> * used_features * sizeof(T);
}

template <class T>
std::unique_ptr<Engine> make_panel_engine(const Form& form, const Rows& columns, double unit,
                                          LeftSide side, double trusted_norm) {
  return std::make_unique<PanelEngine<T>>(form, columns, unit, side, trusted_norm,
                                          used_features(columns));
}

template std::size_t panel_bytes<float>(std::size_t, std::size_t);
template std::size_t panel_bytes<double>(std::size_t, std::size_t);
template std::size_t panel_bytes<std::uint8_t>(std::size_t, std::size_t);
template std::size_t panel_bytes<std::int16_t>(std::size_t, std::size_t);
template std::unique_ptr<Engine> make_panel_engine<float>(const Form&, const Rows&, double,
                                                          LeftSide, double);
template std::unique_ptr<Engine> make_panel_engine<double>(const Form&, const Rows&, double,
                                                           LeftSide, double);
template std::unique_ptr<Engine> make_panel_engine<std::uint8_t>(const Form&, const Rows&, double,
                                                                 LeftSide, double);
template std::unique_ptr<Engine> make_panel_engine<std::int16_t>(const Form&, const Rows&, double,
                                                                 LeftSide, double);

}  // namespace maxmargin
