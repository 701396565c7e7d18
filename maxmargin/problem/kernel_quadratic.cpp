#include "maxmargin/problem/kernel_quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "maxmargin/base/error.hpp"
#include "maxmargin/kernel/engine.hpp"

namespace maxmargin {
namespace {

// A tile of this many kernel values stays in L2 between being computed and being summed up.
constexpr std::size_t tile_rows = 128;
constexpr std::size_t tile_columns = 1024;

/// The rows that one task computes: many where the columns alone give tasks enough.
std::size_t task_rows(std::size_t columns) { return columns >= 4096 ? 256 : 64; }

/// The columns of a row that one task computes: some tasks a thread, so that none waits long, yet
/// many columns, for which the rows are prepared once. The values do not depend on the cut.
std::size_t task_columns(std::size_t columns, const Threads& threads) {
  constexpr std::size_t least = 1024, tasks_a_thread = 4;
  const auto tasks = tasks_a_thread * static_cast<std::size_t>(threads.count());
  return threads.count() == 1 ? columns : std::max(least, (columns / tasks + 63) / 64 * 64);
}

// Beyond this, sums of float kernel values may overflow.
constexpr double largest_value = 1e35;

std::vector<Index> nonzeros(std::span<const double> x) {
  std::vector<Index> which;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != 0) which.push_back(static_cast<Index>(i));
  return which;
}

std::vector<double> checked_diagonal(std::vector<double> diagonal) {
  for (const double value : diagonal)
    if (!(std::abs(value) < largest_value))
      throw Error(Fault::data, "the kernel's values overflow on this data",
                  "scale the features (--scale), or choose a smaller gamma or degree");
  return diagonal;
}

class KernelQuadratic final : public Quadratic {
 public:
  KernelQuadratic(const Kernel& kernel, std::shared_ptr<const Features> rows)
      : kernel_(kernel),
        // Nobody else holds these rows: they count as this matrix's own.
        own_bytes_(rows.use_count() == 1 ? rows->bytes() : 0),
        rows_(std::move(rows)),
        engine_(make_engine(kernel, *rows_)),
        diagonal_(checked_diagonal(self_values(kernel, *rows_))) {}

  /// Some of the points of a matrix.
  KernelQuadratic(const KernelQuadratic& whole, std::span<const Index> points)
      : kernel_(whole.kernel_),
        rows_(chosen(*whole.rows_, points)),
        engine_(whole.engine_->for_columns(*rows_, points)),
        diagonal_(points.size()) {
    own_bytes_ = rows_->bytes();
    for (std::size_t i = 0; i < points.size(); ++i) diagonal_[i] = whole.diagonal_[points[i]];
  }

  std::size_t size() const override { return rows_->count(); }
  std::span<const double> diagonal() const override { return diagonal_; }
  Definite definite() const override { return maxmargin::definite(kernel_); }
  std::size_t bytes() const override { return engine_->bytes() + own_bytes_; }
  double value_cost() const override { return engine_->value_cost(); }

  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads& threads) const override {
    const std::size_t columns = task_columns(count, threads);
    const std::size_t column_tasks = (count + columns - 1) / columns;
    const std::size_t rows_at_once = task_rows(count);
    const std::size_t row_tasks = (which.size() + rows_at_once - 1) / rows_at_once;
    threads.run(column_tasks * row_tasks, [&](std::size_t task) {
      const std::size_t from = task / row_tasks * columns, to = std::min(count, from + columns);
      const std::size_t first = task % row_tasks * rows_at_once;
      const std::size_t some = std::min(rows_at_once, which.size() - first);
      std::vector<float*> part(some);
      for (std::size_t r = 0; r < some; ++r) part[r] = out[first + r] + from;
      engine_->block(*rows_, which.subspan(first, some), begin + from, to - from, part);
    });
  }

  const ByteDecay* codes() const override { return engine_->codes(); }
  void code_rows(std::span<const Index> which, std::size_t begin, std::size_t count,
                 std::span<std::uint8_t* const> out, const Threads& threads) const override {
    threads.split(count, task_columns(count, threads), [&](std::size_t from, std::size_t to) {
      std::vector<std::uint8_t*> part(out.begin(), out.end());
      for (std::uint8_t*& row : part) row += from;
      engine_->code_block(*rows_, which, begin + from, to - from, part);
    });
  }

