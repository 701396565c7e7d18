#include "cli/terminal/signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>
#include <string_view>

#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/output.hpp"

namespace maxmargin::cli {
namespace {

// A handler can reach nothing but static storage.
std::atomic<int> requested{0};
static_assert(std::atomic<int>::is_always_lock_free, "the handler must be signal-safe");
char to_remove[PATH_MAX];

// Runs from the first request on; made before, as a handler cannot make it.
timer_t patience;
std::atomic<bool> has_patience{false};
constexpr itimerspec patience_time{{0, 0}, {0, 400'000'000}};
constexpr std::string_view waiting =
    "maxmargin: asked to end, what there is is being kept; a second SIGINT or SIGTERM ends at "
    "once, without it\n";

void make_plain(int signal) {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
}

extern "C" void note_request(int signal) {
  int none = 0;
  if (requested.compare_exchange_strong(none, signal, std::memory_order_relaxed) &&
      has_patience.load(std::memory_order_relaxed))
    timer_settime(patience, 0, &patience_time, nullptr);
  // Signals that users send; the kernel repeats SIGXCPU every second.
  if (signal != SIGINT && signal != SIGTERM) return;
  make_plain(SIGINT);
  make_plain(SIGTERM);
}

extern "C" void tell_of_waiting(int) {
  const int error = errno;
  // Failures of this message are ignored.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, waiting.data(), waiting.size());
  errno = error;
}

extern "C" void remove_and_end(int signal) {
  unlink(to_remove);
  make_plain(signal);
  raise(signal);  // comes as soon as the handler has returned
}

template <std::size_t count>
void install(void (*handler)(int), std::array<struct sigaction, count>& before) {
  for (std::size_t k = 0; k < count; ++k) {
    sigaction(StopRequest::signals[k], nullptr, &before[k]);
    if (before[k].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(StopRequest::signals[k], &action, nullptr);
  }
}

template <std::size_t count>
void restore(const std::array<struct sigaction, count>& before) {
  for (std::size_t k = 0; k < count; ++k) sigaction(StopRequest::signals[k], &before[k], nullptr);
}

/// Called where even destructors need memory (those of nlohmann::json do): prints one line.
[[noreturn]] void end_without_memory() {
  try {
    if (const std::exception_ptr failure = std::current_exception())
      std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    tell(out_of_memory);
    _exit(exit_io);
  } catch (...) {
  }
  std::abort();
}

}  // namespace

StopRequest::StopRequest() {
  requested.store(0);
  struct sigaction action {};
  action.sa_handler = tell_of_waiting;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, &alarm_before_);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  has_patience.store(timer_create(CLOCK_MONOTONIC, &event, &patience) == 0);
  install(note_request, before_);
}

StopRequest::~StopRequest() {
  restore(before_);
  if (has_patience.exchange(false)) timer_delete(patience);
  sigaction(SIGALRM, &alarm_before_, nullptr);
}

int StopRequest::signal() const { return requested.load(std::memory_order_relaxed); }

std::string StopRequest::name() const {
  const char* known = sigabbrev_np(signal());
  return known == nullptr ? "a signal" : std::string("SIG") + known;
}

RemovedOnSignal::RemovedOnSignal(const std::string& path) {
  if (path.empty() || path.size() >= sizeof to_remove) return;
  std::memcpy(to_remove, path.c_str(), path.size() + 1);
  install(remove_and_end, before_);
  installed_ = true;
}

RemovedOnSignal::~RemovedOnSignal() {
  if (installed_) restore(before_);
}

void prepare_process() {
  for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // Opened with the opposite access, so that using it is an error.
    const int opened = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened > STDERR_FILENO) close(opened);
  }
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_terminate(end_without_memory);
  // OpenBLAS does its work on our threads; its own would only be started to wait.
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

}  // namespace maxmargin::cli
