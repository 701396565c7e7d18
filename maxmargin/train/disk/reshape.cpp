#include "maxmargin/train/disk/reshape.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/problem/streamed.hpp"

namespace maxmargin {
namespace {

// Bytes of rows that are mapped before they are written.
constexpr std::size_t bytes_at_once = std::size_t{8} << 20;

}  // namespace

void widen_row(const RowChunk& chunk, std::size_t row, std::span<double> out) {
  const std::size_t columns = std::min(chunk.columns, out.size());
  if (chunk.floats != nullptr)
    std::copy_n(chunk.floats + row * chunk.columns, columns, out.data());
  else if (chunk.doubles != nullptr)
    std::copy_n(chunk.doubles + row * chunk.columns, columns, out.data());
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(columns), out.end(), 0.0);
}

std::unique_ptr<RowFile> reshaped(const RowFile& rows, const Reshape& to, const RowMap& map,
                                  const Threads& threads, const GoOn& go_on) {
  auto made = std::make_unique<RowFile>(to.folder, to.chunk_bytes);
  const std::size_t columns = std::max<std::size_t>(1, to.columns);
  const std::size_t at_once = std::max(rows_at_once, bytes_at_once / (columns * sizeof(double)));
  std::vector<double> out(std::min(at_once, std::max<std::size_t>(1, rows.rows())) * columns);
  bool complete = true;
  rows.read(1, [&](std::span<const RowChunk> chunks) {
    const RowChunk& chunk = chunks.front();
    for (std::size_t begin = 0; complete && begin < chunk.rows; begin += at_once) {
      const std::size_t count = std::min(at_once, chunk.rows - begin);
      threads.run((count + rows_at_once - 1) / rows_at_once, [&](std::size_t task) {
        const std::size_t first = task * rows_at_once;
        map(chunk, begin + first, std::min(rows_at_once, count - first),
            out.data() + first * to.columns);
      });
      const std::span<const double> weight = chunk.weight != nullptr
                                                 ? std::span(chunk.weight + begin, count)
                                                 : std::span<const double>();
      made->append(Rows{count, to.columns, nullptr, out.data()}, {chunk.label + begin, count},
                   weight);
      complete = !go_on || go_on();
    }
    return complete;
  });
  if (!complete) return nullptr;
  made->finish();
  return made;
}

Scaling learn_scaling(const RowFile& rows, std::size_t n, ScalingKind kind) {
  Columns columns;
  for (std::size_t j = 0; j < n; ++j) columns.feature.push_back(static_cast<Index>(j));
  columns.low.assign(n, infinity);
  columns.high.assign(n, -infinity);
  columns.mean.assign(n, 0);
  columns.deviation.assign(n, 0);
  const double share = 1 / static_cast<double>(std::max<std::size_t>(1, rows.rows()));
  std::vector<double> x(n);
  const auto for_each_row = [&](const auto& body) {
    rows.read(1, [&](std::span<const RowChunk> chunks) {
      for (std::size_t i = 0; i < chunks.front().rows; ++i) {
        widen_row(chunks.front(), i, x);
        body();
      }
      return true;
    });
  };
  for_each_row([&] {
    for (std::size_t j = 0; j < n; ++j) {
      columns.low[j] = std::min(columns.low[j], x[j]);
      columns.high[j] = std::max(columns.high[j], x[j]);
      columns.mean[j] += x[j] * share;
    }
  });
  if (kind == ScalingKind::deviation)
    for_each_row([&] {
      for (std::size_t j = 0; j < n; ++j) {
        const double apart = x[j] - columns.mean[j];
        columns.deviation[j] += apart * apart;
      }
    });
  for (std::size_t j = 0; j < n; ++j) columns.set_deviation(j, columns.deviation[j] * share);
  return scaling_of(columns, n, kind);
}

}  // namespace maxmargin
