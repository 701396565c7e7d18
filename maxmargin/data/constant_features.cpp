#include "maxmargin/data/constant_features.hpp"

namespace maxmargin {

std::vector<Index> constant_features(const Rows& rows, std::span<const Index> which) {
  struct Candidate {
    Index feature;
    double value;
  };
  if (which.empty()) return {};
  std::vector<Candidate> candidates, kept;
  rows.for_each(which[0], [&](Index feature, double value) {
    if (value != 0) candidates.push_back({feature, value});
  });
  // Rows and candidates are in the order of the features; mostly no candidate is left after few
  // rows.
  for (std::size_t k = 1; k < which.size() && !candidates.empty(); ++k) {
    kept.clear();
    auto next = candidates.begin();
    rows.for_each(which[k], [&](Index feature, double value) {
      while (next != candidates.end() && next->feature < feature) ++next;
      if (next != candidates.end() && next->feature == feature && next->value == value)
        kept.push_back(*next);
    });
    candidates.swap(kept);
  }
  std::vector<Index> features;
  for (const Candidate& each : candidates) features.push_back(each.feature);
  return features;
}

}  // namespace maxmargin
