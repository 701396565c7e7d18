#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>

namespace maxmargin {

/// Runs what a function of a C interface does: 0, or 1 with what was thrown in `message`, cut to
/// its room.
template <class Body>
int guarded(char* message, std::size_t room, Body&& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    if (message == nullptr || room == 0) return 1;
    const std::size_t length = std::min(room - 1, std::strlen(error.what()));
    std::memcpy(message, error.what(), length);
    message[length] = '\0';
    return 1;
  }
}

}  // namespace maxmargin
