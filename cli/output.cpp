#include "cli/output.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "maxmargin/base/error.hpp"

namespace maxmargin::cli {
namespace {

std::string reason() { return std::strerror(errno); }

/// Something that is no regular file, so that a rename would replace a device or a pipe.
bool is_special(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

std::string follow_links(const std::string& path) {
  std::error_code code;
  const auto target = std::filesystem::canonical(path, code);
  return code ? path : target.string();
}

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// True: all of it was written; otherwise errno says why not.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void print(std::string_view text) {
  if (!write_all(STDOUT_FILENO, text))
    throw Error(Fault::io, "cannot write to standard output: " + reason());
}

void print_json(const Json& object) {
  const int indent = isatty(STDOUT_FILENO) ? 2 : -1;
  print(object.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n");
}

void warn(std::string_view text) {
  const bool colour = is_terminal(STDERR_FILENO) && std::getenv("NO_COLOR") == nullptr;
  write_all(STDERR_FILENO, fmt::format("maxmargin: {}warning:{} {}\n", colour ? "\x1b[33m" : "",
                                       colour ? "\x1b[0m" : "", text));
}

bool is_terminal(int descriptor) {
  const char* kind = std::getenv("TERM");
  return isatty(descriptor) && kind != nullptr && std::strcmp(kind, "dumb") != 0;
}

void require_writable(const std::string& path) {
  const auto refuse = [&](std::string_view what, std::string_view mend) {
    throw Error(Fault::io, Place{path}, what, mend);
  };
  if (path.empty() || path.starts_with('-'))
    throw Error(Fault::usage, fmt::format("'{}' is no name for an output file", path),
                "give a file name behind -o (./-x for a name with a dash)");
  if (is_special(path)) {
    if (access(path.c_str(), W_OK) != 0)
      refuse("cannot be written to: " + reason(), "choose another -o");
    return;
  }
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) refuse("is a directory", "add a file name to -o");
  const std::string folder = folder_of(follow_links(path));
  if (!std::filesystem::is_directory(folder, code))
    refuse(fmt::format("there is no directory '{}'", folder), "create it or choose another -o");
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    refuse(fmt::format("cannot write into directory '{}': {}", folder, reason()),
           "choose another -o");
}

}  // namespace maxmargin::cli
