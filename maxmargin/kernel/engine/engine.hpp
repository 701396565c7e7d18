#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/base/required.hpp"
#include "maxmargin/data/rows.hpp"
#include "maxmargin/kernel/engine/product/byte_decay.hpp"
#include "maxmargin/kernel/engine/value_error.hpp"
#include "maxmargin/kernel/kernels.hpp"

namespace maxmargin {

/// Proved bounds of the errors of values, for all pairs of columns; see error_bound.hpp.
struct ValueErrors {
  double in_float;   ///< of block(), add_product() and add_half_product()
  double in_double;  ///< of exact_block() and add_exact_product()
};

/// Properties of an engine that need no computation of values. None has a default.
struct EngineTraits {
  /// The error that a value of block() is expected to have, relative to the largest values.
  Required<double> deviation;
  Required<ValueErrors> errors;
  Required<double> nonzero_share;  ///< of values that are not negligible (locality.hpp); 1: unknown
  Required<std::size_t> bytes;     ///< of the packed columns
};

class FusedProducts;
class HalfProducts;
class CodedBlocks;
class NonzeroBlocks;
class SmallBlocks;

/// Optional capabilities; null where the engine lacks them.
struct EngineCapabilities {
  const FusedProducts* products = nullptr;
  const HalfProducts* halves = nullptr;
  const CodedBlocks* coded = nullptr;
  const NonzeroBlocks* nonzero = nullptr;
  const SmallBlocks* small = nullptr;
};

/// Kernel values by blocks. The columns (training rows, support vectors) are packed once, in the
/// way that suits them; blocks of other rows are then evaluated against a range of them. One thread
/// does one block; callers hand blocks to several threads. The values do not depend on how the work
/// was cut into blocks. Every engine implements all virtual functions; none
/// has a default.
class Engine {
 public:
  virtual ~Engine() = default;

  /// out[r][c] = K(left row which[r], column begin + c) for c < count.
  /// Best with 32 rows or more and thousands of columns. The error is proved to be at most that of
  /// errors(), and found to be at most 1e-6: of the value for kernels of a distance (below 1e-24 it
  /// may be taken as 0), of sqrt(K(x,x) K(z,z)) for powers of products, where the value itself may
  /// cancel, and of 1 for tanh.
  virtual void block(const Rows& left, std::span<const Index> which, std::size_t begin,
                     std::size_t count, std::span<float* const> out) const = 0;
  /// In double throughout, out[r * stride + c]; slower.
  virtual void exact_block(const Rows& left, std::span<const Index> which, std::size_t begin,
                           std::size_t count, double* out, std::size_t stride) const = 0;
  /// An engine for `columns`, which are the columns `which` of this one; it computes in the same
  /// way: its values are the same to the last bit. `columns` must outlive it.
  virtual std::unique_ptr<Engine> for_columns(const Rows& columns,
                                              std::span<const Index> which) const = 0;
  /// Nanoseconds of one value, which decide what is worth caching.
  virtual double value_cost(const CostModel& costs) const = 0;
  virtual EngineTraits traits() const = 0;
  virtual EngineCapabilities can() const = 0;

  double deviation() const { return traits().deviation; }
  ValueErrors errors() const { return traits().errors; }
  double nonzero_share() const { return traits().nonzero_share; }
  std::size_t bytes() const { return traits().bytes; }

  /// A block into one array: row r begins at out + r * stride.
  void block(const Rows& left, std::span<const Index> which, std::size_t begin, std::size_t count,
             float* out, std::size_t stride) const;

  // By its capabilities where the engine has them, otherwise by blocks.

