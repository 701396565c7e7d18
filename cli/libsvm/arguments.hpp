#pragma once

#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "cli/libsvm/commands.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/data/dataset.hpp"
#include "maxmargin/data/readers/read.hpp"

namespace maxmargin::cli::libsvm {

/// A misused command line; the usage follows on standard output. `what` may be empty.
class Misused : public std::runtime_error {
 public:
  Misused(const std::string& what, const char* usage) : std::runtime_error(what), usage_(usage) {}
  const char* usage() const { return usage_; }

 private:
  const char* usage_;
};

/// An error with LIBSVM's message first, then our own.
class Worded : public std::runtime_error {
 public:
  explicit Worded(const std::string& words, const std::string& detail = {})
      : std::runtime_error(detail.empty() ? words : words + "\n" + detail) {}
};

/// Walks along options as LIBSVM does: a dash, a letter, then the value as the next word. Options
/// end with the first word that is none.
class OptionReader {
 public:
  OptionReader(Arguments arguments, const char* usage) : left_(arguments), usage_(usage) {}

  /// Goes to the next option; false if there is none.
  bool next();
  char letter() const { return option_[1]; }
  /// What is glued to the letter, as in -w1.
  std::string glued() const { return option_.substr(2); }

  // The value of the option, each of them an error if it is not there or not such a value.
  std::string text();
  double number();
  int whole();

  [[noreturn]] void unknown() const;
  /// The words behind the options; an error unless there are so many of them, or if one of them
  /// looks like an option, which LIBSVM would take for a file.
  Arguments files(std::size_t least, std::size_t most) const;

 private:
  Arguments left_;
  const char* usage_;
  std::string option_;
};

/// A number that fills a text; throws Worded.
double number_in_option(const std::string& option, const std::string& text);
int whole_in_option(const std::string& option, const std::string& text);

/// Runs a command; every error is reported on standard error, with exit code 1.
int reporting(const std::function<int()>& command);

/// How LIBSVM reads data: its text, with numbers as labels, and features called by their indices
/// (feature 0 is index 0).
ReadOptions read_options();

/// Reads with `act`; an Error becomes one in LIBSVM's words about this file. `cannot`: its words
/// for a file that cannot be read.
template <class Act>
auto reading(const std::string& path, Act&& act, const char* cannot = "can't open input file ") {
  try {
    return act();
  } catch (const Error& error) {
    if (error.fault() == Fault::data && error.place().line > 0)
      throw Worded("Wrong input format at line " + std::to_string(error.place().line),
                   error.what());
    if (error.fault() == Fault::io) throw Worded(cannot + path, error.what());
    throw;
  }
}

/// As many as OMP_NUM_THREADS says, as LIBSVM does where it was built for threads; otherwise one
/// where these files are so small that starting another takes longer than it could save; 0: all
/// cores.
int thread_count(std::initializer_list<std::string> files);

}  // namespace maxmargin::cli::libsvm
