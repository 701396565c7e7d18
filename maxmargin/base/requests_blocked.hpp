#pragma once

#include <csignal>

namespace maxmargin {

/// While it lives, this thread takes no request to end (those wait), and threads that it starts
/// never do. Faults of a thread's own (SIGSEGV, SIGXFSZ) are left alone.
class RequestsBlocked {
 public:
  RequestsBlocked() {
    sigset_t requests;
    sigemptyset(&requests);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU})
      sigaddset(&requests, signal);
    pthread_sigmask(SIG_BLOCK, &requests, &before_);
  }
  ~RequestsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  RequestsBlocked(const RequestsBlocked&) = delete;
  RequestsBlocked& operator=(const RequestsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace maxmargin
