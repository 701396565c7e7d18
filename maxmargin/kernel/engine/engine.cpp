#include "maxmargin/kernel/engine/engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include "maxmargin/kernel/engine/error_bound.hpp"
#include "maxmargin/kernel/engine/locality.hpp"
#include "maxmargin/kernel/engine/narrow_engine.hpp"
#include "maxmargin/kernel/engine/panel/left_panel.hpp"
#include "maxmargin/kernel/engine/panel/panel_engine.hpp"
#include "maxmargin/kernel/engine/panel/vnni_tiles.hpp"
#include "maxmargin/kernel/engine/product/exact_product.hpp"
#include "maxmargin/linalg/accumulate.hpp"

namespace maxmargin {
namespace {

// A tile of so many values stays in L2 between being computed and being summed up.
constexpr std::size_t product_rows = 64;
constexpr std::size_t product_columns = 2048;

/// Columns left as they are stored; see left_panel.hpp.
class StoredEngine final : public Engine, FusedProducts {
 public:
  StoredEngine(const Form& form, const Rows& columns, bool in_double, double float_error)
      : StoredEngine(form, columns, in_double, float_error, ExactValues(form, columns)) {}
  StoredEngine(const Form& form, const Rows& columns, bool in_double, double float_error,
               const ExactValues& exact)
      : form_(form),
        columns_(columns),
        exact_(exact),
        in_double_(in_double),
        float_error_(float_error) {}

  void block(const Rows& left, std::span<const Index> which, std::size_t begin, std::size_t count,
             std::span<float* const> out) const override {
    const auto evaluate = in_double_ ? left_panel_block<double> : left_panel_block<float>;
    evaluate(form_, left, which, columns_, begin, count, out);
  }
  void exact_block(const Rows& left, std::span<const Index> which, std::size_t begin,
                   std::size_t count, double* out, std::size_t stride) const override {
    exact_.block(left, which, columns_, begin, count, out, stride);
  }
  std::unique_ptr<Engine> for_columns(const Rows& columns, std::span<const Index>) const override {
    return std::make_unique<StoredEngine>(form_, columns, in_double_, float_error_, exact_);
  }
  double value_cost(const CostModel& costs) const override {
    return costs.plain.of(static_cast<double>(columns_.stored()) /
                          static_cast<double>(columns_.count + 1));
  }
  EngineTraits traits() const override {
    return {.deviation = float_rounding,
            .errors = ValueErrors{float_error_, exact_.error()},
            .nonzero_share = 1,
            .bytes = 0};
  }
  EngineCapabilities can() const override {
    EngineCapabilities own;
    own.products = this;
    return own;
  }

 private:
  void add_product(const Rows& left, std::span<const Index> which,
                   std::span<const double> coefficients, std::size_t begin, std::size_t count,
                   double* y) const override {
    add_product_by_blocks(left, which, coefficients, begin, count, y);
  }
  void add_exact_product(const Rows& left, std::span<const Index> which,
                         std::span<const double> coefficients, std::size_t begin, std::size_t count,
                         double* y) const override {
    exact_.add_product(left, which, coefficients, columns_, begin, count, y);
  }

  Form form_;
  Rows columns_;
  ExactValues exact_;
  bool in_double_;
  double float_error_;
};

/// An engine whose values come in double: the user's function and the precomputed matrix.
class DoubleEngine : public Engine {
 public:
  void block(const Rows& left, std::span<const Index> which, std::size_t begin, std::size_t count,
             std::span<float* const> out) const override {
    std::vector<double> exact(which.size() * count);
    exact_block(left, which, begin, count, exact.data(), count);
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t c = 0; c < count; ++c) out[r][c] = static_cast<float>(exact[r * count + c]);
  }
  EngineCapabilities can() const override { return {}; }

