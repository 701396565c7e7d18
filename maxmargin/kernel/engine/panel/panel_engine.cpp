#include "maxmargin/kernel/engine/panel/panel_engine.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "maxmargin/kernel/engine/panel/left_panel.hpp"
#include "maxmargin/kernel/engine/panel/prepared_rows.hpp"
#include "maxmargin/kernel/engine/panel/row_preparation.hpp"
#include "maxmargin/kernel/engine/panel/tiles.hpp"
#include "maxmargin/kernel/engine/panel/vnni_tiles.hpp"
#include "maxmargin/kernel/engine/product/binary_product.hpp"
#include "maxmargin/kernel/engine/product/decay_product.hpp"
#include "maxmargin/kernel/engine/product/exact_product.hpp"
#include "maxmargin/linalg/accumulate.hpp"

namespace maxmargin {
namespace {

// A tile of so many values stays in L2 until it is used.
constexpr std::size_t product_rows = 256;
constexpr std::size_t product_columns = 256;

template <class T, class Sum>
class PanelEngine final : public Engine, FusedProducts, HalfProducts, CodedBlocks, SmallBlocks {
  using Value = typename SumOf<T>::type;
  using Prepared = PreparedRows<T, Sum>;
  static constexpr std::size_t width = panel_width<T>;
  static constexpr bool in_pairs = std::is_same_v<T, std::int16_t>;
  static constexpr bool is_binary = std::is_same_v<T, std::uint8_t>;
  static constexpr bool by_blocks = !std::is_same_v<Value, Sum>;
  static constexpr bool in_quads = std::is_same_v<T, std::int8_t>;
  static constexpr bool halves_are_fused = std::is_same_v<T, float> && !by_blocks;
  static constexpr std::size_t slot_features = features_a_slot<T>;
  static constexpr std::size_t slot_cells = is_binary ? width / 2 : width * slot_features;

 public:
  PanelEngine(const Form& form, const Rows& columns, Packing packing, const Threads& threads)
      : form_(form),
        summation_(form.pairing),
        columns_(columns),
        exact_(form, columns),
        packing_(std::move(packing)),
        preparation_(summation_, packing_),
        slots_((packing_.used.count + slot_features - 1) / slot_features),
        panel_size_(slots_ * slot_cells) {
    allocate(columns.count);
    own_.prepare(columns.count, threads, [&](std::size_t begin, std::size_t end, Prepared& part) {
      part.dense.reserve((end - begin) * dense_length());
      for (std::size_t c = begin; c < end; ++c)
        base_[c] = preparation_.add(columns, c, dense_length(), part).column_base;
      place(begin, end, [&](std::size_t c) { return OwnRow{&part, c - begin}; });
      part.centered = {};
    });
    if constexpr (is_binary) {
      const double rate = std::get<Decay>(form.map).rate * scale();
      decay_.emplace(rate);
      if (BinaryProduct::pays() && BinaryProduct::is_possible(rate, slots_)) product_.emplace(rate);
    }
  }

  /// Some of the columns of another engine, for a block of its rows.
  PanelEngine(const PanelEngine& whole, std::span<const Index> which)
      : PanelEngine(whole, whole.columns_.slice(0, 0), which) {
    whole_ = &whole;
    columns_ = whole.columns_;
  }

  /// Some of the columns of another engine.
  PanelEngine(const PanelEngine& whole, const Rows& columns, std::span<const Index> which)
      : form_(whole.form_),
        summation_(whole.summation_),
        columns_(columns),
        exact_(whole.exact_),
        packing_(whole.packing_),
        preparation_(summation_, packing_),
        slots_(whole.slots_),
        panel_size_(whole.panel_size_),
        decay_(whole.decay_),
        product_(whole.product_) {
    allocate(which.size());
    const auto source = [&](std::size_t c) { return whole.own_row(which[c]); };
    for (std::size_t c = 0; c < which.size(); ++c) base_[c] = whole.base_[which[c]];
    place(0, which.size(), source);
    if (columns_.count == 0) return;  // for a block, rows are prepared by the whole
    own_.prepare(which.size(), Threads(1), [&](std::size_t begin, std::size_t end, Prepared& part) {
      for (std::size_t c = begin; c < end; ++c)
        part.copy_row(*source(c).rows, source(c).place, dense_length());
    });
  }

