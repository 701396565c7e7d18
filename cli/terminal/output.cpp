#include "cli/terminal/output.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/requests_blocked.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin::cli {
namespace {

std::string reason() { return std::strerror(errno); }

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

/// Whether it is that file, by whatever name.
bool is_file(const struct stat& status, std::string_view file) {
  if (file.empty() || !S_ISREG(status.st_mode)) return false;
  struct stat other {};
  const int found =
      file == "-" ? fstat(STDIN_FILENO, &other) : stat(std::string(file).c_str(), &other);
  return found == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino;
}

std::string name_of_input(std::string_view file) {
  return file == "-" ? "the file behind standard input" : fmt::format("'{}', which is read", file);
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

void print_json(const Json& object, std::string_view name, std::size_t size,
                const std::function<Json(std::size_t)>& item) {
  constexpr std::size_t piece = std::size_t{1} << 16;
  const bool indented = isatty(STDOUT_FILENO) != 0;
  const int indent = indented ? 2 : -1;
  const auto dumped = [&](const Json& each) {
    return each.dump(indent, ' ', false, Json::error_handler_t::replace);
  };
  std::string text = dumped(object);
  text.resize(text.size() - (indented ? 2 : 1));  // the end of the object
  text += fmt::format("{}\"{}\":{}[", indented ? ",\n  " : ",", name, indented ? " " : "");
  for (std::size_t k = 0; k < size; ++k) {
    std::string each = dumped(item(k));
    if (indented)
      for (std::size_t at = 0; (at = each.find('\n', at)) != std::string::npos; at += 5)
        each.insert(at + 1, 4, ' ');
    text += (k > 0 ? "," : "") + std::string(indented ? "\n    " : "") + each;
    if (text.size() < piece) continue;
    print(text);
    text.clear();
  }
  print(text + (indented && size > 0 ? "\n  ]\n}\n" : indented ? "]\n}\n" : "]}\n"));
}

void tell(std::string_view text) { write_all(STDERR_FILENO, text); }

void warn(std::string_view text) {
  const bool colour = is_terminal(STDERR_FILENO) && std::getenv("NO_COLOR") == nullptr;
  tell(fmt::format("maxmargin: {}warning:{} {}\n", colour ? "\x1b[33m" : "",
                   colour ? "\x1b[0m" : "", text));
}

bool is_terminal(int descriptor) {
  const char* kind = std::getenv("TERM");
  return isatty(descriptor) && kind != nullptr && std::strcmp(kind, "dumb") != 0;
}

namespace {

/// A device or a pipe, which is only asked: opening a pipe would wait for its reader.
bool is_special(const std::string& path, std::initializer_list<std::string_view> read) {
  if (path.empty() || path.starts_with('-'))
    throw Error(Fault::usage, fmt::format("'{}' is no name for an output file", path),
                "give a file name behind -o (./-x for a name with a dash)");
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists)
    for (const std::string_view file : read)
      if (is_file(status, file))
        throw Error(Fault::usage, fmt::format("'{}' would overwrite {}", path, name_of_input(file)),
                    "choose another name for the output");
  const bool special = exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  if (special && access(path.c_str(), W_OK) != 0)
    throw Error(Fault::io, Place{path}, "cannot be written to: " + reason(), "choose another -o");
  return special;
}

}  // namespace

void require_other_file(const std::string& path, std::initializer_list<std::string_view> read) {
  is_special(path, read);
}

void require_writable(const std::string& path, std::initializer_list<std::string_view> read) {
  if (is_special(path, read)) return;
  const RequestsBlocked blocked;  // nothing may be left of it
  const WholeFile probe(path);
}

void require_other_output(std::string_view read) {
  struct stat status {};
  if (fstat(STDOUT_FILENO, &status) == 0 && is_file(status, read))
    throw Error(Fault::usage, fmt::format("standard output would go into {}", name_of_input(read)),
                "choose another file for the output");
}

StartedThreads::StartedThreads(int asked) : Threads(asked) {
  if (count() < asked)
    warn(fmt::format("only {} of {} threads could be started; it goes on with these", count(),
                     asked));
}

}  // namespace maxmargin::cli
