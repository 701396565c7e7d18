#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// A variable or point that violates: by how much, and a number that breaks ties. Ties are many at
/// the start of a run; spread over the data they make a better first set, and are more likely to be
/// needed, than neighbours.
struct Candidate {
  double violation;
  std::uint32_t tie;
  Index v;

  /// `number` is that in the whole problem.
  Candidate(double by, Index number, Index position)
      // An odd factor: different numbers for different variables.
      : violation(by), tie(number * 0x9e3779b1u), v(position) {}
  bool operator<(const Candidate& other) const {
    return violation != other.violation ? violation > other.violation : tie < other.tie;
  }
};

/// Leaves the worst `most`, in any order.
inline void keep_worst(std::vector<Candidate>& list, std::size_t most) {
  if (list.size() <= most) return;
  const auto end = list.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(list.begin(), end, list.end());
  list.erase(end, list.end());
}

}  // namespace maxmargin
