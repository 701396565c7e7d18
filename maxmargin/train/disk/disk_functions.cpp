#include "maxmargin/train/disk/disk_functions.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/train/formulate/functions.hpp"

namespace maxmargin {
namespace {

// Rows whose functions are evaluated together.
constexpr std::size_t rows_evaluated = 4096;

/// R of some rows' Q R, one row after another by Givens' rotations.
class RunningFactor {
 public:
  explicit RunningFactor(std::size_t columns) : columns_(columns), R_(columns * columns, 0.0) {}

  void add(std::vector<double> row) {
    ++rows_;
    rotate(row);
  }
  void add(const RunningFactor& other) {
    rows_ += other.rows_;
    for (std::size_t j = 0; j < columns_; ++j) {
      const auto first = other.R_.begin() + static_cast<std::ptrdiff_t>(j * columns_);
      std::vector<double> row(first, first + static_cast<std::ptrdiff_t>(columns_));
      rotate(row);
    }
  }
  std::size_t rows() const { return rows_; }
  /// Their inner products are those of the columns over the rows.
  std::vector<std::vector<double>> columns() const {
    std::vector<std::vector<double>> result(columns_, std::vector<double>(columns_));
    for (std::size_t i = 0; i < columns_; ++i)
      for (std::size_t j = 0; j < columns_; ++j) result[j][i] = R_[i * columns_ + j];
    return result;
  }

 private:
  void rotate(std::vector<double>& row) {
    for (std::size_t j = 0; j < columns_; ++j) {
      if (row[j] == 0) continue;
      double* own = R_.data() + j * columns_;
      const double length = std::hypot(own[j], row[j]);
      const double cosine = own[j] / length, sine = row[j] / length;
      for (std::size_t k = j; k < columns_; ++k) {
        const double mine = own[k];
        own[k] = cosine * mine + sine * row[k];
        row[k] = cosine * row[k] - sine * mine;
      }
    }
  }

  std::size_t columns_, rows_ = 0;
  std::vector<double> R_;
};

Features some_rows(const RowChunk& chunk, std::size_t begin, std::size_t count,
                   std::size_t columns) {
  Features some = Features::dense(columns);
  std::vector<double> x(columns);
  for (std::size_t i = 0; i < count; ++i) {
    widen_row(chunk, begin + i, x);
    some.append(x);
  }
  return some;
}

/// Of each class in order of appearance, or of all rows; rows of no weight are none.
std::vector<RunningFactor> factors_of(const SpilledData& data, const ParametricFunctions& functions,
                                      bool has_bias, const Threads& threads) {
  const std::size_t first = has_bias ? 1 : 0, count = functions.size();
  const bool classes = !data.appearance.empty();
  std::vector<RunningFactor> factors(std::max<std::size_t>(1, data.appearance.size()),
                                     RunningFactor(count + first));
  data.rows->read(1, [&](std::span<const RowChunk> chunks) {
    const RowChunk& chunk = chunks.front();
    for (std::size_t begin = 0; begin < chunk.rows; begin += rows_evaluated) {
      const std::size_t some = std::min(rows_evaluated, chunk.rows - begin);
      const std::vector<double> values = functions.values(
          some_rows(chunk, begin, some, data.rows->columns()), threads, chunk.first_row + begin);
      for (std::size_t i = 0; i < some; ++i) {
        if (chunk.weight != nullptr && !(chunk.weight[begin + i] > 0)) continue;
        std::vector<double> row(first, 1.0);
        row.insert(row.end(), values.begin() + static_cast<std::ptrdiff_t>(i * count),
                   values.begin() + static_cast<std::ptrdiff_t>((i + 1) * count));
        factors[classes ? static_cast<std::size_t>(chunk.label[begin + i]) : 0].add(std::move(row));
      }
    }
    return true;
  });
  return factors;
}

}  // namespace

std::vector<double> DiskFunctions::translated(double bias,
                                              std::span<const double> coefficients) const {
  const std::size_t first = has_bias ? 1 : 0;
  std::vector<double> lambda(count() + 1, 0.0);
  lambda[0] = bias;
  for (std::size_t c = first; c < recipe.size(); ++c)
    for (std::size_t j = 0; j <= c; ++j)
      lambda[j + 1 - first] += coefficients[c - first] * recipe[c][j];
  return lambda;
}

std::optional<DiskFunctions> functions_on_disk(const SpilledData& data, const Subproblems& problems,
                                               std::span<const ParametricFunction> functions,
                                               const Threads& threads, const GoOn& go_on) {
  DiskFunctions result;
  result.has_bias = problems.list.front().bias == Bias::unpenalised;
  std::vector<std::string> names;
  for (const ParametricFunction& each : functions) names.push_back(each.text);
  const std::size_t columns = data.rows->columns();
  require_memory_out_of_core(data.memory_bytes, columns + names.size());
  const ParametricFunctions made(functions, data.outline.feature_names, data.features);
  const std::vector<RunningFactor> factors = factors_of(data, made, result.has_bias, threads);
  for (const Subproblem& machine : problems.list) {
    RunningFactor own(names.size() + (result.has_bias ? 1 : 0));
    for (const Example& example : machine.examples)
      own.add(factors[data.appearance.empty() ? 0 : data.appearance[example.row]]);
    require_rows_for_functions(names.size(), own.rows(), result.has_bias);
    independent_functions(names, own.columns(), result.has_bias);
  }
  RunningFactor all(names.size() + (result.has_bias ? 1 : 0));
  for (const RunningFactor& each : factors) all.add(each);
  result.recipe = independent_functions(names, all.columns(), result.has_bias).recipe;
  const double scale = std::sqrt(static_cast<double>(all.rows()));
  for (auto& weights : result.recipe)
    for (double& weight : weights) weight *= scale;

  const std::size_t first = result.has_bias ? 1 : 0, count = names.size(), wide = columns + count;
  result.rows = reshaped(
      *data.rows, {data.folder, spill_chunk_bytes(data.memory_bytes), wide},
      [&](const RowChunk& chunk, std::size_t begin, std::size_t some, double* out) {
        const Features given = some_rows(chunk, begin, some, columns);
        const std::vector<double> phi = made.values(given, Threads(1), chunk.first_row + begin);
        const Features seen = made.visible(given, columns);
        std::fill_n(out, some * wide, 0.0);
        for (std::size_t i = 0; i < some; ++i) {
          double* row = out + i * wide;
          seen.view().for_each(i, [&](Index j, double value) { row[j] = value; });
          for (std::size_t c = first; c < result.recipe.size(); ++c) {
            double psi = result.has_bias ? result.recipe[c][0] : 0;
            for (std::size_t j = first; j <= c; ++j)
              psi += result.recipe[c][j] * phi[i * count + j - first];
            row[columns + c - first] = psi;
          }
        }
      },
      threads, go_on);
  if (!result.rows) return std::nullopt;
  return result;
}

}  // namespace maxmargin
