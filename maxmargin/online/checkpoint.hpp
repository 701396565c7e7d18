#pragma once

#include <string>
#include <string_view>

namespace maxmargin {

// A checkpoint is
//
//   maxmargin stream 2\n  the version of the format
//   <state>              bytes that the session writes; they contain StreamLearner::state()
//   <checksum>\n         32 hex digits: XXH3-128 of all bytes before

/// Writes a checkpoint atomically: after a failure an earlier one is still there.
void save_checkpoint(const std::string& path, std::string_view state);

/// The state in a checkpoint. Throws Error for another kind of file, another version or damage.
std::string load_checkpoint(const std::string& path);

}  // namespace maxmargin
