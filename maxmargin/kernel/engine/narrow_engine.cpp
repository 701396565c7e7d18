#include "maxmargin/kernel/engine/narrow_engine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "maxmargin/kernel/engine/locality.hpp"
#include "maxmargin/kernel/engine/panel/panel_boxes.hpp"
#include "maxmargin/linalg/accumulate.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t box_columns = 64;  // columns in a box
constexpr std::size_t narrow_rows_at_once = 256;

class NarrowEngine final : public Engine, FusedProducts, NonzeroBlocks, SmallBlocks {
 public:
  NarrowEngine(double limit, double nonzero_share, std::unique_ptr<Engine> engine,
               const Rows& columns)
      : limit_(limit),
        nonzero_share_(nonzero_share),
        engine_(std::move(engine)),
        boxes_((columns.count + box_columns - 1) / box_columns, columns.columns) {
    std::vector<Index> all(columns.count);
    std::iota(all.begin(), all.end(), Index{0});
    add_boxes(columns, all);
  }
  /// For a block: boxes around chosen rows.
  NarrowEngine(const NarrowEngine& whole, std::unique_ptr<Engine> engine, const Rows& rows,
               std::span<const Index> which)
      : limit_(whole.limit_),
        nonzero_share_(whole.nonzero_share_),
        engine_(std::move(engine)),
        boxes_((which.size() + box_columns - 1) / box_columns, rows.columns) {
    add_boxes(rows, which);
  }

  void block(const Rows& left, std::span<const Index> which, std::size_t begin, std::size_t count,
             std::span<float* const> out) const override {
    for (float* row : out) std::fill_n(row, count, 0.0f);
    std::vector<float*> part;
    for_each_near(left, which, begin, count, limit_,
                  [&](std::span<const Index> near, std::size_t from, std::size_t here) {
                    part.resize(near.size());
                    for (std::size_t k = 0; k < near.size(); ++k)
                      part[k] = out[near[k]] + (from - begin);
                    engine_->block(left, chosen(which, near), from, here, part);
                  });
  }

  void add_product(const Rows& left, std::span<const Index> which,
                   std::span<const double> coefficients, std::size_t begin, std::size_t count,
                   double* y) const override {
    std::vector<double> weights;
    for_each_near_tile(left, which, begin, count, limit_,
                       [&](std::size_t first, std::span<const Index> near, std::size_t from,
                           std::size_t here, std::span<const float* const> rows) {
                         weights.resize(near.size());
                         for (std::size_t k = 0; k < near.size(); ++k)
                           weights[k] = coefficients[first + near[k]];
                         add_scaled_rows(rows, weights, here, y + (from - begin));
                       });
  }

  void nonzero_values(const Rows& left, std::span<const Index> which, std::size_t begin,
                      std::size_t count, double least, const NonzeroValues& body) const override {
    // Exponents of values are proportional to squared distances.
    const double limit = limit_ * std::log(least) / std::log(negligible_value);
    for_each_near_tile(left, which, begin, count, std::min(limit, limit_),
                       [&](std::size_t first, std::span<const Index> near, std::size_t from,
                           std::size_t here, std::span<const float* const> rows) {
                         for (std::size_t k = 0; k < near.size(); ++k)
                           body(first + near[k], from - begin, {rows[k], here});
                       });
  }

  void exact_block(const Rows& left, std::span<const Index> which, std::size_t begin,
                   std::size_t count, double* out, std::size_t stride) const override {
    engine_->exact_block(left, which, begin, count, out, stride);
  }
  void add_exact_product(const Rows& left, std::span<const Index> which,
                         std::span<const double> coefficients, std::size_t begin, std::size_t count,
                         double* y) const override {
    std::vector<double> weights;
    for (std::size_t first = 0; first < which.size(); first += narrow_rows_at_once) {
      const auto some = which.subspan(first, std::min(narrow_rows_at_once, which.size() - first));
      for_each_near(left, some, begin, count, limit_,
                    [&](std::span<const Index> near, std::size_t from, std::size_t here) {
                      weights.resize(near.size());
                      for (std::size_t k = 0; k < near.size(); ++k)
                        weights[k] = coefficients[first + near[k]];
                      engine_->add_exact_product(left, chosen(some, near), weights, from, here,
                                                 y + (from - begin));
                    });
    }
  }
  std::unique_ptr<Engine> for_columns(const Rows& columns,
                                      std::span<const Index> which) const override {
    return std::make_unique<NarrowEngine>(limit_, nonzero_share_,
                                          engine_->for_columns(columns, which), columns);
  }
  std::unique_ptr<Engine> for_block(const Rows& rows, std::span<const Index> which) const override {
    std::unique_ptr<Engine> inner = engine_->for_block(rows, which);
    if (inner == nullptr) return nullptr;
    return std::make_unique<NarrowEngine>(*this, std::move(inner), rows, which);
  }
  double value_cost(const CostModel& costs) const override {
    return costs.left_out_value + nonzero_share_ * engine_->value_cost(costs);
  }
  EngineTraits traits() const override {
    const EngineTraits inner = engine_->traits();
    const ValueErrors& of_near = inner.errors;
    return {.deviation = inner.deviation,
            .errors = ValueErrors{of_near.in_float + negligible_value,
                                  of_near.in_double + negligible_value},
            .nonzero_share = nonzero_share_,
            .bytes = inner.bytes + boxes_.bytes()};
  }
  EngineCapabilities can() const override {
    EngineCapabilities own;
    own.products = this;
    own.nonzero = this;
    own.small = this;
    return own;
  }