 protected:
  static EngineTraits traits_of(const ValueErrors& errors) {
    return {.deviation = float_rounding, .errors = errors, .nonzero_share = 1, .bytes = 0};
  }
};

/// The values of the matrix or function are exact by definition.
constexpr ValueErrors rounded_to_float{float_roundoff, 0};

/// Distances from differences in double, where float sums or sums of products would cancel.
class DifferenceEngine final : public DoubleEngine {
 public:
  DifferenceEngine(const Form& form, const Rows& columns)
      : DifferenceEngine(columns, ExactValues(form, columns)) {}
  DifferenceEngine(const Rows& columns, const ExactValues& exact)
      : columns_(columns), exact_(exact) {}
  void exact_block(const Rows& left, std::span<const Index> which, std::size_t begin,
                   std::size_t count, double* out, std::size_t stride) const override {
    exact_.block(left, which, columns_, begin, count, out, stride);
  }
  std::unique_ptr<Engine> for_columns(const Rows& columns, std::span<const Index>) const override {
    return std::make_unique<DifferenceEngine>(columns, exact_);
  }
  double value_cost(const CostModel& costs) const override {
    return costs.differences.of(static_cast<double>(columns_.stored()) /
                                static_cast<double>(columns_.count + 1));
  }
  EngineTraits traits() const override {
    return traits_of({exact_.error() + float_roundoff, exact_.error()});
  }

 private:
  Rows columns_;
  ExactValues exact_;
};

class CustomEngine final : public DoubleEngine {
 public:
  CustomEngine(const Custom& kernel, const Rows& columns) : kernel_(kernel), columns_(columns) {
    if (!kernel.function)
      throw Error(Fault::usage, "the kernel '" + kernel.label + "' has no function",
                  "give the function it was trained with, from C++");
  }
  void exact_block(const Rows& left, std::span<const Index> which, std::size_t begin,
                   std::size_t count, double* out, std::size_t stride) const override {
    if (stride == count) return kernel_.function(left, which, columns_, begin, count, out);
    std::vector<double> block(which.size() * count);
    kernel_.function(left, which, columns_, begin, count, block.data());
    for (std::size_t r = 0; r < which.size(); ++r)
      std::copy_n(block.data() + r * count, count, out + r * stride);
  }
  std::unique_ptr<Engine> for_columns(const Rows& columns, std::span<const Index>) const override {
    return std::make_unique<CustomEngine>(kernel_, columns);
  }
  double value_cost(const CostModel& costs) const override { return costs.own_function; }
  EngineTraits traits() const override { return traits_of(rounded_to_float); }

