#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// Some rows that follow each other, as they come from disk: dense, float where every value is one.
struct RowChunk {
  std::size_t number = 0;     ///< of the chunk
  std::size_t first_row = 0;  ///< of the file
  std::size_t rows = 0;
  std::size_t columns = 0;  ///< the features behind are zero
  const float* floats = nullptr;
  const double* doubles = nullptr;  ///< the values, whichever is not null
  const double* label = nullptr;
  const double* weight = nullptr;  ///< null: all 1
};

/// Rows, labels and weights in a scratch file, for passes over data that does not fit into memory.
/// The file has no name, so that nothing of it stays whatever happens to the process. Where the
/// file system can, it is read and written past the page cache (O_DIRECT): several times as fast as
/// with it once the file is larger than the cache, and the memory of the machine stays free.
class RowFile {
 public:
  /// Chunks of about so many bytes, of a number of rows that depends on nothing but this and the
  /// columns of the first rows. Throws Error when no file can be made in the folder.
  RowFile(const std::string& folder, std::size_t chunk_bytes);
  ~RowFile();
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  /// Weights may be empty, all 1, but then always. Throws Error when the disk is full.
  void append(const Rows& x, std::span<const double> label, std::span<const double> weight);
  /// After the last row, before the first is read.
  void finish();

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::size_t chunks() const { return chunks_.size(); }
  std::uint64_t bytes() const { return bytes_; }
  bool is_direct() const { return direct_; }  ///< past the page cache
  std::size_t largest_chunk_bytes() const;

  /// What a pass cost.
  struct Traffic {
    std::uint64_t bytes = 0;
    double reading = 0;  ///< seconds that the reading thread spent in the system
    double waiting = 0;  ///< seconds that the caller had nothing to do
  };
  /// All chunks in their order, `at_once` of them at a time (fewer at the end); those that follow
  /// are read by another thread while `body` works. Ends early when `body` says false. Takes twice
  /// `at_once` chunks of memory. Throws Error when the file is shorter than it was.
  using Body = std::function<bool(std::span<const RowChunk>)>;
  Traffic read(std::size_t at_once, const Body& body) const;

  /// Labels and weights only (nullptr: all 1), chunk by chunk.
  using LabelBody = std::function<void(std::span<const double> label, const double* weight)>;
  void read_labels(const LabelBody& body) const;

 private:
  struct Chunk {
    std::uint64_t offset;
    std::size_t bytes;
    std::size_t first_row, rows, columns;
    bool doubles;
  };
  class Pipeline;

  void open(const std::string& folder);
  void flush();
  void write(const char* from, std::size_t bytes);
  void load(std::uint64_t offset, std::size_t bytes, char* to) const;
  RowChunk view(std::size_t number, const char* at) const;
  std::size_t label_bytes(std::size_t rows) const;

  std::string folder_;
  int descriptor_ = -1;
  bool direct_ = false;
  std::size_t chunk_bytes_;
  std::size_t rows_per_chunk_ = 0;
  std::size_t rows_ = 0, columns_ = 0;
  bool weighted_ = false;
  std::uint64_t bytes_ = 0;
  std::vector<Chunk> chunks_;
  // Rows that wait for their chunk to be full.
  std::vector<double> label_, weight_;
  Features pending_;
};

/// Where scratch files go unless told otherwise: TMPDIR, else /tmp.
std::string scratch_folder();

}  // namespace maxmargin
