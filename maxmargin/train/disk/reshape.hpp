#pragma once

#include <functional>
#include <memory>
#include <string>

#include "maxmargin/data/disk/row_file.hpp"
#include "maxmargin/data/scaling.hpp"
#include "maxmargin/linalg/symmetric.hpp"

namespace maxmargin {

/// Where a file of other rows is to be, and of how many numbers each.
struct Reshape {
  std::string folder;
  std::size_t chunk_bytes = 0;
  std::size_t columns = 0;
};

/// Writes `count` rows for the rows of a chunk from `begin` on, one after another.
using RowMap =
    std::function<void(const RowChunk& chunk, std::size_t begin, std::size_t count, double* out)>;

/// A file with each row mapped to another, and the same labels and weights, by one pass with some
/// rows at a time in memory. Nothing where `go_on` returned false.
std::unique_ptr<RowFile> reshaped(const RowFile& rows, const Reshape& to, const RowMap& map,
                                  const Threads& threads, const GoOn& go_on = {});

/// A row of a chunk in double, with the zeros behind its last column.
void widen_row(const RowChunk& chunk, std::size_t row, std::span<double> out);

/// As learn_scaling, of the first columns, in two passes over rows on disk.
Scaling learn_scaling(const RowFile& rows, std::size_t columns, ScalingKind kind);

}  // namespace maxmargin
