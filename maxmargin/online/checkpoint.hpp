#pragma once

#include <string>
#include <string_view>

namespace maxmargin {

// A checkpoint, version 1, is
//
//   maxmargin stream 1\n
//   <state>              see Learner::state() and whoever adds to it
//   <checksum>\n         32 hex digits: XXH3-128 of all bytes before

/// Writes one whole or not at all: after a fault the one that was there before still is.
void save_checkpoint(const std::string& path, std::string_view state);

/// The state in a checkpoint. Error for another kind of file, another version or damage.
std::string load_checkpoint(const std::string& path);

}  // namespace maxmargin