 private:
  Custom kernel_;
  Rows columns_;
};

class PrecomputedEngine final : public DoubleEngine {
 public:
  std::unique_ptr<Engine> for_columns(const Rows&, std::span<const Index>) const override {
    return std::make_unique<PrecomputedEngine>();
  }
  double value_cost(const CostModel& costs) const override { return costs.own_function; }
  EngineTraits traits() const override { return traits_of(rounded_to_float); }
  void exact_block(const Rows& left, std::span<const Index> which, std::size_t begin,
                   std::size_t count, double* out, std::size_t stride) const override {
    for (std::size_t r = 0; r < which.size(); ++r) {
      double* row = out + r * stride;
      std::fill_n(row, count, 0.0);
      left.for_each(which[r], [&](Index feature, double value) {
        if (feature >= begin && feature < begin + count) row[feature - begin] = value;
      });
    }
  }
};

/// How fast the map's value changes, relative to itself, with an error of the sum; infinite: the
/// sum must be as exact as possible.
double sensitivity(const Map& map) {
  if (const auto* decay = std::get_if<Decay>(&map)) return decay->rate;
  if (const auto* tangent = std::get_if<HyperbolicTangent>(&map)) return tangent->factor;
  if (std::holds_alternative<RootDecay>(map)) return std::numeric_limits<double>::infinity();
  return 0;
}

// Float sums lose up to 5e-7 of the norms they are made of; times the sensitivity, that stays below
// 1e-6 up to this. Of tens of thousands of random matrices, one in a thousand had a value with up
// to twice that error.
constexpr double float_limit = 2;
// Sums in double of float blocks lose about a third of that, as do sums of few squares of
// differences, where nothing cancels.
constexpr double blocks_limit = 6;
constexpr double differences_limit = 5;
// Up to this mean of rows' sums of squares, times the sensitivity, inner products lose no more than
// differences do.
constexpr double products_limit = 0.25;
// Longer sums of floats lose more: equal terms are all rounded to the same side.
constexpr std::size_t longest_float_sum = 128;
// Blocks of floats have so many terms at most (tiles.cpp).
constexpr std::size_t longest_block = 128;
// Above this degree the error of a power grows beyond 1e-6.
constexpr int float_degree = 3;
constexpr double huge_norm = 1e30;

/// The largest sum of squares (or of alone()) of a row that float sums may be made of; 0: none.
double float_trust(const Form& form, double own, double limit) {
  const auto* power = std::get_if<Power>(&form.map);
  if (power != nullptr && power->degree > float_degree) return 0;
  if (own > huge_norm) return 0;
  const double rate = sensitivity(form.map);
  if (rate * 2 * own > limit) return 0;
  return rate > 0 ? std::max(own, limit / rate - own) : huge_norm;
}

/// The relative error expected of values whose distances come from float sums: half of the 1e-6
/// that the limit stands for where norms are as large as it allows.
double sums_deviation(const Form& form, double own, double limit) {
  return 5e-8 + 5e-7 * sensitivity(form.map) * 2 * own / limit;
}

void check_non_negative(const Form& form, const Rows& rows, std::string_view kernel) {
  if (!form.needs_non_negative()) return;
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index feature, double value) {
      if (value < 0)
        throw Error(Fault::data,
                    "row " + std::to_string(i + 1) + ", feature " + std::to_string(feature + 1) +
                        ": the " + std::string(kernel) + " kernel takes no negative value",
                    "shift or scale the features to 0 or more (--scale unit), or choose another "
                    "kernel");
    });
}

// Values may deviate from whole numbers by a share of themselves, which is much far from zero.
constexpr double most_whole_error = 4e-6;
// A value of a table is a product of up to four entries.
constexpr double table_roundings = 8;

/// Whether sums of this size, and their map, are well within the range of float.
bool fits_float(const Form& form, double size) {
  constexpr double least = 1e-20, most = 1e20, least_factor = 1e-30, most_factor = 1e30;
  const auto is_usual = [&](double factor) {
    return factor >= least_factor && factor <= most_factor;
  };
  // Chi-squared squares what it sums up.
  const double squares = form.pairing == Pairing::chi_squared ? size * size : size;
  if (!(squares >= least && squares <= most)) return false;
  if (const auto* power = std::get_if<Power>(&form.map)) return is_usual(power->factor);
  if (const auto* tangent = std::get_if<HyperbolicTangent>(&form.map))
    return is_usual(std::abs(tangent->factor));
  const double rate = sensitivity(form.map);
  if (const auto* root = std::get_if<RootDecay>(&form.map)) return root->rate <= most_factor;
  return rate <= most_factor && rate * size <= most_factor;
}

/// Whether values from double sums of products are no better than from differences of features.
bool needs_differences(const Form& form, double error) {
  constexpr double good_sums = 1e-9, good_roots = 1e-6;
  if (form.pairing == Pairing::dot) return false;
  const bool has_root = std::holds_alternative<RootDecay>(form.map);
  // The map in float is wrong by up to six roundoffs.
  return !(error <= 6 * float_roundoff + (has_root ? good_roots : good_sums));
}

