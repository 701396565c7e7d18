#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "maxmargin/base/required.hpp"
#include "maxmargin/base/threads.hpp"
#include "maxmargin/data/rows.hpp"
#include "maxmargin/kernel/engine/value_error.hpp"
#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

/// How exact the kernel values of a product must be: `fast` may use float values (sums are always
/// double), `exact` uses double values throughout.
enum class Precision { fast, exact };

class LowRank;
class PartialProducts;
class CodedRows;
class TruncatedRows;
class StoredRows;
class ExtendedProducts;
class Factored;

/// Properties of a matrix that need no computation of values. None has a default.
struct MatrixTraits {
  Required<Definite> definite;
  /// The error that a value of rows() is expected to have, relative to the largest diagonal value.
  Required<double> deviation;
  /// A proved bound of the errors of values in multiply(): |computed - K_ij| <= this times
  /// sqrt(K_ii K_jj), where K is that of the stored numbers, and positive semi-definite.
  Required<double> fast_error, exact_error;
  Required<double> value_cost;    ///< nanoseconds of one core for a value of a row, roughly
  Required<std::size_t> bytes;    ///< of memory, which count against the budget of a solver
  Required<std::size_t> columns;  ///< of Z in K = Z Z', see Factored; size() where there is none
};

/// Optional capabilities (capabilities.hpp); null where the matrix lacks them.
struct MatrixCapabilities {
  const PartialProducts* partial = nullptr;
  const CodedRows* coded = nullptr;
  const TruncatedRows* truncated = nullptr;
  const StoredRows* stored = nullptr;
  const ExtendedProducts* extended = nullptr;
  const Factored* factored = nullptr;
};

/// A symmetric matrix K over points, known by its rows and its products: the kernel matrix of a
/// data set, a dense matrix, a low-rank one, one on disk or on other machines. Several variables of
/// a DualQp may share a point (the two sides of a regression tube, equal rows of opposite classes).
/// Every matrix implements all virtual functions; none has a default.
class Quadratic {
 public:
  virtual ~Quadratic() = default;

  virtual std::size_t size() const = 0;
  virtual std::span<const double> diagonal() const = 0;
  virtual MatrixTraits traits() const = 0;
  virtual MatrixCapabilities can() const = 0;

  /// out[r][c] = K(which[r], begin + c) for c < count. Cheapest for many rows at once.
  virtual void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
                    std::span<float* const> out, const Threads& threads) const = 0;

  /// In double throughout, out[r * stride + c] = K(which[r], begin + c) for c < count. One thread
  /// does one block; callers hand blocks to several threads.
  virtual void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count,
                           double* out, std::size_t stride) const = 0;

  /// y = K x. Costs only the rows of the points where x is not zero.
  virtual void multiply(std::span<const double> x, std::span<double> y, Precision precision,
                        const Threads& threads) const = 0;

  /// The same matrix over some of the points, in the given order and with the same bits: what is
  /// left when a solver shrinks its problem.
  virtual std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const = 0;

  Definite definite() const { return traits().definite; }
  double deviation() const { return traits().deviation; }
  double value_error(Precision precision) const {
    const MatrixTraits own = traits();
    return precision == Precision::fast ? own.fast_error : own.exact_error;
  }
  double value_cost() const { return traits().value_cost; }
  std::size_t bytes() const { return traits().bytes; }
  std::size_t columns() const { return traits().columns; }

  // By PartialProducts where the matrix has them, otherwise by its rows.

  /// out[r][c] = K(points[which[r]], points[c]): for small sets of points.
  void among(std::span<const Index> points, std::span<const Index> which,
             std::span<float* const> out, const Threads& threads) const;
  /// out[r][c] = K(which[r], columns[c]): for many rows, and columns that are no range.
  void block(std::span<const Index> which, std::span<const Index> columns,
             std::span<float* const> out, const Threads& threads) const;
  /// y += sum over k of coefficients[k] * row which[k], in this order: the rows are not
  /// stored.
  void add_product(std::span<const Index> which, std::span<const double> coefficients,
                   std::span<double> y, const Threads& threads) const;

  /// Z where the matrix is Factored and Z has no more columns than this; otherwise null.
  std::shared_ptr<const LowRank> low_rank(std::size_t most_columns) const;
};

}  // namespace maxmargin
