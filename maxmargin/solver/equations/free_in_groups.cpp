#include "maxmargin/solver/equations/free_in_groups.hpp"

#include <limits>
#include <utility>

namespace maxmargin {

FreeInGroups::FreeInGroups(BoundedPoint start, std::size_t members)
    : point_(std::move(start)), members_(members) {
  for (std::size_t w = 0; w * members < point_.size(); ++w) {
    std::size_t basic = 0;
    for (std::size_t m = 1; m < members; ++m)
      if (point_.room(at(w, m)) > point_.room(at(w, basic))) basic = m;
    for (std::size_t m = 0; m < members; ++m)
      if (m != basic && point_.room(at(w, m)) > 0) free_.push_back({w, m, basic});
  }
}

std::vector<double> FreeInGroups::direction(std::span<const double> solution) const {
  std::vector<double> direction(point_.size(), 0.0);
  for (std::size_t r = 0; r < size(); ++r) {
    direction[at(free_[r].group, free_[r].member)] += solution[r];
    direction[at(free_[r].group, free_[r].basic)] -= solution[r];
  }
  return direction;
}

double FreeInGroups::reach(std::span<const double> direction) const {
  double length = 1;
  for (std::size_t i = 0; i < point_.size(); ++i) length = point_.reach(i, direction[i], length);
  return length;
}

void FreeInGroups::move(std::span<const double> direction, double length) {
  for (std::size_t i = 0; i < point_.size(); ++i) {
    const double change = length * direction[i];
    if (change == 0) continue;
    if (point_.meets(i, change))
      point_.x[i] = change > 0 ? point_.upper[i] : point_.lower[i];
    else
      point_.move(i, change);
  }
}

void FreeInGroups::hold(std::span<const double> direction, double length) {
  const auto is_near = [&](std::size_t i) {
    return point_.reach(i, direction[i], std::numeric_limits<double>::infinity()) <= length;
  };
  std::erase_if(free_, [&](const Free& each) {
    return is_near(at(each.group, each.member)) || is_near(at(each.group, each.basic));
  });
}

}  // namespace maxmargin
