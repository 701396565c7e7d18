#pragma once

#include <array>
#include <csignal>
#include <string>

namespace maxmargin::cli {

/// While it lives, a request to end is only noted: an interrupt (Ctrl-C), a termination, a terminal
/// that hung up, processor time that is used up, and SIGUSR1 and SIGUSR2 of batch systems. The
/// second interrupt or termination ends the program at once, which a message says half a second
/// after the first. A signal that was ignored before stays ignored. One at a time.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  bool made() const { return signal() != 0; }
  int signal() const;        ///< the first one that came; 0: none
  std::string name() const;  ///< "SIGINT"

  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2};

 private:
  std::array<struct sigaction, signals.size()> before_{};
  struct sigaction alarm_before_ {};
};

/// While it lives, a request to end removes this file first; without a name it does nothing. One at
/// a time.
class RemovedOnSignal {
 public:
  explicit RemovedOnSignal(const std::string& path);
  ~RemovedOnSignal();
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;

 private:
  bool installed_ = false;
  std::array<struct sigaction, StopRequest::signals.size()> before_{};
};

/// Prepares the process before anything else: opens descriptors 0 to 2 if they are closed, so that
/// no file of ours becomes one of them, and turns a file beyond its size limit from a signal into
/// an error.
void prepare_process();

}  // namespace maxmargin::cli
