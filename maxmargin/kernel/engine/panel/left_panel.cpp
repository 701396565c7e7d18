#include "maxmargin/kernel/engine/panel/left_panel.hpp"

#include <algorithm>

#include "maxmargin/base/aligned.hpp"

namespace maxmargin {
namespace {

// Columns whose sums are held at once: two tiles of this many columns and a panel stay in L1.
constexpr std::size_t tile_columns = 32;

template <class T>
class LeftPanel {
 public:
  static constexpr std::size_t width = panel_width<T>;

  LeftPanel(const Summation& summation, const Origin& origin, const Rows& left,
            std::span<const Index> which, std::size_t features)
      : summation_(summation), origin_(origin), slot_(features, 0), row_base(which.size(), 0) {
    panel_.assign(width, T{0});  // slot 0: the features that no row of the panel has
    for (std::size_t r = 0; r < which.size(); ++r) {
      double base = 0;
      left.for_each(which[r], [&](Index feature, double raw) {
        const double value = origin_.relative(feature, summation_.value(raw));
        if (value == 0) return;
        base += summation_.alone(value);
        if (feature >= features) return;  // no column has it
        if (slot_[feature] == 0) {
          slot_[feature] = static_cast<std::uint32_t>(panel_.size() / width);
          panel_.resize(panel_.size() + width, T{0});
        }
        panel_[slot_[feature] * width + r] = static_cast<T>(value);
      });
      row_base[r] = static_cast<T>(base);
    }
  }

  /// sums[c * width + r] and base[c] for `count` columns from `begin`.
  void sums(const Rows& columns, std::size_t begin, std::size_t count, T* sums, T* base) {
    features_.clear();
    values_.clear();
    std::size_t offsets[tile_columns + 1] = {0};
    for (std::size_t c = 0; c < count; ++c) {
      double column_base = 0;
      columns.for_each(begin + c, [&](Index feature, double raw) {
        const double value = origin_.relative(feature, summation_.value(raw));
        if (value == 0) return;
        if (summation_.is_euclidean()) column_base += value * value;
        if (static_cast<T>(value) == 0) return;  // chi-squared divides by what is listed
        // A feature that no row of the panel has adds zero; leaving it out would make the order of
        // the additions depend on the other rows.
        features_.push_back(slot_[feature]);
        values_.push_back(static_cast<T>(value));
      });
      base[c] = static_cast<T>(column_base);
      offsets[c + 1] = features_.size();
    }
    ListedRow<T> rows[tile_columns];
    for (std::size_t c = 0; c < count; ++c)
      rows[c] = {features_.data() + offsets[c], values_.data() + offsets[c],
                 offsets[c + 1] - offsets[c]};
    list_sums<T>(summation_.pairing, panel_.data(), {rows, count}, sums);
  }

 private:
  Summation summation_;
  const Origin& origin_;
  std::vector<std::uint32_t> slot_;
  AlignedVector<T> panel_;
  std::vector<std::uint32_t> features_;
  std::vector<T> values_;

 public:
  std::vector<T> row_base;
};

/// Calls `finish(rows, first row, tile column, tile, base)` for each tile of sums, laid out
/// tile[r * tile_columns + c].
template <class T, class Finishing>
void for_each_tile(const Form& form, const Rows& left, std::span<const Index> which,
                   const Rows& columns, std::size_t begin, std::size_t count, Finishing&& finish) {
  constexpr std::size_t width = panel_width<T>;
  const Summation summation(form.pairing);
  const Origin origin(summation, left, columns);
  alignas(64) T sums[tile_columns * width];
  alignas(64) T turned[width * tile_columns];
  alignas(64) T base[tile_columns];
  for (std::size_t r = 0; r < which.size(); r += width) {
    const auto rows = which.subspan(r, std::min(width, which.size() - r));
    LeftPanel<T> panel(summation, origin, left, rows, columns.columns);
    for (std::size_t c = 0; c < count; c += tile_columns) {
      const std::size_t some = std::min(tile_columns, count - c);
      panel.sums(columns, begin + c, some, sums, base);
      for (std::size_t j = 0; j < rows.size(); ++j)
        for (std::size_t i = 0; i < some; ++i) turned[j * tile_columns + i] = sums[i * width + j];
      finish(rows.size(), r, c, some, turned, base, panel.row_base.data());
    }
  }
}

}  // namespace

template <class T>
void left_panel_block(const Form& form, const Rows& left, std::span<const Index> which,
                      const Rows& columns, std::size_t begin, std::size_t count,
                      std::span<float* const> out) {
  const T factor = static_cast<T>(Summation(form.pairing).factor);
  for_each_tile<T>(form, left, which, columns, begin, count,
                   [&](std::size_t rows, std::size_t r, std::size_t c, std::size_t some,
                       const T* sums, const T* base, const T* row_base) {
                     const Finish<T> finish{factor, 1.0, row_base, base};
                     finish_sums<T>(form.map, finish, sums, tile_columns, rows, 0, some,
                                    out.data() + r, c);
                   });
}
template void left_panel_block<float>(const Form&, const Rows&, std::span<const Index>, const Rows&,
                                      std::size_t, std::size_t, std::span<float* const>);
template void left_panel_block<double>(const Form&, const Rows&, std::span<const Index>,
                                       const Rows&, std::size_t, std::size_t,
                                       std::span<float* const>);

void exact_left_panel_block(const Form& form, const Rows& left, std::span<const Index> which,
                            const Rows& columns, std::size_t begin, std::size_t count, double* out,
                            std::size_t stride) {
  const Summation summation(form.pairing);
  for_each_tile<double>(form, left, which, columns, begin, count,
                        [&](std::size_t rows, std::size_t r, std::size_t c, std::size_t some,
                            const double* sums, const double* base, const double* row_base) {
                          for (std::size_t j = 0; j < rows; ++j) {
                            double* to = out + (r + j) * stride + c;
                            for (std::size_t i = 0; i < some; ++i) {
                              const double sum = summation.factor * sums[j * tile_columns + i] +
                                                 (row_base[j] + base[i]);
                              to[i] = summation.pairing == Pairing::dot ? sum : std::max(sum, 0.0);
                            }
                            map_exactly(form.map, {to, some});
                          }
                        });
}

}  // namespace maxmargin
