#pragma once

#include <memory>
#include <string>
#include <vector>

#include "maxmargin/data/disk/row_file.hpp"
#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/model/model.hpp"

namespace maxmargin {

struct SpillOptions {
  std::string folder = scratch_folder();  ///< of the scratch file
  std::size_t memory_bytes = 0;           ///< no more than this from now on; 0: half of the memory
};

/// Data that was written to a scratch file while it was read, and its summary.
struct SpilledData {
  /// Labels are numbers, or the classes' numbers in order of appearance.
  std::unique_ptr<RowFile> rows;
  /// One row without features for each class, in the order of classes_of, weighted by the rows of
  /// that class; for regression, one row.
  Dataset outline;
  std::vector<std::size_t> appearance;  ///< of each class of `outline`: its number in that order
  std::size_t features = 0;
  double density = 0;  ///< share of values that are not zero
  std::string data_hash;
  std::size_t memory_bytes = 0;
  std::string folder;  ///< of the scratch file
  double seconds = 0;
};

/// Reads a file a batch at a time. Throws Error where read() does, when the scratch file cannot
/// hold the rows, and when the memory is too little for so many features: with the fault `usage`
/// and how much is needed.
SpilledData spill(const std::string& path, const ReadOptions& reading, Outcome outcome,
                  const SpillOptions& options, const Threads& threads);

/// Of a scratch file's chunks, in so much memory.
std::size_t spill_chunk_bytes(std::size_t memory);

/// Throws a usage Error where the memory is too little for so many features, or for what needs so
/// many bytes.
void require_memory_out_of_core(std::size_t given, std::size_t features);
void require_bytes_out_of_core(std::size_t given, std::size_t needed, const std::string& what);

/// The program itself, its libraries and their buffers.
inline constexpr std::size_t program_bytes_out_of_core = std::size_t{40} << 20;

/// What training on so many features takes at least, whatever the number of rows.
std::size_t least_memory_out_of_core(std::size_t features);

}  // namespace maxmargin
