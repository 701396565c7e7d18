#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/kernel/engine/product/exact_product.hpp"
#include "maxmargin/kernel/engine/product/extended_product.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/kernel/mercer.hpp"
#include "maxmargin/problem/matrix/by_rows.hpp"
#include "maxmargin/problem/matrix/cache/segment_store.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"
#include "maxmargin/problem/matrix/kernel_diagonal.hpp"
#include "maxmargin/problem/matrix/linear_product.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"
#include "maxmargin/problem/matrix/task_columns.hpp"

namespace maxmargin {
namespace {

/// The rows that one task computes: many where the columns alone give tasks enough.
std::size_t task_rows(std::size_t columns) { return columns >= 4096 ? 256 : 64; }

/// Copies the values below the rows [begin, end) across the diagonal.
void mirror(std::span<float* const> rows, std::size_t begin, std::size_t end) {
  constexpr std::size_t block = 16;  // floats in a line of the cache
  for (std::size_t r = end; r < rows.size(); r += block)
    for (std::size_t c = begin; c < end; c += block)
      for (std::size_t i = r; i < std::min(r + block, rows.size()); ++i)
        for (std::size_t k = c; k < std::min(c + block, end); ++k) rows[k][i] = rows[i][k];
}

std::vector<Index> nonzeros(std::span<const double> x) {
  std::vector<Index> which;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != 0) which.push_back(static_cast<Index>(i));
  return which;
}

/// Rows, packed for a kernel: what all matrices over some of them share.
struct PackedRows {
  Kernel kernel;
  std::shared_ptr<const Features> rows;
  std::unique_ptr<Engine> engine;
  std::vector<double> diagonal;
  std::size_t own_bytes = 0;
  std::unique_ptr<SegmentStore> shared;  ///< of values that several matrices need; may be null
  CostModel costs;
  std::shared_ptr<WaysGone> ways;  ///< may be null

  PackedRows(const Kernel& of, std::shared_ptr<const Features> some, const Context& context)
      : kernel(of),
        rows(std::move(some)),
        engine(make_engine(kernel, *rows, context.threads, context.costs)),
        diagonal(diagonal_of(kernel, *rows, context.threads)),
        // Rows that nobody else shares count as this matrix's own.
        own_bytes(engine->bytes() + (rows.use_count() == 1 ? rows->bytes() : 0)),
        costs(context.costs),
        ways(context.ways) {}

  /// A copy of some of the rows, packed in the same way.
  PackedRows(const PackedRows& whole, std::span<const Index> which)
      : kernel(whole.kernel),
        rows(chosen(*whole.rows, which)),
        engine(whole.engine->for_columns(*rows, which)),
        diagonal(which.size()),
        own_bytes(engine->bytes() + rows->bytes()),
        costs(whole.costs),
        ways(whole.ways) {
    for (std::size_t i = 0; i < which.size(); ++i) diagonal[i] = whole.diagonal[which[i]];
  }

 private:
  static std::shared_ptr<const Features> chosen(const Features& rows,
                                                std::span<const Index> which) {
    Features some = none_like(rows);
    some.append(rows.view(), which);
    return std::make_shared<const Features>(std::move(some));
  }
};

/// Neighbouring rows of PackedRows that are neighbouring points of a matrix.
struct Stretch {
  std::size_t row, point, count;
};

class KernelQuadratic final : public Quadratic,
                              PartialProducts,
                              CodedRows,
                              TruncatedRows,
                              ExtendedProducts,
                              Factored {
 public:
  KernelQuadratic(std::shared_ptr<const PackedRows> packed, std::vector<Stretch> stretches)
      : packed_(std::move(packed)), stretches_(std::move(stretches)) {
    for (const Stretch& each : stretches_)
      for (std::size_t k = 0; k < each.count; ++k) {
        rows_.push_back(static_cast<Index>(each.row + k));
        diagonal_.push_back(packed_->diagonal[each.row + k]);
      }
  }

  static std::shared_ptr<const Quadratic> over_all(std::shared_ptr<const PackedRows> packed) {
    const std::size_t count = packed->rows->count();
    return std::make_shared<KernelQuadratic>(std::move(packed),
                                             std::vector<Stretch>{{0, 0, count}});
  }

  std::size_t size() const override { return rows_.size(); }
  std::span<const double> diagonal() const override { return diagonal_; }
  MatrixTraits traits() const override {
    const ValueErrors errors = engine().errors();
    return {.definite = maxmargin::definite(packed_->kernel),
            .deviation = engine().deviation(),
            .fast_error = is_linear() ? errors.in_double : errors.in_float,
            .exact_error = errors.in_double,
            .value_cost = value_cost(),
            .bytes = size() == packed_->rows->count() ? packed_->own_bytes : 0,
            .columns = is_linear() ? packed_->rows->columns() : size()};
  }
  MatrixCapabilities can() const override {
    MatrixCapabilities own;
    own.partial = this;
    if (engine().can().coded != nullptr) own.coded = this;
    if (engine().can().nonzero != nullptr) own.truncated = this;
    if (form()) own.extended = this;
    if (is_linear()) own.factored = this;
    return own;
  }

  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads& threads) const override {
    const std::vector<Index> ids = rows_of(which);
    if (packed_->shared && begin == 0 && count == size() && stretches_.size() > 1)
      return shared_rows(ids, out, threads);
    for_each_task(ids, begin, count, threads,
                  [&](std::size_t first, std::span<const Index> some, std::size_t row,
                      std::size_t columns, std::size_t at) {
                    engine().block(*packed_->rows, some, row, columns,
                                   shifted(out, first, some, at));
                  });
  }