/// How far values may be from whole multiples of a unit: a distance of d then changes by about
/// 2 sqrt(2 d / 3) times that (independent deviations, evenly spread), and the kernel value, at two
/// and a half times that for the largest distance, by less than 1e-6.
double slack_of_units(const Form& form, const Extent& extent) {
  const auto* decay = std::get_if<Decay>(&form.map);
  if (decay == nullptr || !Summation(form.pairing).is_euclidean()) return 0;
  const double distance = 2 * extent.norm;
  return 1e-6 / (2.5 * decay->rate * 2 * std::sqrt(2 * distance / 3) + 1e-300);
}

/// What an engine is made for.
struct Wanted {
  const Form& form;
  const Rows& columns;
  const Threads& threads;
  const CostModel& costs;
};

/// Panels of whole numbers, whose sums are exact; null where the values are none.
std::unique_ptr<Engine> make_whole_engine(const Wanted& wanted, const Extent& extent, double trust,
                                          Packing packing) {
  const auto& [form, columns, threads, costs] = wanted;
  const Summation summation(form.pairing);
  packing.slack = slack_of_units(form, extent);
  packing.unit = common_unit(summation, columns, extent, packing.slack, threads);
  if (packing.unit == 0) return nullptr;
  const double square = packing.unit * packing.unit, units = extent.norm / square;
  if (!(units < 0x1p31) || !fits_float(form, square)) return nullptr;
  packing.most_units = units;
  const bool is_binary =
      extent.smallest == extent.largest && packing.unit == extent.largest && !extent.negative;
  const bool is_listed = packing.side == LeftSide::listed;
  const double deviation =
      is_binary ? 0 : unit_deviation(summation, columns, packing.unit, threads);
  SumError sums = moved_rows(deviation);
  sums.relative += 8 * unit_roundoff;  // of the unit's square
  // Without slack a value deviates by a share of itself.
  if (form.pairing == Pairing::dot)
    sums.absolute = deviation > 0 ? 2.1 * Unit::relative_slack : 8 * unit_roundoff;
  packing.float_error = value_error(form, sums, float_roundoff);
  if (packing.float_error > most_whole_error) return nullptr;
  if (is_binary && 2 * units <= 255 && summation.is_euclidean() &&
      std::holds_alternative<Decay>(form.map)) {
    packing.side = LeftSide::listed;
    packing.trusted_norm = (255 - units) * square;
    packing.float_error += table_roundings * float_roundoff;
    return make_panel_engine<std::uint8_t>(form, columns, std::move(packing), threads);
  }
  // Exact in float up to 2^24 and in int32 up to 2^31.
  if (packing.side == LeftSide::dense && packing.used.count > costs.engines.most_differences &&
      has_vnni() && 4 * units < 0x1p31) {
    packing.trusted_norm = 0x1p29 * square;
    return make_panel_engine<std::int16_t>(form, columns, std::move(packing), threads);
  }
  if (4 * units < 0x1p24) {
    packing.trusted_norm = 0x1p22 * square;
    return make_panel_engine<float>(form, columns, std::move(packing), threads);
  }
  if (4 * units < 0x1p31 && (trust == 0 || is_listed)) {
    packing.side = LeftSide::listed;
    packing.trusted_norm = 0x1p29 * square;
    if (has_vnni() && !extent.negative && extent.largest <= 255.5 * packing.unit)
      return make_panel_engine<std::int8_t>(form, columns, std::move(packing), threads);
    return make_panel_engine<std::int16_t>(form, columns, std::move(packing), threads);
  }
  return nullptr;
}

/// Whether boxes around columns tell in float numbers which values are negligible.
bool leaves_out_far_blocks(const Form& form, const Engine& engine, const Rows& columns,
                           const Threads& threads) {
  constexpr double exact_floats = 1e4;
  const double limit = negligible_from(form);
  if (engine.can().coded != nullptr) return false;
  const double largest = extent_of(Summation(form.pairing), columns, threads).largest;
  return largest < exact_floats * std::sqrt(limit);
}

