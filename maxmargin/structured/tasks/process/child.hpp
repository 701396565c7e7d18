#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace maxmargin {

/// A child process, started by a shell, with which lines are exchanged over its standard input and
/// output. It has a process group of its own, so that Ctrl-C does not reach it and its children end
/// with it. Where it ends or does not answer in time, each function throws an Error with the end of
/// its standard error.
class ChildProcess {
 public:
  ChildProcess(std::string command, double reply_seconds);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void send(std::string line);
  /// The next line, without the end of line.
  std::string receive();
  const std::string& command() const { return command_; }

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void refuse_ended();
  /// Waits until the socket can be read or written; throws Error after the deadline.
  void wait_for(short events, double deadline) const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string command_;
  double reply_seconds_;
  std::unique_ptr<std::FILE, Close> errors_;
  int socket_ = -1;
  pid_t process_ = -1;
  std::string received_;
};

}  // namespace maxmargin