  const ByteDecay& decay() const override { return engine().can().coded->decay(); }
  double shift() const override { return 0; }
  void code_rows(std::span<const Index> which, std::size_t begin, std::size_t count,
                 std::span<std::uint8_t* const> out, const Threads& threads) const override {
    const std::vector<Index> ids = rows_of(which);
    for_each_task(ids, begin, count, threads,
                  [&](std::size_t first, std::span<const Index> some, std::size_t row,
                      std::size_t columns, std::size_t at) {
                    engine().can().coded->code_block(*packed_->rows, some, row, columns,
                                                     shifted(out, first, some, at));
                  });
  }

  void block(std::span<const Index> which, std::span<const Index> columns,
             std::span<float* const> out, const Threads& threads) const override {
    const std::unique_ptr<Engine> small = engine().for_block(*packed_->rows, rows_of(columns));
    if (small == nullptr) return block_by_rows(*this, which, columns, out, threads);
    const std::vector<Index> left = rows_of(which);
    constexpr std::size_t rows_at_once = 64;
    threads.split(left.size(), rows_at_once, [&](std::size_t begin, std::size_t end) {
      small->block(*packed_->rows, std::span(left).subspan(begin, end - begin), 0, columns.size(),
                   out.subspan(begin, end - begin));
    });
  }

  void among(std::span<const Index> points, std::span<const Index> which,
             std::span<float* const> out, const Threads& threads) const override {
    const std::vector<Index> ids = rows_of(points);
    const std::unique_ptr<Engine> small = engine().for_block(*packed_->rows, ids);
    if (small == nullptr) return among_by_rows(*this, points, which, out, threads);
    std::vector<Index> left(which.size());
    for (std::size_t r = 0; r < which.size(); ++r) left[r] = ids[which[r]];
    // Of all rows what lies below the diagonal is enough, where values cost more than copies.
    const bool is_square = which.size() == points.size() && std::ranges::is_sorted(which) &&
                           value_cost() > packed_->costs.copy_value;
    constexpr std::size_t rows_at_once = 64;
    threads.split(left.size(), rows_at_once, [&](std::size_t begin, std::size_t end) {
      small->block(*packed_->rows, std::span(left).subspan(begin, end - begin), 0,
                   is_square ? end : ids.size(), out.subspan(begin, end - begin));
    });
    if (!is_square) return;
    threads.split(left.size(), rows_at_once,
                  [&](std::size_t begin, std::size_t end) { mirror(out, begin, end); });
  }

  void add_product(std::span<const Index> which, std::span<const double> coefficients,
                   std::span<double> y, const Threads& threads) const override {
    if (which.empty()) return;
    const std::vector<Index> ids = rows_of(which);
    const std::size_t columns = product_columns(size(), ids.size(), value_cost(), threads);
    threads.split(size(), columns, [&](std::size_t begin, std::size_t end) {
      for_each_piece(begin, end - begin, [&](std::size_t row, std::size_t count, std::size_t at) {
        engine().add_product(*packed_->rows, ids, coefficients, row, count, y.data() + begin + at);
      });
    });
  }

