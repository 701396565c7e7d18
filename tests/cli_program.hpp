#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "maxmargin/base/rng.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

// Runs the program as a user does, in a directory of its own.
namespace maxmargin::cli_test {

struct Finished {
  int code = -1;  ///< exit code; negative: the signal that ended it
  std::string out, err;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

class Program : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return name;
  }
  std::string text_of(const std::string& name) const { return maxmargin::text_of(path(name)); }
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
  /// Names in the directory that were not written by the test.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  /// `during` is called while the program runs, with its process id.
  Finished run(const std::vector<std::string>& arguments, const std::string& input = {},
               const std::function<void(pid_t)>& during = {},
               const std::string& output = ".stdout") const {
    std::ofstream(path(".stdin"), std::ios::binary) << input;
    const pid_t child = fork();
    if (child == 0) {
      for (const int each : {SIGHUP, SIGINT, SIGTERM}) signal(each, SIG_DFL);  // nohup ignores some
      become(arguments, output);
    }
    if (during) during(child);
    int status = 0;
    waitpid(child, &status, 0);
    Finished finished;
    finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (output == ".stdout") finished.out = text_of(".stdout");
    finished.err = text_of(".stderr");
    for (const char* name : {".stdin", ".stdout", ".stderr"})
      std::filesystem::remove(folder_ / name);
    return finished;
  }

  /// Whether the program catches interrupts, as it does while it trains or writes a file.
  static bool interruptible(pid_t child) {
    std::istringstream lines(maxmargin::text_of("/proc/" + std::to_string(child) + "/status"));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("State:\tZ")) return true;  // it has ended
      if (line.starts_with("SigCgt:"))
        return (std::stoull(line.substr(7), nullptr, 16) & 1u << (SIGINT - 1)) != 0;
    }
    return true;
  }
  static void wait_until_interruptible(pid_t child) {
    while (!interruptible(child)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

 private:
  [[noreturn]] void become(const std::vector<std::string>& arguments,
                           const std::string& output) const {
    if (chdir(folder_.path().c_str()) != 0) _exit(126);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    dup2(open(".stdin", O_RDONLY), STDIN_FILENO);
    dup2(open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), STDOUT_FILENO);
    dup2(open(".stderr", O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
    std::vector<std::string> words{"maxmargin"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(program().c_str(), pointers.data());
    _exit(127);
  }

  const TemporaryFolder folder_;
};

/// Two classes that overlap, in LIBSVM text; `noise` is the share of wrong labels.
inline std::string two_classes(std::size_t rows, double noise, std::uint64_t seed = 1) {
  Rng rng(seed);
  std::ostringstream text;
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = rng.uniform(-1, 1), z = rng.uniform(-1, 1);
    const bool positive = (x * z > 0) != (rng.uniform() < noise);
    text << (positive ? "+1" : "-1") << " 1:" << x << " 2:" << z << "\n";
  }
  return text.str();
}

/// Three classes with names, as CSV with a header.
inline std::string flowers(std::size_t rows) {
  Rng rng(2);
  const char* names[] = {"iris", "rose", "tulip"};
  std::ostringstream text;
  text << "length,width,class\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const double kind = static_cast<double>(i % 3);
    text << kind + 0.2 * rng.normal() << "," << kind * kind + 0.2 * rng.normal() << ","
         << names[i % 3] << "\n";
  }
  return text.str();
}

/// y = 1 + 2 sin(x) with a little noise, in LIBSVM text.
inline std::string curve(std::size_t rows) {
  Rng rng(3);
  std::ostringstream text;
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = rng.uniform(-3, 3);
    text << 1 + 2 * std::sin(x) + 0.05 * rng.normal() << " 1:" << x << "\n";
  }
  return text.str();
}

inline std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace maxmargin::cli_test