  /// y[c] += sum over r of coefficients[r] * K(left row which[r], column begin + c) for c < count,
  /// in the order of the rows: values no worse than those of blocks, double sums. The values live
  /// in a cache only.
  void add_product(const Rows& left, std::span<const Index> which,
                   std::span<const double> coefficients, std::size_t begin, std::size_t count,
                   double* y) const;
  /// The same in double throughout; slower.
  void add_exact_product(const Rows& left, std::span<const Index> which,
                         std::span<const double> coefficients, std::size_t begin, std::size_t count,
                         double* y) const;
  /// A part of the product with the whole matrix over the columns, `rows` being these: of the rows
  /// from `first` on, half_rows or as many as are left, each value in the columns from `first` on
  /// is computed once, K(i, j) for y[i] += K(i, j) x[j] as well as for y[j] += K(i, j) x[i].
  /// `first` is a multiple of half_rows. Float values or better, double sums.
  static constexpr std::size_t half_rows = 64;
  void add_half_product(const Rows& rows, std::size_t first, std::span<const double> x,
                        double* y) const;
  /// As value_cost(), of such a value: infinite where add_product never takes as long.
  double half_cost(const CostModel& costs) const;
  /// As SmallBlocks::for_block; null where the engine has none.
  std::unique_ptr<Engine> for_block(const Rows& rows, std::span<const Index> which) const;

 protected:
  void add_product_by_blocks(const Rows& left, std::span<const Index> which,
                             std::span<const double> coefficients, std::size_t begin,
                             std::size_t count, double* y) const;
};

/// Products without storing the values; the functions are documented in Engine.
class FusedProducts {
 public:
  virtual void add_product(const Rows& left, std::span<const Index> which,
                           std::span<const double> coefficients, std::size_t begin,
                           std::size_t count, double* y) const = 0;
  virtual void add_exact_product(const Rows& left, std::span<const Index> which,
                                 std::span<const double> coefficients, std::size_t begin,
                                 std::size_t count, double* y) const = 0;

 protected:
  ~FusedProducts() = default;
};

/// Half products whose values are not stored.
class HalfProducts {
 public:
  virtual void add_half_product(const Rows& rows, std::size_t first, std::span<const double> x,
                                double* y) const = 0;
  virtual double half_cost(const CostModel& costs) const = 0;

 protected:
  ~HalfProducts() = default;
};

/// Kernel values that are exp(-rate s) of whole numbers s < 256 between the rows of the columns:
/// blocks of those rows are available as these numbers.
class CodedBlocks {
 public:
  virtual const ByteDecay& decay() const = 0;
  /// out[r][c] = the number whose value is K(left row which[r], column begin + c); left rows of the
  /// same kind as the columns.
  virtual void code_block(const Rows& left, std::span<const Index> which, std::size_t begin,
                          std::size_t count, std::span<std::uint8_t* const> out) const = 0;

 protected:
  ~CodedBlocks() = default;
};

/// Blocks of which most values are negligible.
class NonzeroBlocks {
 public:
  /// Neighbouring values of the r-th row of those asked for, from column `begin + c` on.
  using NonzeroValues = std::function<void(std::size_t r, std::size_t c, std::span<const float>)>;
  /// Calls body with all values that are larger than `least`, which is no less than what is
  /// negligible, among others; the columns of a row increase.
  virtual void nonzero_values(const Rows& left, std::span<const Index> which, std::size_t begin,
                              std::size_t count, double least, const NonzeroValues& body) const = 0;

 protected:
  ~NonzeroBlocks() = default;
};

class SmallBlocks {
 public:
  /// An engine for the columns `which` of this one that knows block() only, and only of `rows`,
  /// which this one's columns are made of: quickly made, for a small block. This engine must
  /// outlive it. Null where it is made of one that has none.
  virtual std::unique_ptr<Engine> for_block(const Rows& rows,
                                            std::span<const Index> which) const = 0;

 protected:
  ~SmallBlocks() = default;
};

/// The engine that is expected to be the fastest for this kernel and these rows, by a cost model.
/// `columns` must outlive it. Throws Error when the kernel does not accept the data (a negative
/// value for chi-squared).
std::unique_ptr<Engine> make_engine(const Kernel& kernel, const Rows& columns,
                                    const Threads& threads = Threads(1),
                                    const CostModel& costs = {});

/// K(x, x) of each row, in double.
std::vector<double> self_values(const Kernel& kernel, const Rows& rows,
                                const Threads& threads = Threads(1));

/// K of one pair of rows by the plain definition: slow, for tests and `verify`.
double naive_value(const Kernel& kernel, const Rows& left, std::size_t i, const Rows& right,
                   std::size_t j);

Definite definite(const Kernel& kernel);

/// Both halves of a kernel that has them.
std::optional<Form> form_of(const Kernel& kernel);

}  // namespace maxmargin
