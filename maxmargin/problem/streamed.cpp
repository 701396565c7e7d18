#include "maxmargin/problem/streamed.hpp"

#include <algorithm>

#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/linalg/double_rows.hpp"
#include "maxmargin/linalg/serial_blas.hpp"

namespace maxmargin {
namespace {

void copy_rows(const RowChunk& chunk, std::size_t begin, std::size_t count, std::size_t stride,
               double* to) {
  const std::size_t columns = chunk.columns;
  if (chunk.floats != nullptr)
    return widen_rows(chunk.floats + begin * columns, columns, count, stride, to);
  for (std::size_t i = 0; i < count; ++i)
    std::copy_n(chunk.doubles + (begin + i) * columns, columns, to + i * stride);
}

}  // namespace

RowFile::Traffic for_each_chunk(const RowFile& rows, const Threads& threads,
                                const ChunkWork& work) {
  const SerialBlas serial;
  return rows.read(stream_parts, [&](std::span<const RowChunk> chunks) {
    threads.run(std::min(work.lanes, chunks.size()), [&](std::size_t lane) {
      for (std::size_t part = lane; part < chunks.size(); part += work.lanes)
        work.work(part, chunks[part]);
    });
    return !work.between || work.between(chunks);
  });
}

void widen(const StreamedProblem& problem, const RowChunk& chunk, std::size_t begin,
           std::size_t count, double* out) {
  const std::size_t features = problem.rows->columns(), stride = problem.numbers();
  copy_rows(chunk, begin, count, stride, out);
  for (std::size_t i = 0; i < count; ++i) {
    double* row = out + i * stride;
    std::fill(row + chunk.columns, row + features, 0.0);
    if (features == stride) continue;
    double* constant = row + features;
    if (problem.constant == StreamedProblem::Constant::penalised) {
      constant -= problem.functions;
      std::move_backward(constant, row + features, row + stride);
    }
    *constant = 1;
  }
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
