#include "maxmargin/train/folds/held_out.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/model/predict.hpp"

namespace maxmargin {
namespace {

// A tile of kernel values stays in a cache from its making until all machines have used it.
constexpr std::size_t tile_rows = 512, tile_columns = 1024;
constexpr std::size_t rows_per_task = 64;

}  // namespace

double HeldOut::exact_value(std::size_t machine, Index point) const {
  const Machine& chosen = model_.machines[machine];
  std::vector<Index> points;
  for (const Index vector : chosen.support) points.push_back(point_of(model_.support_row[vector]));
  std::vector<double> values(points.size());
  prepared_.examples.K->exact_block(points, point, 1, values.data(), 1);
  double sum = chosen.bias();
  for (std::size_t k = 0; k < values.size(); ++k) sum += values[k] * chosen.coefficient[k];
  return sum;
}

std::vector<double> HeldOut::decision_values(std::span<const Index> rows,
                                             const Threads& threads) const {
  const Quadratic& K = *prepared_.examples.K;
  const std::size_t machines = coefficients_.machines();
  std::vector<Index> columns, points;
  double largest = 0;
  for (const Index vector : coefficients_.order()) {
    columns.push_back(point_of(model_.support_row[vector]));
    largest = std::max(largest, std::abs(K.diagonal()[columns.back()]));
  }
  for (const Index row : rows) points.push_back(point_of(row));

  std::vector<double> values(rows.size() * machines, 0.0);
  std::vector<float> tile(std::min(tile_rows, rows.size()) *
                          std::min(tile_columns, columns.size()));
  for (std::size_t first = 0; first < points.size(); first += tile_rows) {
    const auto some = std::span(points).subspan(first, std::min(tile_rows, points.size() - first));
    for (std::size_t begin = 0; begin < columns.size(); begin += tile_columns) {
      const std::size_t count = std::min(tile_columns, columns.size() - begin);
      std::vector<float*> out;
      for (std::size_t r = 0; r < some.size(); ++r) out.push_back(tile.data() + r * count);
      K.block(some, std::span(columns).subspan(begin, count), out, threads);
      threads.split(some.size(), rows_per_task, [&](std::size_t from, std::size_t to) {
        coefficients_.add(tile.data() + from * count, count, to - from, begin, count,
                          values.data() + (first + from) * machines);
      });
    }
  }
  // The error of tanh is one of its largest value.
  const double least_reach = K.definite() == Definite::yes ? 0 : 1;
  threads.split(points.size(), rows_per_task, [&](std::size_t from, std::size_t to) {
    std::vector<double> error(machines);
    for (std::size_t r = from; r < to; ++r) {
      const std::span<double> row(values.data() + r * machines, machines);
      const double reach =
          std::max(least_reach, std::sqrt(std::abs(K.diagonal()[points[r]]) * largest));
      for (std::size_t m = 0; m < machines; ++m) {
        row[m] += model_.machines[m].bias();
        error[m] = coefficients_.error(m, reach);
      }
      for (const std::size_t m : in_doubt(model_, row, error)) row[m] = exact_value(m, points[r]);
    }
  });
  return values;
}

}  // namespace maxmargin