  double nonzero_share() const override { return engine().nonzero_share(); }
  void nonzero_values(std::span<const Index> which, std::size_t begin, std::size_t count,
                      double least, const NonzeroValues& body) const override {
    const std::vector<Index> ids = rows_of(which);
    for_each_piece(begin, count, [&](std::size_t row, std::size_t columns, std::size_t at) {
      engine().can().nonzero->nonzero_values(
          *packed_->rows, ids, row, columns, least,
          [&](std::size_t r, std::size_t c, std::span<const float> values) {
            body(r, begin + at + c, values);
          });
    });
  }

  void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count, double* out,
                   std::size_t stride) const override {
    const std::vector<Index> ids = rows_of(which);
    for_each_piece(begin, count, [&](std::size_t row, std::size_t columns, std::size_t at) {
      engine().exact_block(*packed_->rows, ids, row, columns, out + at, stride);
    });
  }

  void multiply(std::span<const double> x, std::span<double> y, Precision precision,
                const Threads& threads) const override {
    if (is_linear()) return linear_product(*packed_->rows, rows_, x, y, threads);
    const std::vector<Index> which = nonzeros(x);
    std::fill(y.begin(), y.end(), 0.0);
    if (precision == Precision::fast && halves_pay(which.size()))
      return multiply_by_halves(x, y, threads);
    std::vector<double> coefficients(which.size());
    for (std::size_t k = 0; k < which.size(); ++k) coefficients[k] = x[which[k]];
    if (precision == Precision::fast) return add_product(which, coefficients, y, threads);
    const std::vector<Index> ids = rows_of(which);
    const std::size_t columns =
        product_columns(size(), ids.size(), exact_value * value_cost(), threads);
    threads.split(size(), columns, [&](std::size_t begin, std::size_t end) {
      for_each_piece(begin, end - begin, [&](std::size_t row, std::size_t count, std::size_t at) {
        engine().add_exact_product(*packed_->rows, ids, coefficients, row, count,
                                   y.data() + begin + at);
      });
    });
  }

  bool multiply_several(std::span<const std::vector<double>> x, std::span<std::vector<double>> y,
                        const Threads& threads) const override {
    if (is_linear() || !form()) return false;
    std::vector<Index> which;
    std::vector<double> coefficients, sums(x.size() * size(), 0.0);
    std::size_t nonzeros = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      std::size_t here = 0;
      for (const auto& each : x) here += each[i] != 0;
      if (here == 0) continue;
      nonzeros += here;
      which.push_back(static_cast<Index>(i));
      for (const auto& each : x) coefficients.push_back(each[i]);
    }
    const ExactValues exact(*form(), *packed_->rows);
    // The error bound of multiply() has to hold for these values, too.
    if (nonzeros < 2 * which.size() || exact.error() > engine().errors().in_double) return false;
    const std::vector<Index> ids = rows_of(which);
    const std::size_t columns =
        product_columns(size(), ids.size(), exact_value * value_cost(), threads);
    threads.split(size(), columns, [&](std::size_t begin, std::size_t end) {
      for_each_piece(begin, end - begin, [&](std::size_t row, std::size_t count, std::size_t at) {
        exact.add_products(*packed_->rows, ids, *packed_->rows, row, count,
                           {coefficients, x.size(), sums.data() + begin + at, size()});
      });
    });
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto first = sums.begin() + static_cast<std::ptrdiff_t>(k * size());
      y[k].assign(first, first + static_cast<std::ptrdiff_t>(size()));
    }
    return true;
  }

  void multiply_extended(std::span<const double> x, std::span<long double> y,
                         const Threads& threads) const override {
    const std::vector<Index> which = nonzeros(x);
    std::vector<double> coefficients(which.size());
    for (std::size_t k = 0; k < which.size(); ++k) coefficients[k] = x[which[k]];
    extended_product(*form(), *packed_->rows, rows_, rows_of(which), coefficients, y, threads);
  }
  double extended_error() const override {
    return maxmargin::extended_error(*form(), packed_->rows->columns());
  }
  double extended_work(std::size_t nonzeros) const override {
    const auto rows = static_cast<double>(packed_->rows->count());
    const double each = static_cast<double>(packed_->rows->view().stored()) / rows;
    return static_cast<double>(size()) * static_cast<double>(nonzeros) * (each + 10);
  }

  std::shared_ptr<const LowRank> low_rank(std::size_t most_columns) const override {
    if (columns() > most_columns) return nullptr;
    auto Z = std::make_shared<LowRank>(size(), columns());
    const Rows view = packed_->rows->view();
    for (std::size_t i = 0; i < size(); ++i)
      view.for_each(rows_[i], [&](Index feature, double value) { Z->row(i)[feature] = value; });
    return Z;
  }

  /// Few stretches of neighbours share the packed rows; other points get a copy of theirs.
  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    const std::size_t few = packed_->costs.engines.most_stretches;
    const std::vector<Index> ids = rows_of(points);
    std::vector<Stretch> stretches;
    for (std::size_t k = 0; k < ids.size() && stretches.size() <= few; ++k) {
      if (k == 0 || ids[k] != ids[k - 1] + 1) stretches.push_back({ids[k], k, 0});
      ++stretches.back().count;
    }
    if (stretches.size() <= few && ids.size() > few * few)
      return std::make_shared<KernelQuadratic>(packed_, std::move(stretches));
    return over_all(std::make_shared<const PackedRows>(*packed_, ids));
  }

 private:
  const Engine& engine() const { return *packed_->engine; }
  std::optional<Form> form() const { return form_of(packed_->kernel); }
  bool is_linear() const { return std::holds_alternative<Linear>(packed_->kernel); }
  double value_cost() const { return engine().value_cost(packed_->costs); }

  /// Whether each value of the symmetric matrix once is less work than the rows of so many points.
  bool halves_pay(std::size_t points) const {
    const EngineChoice& choice = packed_->costs.engines;
    return size() == packed_->rows->count() && stretches_.size() == 1 &&
           size() >= choice.least_halved && size() <= choice.most_halved &&
           static_cast<double>(points) * value_cost() >
               static_cast<double>(size()) / 2 * engine().half_cost(packed_->costs);
  }

  void multiply_by_halves(std::span<const double> x, std::span<double> y,
                          const Threads& threads) const {
    // Rows of all parts of the matrix in each group: the first have more values behind them. The
    // number of groups does not depend on the threads, nor then does the order of the sums.
    if (packed_->ways) packed_->ways->note(Way::half_products);
    constexpr std::size_t groups = 8;
    std::vector<std::vector<double>> sums(groups);
    for (auto& part : sums) part.assign(size(), 0.0);
    // Of each group some rows at a time: between two tasks a product can be interrupted.
    constexpr std::size_t round = groups * Engine::half_rows;
    const double rounds = task_nanoseconds / (value_cost() * static_cast<double>(size()) *
                                              static_cast<double>(Engine::half_rows));
    const std::size_t rows =
        rounds * round < static_cast<double>(size())
            ? std::max<std::size_t>(1, static_cast<std::size_t>(rounds)) * round
            : size();
    for (std::size_t begin = 0; begin < size(); begin += rows)
      threads.run(groups, [&](std::size_t group) {
        for (std::size_t first = begin + group * Engine::half_rows;
             first < std::min(size(), begin + rows); first += round)
          engine().add_half_product(*packed_->rows, first, x, sums[group].data());
      });
    for (const std::vector<double>& part : sums)
      for (std::size_t i = 0; i < size(); ++i) y[i] += part[i];
  }

  std::vector<Index> rows_of(std::span<const Index> points) const {
    std::vector<Index> ids(points.size());
    for (std::size_t k = 0; k < points.size(); ++k) ids[k] = rows_[points[k]];
    return ids;
  }

  /// Whole rows, where the values of a row within its own stretch come from the shared store, or
  /// are put there for the other matrices with this stretch.
  void shared_rows(std::span<const Index> ids, std::span<float* const> out,
                   const Threads& threads) const {
    SegmentStore& store = *packed_->shared;
    for (const Stretch& each : stretches_) {
      const auto is_own = [&](Index id) { return id - each.row < each.count; };
      std::vector<Index> missing;
      std::vector<float*> to;
      for (std::size_t r = 0; r < ids.size(); ++r) {
        float* place = out[r] + each.point;
        const float* kept = is_own(ids[r]) ? store.find(ids[r], each.row, each.count) : nullptr;
        if (kept != nullptr) {
          if (packed_->ways) packed_->ways->note(Way::shared_values);
          std::copy_n(kept, each.count, place);
        } else {
          missing.push_back(ids[r]);
          to.push_back(place);
        }
      }
      const std::size_t rows_at_once = task_rows(each.count);
      threads.split(missing.size(), rows_at_once, [&](std::size_t begin, std::size_t end) {
        engine().block(*packed_->rows, std::span(missing).subspan(begin, end - begin), each.row,
                       each.count, std::span(to).subspan(begin, end - begin));
      });
      for (std::size_t k = 0; k < missing.size(); ++k)
        if (is_own(missing[k])) store.add(missing[k], each.row, each.count, to[k]);
    }
  }

  /// Calls body(first row, count, place) for the stretches within the points [begin, begin +
  /// count).
  template <class Body>
  void for_each_piece(std::size_t begin, std::size_t count, Body&& body) const {
    for (const Stretch& each : stretches_) {
      const std::size_t from = std::max(begin, each.point);
      const std::size_t to = std::min(begin + count, each.point + each.count);
      if (from < to) body(each.row + (from - each.point), to - from, from - begin);
    }
  }

  /// Cuts rows by columns into tasks: body(first of the rows, rows, first column, columns, place).
  template <class Body>
  void for_each_task(std::span<const Index> ids, std::size_t begin, std::size_t count,
                     const Threads& threads, Body&& body) const {
    const std::size_t columns = task_columns(count, threads);
    const std::size_t column_tasks = (count + columns - 1) / columns;
    const std::size_t rows_at_once = task_rows(count);
    const std::size_t row_tasks = (ids.size() + rows_at_once - 1) / rows_at_once;
    threads.run(column_tasks * row_tasks, [&](std::size_t task) {
      const std::size_t from = task / row_tasks * columns, to = std::min(count, from + columns);
      const std::size_t first = task % row_tasks * rows_at_once;
      const auto some = ids.subspan(first, std::min(rows_at_once, ids.size() - first));
      for_each_piece(begin + from, to - from,
                     [&](std::size_t row, std::size_t many, std::size_t at) {
                       body(first, some, row, many, from + at);
                     });
    });
  }

  template <class Cell>
  static std::vector<Cell*> shifted(std::span<Cell* const> out, std::size_t first,
                                    std::span<const Index> some, std::size_t at) {
    std::vector<Cell*> part(some.size());
    for (std::size_t r = 0; r < some.size(); ++r) part[r] = out[first + r] + at;
    return part;
  }

  std::shared_ptr<const PackedRows> packed_;
  std::vector<Stretch> stretches_;
  std::vector<Index> rows_;  // of packed_, of each point
  std::vector<double> diagonal_;
};

