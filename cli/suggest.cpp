#include "cli/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace maxmargin::cli {
namespace {

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
  if (!meant.empty()) return fmt::format("did you mean '{}'?", meant);
  return fmt::format("choose one of {}", fmt::join(candidates, ", "));
}

std::string_view long_option_for(char letter) {
  switch (letter) {
    case 's':
      return "--task";
    case 't':
    case 'k':
      return "--kernel";
    case 'd':
      return "--degree";
    case 'g':
      return "--gamma";
    case 'r':
      return "--coef0";
    case 'c':
    case 'C':
      return "--cost";
    case 'n':
      return "--nu";
    case 'p':
      return "--epsilon";
    case 'm':
      return "--memory";
    case 'e':
      return "--tolerance";
    case 'w':
      return "--class-weight";
    case 'q':
      return "--quiet";
    case 'j':
      return "--json";
    default:
      return {};
  }
}

}  // namespace maxmargin::cli