/// Whether rows in groups are cheaper than alone: a group's list is longer than that of one row,
/// but a panel that does not stay in L1 is read once for all of its rows.
bool groups_pay(const Rows& columns, std::size_t used_features, const CostModel& costs) {
  constexpr std::size_t sampled = 64;
  const std::size_t stride = std::max<std::size_t>(1, columns.count / (sampled * rows_a_group));
  std::size_t alone = 0, together = 0;
  std::vector<std::size_t> seen(columns.columns, 0);
  for (std::size_t g = 1; g * stride * rows_a_group <= columns.count && g <= sampled; ++g)
    for (std::size_t r = 0; r < rows_a_group; ++r)
      columns.for_each((g - 1) * stride * rows_a_group + r, [&](Index feature, double value) {
        if (value == 0) return;
        ++alone;
        together += seen[feature] != g;
        seen[feature] = g;
      });
  const double cost = used_features <= costs.engines.cached_features ? costs.listed_feature_in_cache
                                                                     : costs.listed_feature;
  return costs.grouped_feature * static_cast<double>(rows_a_group * together) <
         cost * static_cast<double>(alone);
}

/// How far roots that were rounded are from those of the stored numbers, whose largest sum of a row
/// is `sum`: before any center is taken off.
SumError rounded_roots(const Form& form, double sum) {
  if (!Summation(form.pairing).roots) return {};
  return moved_rows(unit_roundoff * std::sqrt(sum));
}

/// The proved error of values from sums of such terms, in float or in double, of the rows as they
/// are or about a center.
double packed_error(const Form& form, double roundoff, std::size_t terms, double own,
                    const SumError& before) {
  const SumError sums = Summation(form.pairing).is_product()
                            ? product_sums(form, roundoff, terms, own)
                            : list_sums_error(roundoff, terms, own);
  return value_error(form, sums + before, float_roundoff);
}

/// By differences of features in float, and in sums over rows by products about `norm`.
double differences_error(const Form& form, std::size_t features, double own, double norm,
                         const SumError& before) {
  const double by_products = packed_error(form, float_roundoff, features, norm, before);
  const SumError sums = difference_sums_error(float_roundoff, features, std::max(own, norm));
  return std::max(by_products, value_error(form, sums + before, float_roundoff));
}

