#pragma once

#include <csignal>

namespace maxmargin::cli {

/// While it lives, the first interrupt (Ctrl-C) or termination request is only noted; the second
/// ends the program at once. A signal that was ignored before stays ignored. One at a time.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  bool made() const { return signal() != 0; }
  int signal() const;  ///< the one that came; 0: none

 private:
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
};

}  // namespace maxmargin::cli
