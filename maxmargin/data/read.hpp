#pragma once

#include <memory>
#include <string>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/data/dataset.hpp"

namespace maxmargin {

enum class Format { automatic, libsvm, csv, tsv, idx };

/// What the labels of a file must be.
enum class LabelKind {
  any,     ///< numbers or words
  number,  ///< a label that is not a finite number is an Error with its place
  none     ///< the file has no labels (CSV without a label column, idx without a label file)
};

struct ReadOptions {
  Format format = Format::automatic;
  LabelKind labels = LabelKind::any;
  std::string label_column;   ///< CSV: name or number (from 1) of it; empty: "label", "class",
                              ///< "target" or "y" by name, else the first
  std::string weight_column;  ///< CSV: name or number; empty: none
  std::string weight_file;    ///< one weight per line, for any format
  std::string label_file;  ///< idx: the label file; empty: found by the usual names ("images-idx3"
                           ///< -> "labels-idx1")
  enum class Base {
    automatic,
    zero,
    one
  } base = Base::automatic;  ///< libsvm: the first index; automatic: zero if index 0 occurs
  enum class Header { automatic, yes, no } header = Header::automatic;  ///< CSV
  std::size_t columns = 0;  ///< at least so many features (a model's); 0: as the data has
};

/// Reads a data file: plain, gzip or zstd (recognised by content), "-" for standard input. Holds
/// the rows once while reading. Throws Error with file:line:column on bad input.
Dataset read(const std::string& path, const ReadOptions& options, const Threads& threads);

/// The same, a batch of rows at a time, so that a file of any size can pass through.
class Reader {
 public:
  Reader(const std::string& path, const ReadOptions& options, const Threads& threads);
  ~Reader();
  /// The next rows, about `target_rows` of them; no rows: the end. Words are numbered over the
  /// whole file in order of appearance in `words` (Dataset::words grows with later batches).
  Dataset next(std::size_t target_rows);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace maxmargin
