#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/data/rows.hpp"
#include "maxmargin/kernel/engine/byte_decay.hpp"
#include "maxmargin/kernel/form.hpp"
#include "maxmargin/linalg/accumulate.hpp"

namespace maxmargin {

/// How exact the kernel values of a product must be: `fast` may use float values (sums are always
/// double), `exact` uses double values throughout.
enum class Precision { fast, exact };

class LowRank;

/// A symmetric matrix K over points, known by its rows and its products: the kernel matrix of a
/// data set, a dense matrix, a low-rank one, one on disk or on other machines. Several variables of
/// a DualQp may share a point (the two sides of a regression tube, equal rows of opposite classes).
class Quadratic {
 public:
  virtual ~Quadratic() = default;

  virtual std::size_t size() const = 0;
  virtual std::span<const double> diagonal() const = 0;
  virtual Definite definite() const = 0;

  /// out[r][c] = K(which[r], begin + c) for c < count. Cheapest for many rows at once.
  virtual void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
                    std::span<float* const> out, const Threads& threads) const = 0;

  /// out[r][c] = K(points[which[r]], points[c]): for small sets of points.
  virtual void among(std::span<const Index> points, std::span<const Index> which,
                     std::span<float* const> out, const Threads& threads) const;

  /// out[r][c] = K(which[r], columns[c]): for many rows, and columns that are no range.
  virtual void block(std::span<const Index> which, std::span<const Index> columns,
                     std::span<float* const> out, const Threads& threads) const;

  /// A whole row that stays in memory as long as the matrix does, or null.
  virtual const float* kept_row(Index) const { return nullptr; }
  /// Computes these rows and keeps them, as many as there is room for; or does nothing.
  virtual void keep(std::span<const Index>, const Threads&) const {}

  /// Rows whose values are exp(-rate s) of whole numbers s < 256 can be had as these numbers: a
  /// quarter of the memory. Null if they are not of this kind.
  virtual const ByteDecay* codes() const { return nullptr; }
  virtual void code_rows(std::span<const Index> which, std::size_t begin, std::size_t count,
                         std::span<std::uint8_t* const> out, const Threads& threads) const;

  /// y += sum over k of coefficients[k] * row which[k], in this order: the rows themselves are
  /// nowhere kept.
  virtual void add_product(std::span<const Index> which, std::span<const double> coefficients,
                           std::span<double> y, const Threads& threads) const;

  /// The share of values that are not negligible, where that is known to be small.
  virtual double near_share() const { return 1; }
  /// Neighbouring values of the row at place r of those asked for, from column `column` on.
  using NearValues = std::function<void(std::size_t r, std::size_t column, std::span<const float>)>;
  /// Calls body with all values in the columns [begin, begin + count) that are larger than `least`,
  /// which is no less than what is negligible, among others; the columns of a row increase. One
  /// thread does one block.
  virtual void near_values(std::span<const Index> which, std::size_t begin, std::size_t count,
                           double least, const NearValues& body) const;
  /// Whether rows, once computed, are had again almost for nothing.
  virtual bool keeps_rows() const { return false; }
  /// The values of a row that is kept without those that do not count; nothing if it is not kept.
  /// Valid until the next rows are kept.
  virtual std::optional<BlockRow> near_row(Index) const { return std::nullopt; }

  /// In double throughout, out[r * stride + c] = K(which[r], begin + c) for c < count. One thread
  /// does one block; callers hand blocks to several threads.
  virtual void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count,
                           double* out, std::size_t stride) const;

  /// Memory it holds for itself: it comes out of the budget that a solver has.
  virtual std::size_t bytes() const = 0;

  /// Roughly the nanoseconds that one value of a row takes on one core: decides what is worth
  /// keeping.
  virtual double value_cost() const = 0;

  /// The error that a value of a row is expected to have, relative to the largest diagonal value.
  virtual double deviation() const { return 5e-8; }

  /// What a value that multiply() works with may be wrong by, proved: |computed - K_ij| <= this
  /// times sqrt(K_ii K_jj), K being that of the stored numbers, and positive semi-definite.
  virtual double value_error(Precision precision) const = 0;

  /// y = K x. Costs only the rows of the points where x is not zero.
  virtual void multiply(std::span<const double> x, std::span<double> y, Precision precision,
                        const Threads& threads) const = 0;

  /// The columns of Z in K = Z Z', where there is such a Z that costs no more than writing it down;
  /// otherwise as many as there are points.
  virtual std::size_t columns() const { return size(); }
  /// That Z, or nothing when it would have more columns than this.
  virtual std::shared_ptr<const LowRank> low_rank(std::size_t most_columns) const;

  /// The same matrix over some of the points, in the given order and with the same bits: what is
  /// left when a solver shrinks its problem.
  virtual std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const = 0;
};

}  // namespace maxmargin