class PrecomputedQuadratic final : public Quadratic, ExtendedProducts {
 public:
  /// `asymmetry`: by how much entries differ from those across the diagonal, in units of
  /// sqrt(K_pp K_qq); K is the lower half.
  PrecomputedQuadratic(std::shared_ptr<const Features> matrix, std::vector<Index> points,
                       Definite definite, double asymmetry, double value_cost)
      : matrix_(std::move(matrix)),
        points_(std::move(points)),
        definite_(definite),
        asymmetry_(asymmetry),
        value_cost_(value_cost),
        position_(matrix_->columns(), -1) {
    for (std::size_t i = 0; i < points_.size(); ++i) position_[points_[i]] = static_cast<int>(i);
    diagonal_.resize(points_.size());
    std::vector<double> row(points_.size());
    for (std::size_t i = 0; i < points_.size(); ++i) {
      fill(i, row.data());
      diagonal_[i] = row[i];
    }
    diagonal_ = checked_diagonal(std::move(diagonal_));
  }

  std::size_t size() const override { return points_.size(); }
  std::span<const double> diagonal() const override { return diagonal_; }
  MatrixTraits traits() const override {
    return {.definite = definite_,
            .deviation = float_rounding,
            .fast_error = asymmetry_,  // the numbers are the kernel
            .exact_error = asymmetry_,
            .value_cost = value_cost_,
            .bytes = 0,
            .columns = size()};
  }
  MatrixCapabilities can() const override {
    MatrixCapabilities own;
    own.extended = this;
    return own;
  }

  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads& threads) const override {
    threads.split(which.size(), 8, [&](std::size_t from, std::size_t to) {
      std::vector<double> row(size());
      for (std::size_t r = from; r < to; ++r) {
        fill(which[r], row.data());
        std::transform(row.begin() + static_cast<std::ptrdiff_t>(begin),
                       row.begin() + static_cast<std::ptrdiff_t>(begin + count), out[r],
                       [](double value) { return static_cast<float>(value); });
      }
    });
  }

  void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count, double* out,
                   std::size_t stride) const override {
    std::vector<double> row(size());
    for (std::size_t r = 0; r < which.size(); ++r) {
      fill(which[r], row.data());
      std::copy_n(row.data() + begin, count, out + r * stride);
    }
  }

  void multiply(std::span<const double> x, std::span<double> y, Precision,
                const Threads& threads) const override {
    multiply_as(x, y, threads);
  }
  void multiply_extended(std::span<const double> x, std::span<long double> y,
                         const Threads& threads) const override {
    multiply_as(x, y, threads);
  }
  double extended_error() const override { return asymmetry_; }
  double extended_work(std::size_t) const override {
    return static_cast<double>(size()) * static_cast<double>(size());
  }

  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    std::vector<Index> some(points.size());
    std::transform(points.begin(), points.end(), some.begin(), [&](Index p) { return points_[p]; });
    return std::make_shared<PrecomputedQuadratic>(matrix_, std::move(some), definite_, asymmetry_,
                                                  value_cost_);
  }

 private:
  template <class Real>
  void multiply_as(std::span<const double> x, std::span<Real> y, const Threads& threads) const {
    threads.split(size(), 64, [&](std::size_t begin, std::size_t end) {
      std::vector<double> row(size());
      for (std::size_t i = begin; i < end; ++i) {
        fill(i, row.data());
        Real sum = 0;
        for (std::size_t j = 0; j < size(); ++j) sum += static_cast<Real>(row[j]) * x[j];
        y[i] = sum;
      }
    });
  }
  void fill(std::size_t i, double* row) const {
    std::fill_n(row, size(), 0.0);
    matrix_->view().for_each(points_[i], [&](Index feature, double value) {
      if (position_[feature] >= 0) row[position_[feature]] = value;
    });
  }

  std::shared_ptr<const Features> matrix_;
  std::vector<Index> points_;
  Definite definite_;
  double asymmetry_, value_cost_;
  std::vector<int> position_;
  std::vector<double> diagonal_;
};

