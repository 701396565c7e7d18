#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace maxmargin::cli {

using Json = nlohmann::ordered_json;

/// Writes to standard output, or throws: a full disk must not go unnoticed.
void print(std::string_view text);
/// One object; indented when a person is looking.
void print_json(const Json& object);
/// One line on standard error, "maxmargin: warning: ...".
void warn(std::string_view text);

/// A terminal that understands escape sequences is behind this file descriptor.
bool is_terminal(int descriptor);

/// Throws a usage or io Error now, before any work, when a file could not be written here later.
void require_writable(const std::string& path);

}  // namespace maxmargin::cli
