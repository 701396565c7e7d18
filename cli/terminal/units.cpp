#include "cli/terminal/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace maxmargin::cli {

std::string show_bytes(std::uint64_t bytes) {
  static constexpr std::array names{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < names.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, names[unit]);
}

std::string show_seconds(double seconds) {
  if (seconds < 9.995) return fmt::format("{:.2f} s", seconds);
  if (seconds < 99.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string show_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string show_counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", show_count(count), noun,
                     count == 1            ? ""
                     : noun.ends_with('s') ? "es"
                                           : "s");
}

std::string show_number(double value) { return fmt::format("{:.6g}", value); }

}  // namespace maxmargin::cli
