#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "maxmargin/base/json.hpp"
#include "maxmargin/base/threads.hpp"

namespace maxmargin::cli {

using Json = nlohmann::ordered_json;

/// Writes to standard output, or throws: a full disk must not go unnoticed.
void print(std::string_view text);
/// One object, indented on a terminal.
void print_json(const Json& object);
/// The same with one more member behind the others, a list of `size` that is made piece by piece:
/// millions of machines are gigabytes as a tree.
void print_json(const Json& object, std::string_view name, std::size_t size,
                const std::function<Json(std::size_t)>& item);
/// Writes to standard error; failures are ignored.
void tell(std::string_view text);
/// One line on standard error, "maxmargin: warning: ...".
void warn(std::string_view text);

/// An error message that needs no memory.
inline constexpr std::string_view out_of_memory =
    "maxmargin: out of memory; give a smaller --memory or less data\n";

/// A terminal that understands escape sequences is behind this file descriptor.
bool is_terminal(int descriptor);

/// Throws a usage or io Error now, before any work, when a file could not be written here later, or
/// is one of those that are read ("-": standard input; empty names are none).
void require_writable(const std::string& path, std::initializer_list<std::string_view> read);
/// Only the latter: for a file that is opened at once.
void require_other_file(const std::string& path, std::initializer_list<std::string_view> read);
/// The same for standard output, where results go on while data is read.
void require_other_output(std::string_view read);

/// Threads; says so where there is no room for as many as asked for.
class StartedThreads : public Threads {
 public:
  explicit StartedThreads(int asked);
};

}  // namespace maxmargin::cli
