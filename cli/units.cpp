#include "cli/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace maxmargin::cli {
namespace {

/// A number and the text behind it, or nothing when there is no number in front.
struct Measured {
  double number;
  std::string_view unit;
};

std::optional<Measured> measure(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || !std::isfinite(number)) return std::nullopt;
  return Measured{number, text.substr(static_cast<std::size_t>(end - text.data()))};
}

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view what,
                         std::string_view mend) {
  throw Error(Fault::usage, fmt::format("{}: '{}' is not {}", option, text, what), mend);
}

}  // namespace

double parse_number(std::string_view option, std::string_view text, const Range& range) {
  const auto measured = measure(text);
  if (!measured || !measured->unit.empty())
    refuse(
        option, text, "a finite number",
        range.text == finite.text ? "give a number" : fmt::format("give a number {}", range.text));
  if (!range.contains(measured->number))
    throw Error(Fault::usage, fmt::format("{}: {} is out of range", option, text),
                fmt::format("choose a value {}", range.text));
  return measured->number;
}

std::uint64_t parse_count(std::string_view option, std::string_view text, std::uint64_t low,
                          std::uint64_t high) {
  std::uint64_t count = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (code != std::errc{} || end != text.data() + text.size() || count < low || count > high)
    refuse(option, text, "a whole number in range",
           high == UINT64_MAX ? fmt::format("give a whole number of at least {}", low)
                              : fmt::format("give a whole number from {} to {}", low, high));
  return count;
}

std::uint64_t parse_bytes(std::string_view option, std::string_view text) {
  static constexpr std::string_view mend = "write for example 8G, 500M or 1.5GiB";
  const auto measured = measure(text);
  if (!measured) refuse(option, text, "a size", mend);
  std::string_view unit = measured->unit;
  double factor = 1;
  if (const auto power =
          std::string_view("KMGT").find(unit.empty() ? '\0' : static_cast<char>(unit[0] & ~0x20));
      power != std::string_view::npos) {
    const std::string_view rest = unit.substr(1);
    if (!rest.empty() && rest != "iB" && rest != "B" && rest != "ib" && rest != "b")
      refuse(option, text, "a size", mend);
    factor = std::pow(rest.size() == 1 ? 1000.0 : 1024.0, static_cast<double>(power + 1));
  } else if (!unit.empty() && unit != "B") {
    refuse(option, text, "a size", mend);
  }
  const double bytes = measured->number * factor;
  if (!(bytes >= 1 << 20) || bytes > 0x1p62)
    throw Error(Fault::usage, fmt::format("{}: {} is out of range", option, text),
                "give at least 1M");
  return static_cast<std::uint64_t>(bytes);
}

double parse_seconds(std::string_view option, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 5> units{
      {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}}};
  if (const auto measured = measure(text); measured && measured->number > 0)
    for (const auto& [unit, factor] : units)
      if (measured->unit == unit) return measured->number * factor;
  refuse(option, text, "a time", "write for example 60s, 500ms, 2m or 1h");
}

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
