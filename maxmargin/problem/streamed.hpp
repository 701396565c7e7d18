#pragma once

#include <functional>
#include <span>
#include <vector>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/data/disk/row_file.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// A machine with a linear kernel over rows that are on disk:
///
///   min over w, c, b   1/2 |w|^2 (+ b^2/2)  +  sum of the losses of f(x) = w'x + c'psi(x) + b
///
/// which is DualQp with K = X X' where neither X nor any vector over its rows is in memory. A point
/// has the penalised coordinates first, w and b where it is penalised, then the free ones: the
/// coefficients c of functions, and b.
struct StreamedProblem {
  enum class Constant { free, penalised, none };

  const RowFile* rows = nullptr;
  Constant constant = Constant::free;
  /// Writes the blocks of a row with this label and weight, two at most, and returns how many; 0:
  /// the row is not of this machine. Called by several threads.
  std::function<std::size_t(double label, double weight, Block* out)> blocks;

  std::size_t functions = 0;  ///< so many columns, the last ones, are psi: their c cost nothing

  std::size_t numbers() const { return rows->columns() + (constant == Constant::none ? 0 : 1); }
  std::size_t penalised() const {
    return rows->columns() - functions + (constant == Constant::penalised ? 1 : 0);
  }
  std::size_t free() const { return numbers() - penalised(); }
  std::size_t blocks_of(const RowChunk& chunk, std::size_t row, Block* out) const {
    return blocks(chunk.label[row], chunk.weight != nullptr ? chunk.weight[row] : 1, out);
  }
};

/// Sums over the rows are made in so many parts, whatever the number of threads: chunk k goes to
/// part k modulo this. So is the file read, one chunk of each part at a time.
inline constexpr std::size_t stream_parts = 16;
/// Where each part has a matrix of its own over so many numbers a row, parts take turns with fewer
/// of them: as many as this, by the numbers alone.
constexpr std::size_t stream_lanes(std::size_t numbers) {
  constexpr std::size_t wide = 512;
  return numbers < wide ? stream_parts : stream_parts / 2;
}
/// Rows that are widened to doubles and worked on together: they stay in the cache.
inline constexpr std::size_t rows_at_once = 128;

/// Runs work(part, chunk) on all chunks, those of different parts at the same time (of lane k:
/// parts k, k + lanes, ... one after another), and `between` after each round of them on the
/// calling thread. Ends early when that says false.
struct ChunkWork {
  std::function<void(std::size_t part, const RowChunk& chunk)> work;
  std::function<bool(std::span<const RowChunk> chunks)> between = {};
  std::size_t lanes = stream_parts;
};
RowFile::Traffic for_each_chunk(const RowFile& rows, const Threads& threads, const ChunkWork& work);

/// Rows [begin, begin + count) of a chunk in double, each of problem.numbers() values in the order
/// of a point; the constant's is 1.
void widen(const StreamedProblem& problem, const RowChunk& chunk, std::size_t begin,
           std::size_t count, double* out);

/// y = Z x and y += Z'x for rows that were widened.
void multiply_rows(const double* Z, std::size_t count, std::span<const double> x, double* y);
void gather_rows(const double* Z, std::size_t count, const double* x, std::span<double> y);

/// f at the rows of a chunk, for a point.
std::vector<double> decision_values(const StreamedProblem& problem, const RowChunk& chunk,
                                    std::span<const double> point);

}  // namespace maxmargin
