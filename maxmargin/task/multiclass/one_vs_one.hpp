#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "maxmargin/task/multiclass/sides.hpp"

namespace maxmargin {

/// A machine for each pair of classes; each gives its winner a vote. Of equal votes, the larger sum
/// of decision values counts.
struct OneVsOneScheme {
  static constexpr std::string_view name = "ovo";
  static constexpr std::string_view full_name = "one-vs-one";  ///< in model files
  static constexpr std::string_view summary = "one machine per pair";
  static constexpr bool compares_pairs = true;
  static constexpr bool is_one_problem = false;

  static std::vector<Sides> machines(const std::vector<bool>& present) {
    std::vector<Sides> list;
    list.reserve(present.size() * (present.size() - 1) / 2);
    for (std::size_t low = 0; low < present.size(); ++low)
      for (std::size_t high = low + 1; high < present.size(); ++high)
        if (present[low] && present[high])
          list.push_back({static_cast<int>(high), static_cast<int>(low)});
    return list;
  }

  template <class Machines>
  static int decide(std::size_t classes, const Machines& machines, std::span<const double> f) {
    std::vector<int> votes(classes, 0);
    std::vector<double> margin(classes, 0.0);
    for (std::size_t m = 0; m < f.size(); ++m) {
      const Sides& sides = machines[m];
      ++votes[static_cast<std::size_t>(f[m] > 0 ? sides.positive : sides.negative)];
      margin[static_cast<std::size_t>(sides.positive)] += f[m];
      margin[static_cast<std::size_t>(sides.negative)] -= f[m];
    }
    std::size_t best = 0;
    for (std::size_t c = 1; c < classes; ++c)
      if (votes[c] > votes[best] || (votes[c] == votes[best] && margin[c] > margin[best])) best = c;
    return static_cast<int>(best);
  }

  /// The values that decide, if each may be wrong by `blur`: those of unknown sign, unless one
  /// class wins without them.
  template <class Machines>
  static std::vector<std::size_t> doubtful(std::size_t classes, const Machines& machines,
                                           std::span<const double> f,
                                           std::span<const double> blur) {
    struct Votes {
      int least = 0, most = 0;
    };
    std::vector<std::size_t> unknown;
    std::vector<Votes> votes(classes);
    for (std::size_t m = 0; m < f.size(); ++m) {
      const Sides& sides = machines[m];
      Votes& one = votes[static_cast<std::size_t>(sides.positive)];
      Votes& other = votes[static_cast<std::size_t>(sides.negative)];
      if (std::abs(f[m]) < blur[m]) {
        unknown.push_back(m);
        ++one.most;
        ++other.most;
      } else {
        Votes& winner = f[m] > 0 ? one : other;
        ++winner.least;
        ++winner.most;
      }
    }
    if (unknown.empty()) return unknown;
    const auto best =
        std::max_element(votes.begin(), votes.end(),
                         [](const Votes& x, const Votes& y) { return x.least < y.least; });
    for (auto other = votes.begin(); other != votes.end(); ++other)
      if (other != best && other->most >= best->least) return unknown;
    return {};
  }
};

}  // namespace maxmargin
