#include "maxmargin/structured/tasks/process/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/text.hpp"

extern char** environ;

namespace maxmargin {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 30;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void refuse_start(const std::string& command, int code) {
  throw Error(Fault::io, "the oracle '" + command + "' cannot be started: " + std::strerror(code),
              "look at limits of processes and files");
}

/// How a process is to be started: freed again whatever happens.
struct SpawnPlan {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  SpawnPlan() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
};

}  // namespace

ChildProcess::ChildProcess(std::string command, double reply_seconds)
    : command_(std::move(command)), reply_seconds_(reply_seconds), errors_(std::tmpfile()) {
  if (!errors_) refuse_start(command_, errno);
  // A socket and not a pipe: a program that has ended is an error of send(), not a signal.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) refuse_start(command_, errno);
  socket_ = ends[0];
  fcntl(socket_, F_SETFL, O_NONBLOCK);
  SpawnPlan plan;
  posix_spawn_file_actions_adddup2(&plan.files, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&plan.files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&plan.files, fileno(errors_.get()), STDERR_FILENO);
  posix_spawnattr_setpgroup(&plan.attributes, 0);
  // The signals that this program blocks or catches are none of the other's business.
  sigset_t none, standard;
  sigemptyset(&none);
  sigemptyset(&standard);
  for (const int each : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&standard, each);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setsigdefault(&plan.attributes, &standard);
  posix_spawnattr_setflags(&plan.attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string shell = "sh", option = "-c";
  char* words[] = {shell.data(), option.data(), command_.data(), nullptr};
  const int code = posix_spawn(&process_, "/bin/sh", &plan.files, &plan.attributes, words, environ);
  close(ends[1]);
  if (code != 0) {
    close(socket_);
    refuse_start(command_, code);
  }
}

ChildProcess::~ChildProcess() {
  close(socket_);
  if (process_ <= 0) return;
  kill(-process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

void ChildProcess::refuse(const std::string& what) const {
  constexpr long most = 400;
  std::string said;
  if (std::fseek(errors_.get(), 0, SEEK_END) == 0) {
    const long size = std::ftell(errors_.get());
    std::fseek(errors_.get(), std::max(0L, size - most), SEEK_SET);
    said.resize(static_cast<std::size_t>(std::min(most, std::max(0L, size))));
    said.resize(std::fread(said.data(), 1, said.size(), errors_.get()));
  }
  while (!said.empty() && (said.back() == '\n' || said.back() == '\r')) said.pop_back();
  std::ranges::replace(said, '\n', ' ');
  throw Error(Fault::data, "the oracle '" + command_ + "' " + what,
              said.empty() ? "it wrote nothing to standard error" : "it wrote: " + said);
}

void ChildProcess::refuse_ended() {
  // It has closed its output: what it ends with follows soon, or never.
  int status = 0;
  const double deadline = now() + 1;
  while (waitpid(process_, &status, WNOHANG) == 0)
    if (now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    else
      kill(-process_, SIGKILL);
  process_ = -1;
  if (WIFEXITED(status))
    refuse("ended with code " + std::to_string(WEXITSTATUS(status)) + " before it answered");
  refuse("ended by signal " + std::to_string(WTERMSIG(status)) + " before it answered");
}

void ChildProcess::wait_for(short events, double deadline) const {
  pollfd waited{socket_, events, 0};
  while (true) {
    const double left = deadline - now();
    if (left <= 0) refuse("did not answer within " + shortest(reply_seconds_) + " seconds");
    const int ready = poll(&waited, 1, static_cast<int>(std::min(1e3 * left + 1, 1e6)));
    if (ready > 0) return;
  }
}

void ChildProcess::send(std::string line) {
  line += '\n';
  const double deadline = now() + reply_seconds_;
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t sent = ::send(socket_, line.data() + at, line.size() - at, MSG_NOSIGNAL);
    if (sent >= 0)
      at += static_cast<std::size_t>(sent);
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      wait_for(POLLOUT, deadline);
    else if (errno != EINTR)
      refuse_ended();
  }
}

std::string ChildProcess::receive() {
  const double deadline = now() + reply_seconds_;
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = received_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    searched = received_.size();
    if (searched > longest_line) refuse("sent a line that does not end");
    char piece[1 << 16];
    const ssize_t got = recv(socket_, piece, sizeof piece, 0);
    if (got > 0)
      received_.append(piece, static_cast<std::size_t>(got));
    else if (got == 0)
      refuse_ended();
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      wait_for(POLLIN, deadline);
    else if (errno != EINTR)
      refuse_ended();
  }
}

}  // namespace maxmargin
