#pragma once

#include <memory>
#include <string>

#include "maxmargin/data/readers/source.hpp"

namespace maxmargin::cli::streaming {

/// Text as it comes in.
class Input {
 public:
  virtual ~Input() = default;
  enum class Got { bytes, pause, end };
  /// Replaces `chunk` by what has come. `pause`: nothing came, after waiting a moment or until a
  /// signal; the first pause does not wait, so that output can be flushed.
  virtual Got read(std::string& chunk) = 0;
};

/// Standard input.
std::unique_ptr<Input> standard_input();
/// A file, which may be packed, from the byte `offset` of its text on. `follow`: waits for more at
/// its end, and never ends.
enum class AtEnd { stop, follow };
std::unique_ptr<Input> file_input(const std::string& path, std::uint64_t offset, AtEnd at_end);

/// The first bytes of the text of a file, which tell its format.
std::string head_of(const std::string& path);

}  // namespace maxmargin::cli::streaming