std::unique_ptr<Engine> make_form_engine(const Form& form, const Rows& columns,
                                         const Threads& threads, const CostModel& costs) {
  const Summation summation(form.pairing);
  const Extent extent = extent_of(summation, columns, threads);
  double own = summation.is_product() ? extent.norm : extent.alone;
  double trust = fits_float(form, own) ? float_trust(form, own, float_limit) : 0;
  const SumError before = rounded_roots(form, extent.norm);
  Packing packing;
  packing.used = used_features(columns, threads);
  packing.nonzeros = static_cast<double>(extent.nonzeros) / static_cast<double>(columns.count + 1);
  const std::size_t stored = columns.stored() * 12 + 1;
  const bool pack = panel_bytes<float>(packing.used.count, columns.count) <=
                    std::max(costs.engines.small_panels, costs.engines.packing_factor * stored);
  if (!pack) {
    const double error = packed_error(form, trust == 0 ? unit_roundoff : float_roundoff,
                                      extent.longest, own, before);
    if (trust == 0 && needs_differences(form, error))
      return std::make_unique<DifferenceEngine>(form, columns);
    return std::make_unique<StoredEngine>(form, columns, trust == 0, error);
  }

  const double cells =
      static_cast<double>(packing.used.count) * static_cast<double>(columns.count) + 1;
  if (summation.is_product() &&
      static_cast<double>(extent.nonzeros) > costs.engines.dense_from * cells)
    packing.side = LeftSide::dense;
  if (summation.is_product())
    if (auto engine = make_whole_engine({form, columns, threads, costs}, extent, trust, packing))
      return engine;
  double about_means = 0;
  if (packing.side == LeftSide::dense && summation.is_euclidean()) {
    CenteredFeatures centered = centered_features(summation, columns, threads);
    packing.used = std::move(centered.used);
    own = centered.norm;
    about_means = centered.norm_about_means;
    const bool fits = fits_float(form, own) && fits_float(form, about_means);
    packing.by_differences = fits && std::holds_alternative<Decay>(form.map) &&
                             packing.used.count <= costs.engines.most_differences &&
                             float_trust(form, own, differences_limit) > 0;
    const double limit = packing.by_differences ? differences_limit : float_limit;
    trust = fits ? float_trust(form, own, limit) : 0;
    if (packing.by_differences) {
      const double rate = std::get<Decay>(form.map).rate;
      packing.by_products = rate * centered.mean_norm <= products_limit;
      packing.stretch = std::sqrt((packing.by_products ? 2 : 1) * rate * std::numbers::log2e);
    }
    if (packing.by_products) {
      // Differences do not depend on a center, and inner products lose least by that which is near
      // to most rows.
      packing.used.center = std::move(centered.means);
      trust = std::max(trust, centered.norm_about_means);
    }
  }
  if (packing.side == LeftSide::listed && summation.is_product() &&
      groups_pay(columns, packing.used.count, costs))
    packing.side = LeftSide::grouped;
  packing.trusted_norm = trust;
  const bool by_distance = std::holds_alternative<Decay>(form.map) && summation.is_euclidean();
  if (trust > 0 && by_distance) packing.deviation = sums_deviation(form, own, float_limit);
  if (packing.by_differences) packing.deviation = 5e-8;
  const std::size_t terms = packing.side == LeftSide::dense ? packing.used.count : extent.longest;
  packing.float_error = packing.by_differences
                            ? differences_error(form, packing.used.count, own,
                                                packing.by_products ? about_means : 0, before)
                            : packed_error(form, float_roundoff, terms, own, before);
  const bool is_long = summation.is_product() && packing.used.count > longest_float_sum;
  if (trust > 0 && !is_long)
    return make_panel_engine<float>(form, columns, std::move(packing), threads);
  packing.trusted_norm = fits_float(form, own) ? float_trust(form, own, blocks_limit) : 0;
  packing.deviation = sums_deviation(form, own, blocks_limit);
  packing.float_error =
      packed_error(form, float_roundoff, std::min(terms, longest_block), own, before) +
      packed_error(form, unit_roundoff, terms, own, before);
  if (packing.trusted_norm > 0 && summation.is_product())
    return make_panel_engine<float, double>(form, columns, std::move(packing), threads);
  packing.trusted_norm = std::numeric_limits<double>::infinity();
  packing.deviation = 5e-8;
  packing.float_error = packed_error(form, unit_roundoff, terms, own, before);
  if (needs_differences(form, packing.float_error))
    return std::make_unique<DifferenceEngine>(form, columns);
  if (packing.side == LeftSide::grouped) packing.side = LeftSide::listed;
  return make_panel_engine<double>(form, columns, std::move(packing), threads);
}

}  // namespace

void Engine::block(const Rows& left, std::span<const Index> which, std::size_t begin,
                   std::size_t count, float* out, std::size_t stride) const {
  std::vector<float*> rows(which.size());
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = out + r * stride;
  block(left, which, begin, count, rows);
}

void Engine::add_product(const Rows& left, std::span<const Index> which,
                         std::span<const double> coefficients, std::size_t begin, std::size_t count,
                         double* y) const {
  if (const FusedProducts* products = can().products)
    products->add_product(left, which, coefficients, begin, count, y);
  else
    add_product_by_blocks(left, which, coefficients, begin, count, y);
}

