#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace maxmargin {

/// A program that a shell starts and that is spoken to in lines, over its standard input and
/// output. A process group of its own: Ctrl-C is for us, and its children end with it. Each
/// function throws an Error with the end of what the program wrote to standard error if it ends or
/// does not answer in time.
class ChildProcess {
 public:
  ChildProcess(std::string command, double reply_seconds);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void send(std::string line);
  /// The next line, without its end.
  std::string receive();
  const std::string& command() const { return command_; }

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void refuse_ended();
  /// Waits until the socket can be read or written; throws when the time is up.
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