  void add_product(std::span<const Index> which, std::span<const double> coefficients,
                   std::span<double> y, const Threads& threads) const override {
    if (which.empty()) return;
    threads.split(size(), task_columns(size(), threads), [&](std::size_t begin, std::size_t end) {
      engine_->add_product(*rows_, which, coefficients, begin, end - begin, y.data() + begin);
    });
  }

  void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count, double* out,
                   std::size_t stride) const override {
    engine_->exact_block(*rows_, which, begin, count, out, stride);
  }

  void multiply(std::span<const double> x, std::span<double> y, Precision precision,
                const Threads& threads) const override {
    const std::vector<Index> which = nonzeros(x);
    std::fill(y.begin(), y.end(), 0.0);
    if (precision == Precision::fast) {
      std::vector<double> coefficients(which.size());
      for (std::size_t k = 0; k < which.size(); ++k) coefficients[k] = x[which[k]];
      return add_product(which, coefficients, y, threads);
    }
    threads.split(size(), tile_columns, [&](std::size_t begin, std::size_t end) {
      add_exact(which, x, begin, end, y.data() + begin);
    });
  }

  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    return std::make_shared<KernelQuadratic>(*this, points);
  }

 private:
  static std::shared_ptr<const Features> chosen(const Features& rows,
                                                std::span<const Index> points) {
    Features some =
        rows.is_sparse() ? Features::sparse(rows.columns()) : Features::dense(rows.columns());
    some.append(rows.view(), points);
    return std::make_shared<const Features>(std::move(some));
  }

  void add_exact(std::span<const Index> which, std::span<const double> x, std::size_t begin,
                 std::size_t end, double* y) const {
    const std::size_t count = end - begin;
    std::vector<double> tile(tile_rows * count);
    for (std::size_t r = 0; r < which.size(); r += tile_rows) {
      const auto some = which.subspan(r, std::min(tile_rows, which.size() - r));
      engine_->exact_block(*rows_, some, begin, count, tile.data(), count);
      for (std::size_t i = 0; i < some.size(); ++i)
        for (std::size_t c = 0; c < count; ++c) y[c] += x[some[i]] * tile[i * count + c];
    }
  }

  Kernel kernel_;
  std::size_t own_bytes_ = 0;
  std::shared_ptr<const Features> rows_;
  std::unique_ptr<Engine> engine_;
  std::vector<double> diagonal_;
};

class PrecomputedQuadratic final : public Quadratic {
 public:
  PrecomputedQuadratic(std::shared_ptr<const Features> matrix, std::vector<Index> points,
                       Definite definite)
      : matrix_(std::move(matrix)),
        points_(std::move(points)),
        definite_(definite),
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
  Definite definite() const override { return definite_; }
  std::size_t bytes() const override { return 0; }
  double value_cost() const override { return 1; }

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
    threads.split(size(), 64, [&](std::size_t begin, std::size_t end) {
      std::vector<double> row(size());
      for (std::size_t i = begin; i < end; ++i) {
        fill(i, row.data());
        double sum = 0;
        for (std::size_t j = 0; j < size(); ++j) sum += row[j] * x[j];
        y[i] = sum;
      }
    });
  }

  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    std::vector<Index> some(points.size());
    std::transform(points.begin(), points.end(), some.begin(), [&](Index p) { return points_[p]; });
    return std::make_shared<PrecomputedQuadratic>(matrix_, std::move(some), definite_);
  }

 private:
  void fill(std::size_t i, double* row) const {
    std::fill_n(row, size(), 0.0);
    matrix_->view().for_each(points_[i], [&](Index feature, double value) {
      if (position_[feature] >= 0) row[position_[feature]] = value;
    });
  }

  std::shared_ptr<const Features> matrix_;
  std::vector<Index> points_;
  Definite definite_;
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

std::shared_ptr<const Quadratic> make_kernel_quadratic(const Kernel& kernel,
                                                       std::shared_ptr<const Features> rows,
                                                       std::vector<Index> points,
                                                       Definite precomputed) {
  if (!std::holds_alternative<Precomputed>(kernel))
    return std::make_shared<KernelQuadratic>(kernel, std::move(rows));
  check_precomputed(*rows);
  if (points.empty())
    for (std::size_t i = 0; i < rows->count(); ++i) points.push_back(static_cast<Index>(i));
  return std::make_shared<PrecomputedQuadratic>(std::move(rows), std::move(points), precomputed);
}

}  // namespace maxmargin