void Engine::add_product_by_blocks(const Rows& left, std::span<const Index> which,
                                   std::span<const double> coefficients, std::size_t begin,
                                   std::size_t count, double* y) const {
  std::vector<float> tile(product_rows * product_columns);
  std::vector<const float*> rows(product_rows);
  for (std::size_t r = 0; r < product_rows; ++r) rows[r] = tile.data() + r * product_columns;
  for (std::size_t c = 0; c < count; c += product_columns) {
    const std::size_t columns = std::min(product_columns, count - c);
    for (std::size_t r = 0; r < which.size(); r += product_rows) {
      const std::size_t some = std::min(product_rows, which.size() - r);
      block(left, which.subspan(r, some), begin + c, columns, tile.data(), product_columns);
      add_scaled_rows({rows.data(), some}, coefficients.subspan(r, some), columns, y + c);
    }
  }
}

void Engine::add_half_product(const Rows& rows, std::size_t first, std::span<const double> x,
                              double* y) const {
  if (const HalfProducts* halves = can().halves) return halves->add_half_product(rows, first, x, y);
  constexpr std::size_t columns_at_once = 512;
  const std::size_t some = std::min(half_rows, x.size() - first);
  std::vector<Index> which(some);
  std::iota(which.begin(), which.end(), static_cast<Index>(first));
  std::vector<float> tile(half_rows * columns_at_once);
  std::vector<const float*> values(some);
  for (std::size_t r = 0; r < some; ++r) values[r] = tile.data() + r * columns_at_once;
  for (std::size_t c = first; c < x.size();) {
    const bool is_square = c == first;
    const std::size_t columns = is_square ? some : std::min(columns_at_once, x.size() - c);
    block(rows, which, c, columns, tile.data(), columns_at_once);
    add_scaled_rows(values, x.subspan(first, some), columns, y + c);
    if (!is_square) add_row_products(values, x.data() + c, columns, y + first);
    c += columns;
  }
}

double Engine::half_cost(const CostModel& costs) const {
  if (const HalfProducts* halves = can().halves) return halves->half_cost(costs);
  const double value = value_cost(costs);
  // Each value is used for two sums, and passes through memory.
  return value > costs.touch_value ? value + costs.second_sum
                                   : std::numeric_limits<double>::infinity();
}

std::unique_ptr<Engine> Engine::for_block(const Rows& rows, std::span<const Index> which) const {
  const SmallBlocks* small = can().small;
  return small != nullptr ? small->for_block(rows, which) : nullptr;
}

void Engine::add_exact_product(const Rows& left, std::span<const Index> which,
                               std::span<const double> coefficients, std::size_t begin,
                               std::size_t count, double* y) const {
  if (const FusedProducts* products = can().products)
    return products->add_exact_product(left, which, coefficients, begin, count, y);
  std::vector<double> row(count);
  for (std::size_t r = 0; r < which.size(); ++r) {
    exact_block(left, which.subspan(r, 1), begin, count, row.data(), count);
    for (std::size_t c = 0; c < count; ++c) y[c] += coefficients[r] * row[c];
  }
}

std::unique_ptr<Engine> make_engine(const Kernel& kernel, const Rows& columns,
                                    const Threads& threads, const CostModel& costs) {
  if (const auto* custom = std::get_if<Custom>(&kernel))
    return std::make_unique<CustomEngine>(*custom, columns);
  if (std::holds_alternative<Precomputed>(kernel)) return std::make_unique<PrecomputedEngine>();
  return visit_list(
      [&](const auto& chosen) -> std::unique_ptr<Engine> {
        if constexpr (requires { chosen.form(); }) {
          const Form form = chosen.form();
          check_non_negative(form, columns, chosen.name);
          auto engine = make_form_engine(form, columns, threads, costs);
          const double share = nonzero_share(form, columns, costs);
          if (share > costs.engines.most_near ||
              !leaves_out_far_blocks(form, *engine, columns, threads))
            return engine;
          return make_narrow_engine(form, std::move(engine), columns, share);
        } else {
          return nullptr;
        }
      },
      kernel);
}

}  // namespace maxmargin
