#pragma once

#include <csignal>
#include <string>

#include "cli/libsvm/arguments.hpp"
#include "cli/terminal/output.hpp"

namespace maxmargin::cli::libsvm {

/// Messages on standard output beside the file that a command writes. The file comes first: a full
/// or closed standard output is an error only at the end.
class Talk {
 public:
  enum class Loud { yes, no };
  explicit Talk(Loud loud) : loud_(loud) { std::signal(SIGPIPE, SIG_IGN); }

  bool is_quiet() const { return loud_ == Loud::no; }
  void say(const std::string& text) {
    if (is_quiet() || !failure_.empty()) return;
    try {
      print(text);
    } catch (const Error& error) {
      failure_ = error.what();
    }
  }
  /// Throws if something could not be written.
  void end() const {
    if (!failure_.empty()) throw Worded(failure_);
  }

 private:
  Loud loud_;
  std::string failure_;
};

}  // namespace maxmargin::cli::libsvm
