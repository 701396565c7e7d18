#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/data/dataset.hpp"
#include "maxmargin/data/readers/label_kind.hpp"

namespace maxmargin {

enum class Format { automatic, libsvm, csv, tsv, idx };

struct ReadOptions {
  Format format = Format::automatic;
  LabelKind labels = LabelKind::any;
  std::string label_column;   ///< CSV: name or number (from 1) of it; empty: "label", "class",
                              ///< "target" or "y" by name, else the first
  std::string weight_column;  ///< CSV: name or number; empty: none
  std::string over_column;    ///< CSV: the same for Dataset::weight_over
  std::string id_column;      ///< CSV: name or number of a column that is no feature; empty: none
  std::string weight_file;    ///< for any format: a weight per line, or two, the second for
                              ///< Dataset::weight_over
  std::string label_file;  ///< idx: the label file; empty: found by the usual names ("images-idx3"
                           ///< -> "labels-idx1")
  /// libsvm: the first index; automatic: zero if index 0 occurs; serial: one, and index 0, where it
  /// occurs, is the number of a row and no feature.
  enum class Base { automatic, zero, one, serial } base = Base::automatic;
  enum class Header { automatic, yes, no } header = Header::automatic;  ///< CSV
  /// At least so many features (a model's); 0: as the data has. Dense data with fewer is an Error.
  std::size_t columns = 0;
  std::size_t block_bytes = 0;  ///< text is read in blocks of about so many bytes; 0: automatic
};

/// Reads a data file: plain, gzip or zstd (recognised by content), "-" for standard input. Holds
/// the rows once while reading. Throws Error with file:line:column on bad input.
///
/// LIBSVM text gives sparse rows, CSV and TSV dense ones, idx sparse ones if less than half of its
/// first megabytes is not zero. An explicit zero of LIBSVM text is not stored.
Dataset read(const std::string& path, const ReadOptions& options, const Threads& threads);

/// The same from memory; `name` is the file's in messages and for recognising the format.
Dataset read_bytes(std::span<const std::byte> bytes, const std::string& name,
                   const ReadOptions& options, const Threads& threads);

/// The format of text by its beginning and the name it has; libsvm, csv or tsv.
Format format_of_text(std::string_view head, std::string name);

/// The same, a batch of rows at a time, so that a file of any size can pass through.
class Reader {
 public:
  /// `threads` outlives the reader.
  Reader(const std::string& path, const ReadOptions& options, const Threads& threads);
  ~Reader();
  /// The next rows, `target_rows` of them or what is left; no rows: the end. Words are numbered
  /// over the whole file in order of appearance in `words` (Dataset::words grows with later
  /// batches); a batch before the first word has numbers. Indices count from 1 unless a 0 occurs in
  /// the first batch; a 0 in a later one is an Error. A file without rows is an Error at the first
  /// call.
  Dataset next(std::size_t target_rows);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace maxmargin
