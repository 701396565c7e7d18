#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/data/readers/source.hpp"

namespace maxmargin {

/// What ends a record of a text: a line feed, or a line feed outside of quotes.
enum class Records { lines, quoted };

/// The text of a source in blocks of whole records. While one block is parsed, the next can be
/// loaded: load() writes only to the buffer that is not the current block.
class Blocks {
 public:
  Blocks(Source& source, Records records, std::size_t bytes);

  /// Reads the next block into the spare buffer. What goes wrong is kept for next().
  void load() noexcept;

  /// Makes the loaded block the current one; false at the end. Throws what load() met.
  bool next();

  /// The current block. It ends with a line feed and is followed by text_padding bytes.
  std::string_view text() const {
    return {block().bytes.data() + skipped_, block().used - skipped_};
  }

  /// Takes the current block to start so many bytes later, at the start of a record.
  void skip(std::size_t bytes) { skipped_ += bytes; }

  /// Cuts the current block into at most `count` runs of whole records.
  std::vector<std::string_view> pieces(std::size_t count) const;

 private:
  struct Block {
    Buffer<char> bytes;
    std::size_t filled = 0;  ///< bytes read
    std::size_t used = 0;    ///< bytes of whole records
  };

  const Block& block() const { return block_[current_]; }
  void fill(Block& next);
  /// False at the end, or after a fault, which is kept.
  bool read_up_to(Block& next, std::size_t wanted);
  /// The end of the last whole record of a text; 0 if there is none.
  std::size_t last_end(std::string_view text) const;
  /// Whether the start of a record, without its end, is handed on. Throws Error if it is longer
  /// than any record.
  bool endless(std::string_view text) const;

  Source& source_;
  Records records_;
  std::size_t bytes_;
  Block block_[2];
  int current_ = 0;
  std::size_t skipped_ = 0;
  bool ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace maxmargin