void check_precomputed(const Rows& matrix) {
  if (matrix.columns != matrix.count)
    throw Error(Fault::data,
                "a precomputed kernel needs a square matrix, but there are " +
                    std::to_string(matrix.count) + " rows and " + std::to_string(matrix.columns) +
                    " features",
                "give row i the features K(x_i, x_1) ... K(x_i, x_n)");
}

}  // namespace

std::shared_ptr<const Quadratic> make_shared_quadratic(const Kernel& kernel,
                                                       std::shared_ptr<const Features> rows,
                                                       std::size_t bytes, const Context& context) {
  auto packed = std::make_shared<PackedRows>(kernel, std::move(rows), context);
  if (packed->engine->value_cost(context.costs) > context.costs.allot_value)
    packed->shared = std::make_unique<SegmentStore>(packed->rows->count(), bytes);
  return KernelQuadratic::over_all(std::move(packed));
}

std::shared_ptr<const Quadratic> make_kernel_quadratic(const Kernel& kernel,
                                                       std::shared_ptr<const Features> rows,
                                                       std::vector<Index> points,
                                                       Definite precomputed,
                                                       const Context& context) {
  if (!is_given(kernel))
    return KernelQuadratic::over_all(
        std::make_shared<const PackedRows>(kernel, std::move(rows), context));
  check_precomputed(*rows);
  if (points.empty())
    for (std::size_t i = 0; i < rows->count(); ++i) points.push_back(static_cast<Index>(i));
  // |K_pq| is at most sqrt(K_pp K_qq): the difference is relative to twice that.
  const double asymmetry = 2.02 * asymmetry_of(rows->view(), context.threads).difference;
  return std::make_shared<PrecomputedQuadratic>(std::move(rows), std::move(points), precomputed,
                                                asymmetry, context.costs.stored_value);
}

}  // namespace maxmargin
