#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace maxmargin {

struct Range;

// Values as people write them, on a command line or as a setting. Each throws a usage Error that
// names the option.

double parse_number(std::string_view option, std::string_view text);
double parse_number(std::string_view option, std::string_view text, const Range& range);
std::uint64_t parse_count(std::string_view option, std::string_view text, std::uint64_t low,
                          std::uint64_t high);
/// `8G`, `500M`, `1.5GiB` (powers of 1024), `2GB` (powers of 1000), or a number of bytes.
std::uint64_t parse_bytes(std::string_view option, std::string_view text);
/// `500ms`, `60s`, `2m`, `1.5h`, or a number of seconds.
double parse_seconds(std::string_view option, std::string_view text);

/// The shortest text that reads back as exactly this number: labels and values are printed so.
std::string shortest(double value);

/// The candidate that was probably meant (few edits away), or an empty text.
std::string nearest(std::string_view typed, const std::vector<std::string>& candidates);

/// "did you mean 'rbf'?", or "choose one of a, b, c" when nothing is near.
std::string suggestion(std::string_view typed, const std::vector<std::string>& candidates);

}  // namespace maxmargin
