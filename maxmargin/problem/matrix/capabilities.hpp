#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "maxmargin/kernel/engine/product/byte_decay.hpp"
#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

// Optional capabilities of matrices. A solver asks for them (K.can()) and does without those that
// are null.
namespace maxmargin {

/// Blocks and products faster than by whole rows; the functions are documented in Quadratic.
class PartialProducts {
 public:
  virtual void among(std::span<const Index> points, std::span<const Index> which,
                     std::span<float* const> out, const Threads& threads) const = 0;
  virtual void block(std::span<const Index> which, std::span<const Index> columns,
                     std::span<float* const> out, const Threads& threads) const = 0;
  virtual void add_product(std::span<const Index> which, std::span<const double> coefficients,
                           std::span<double> y, const Threads& threads) const = 0;
  /// y[k] = K x[k], in double as multiply() has it, with each value computed once for all of them.
  /// False, without doing anything, where one product after another is as fast or the only way.
  virtual bool multiply_several(std::span<const std::vector<double>> x,
                                std::span<std::vector<double>> y, const Threads& threads) const = 0;

 protected:
  ~PartialProducts() = default;
};

/// Rows whose values are shift + exp(-rate s) of whole numbers s < 256, available as these
/// numbers in a quarter of the memory.
class CodedRows {
 public:
  virtual const ByteDecay& decay() const = 0;
  virtual double shift() const = 0;
  /// As rows(), but the numbers s.
  virtual void code_rows(std::span<const Index> which, std::size_t begin, std::size_t count,
                         std::span<std::uint8_t* const> out, const Threads& threads) const = 0;

 protected:
  ~CodedRows() = default;
};

/// Rows whose values are shift + v where most v are negligible (narrow Gaussians).
class TruncatedRows {
 public:
  /// The share of values v that are not negligible.
  virtual double nonzero_share() const = 0;
  virtual double shift() const = 0;
  /// Neighbouring v of the r-th row of those asked for, from column `column` on.
  using NonzeroValues =
      std::function<void(std::size_t r, std::size_t column, std::span<const float>)>;
  /// Calls body with all v in the columns [begin, begin + count) that are larger than `least`,
  /// which is no less than what is negligible, among others; the columns of a row increase. One
  /// thread does one block.
  virtual void nonzero_values(std::span<const Index> which, std::size_t begin, std::size_t count,
                              double least, const NonzeroValues& body) const = 0;

 protected:
  ~TruncatedRows() = default;
};

/// A matrix that caches its rows for as long as it lives.
class StoredRows {
 public:
  /// Computes these rows and caches as many of them as there is room for.
  virtual void keep(std::span<const Index> which, const Threads& threads) const = 0;
  /// Whether there is room for more.
  virtual bool has_room() const = 0;
  /// Whether they are cached without their negligible values, as truncated_row(); otherwise whole,
  /// as row().
  virtual bool are_truncated() const = 0;
  /// A whole row; null if it is not cached.
  virtual const float* row(Index point) const = 0;
  /// The non-negligible v of a row of TruncatedRows; nothing if it is not cached. Valid until the
  /// next rows are cached.
  virtual std::optional<BlockRow> truncated_row(Index point) const = 0;

 protected:
  ~StoredRows() = default;
};

/// Products in long double, for certificates that need more digits than doubles have.
class ExtendedProducts {
 public:
  /// y = K x, values and sums in long double.
  virtual void multiply_extended(std::span<const double> x, std::span<long double> y,
                                 const Threads& threads) const = 0;
  /// The error bound of these products, as in MatrixTraits.
  virtual double extended_error() const = 0;
  /// The operations that a product with so many non-zeros takes, roughly.
  virtual double extended_work(std::size_t nonzeros) const = 0;

 protected:
  ~ExtendedProducts() = default;
};

/// K = Z Z' where Z is available without a factorisation.
class Factored {
 public:
  /// Z, or null when it would have more columns than this.
  virtual std::shared_ptr<const LowRank> low_rank(std::size_t most_columns) const = 0;

 protected:
  ~Factored() = default;
};

/// The share of values that are not negligible; 1 where it is unknown.
double nonzero_share(const Quadratic& K);
/// Whether rows are stored without their negligible values, and there is room for more.
bool stores_truncated_rows(const Quadratic& K);

}  // namespace maxmargin
