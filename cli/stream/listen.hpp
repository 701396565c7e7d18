#pragma once

#include <functional>

#include "cli/stream/session.hpp"
#include "cli/terminal/signals.hpp"

namespace maxmargin::cli::streaming {

/// Rows from connections: one line in, one line out, to the connection it came from. A line that
/// cannot be read is answered with "error: ..."; one that does not end closes its connection; a
/// connection that does not read its answers is paused until it does. Connections take turns, and
/// rows are learned in the order in which they come. Returns after a signal.
///
/// `told`: where it listens, once it does (port 0 lets the system choose one). `moment`: called
/// several times a second.
void serve(const StreamArguments& arguments, Session& session, const StopRequest& stop,
           const std::function<void(const std::string&)>& told,
           const std::function<void()>& moment);

}  // namespace maxmargin::cli::streaming
