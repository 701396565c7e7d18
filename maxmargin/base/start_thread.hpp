#pragma once

#include <functional>
#include <thread>

namespace maxmargin {

/// A thread that takes no request to end: such signals go to the threads that the caller made, and
/// a caller that blocks them is not ended while it does. Throws Error (Fault::io) where the system
/// has no room for another thread.
std::thread start_thread(std::function<void()> work);

}  // namespace maxmargin
