#include "maxmargin/base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "maxmargin/base/field.hpp"

namespace maxmargin {
namespace {

/// One text of several.
std::string joined(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all += part;
  return all;
}

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
  throw Error(Fault::usage, joined({option, ": '", text, "' is not ", what}), mend);
}

/// Edits (insert, delete, replace, swap of neighbours) that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

}  // namespace

double parse_number(std::string_view option, std::string_view text) {
  return parse_number(option, text, finite);
}

double parse_number(std::string_view option, std::string_view text, const Range& range) {
  const auto measured = measure(text);
  if (!measured || !measured->unit.empty())
    refuse(option, text, "a finite number",
           range.text == finite.text ? std::string("give a number")
                                     : joined({"give a number ", range.text}));
  if (!range.contains(measured->number))
    throw Error(Fault::usage, joined({option, ": ", text, " is out of range"}),
                joined({"choose a value ", range.text}));
  return measured->number;
}

std::uint64_t parse_count(std::string_view option, std::string_view text, std::uint64_t low,
                          std::uint64_t high) {
  std::uint64_t count = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (code != std::errc{} || end != text.data() + text.size() || count < low || count > high)
    refuse(option, text, "a whole number in range",
           high == UINT64_MAX ? joined({"give a whole number of at least ", std::to_string(low)})
                              : joined({"give a whole number from ", std::to_string(low), " to ",
                                        std::to_string(high)}));
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
    throw Error(Fault::usage, joined({option, ": ", text, " is out of range"}), "give at least 1M");
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

std::string shortest(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value + 0.0).ptr;
  return {text, end};
}

std::string nearest(std::string_view typed, const std::vector<std::string>& candidates) {
  // A third of the letters may be wrong: more would suggest unrelated names.
  std::size_t best = std::max<std::size_t>(1, typed.size() / 3) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(typed, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  if (!found.empty() || typed.size() < 3) return found;
  for (const std::string& candidate : candidates)
    if (candidate.starts_with(typed) || candidate.ends_with(typed)) return candidate;
  return found;
}

std::string suggestion(std::string_view typed, const std::vector<std::string>& candidates) {
  const std::string meant = nearest(typed, candidates);
  if (!meant.empty()) return joined({"did you mean '", meant, "'?"});
  std::string all;
  for (const std::string& candidate : candidates) all += (all.empty() ? "" : ", ") + candidate;
  return "choose one of " + all;
}

}  // namespace maxmargin
