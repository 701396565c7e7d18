#pragma once

#include <memory>
#include <string>
#include <vector>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/data/readers/blocks.hpp"
#include "maxmargin/data/readers/builder.hpp"
#include "maxmargin/data/readers/read.hpp"

namespace maxmargin {

/// Reads the rows of one format from a source, a block at a time.
class RowReader {
 public:
  virtual ~RowReader() = default;
  /// Appends the next block to what take() gives; false at the end. A block may have no rows.
  virtual bool advance() = 0;
  /// The rows since the last call.
  virtual Dataset take() = 0;
  /// Says that take() will be called once, at the end: room can be made for everything.
  virtual void expect_all() {}
  /// How many rows take() would give.
  virtual std::size_t ready() const = 0;
};

std::unique_ptr<RowReader> libsvm_reader(std::unique_ptr<Source> source, const ReadOptions& options,
                                         const Threads& threads);
std::unique_ptr<RowReader> csv_reader(std::unique_ptr<Source> source, const ReadOptions& options,
                                      char separator, const Threads& threads);
/// `path`: where the file is, to look for its label file; empty: nowhere.
std::unique_ptr<RowReader> idx_reader(std::unique_ptr<Source> source, const ReadOptions& options,
                                      const std::string& path);

/// How much text is held at a time.
std::size_t block_bytes(const ReadOptions& options, const Threads& threads);

/// The blocks of a text, each cut into pieces that are parsed at the same time while the next block
/// is loaded.
class TextParser {
 public:
  TextParser(std::unique_ptr<Source> source, Records records, std::size_t bytes,
             const Threads& threads);

  const std::string& name() const { return source_->name(); }
  /// Makes the next block current; false at the end.
  bool next() { return blocks_.next(); }
  /// The current block, and where it begins.
  std::string_view text() const { return blocks_.text(); }
  Place place() const { return {source_->name(), line_, 1}; }

  /// Calls `parse` on the pieces of the current block and appends their rows in order.
  template <class Parse>
  void run(const Parse& parse, DatasetBuilder& builder, const DatasetBuilder::Parts& parts) {
    cut();
    threads_.run(used_ + 1, [&](std::size_t task) {
      if (task == 0)
        blocks_.load();
      else
        parse(pieces_[task - 1]);
    });
    builder.append({pieces_.data(), used_}, line_,
                   {parts.labels, parts.weights, parts.weights_over, times()}, threads_);
    for (std::size_t i = 0; i < used_; ++i) line_ += pieces_[i].lines;
  }

  /// All rows are kept: the size of the source tells how many there will be.
  void expect_all() { expects_all_ = true; }
  /// Goes past the current block.
  void pass();
  /// Takes the current block to start behind its first `bytes` bytes of `lines` lines.
  void skip(std::size_t bytes, std::size_t lines);

 private:
  void cut();
  /// How many times as much text there is as was parsed so far.
  double times() const;

  const Threads& threads_;
  std::unique_ptr<Source> source_;
  Blocks blocks_;
  std::vector<Piece> pieces_;
  std::size_t used_ = 0;
  std::size_t line_ = 1;
  std::uint64_t parsed_ = 0;  ///< bytes
  bool expects_all_ = false;
};

/// What readers of text share: the blocks of it, one a step.
class TextReader : public RowReader {
 public:
  TextReader(std::unique_ptr<Source> source, Records records, const ReadOptions& options,
             const Threads& threads)
      : options_(options),
        threads_(threads),
        text_(std::move(source), records, block_bytes(options, threads), threads) {}

  bool advance() final {
    if (!text_.next()) return false;
    parse();
    return true;
  }
  void expect_all() final { text_.expect_all(); }

 protected:
  /// The current block.
  virtual void parse() = 0;

  ReadOptions options_;
  const Threads& threads_;
  TextParser text_;
};

}  // namespace maxmargin
