#include "cli/signals.hpp"

#include <atomic>

namespace maxmargin::cli {
namespace {

// A handler can reach nothing but static storage.
std::atomic<int> requested{0};
static_assert(std::atomic<int>::is_always_lock_free, "the handler must be signal-safe");

extern "C" void note_request(int signal) {
  requested.store(signal, std::memory_order_relaxed);
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(SIGINT, &plain, nullptr);
  sigaction(SIGTERM, &plain, nullptr);
}

void install(int signal, struct sigaction& before) {
  sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = note_request;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopRequest::StopRequest() {
  requested.store(0);
  install(SIGINT, interrupt_before_);
  install(SIGTERM, terminate_before_);
}

StopRequest::~StopRequest() {
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
}

int StopRequest::signal() const { return requested.load(std::memory_order_relaxed); }

}  // namespace maxmargin::cli
