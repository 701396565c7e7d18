#include "maxmargin/base/start_thread.hpp"

#include <system_error>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/requests_blocked.hpp"

namespace maxmargin {

std::thread start_thread(std::function<void()> work) {
  const RequestsBlocked blocked;
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    throw Error(Fault::io, "cannot start a thread: " + error.code().message(),
                "allow more threads or memory (ulimit -u, ulimit -v)");
  }
}

}  // namespace maxmargin