  void block(const Rows& left, std::span<const Index> which, std::size_t begin, std::size_t count,
             std::span<float* const> out) const override {
    const Prepared rows = prepare(left, which);
    write_values(rows, begin, count, out.data());
    for (const Index position : rows.foreign)
      left_panel_block<double>(form_, left, which.subspan(position, 1), columns_, begin, count,
                               out.subspan(position, 1));
  }

  void add_product(const Rows& left, std::span<const Index> which,
                   std::span<const double> coefficients, std::size_t begin, std::size_t count,
                   double* y) const override {
    Scratch scratch(std::min(product_rows, which.size()));
    for (std::size_t r = 0; r < which.size(); r += product_rows) {
      const std::size_t some = std::min(product_rows, which.size() - r);
      const Prepared rows = prepare(left, which.subspan(r, some));
      const auto weights = coefficients.subspan(r, some);
      if (!rows.foreign.empty()) {
        if (product_)
          exact_.add_product(left, which.subspan(r, some), weights, columns_, begin, count, y);
        else
          add_product_by_blocks(left, which.subspan(r, some), weights, begin, count, y);
        continue;
      }
      if (is_fused()) {
        add_fused(rows, weights, begin, count, y);
        continue;
      }
      for (std::size_t c = 0; c < count; c += product_columns) {
        const std::size_t columns = std::min(product_columns, count - c);
        add_tile(rows, weights, begin + c, columns, scratch, y + c);
      }
    }
  }

  void add_half_product(const Rows& rows, std::size_t first, std::span<const double> x,
                        double* y) const override {
    if constexpr (halves_are_fused) add_fused_half(rows, first, x, y);
  }
  double half_cost(const CostModel& costs) const override {
    return costs.fused_second_sum * value_cost(costs);
  }

  const ByteDecay& decay() const override { return *decay_; }

  void code_block(const Rows& left, std::span<const Index> which, std::size_t begin,
                  std::size_t count, std::span<std::uint8_t* const> out) const override {
    if constexpr (is_binary) write_codes(prepare(left, which), begin, count, out.data());
  }

  void exact_block(const Rows& left, std::span<const Index> which, std::size_t begin,
                   std::size_t count, double* out, std::size_t stride) const override {
    exact_.block(left, which, columns_, begin, count, out, stride);
  }
  void add_exact_product(const Rows& left, std::span<const Index> which,
                         std::span<const double> coefficients, std::size_t begin, std::size_t count,
                         double* y) const override {
    // Those of binary rows are exact.
    if (product_) return add_product(left, which, coefficients, begin, count, y);
    exact_.add_product(left, which, coefficients, columns_, begin, count, y);
  }

  std::unique_ptr<Engine> for_columns(const Rows& columns,
                                      std::span<const Index> which) const override {
    return std::make_unique<PanelEngine>(*this, columns, which);
  }
  std::unique_ptr<Engine> for_block(const Rows&, std::span<const Index> which) const override {
    return std::make_unique<PanelEngine>(*this, which);
  }

  double value_cost(const CostModel& costs) const override {
    const double slots = static_cast<double>(slots_);
    const double nonzeros = packing_.nonzeros;
    if (product_) return costs.binary_product.of(nonzeros);
    if (is_binary) return costs.binary.of(nonzeros);
    if (is_fused() && packing_.by_products) return costs.fused.of(slots);
    if (in_quads) return costs.listed_quads.of(nonzeros);
    if (in_pairs && is_dense()) return costs.dense_pairs.of(slots);
    if (in_pairs) return costs.listed_pairs.of(nonzeros);
    LinearCost floats = is_dense() ? costs.dense : costs.listed;
    if (sizeof(Sum) == sizeof(double)) floats.fixed = costs.sum_in_double;
    return floats.of((is_dense() ? slots : nonzeros) * (sizeof(T) / sizeof(float)));
  }

  EngineTraits traits() const override {
    // Sums of binary rows are made of doubles in any case, but for those of halves.
    const double in_double =
        product_ ? std::max(exact_.error(), product_->error(packing_.most_units)) : exact_.error();
    return {.deviation = packing_.deviation,
            .errors = ValueErrors{packing_.float_error, in_double},
            .nonzero_share = 1,
            .bytes = packed_.size() * sizeof(T) + base_.size() * sizeof(Sum) + own_.bytes()};
  }
  EngineCapabilities can() const override {
    EngineCapabilities own;
    own.products = this;
    if (halves_are_fused && is_fused()) own.halves = this;
    if (decay_) own.coded = this;
    own.small = this;
    return own;
  }

