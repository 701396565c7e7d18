#include "maxmargin/problem/streamed.hpp"

#include <algorithm>

#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/linalg/serial_blas.hpp"

namespace maxmargin {
namespace {

int as_int(std::size_t n) { return static_cast<int>(n); }

template <class Number>
void copy_rows(const Number* from, std::size_t columns, std::size_t count, std::size_t stride,
               std::size_t features, double* to) {
  for (std::size_t i = 0; i < count; ++i, from += columns, to += stride) {
    for (std::size_t j = 0; j < columns; ++j) to[j] = static_cast<double>(from[j]);
    std::fill(to + columns, to + features, 0.0);
    if (features < stride) to[features] = 1;
  }
}

}  // namespace

RowFile::Traffic for_each_chunk(const RowFile& rows, const Threads& threads,
                                const ChunkWork& work) {
  const SerialBlas serial;
  return rows.read(stream_parts, [&](std::span<const RowChunk> chunks) {
    threads.run(chunks.size(), [&](std::size_t part) { work.work(part, chunks[part]); });
    return !work.between || work.between(chunks);
  });
}

void widen(const StreamedProblem& problem, const RowChunk& chunk, std::size_t begin,
           std::size_t count, double* out) {
  const std::size_t features = problem.rows->columns(), stride = problem.numbers();
  if (chunk.floats != nullptr)
    copy_rows(chunk.floats + begin * chunk.columns, chunk.columns, count, stride, features, out);
  else
    copy_rows(chunk.doubles + begin * chunk.columns, chunk.columns, count, stride, features, out);
}

void multiply_rows(const double* Z, std::size_t count, std::span<const double> x, double* y) {
  std::fill_n(y, count, 0.0);
  if (x.empty()) return;
  blas().cblas_dgemv(CblasRowMajor, CblasNoTrans, as_int(count), as_int(x.size()), 1, Z,
                     as_int(x.size()), x.data(), 1, 0, y, 1);
}

void gather_rows(const double* Z, std::size_t count, const double* x, std::span<double> y) {
  if (y.empty()) return;
  blas().cblas_dgemv(CblasRowMajor, CblasTrans, as_int(count), as_int(y.size()), 1, Z,
                     as_int(y.size()), x, 1, 1, y.data(), 1);
}

std::vector<double> decision_values(const StreamedProblem& problem, const RowChunk& chunk,
                                    std::span<const double> point) {
  std::vector<double> f(chunk.rows), Z(rows_at_once * problem.numbers());
  for (std::size_t begin = 0; begin < chunk.rows; begin += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, chunk.rows - begin);
    widen(problem, chunk, begin, count, Z.data());
    multiply_rows(Z.data(), count, point, f.data() + begin);
  }
  return f;
}

}  // namespace maxmargin
