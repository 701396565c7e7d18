#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "maxmargin/base/field.hpp"

namespace maxmargin::cli {

// Values as people write them on a command line. Each throws a usage Error that names the option.

double parse_number(std::string_view option, std::string_view text, const Range& range = finite);
std::uint64_t parse_count(std::string_view option, std::string_view text, std::uint64_t low,
                          std::uint64_t high);
/// `8G`, `500M`, `1.5GiB` (powers of 1024), `2GB` (powers of 1000), or a number of bytes.
std::uint64_t parse_bytes(std::string_view option, std::string_view text);
/// `500ms`, `60s`, `2m`, `1.5h`, or a number of seconds.
double parse_seconds(std::string_view option, std::string_view text);

// And as people read them.

std::string show_bytes(std::uint64_t bytes);                           ///< "1.50 GiB"
std::string show_seconds(double seconds);                              ///< "0.12 s", "3 min 05 s"
std::string show_count(std::uint64_t count);                           ///< "32,561"
std::string show_counted(std::uint64_t count, std::string_view noun);  ///< "1 row", "2 rows"
std::string show_number(double value);                                 ///< six digits

}  // namespace maxmargin::cli