 private:
  Sum factor() const {
    return static_cast<Sum>(packing_.by_differences ? 1 : static_cast<int>(summation_.factor));
  }

  /// What one unit of a sum is worth: sums of products count in squares.
  double scale() const {
    if (packing_.unit == 0) return 1 / (packing_.stretch * packing_.stretch);
    return summation_.is_product() ? packing_.unit * packing_.unit : packing_.unit;
  }

  void allocate(std::size_t columns) {
    const std::size_t panels = (columns + width - 1) / width;
    if (is_dense()) {  // everything is written except behind the last column
      packed_.resize_for_overwrite(panels * panel_size_);
      std::fill(packed_.begin() + columns / width * panel_size_, packed_.end(), T{0});
    } else {
      packed_.resize(panels * panel_size_);
      if constexpr (in_quads) std::fill(packed_.begin(), packed_.end(), -quad_origin);
    }
    base_.resize(panels * width);
  }

  bool is_dense() const { return packing_.side == LeftSide::dense; }

  /// Of a row that is not a list.
  std::size_t dense_length() const { return is_dense() ? slots_ * slot_features : 0; }

  /// One of the columns as a row.
  struct OwnRow {
    const Prepared* rows;
    std::size_t place;
  };
  OwnRow own_row(std::size_t row) const {
    return {&own_.part_of(row), PreparedParts<T, Sum>::place_of(row)};
  }

  /// Writes the prepared rows source(begin) ... source(end - 1) into the panels as these columns.
  template <class Source>
  void place(std::size_t begin, std::size_t end, Source&& source) {
    if (slots_ == 0) return;  // rows of zeros have no panels
    // So many columns at a time that a line of the panel is written at once.
    constexpr std::size_t at_once = 16;
    for (std::size_t c = begin; c < end;) {
      if (!is_dense()) {
        place_list(source(c), c);
        ++c;
        continue;
      }
      const std::size_t some = std::min(at_once - c % at_once, end - c);
      const T* from[at_once];
      for (std::size_t k = 0; k < some; ++k) {
        const OwnRow row = source(c + k);
        from[k] = row.rows->dense.data() + row.place * dense_length();
      }
      T* target = packed_.data() + c / width * panel_size_ + c % width * slot_features;
      if constexpr (slot_features * sizeof(T) == sizeof(std::uint32_t)) {
        const std::size_t fours = some / 4 * 4;
        place_fours(from, fours, target);
        place_whole(from + fours, some - fours, 0, target + fours * slot_features);
      } else {
        place_whole(from, some, 0, target);
      }
      c += some;
    }
  }

  /// From slot `first` on.
  void place_whole(const T* const* from, std::size_t rows, std::size_t first, T* target) const {
    for (std::size_t j = first; j < slots_; ++j)
      for (std::size_t k = 0; k < rows; ++k)
        std::memcpy(target + (j * width + k) * slot_features, from[k] + j * slot_features,
                    slot_features * sizeof(T));
  }

  /// The same for slots of four bytes, four of them and of the rows at a time.
  void place_fours(const T* const* from, std::size_t rows, T* target) const {
    std::size_t j = 0;
    for (; j + 4 <= slots_; j += 4)
      for (std::size_t k = 0; k < rows; k += 4)
        transpose(from + k, j, target + (j * width + k) * slot_features);
    place_whole(from, rows, j, target);
  }