 private:
  void add_boxes(const Rows& rows, std::span<const Index> which) {
    const AlignedVector<float> dense = dense_rows(rows, which);
    for (std::size_t c = 0; c < which.size(); ++c)
      boxes_.add(c / box_columns, dense.data() + c * boxes_.stride());
  }

  /// Features that no column has are left out, which only makes the distance smaller.
  AlignedVector<float> dense_rows(const Rows& rows, std::span<const Index> which) const {
    const std::size_t stride = boxes_.stride();
    AlignedVector<float> dense(which.size() * stride, 0.0f);
    for (std::size_t r = 0; r < which.size(); ++r)
      rows.for_each(which[r], [&](Index feature, double value) {
        if (feature < stride) dense[r * stride + feature] = static_cast<float>(value);
      });
    return dense;
  }

  static std::vector<Index> chosen(std::span<const Index> which, std::span<const Index> positions) {
    std::vector<Index> result(positions.size());
    for (std::size_t k = 0; k < positions.size(); ++k) result[k] = which[positions[k]];
    return result;
  }

  /// Calls body(positions of near rows, first column, columns) for each piece of the columns that
  /// shares a box and has such rows, those closer to it than the root of `limit`.
  template <class Body>
  void for_each_near(const Rows& left, std::span<const Index> which, std::size_t begin,
                     std::size_t count, double limit, Body&& body) const {
    const AlignedVector<float> dense = dense_rows(left, which);
    std::vector<Index> all(which.size()), group;
    std::iota(all.begin(), all.end(), Index{0});
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t group_of = none;
    for (std::size_t at = begin; at < begin + count;) {
      const std::size_t panel = at / box_columns;
      const std::size_t here = std::min((panel + 1) * box_columns, begin + count) - at;
      if (panel / PanelBoxes::panels_a_group != group_of) {
        group_of = panel / PanelBoxes::panels_a_group;
        group = boxes_.near_group(panel, dense.data(), all, limit);
      }
      const std::vector<Index> near = boxes_.near_panel(panel, dense.data(), group, limit);
      if (!near.empty()) body(near, at, here);
      at += here;
    }
  }

  /// Calls body(first of some rows, positions of near ones from there, first column, columns,
  /// values) for each such piece.
  template <class Body>
  void for_each_near_tile(const Rows& left, std::span<const Index> which, std::size_t begin,
                          std::size_t count, double limit, Body&& body) const {
    std::vector<float> tile(narrow_rows_at_once * box_columns);
    std::vector<const float*> rows(narrow_rows_at_once);
    for (std::size_t k = 0; k < narrow_rows_at_once; ++k) rows[k] = tile.data() + k * box_columns;
    for (std::size_t first = 0; first < which.size(); first += narrow_rows_at_once) {
      const auto some = which.subspan(first, std::min(narrow_rows_at_once, which.size() - first));
      for_each_near(left, some, begin, count, limit,
                    [&](std::span<const Index> near, std::size_t from, std::size_t here) {
                      engine_->Engine::block(left, chosen(some, near), from, here, tile.data(),
                                             box_columns);
                      body(first, near, from, here, std::span(rows).first(near.size()));
                    });
    }
  }

  double limit_;
  double nonzero_share_;
  std::unique_ptr<Engine> engine_;
  PanelBoxes boxes_;
};

}  // namespace

std::unique_ptr<Engine> make_narrow_engine(const Form& form, std::unique_ptr<Engine> engine,
                                           const Rows& columns, double nonzero_share) {
  return std::make_unique<NarrowEngine>(negligible_from(form), nonzero_share, std::move(engine),
                                        columns);
}

}  // namespace maxmargin
