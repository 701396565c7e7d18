#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "maxmargin/base/text.hpp"

namespace maxmargin::cli {

// Values as people read them.

std::string show_bytes(std::uint64_t bytes);                           ///< "1.50 GiB"
std::string show_seconds(double seconds);                              ///< "0.12 s", "3 min 05 s"
std::string show_count(std::uint64_t count);                           ///< "32,561"
std::string show_counted(std::uint64_t count, std::string_view noun);  ///< "1 row", "2 rows"
std::string show_number(double value);                                 ///< six digits

}  // namespace maxmargin::cli