  void transpose(const T* const* from, std::size_t j, T* target) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::Full128<std::uint32_t> d;
    const hn::Full128<std::uint64_t> d64;
    const auto load = [&](std::size_t k) {
      return hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(from[k] + j * slot_features));
    };
    const auto x0 = load(0), x1 = load(1), x2 = load(2), x3 = load(3);
    const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, x0, x1));
    const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, x2, x3));
    const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, x0, x1));
    const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, x2, x3));
    const auto put = [&](std::size_t slot, auto values) {
      hn::StoreU(hn::BitCast(d, values), d,
                 reinterpret_cast<std::uint32_t*>(target + slot * width * slot_features));
    };
    put(0, hn::InterleaveLower(d64, low01, low23));
    put(1, hn::InterleaveUpper(d64, low01, low23));
    put(2, hn::InterleaveLower(d64, high01, high23));
    put(3, hn::InterleaveUpper(d64, high01, high23));
  }

  void place_list(const OwnRow& row, std::size_t c) {
    T* panel = packed_.data() + c / width * panel_size_ + c * slot_features % slot_cells;
    const ListedRow<T> list = row.rows->list(row.place);
    for (std::size_t k = 0; k < list.count; ++k) {
      T* target = panel + list.feature[k] * slot_cells;
      if constexpr (is_binary) {
        *target = static_cast<T>(*target | (c % width < slot_cells ? 0x01 : 0x10));
      } else if constexpr (slot_features == 1) {
        *target = list.value[k];
      } else {
        // The parts of an entry lie in it as in the panel, but for the origin of quads.
        const std::uint32_t entry =
            static_cast<std::uint32_t>(list.value[k]) ^ (in_quads ? 0x80808080u : 0u);
        std::memcpy(target, &entry, sizeof(entry));
      }
    }
  }

  Prepared prepare(const Rows& left, std::span<const Index> which) const {
    if (whole_ != nullptr) return whole_->prepare(left, which);
    Prepared rows;
    if (left.is_same_as(columns_)) {
      for (const Index row : which) {
        const OwnRow own = own_row(row);
        if (is_dense())
          rows.borrow_whole(*own.rows, own.place, dense_length());
        else if (packing_.side == LeftSide::listed)
          rows.borrow_list(*own.rows, own.place);
        else
          rows.copy_row(*own.rows, own.place, 0);
      }
    } else {
      for (std::size_t r = 0; r < which.size(); ++r)
        if (!preparation_.add(left, which[r], dense_length(), rows).fits)
          rows.foreign.push_back(static_cast<Index>(r));
      if (is_dense()) rows.find_whole(dense_length());
    }
    if constexpr (std::is_same_v<T, float>) {
      if (packing_.side == LeftSide::grouped) rows = grouped(std::move(rows), slots_);
    }
    return rows;
  }

  /// Calls body(panel, first column in it, columns, place in the block) for the columns of a block.
  /// A panel comes from far away and is used by all rows before the next.
  template <class Body>
  static void for_each_panel(std::size_t begin, std::size_t count, Body&& body) {
    for (std::size_t at = begin; at < begin + count;) {
      const std::size_t first = at % width;
      const std::size_t here = std::min(width - first, begin + count - at);
      body(at / width, first, here, at - begin);
      at += here;
    }
  }

  /// Calls body(first row, rows, sums) for one panel against all rows.
  template <class Body>
  void for_each_tile(const Prepared& rows, std::size_t panel, Body&& body) const {
    alignas(64) Sum sums[rows_a_tile * width];
    for (std::size_t r = 0; r < rows.base.size(); r += rows_a_tile) {
      const std::size_t some = std::min(rows_a_tile, rows.base.size() - r);
      multiply(rows, r, some, packed_.data() + panel * panel_size_, sums);
      body(r, some, sums);
    }
  }

  void write_codes(const Prepared& rows, std::size_t begin, std::size_t count,
                   std::uint8_t* const* out) const {
    for_each_panel(
        begin, count, [&](std::size_t panel, std::size_t first, std::size_t here, std::size_t at) {
          for_each_tile(rows, panel, [&](std::size_t r, std::size_t some, const Sum* sums) {
            byte_distances(sums, rows.base.data() + r, base_.data() + panel * width, some, first,
                           here, out + r, at);
          });
        });
  }

  void write_values(const Prepared& rows, std::size_t begin, std::size_t count,
                    float* const* out) const {
    if constexpr (is_binary) {
      // Codes of some columns at a time, which stay in a cache, and from them the values.
      Scratch scratch(rows.base.size());
      const std::size_t at_once = scratch.columns;
      for (std::size_t c = 0; c < count; c += at_once) {
        const std::size_t some = std::min(at_once, count - c);
        write_codes(rows, begin + c, some, scratch.out.data());
        for (std::size_t r = 0; r < rows.base.size(); ++r)
          decay_->decode(scratch.out[r], some, out[r] + c);
      }
    } else {
      for_each_panel(
          begin, count,
          [&](std::size_t panel, std::size_t first, std::size_t here, std::size_t at) {
            for_each_tile(rows, panel, [&](std::size_t r, std::size_t some, const Sum* sums) {
              const Finish<Sum> finish{factor(), scale(), rows.base.data() + r,
                                       base_.data() + panel * width};
              finish_sums<Sum>(form_.map, finish, sums, width, some, first, here, out + r, at);
            });
          });
    }
  }

  /// A tile of values, or of codes, between being computed and being used.
  struct Scratch {
    using Cell = std::conditional_t<is_binary, std::uint8_t, float>;
    std::size_t columns;
    std::unique_ptr<Cell[]> cells;  // uninitialised: clearing takes longer than a small product
    std::vector<Cell*> out;
    explicit Scratch(std::size_t rows)
        : columns(rows <= product_rows ? product_columns : width),
          cells(std::make_unique_for_overwrite<Cell[]>(rows * columns)),
          out(rows) {
      for (std::size_t r = 0; r < rows; ++r) out[r] = cells.get() + r * columns;
    }
  };

  /// Distances of binary rows, or of few features, that decay: values need not be written to a
  /// tile.
  bool is_fused() const {
    if (slots_ == 0) return false;  // rows of zeros have no panels
    if (is_binary) return product_.has_value();
    return std::is_same_v<T, float> && !by_blocks && is_dense() && packing_.by_differences &&
           packing_.unit == 0 && std::holds_alternative<Decay>(form_.map);
  }

  void add_fused(const Prepared& rows, std::span<const double> coefficients, std::size_t begin,
                 std::size_t count, double* y) const {
    if constexpr (is_binary) {
      std::vector<ListedRow<T>> lists(coefficients.size());
      for (std::size_t r = 0; r < lists.size(); ++r) lists[r] = rows.list(r);
      const BinaryRows binary = product_->rows(lists, rows.base, coefficients);
      add_to_panels(begin, count, y, [&](std::size_t panel, double* sums) {
        product_->add(packed_.data() + panel * panel_size_, base_.data() + panel * width, binary,
                      sums);
      });
    } else if constexpr (std::is_same_v<T, float> && !by_blocks) {
      const DecayRows dense(rows.whole, rows.base, slots_, coefficients, packing_.by_products);
      add_to_panels(begin, count, y, [&](std::size_t panel, double* sums) {
        add_decay_product(packed_.data() + panel * panel_size_, dense, sums);
      });
    }
  }

  void add_fused_half(const Rows& own, std::size_t first, std::span<const double> x,
                      double* y) const {
    static_assert(half_rows == width);
    if constexpr (std::is_same_v<T, float> && !by_blocks) {
      std::vector<Index> which(std::min(half_rows, x.size() - first));
      std::iota(which.begin(), which.end(), static_cast<Index>(first));
      const Prepared rows = prepare(own, which);
      const DecayRows dense(rows.whole, rows.base, slots_, x.subspan(first, which.size()),
                            packing_.by_products);
      add_fused(rows, x.subspan(first, which.size()), first, which.size(), y + first);
      double row_sums[half_rows * lanes_of_sums] = {};
      const std::size_t behind = first + which.size();
      add_to_panels(behind, x.size() - behind, y + behind, [&](std::size_t panel, double* sums) {
        double padded[width] = {};
        const std::size_t at = panel * width;
        std::copy_n(x.data() + at, std::min(width, x.size() - at), padded);
        add_decay_products(packed_.data() + panel * panel_size_, dense, padded, sums, row_sums);
      });
      for (std::size_t r = 0; r < which.size(); ++r)
        for (std::size_t k = 0; k < lanes_of_sums; ++k)
          y[first + r] += row_sums[r * lanes_of_sums + k];
    }
  }

  /// Calls add(panel, sums) with the sums of all columns of a panel, of which y takes those that it
  /// has.
  template <class Add>
  static void add_to_panels(std::size_t begin, std::size_t count, double* y, Add&& add) {
    for_each_panel(begin, count,
                   [&](std::size_t panel, std::size_t first, std::size_t here, std::size_t at) {
                     double sums[width] = {};
                     std::copy_n(y + at, here, sums + first);
                     add(panel, sums);
                     std::copy_n(sums + first, here, y + at);
                   });
  }

  void add_tile(const Prepared& rows, std::span<const double> coefficients, std::size_t begin,
                std::size_t count, Scratch& scratch, double* y) const {
    const std::span<const typename Scratch::Cell* const> values{scratch.out.data(),
                                                                coefficients.size()};
    if constexpr (is_binary) {
      write_codes(rows, begin, count, scratch.out.data());
      decay_->add_scaled_rows(values, coefficients, count, y);
    } else {
      write_values(rows, begin, count, scratch.out.data());
      add_scaled_rows(values, coefficients, count, y);
    }
  }

  void multiply(const Prepared& rows, std::size_t from, std::size_t count, const T* panel,
                Sum* sums) const {
    if constexpr (!in_pairs && !in_quads && !is_binary) {
      if (is_dense()) {
        const auto whole = std::span(rows.whole).subspan(from, count);
        if constexpr (std::is_same_v<T, float> && !by_blocks) {
          if (packing_.by_differences) return difference_sums(panel, whole, slots_, sums);
        }
        if constexpr (by_blocks)
          return dense_sums_by_blocks(panel, whole, slots_, sums);
        else
          return dense_sums<T>(panel, whole, slots_, sums);
      }
    }
    if constexpr (in_pairs) {
      if (is_dense())
        return dense_pair_sums(panel, std::span(rows.whole).subspan(from, count), slots_, sums);
    }
    ListedRow<T> lists[rows_a_tile];
    if constexpr (std::is_same_v<T, float>) {
      if (packing_.side == LeftSide::grouped) {
        const std::size_t groups = (count + rows_a_group - 1) / rows_a_group;
        for (std::size_t g = 0; g < groups; ++g)
          lists[g] = rows.list(from / rows_a_group + g, rows_a_group);
        return group_sums(panel, {lists, groups}, sums);
      }
    }
    for (std::size_t r = 0; r < count; ++r) lists[r] = rows.list(from + r);
    if constexpr (in_quads)
      quad_sums(panel, {lists, count}, sums);
    else if constexpr (by_blocks)
      list_sums_by_blocks(panel, {lists, count}, sums);
    else
      list_sums<T>(summation_.pairing, panel, {lists, count}, sums);
  }

  Form form_;
  Summation summation_;
  Rows columns_;
  ExactValues exact_;
  Packing packing_;
  RowPreparation<T, Sum> preparation_;
  const PanelEngine* whole_ = nullptr;  // of an engine for a block
  std::size_t slots_;
  std::size_t panel_size_;
  Buffer<T> packed_;  // aligned for every vector
  std::optional<ByteDecay> decay_;
  std::optional<BinaryProduct> product_;
  std::vector<Sum> base_;
  PreparedParts<T, Sum> own_;  // the columns as rows
};

}  // namespace

template <class T>
std::size_t panel_bytes(std::size_t used_features, std::size_t rows) {
  const std::size_t panels = (rows + panel_width<T> - 1) / panel_width<T>;
  return panels * panel_width<T> * used_features * sizeof(T);
}

template <class T, class Sum>
std::unique_ptr<Engine> make_panel_engine(const Form& form, const Rows& columns, Packing packing,
                                          const Threads& threads) {
  return std::make_unique<PanelEngine<T, Sum>>(form, columns, std::move(packing), threads);
}

template std::size_t panel_bytes<float>(std::size_t, std::size_t);
template std::size_t panel_bytes<double>(std::size_t, std::size_t);
template std::unique_ptr<Engine> make_panel_engine<float, float>(const Form&, const Rows&, Packing,
                                                                 const Threads&);
template std::unique_ptr<Engine> make_panel_engine<float, double>(const Form&, const Rows&, Packing,
                                                                  const Threads&);
template std::unique_ptr<Engine> make_panel_engine<double>(const Form&, const Rows&, Packing,
                                                           const Threads&);
template std::unique_ptr<Engine> make_panel_engine<std::uint8_t>(const Form&, const Rows&, Packing,
                                                                 const Threads&);
template std::unique_ptr<Engine> make_panel_engine<std::int16_t>(const Form&, const Rows&, Packing,
                                                                 const Threads&);
template std::unique_ptr<Engine> make_panel_engine<std::int8_t>(const Form&, const Rows&, Packing,
                                                                const Threads&);

}  // namespace maxmargin
