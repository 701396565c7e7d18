#pragma once

#include "maxmargin/task/multiclass/one_vs_one.hpp"

namespace maxmargin {

/// A machine for each class against the others; the largest value decides. Two classes need only
/// one machine.
struct OneVsRestScheme {
  static constexpr std::string_view name = "ovr";
  static constexpr std::string_view full_name = "one-vs-rest";
  static constexpr std::string_view summary = "one per class";
  static constexpr bool compares_pairs = false;
  static constexpr bool is_one_problem = false;

  static std::vector<Sides> machines(const std::vector<bool>& present) {
    return present.size() > 2 ? each_class(present) : OneVsOneScheme::machines(present);
  }
  static std::vector<Sides> each_class(const std::vector<bool>& present) {
    std::vector<Sides> list;
    for (std::size_t k = 0; k < present.size(); ++k)
      if (present[k]) list.push_back({static_cast<int>(k), Sides::nobody});
    return list;
  }

  template <class Machines>
  static int decide(std::size_t, const Machines& machines, std::span<const double> f) {
    std::size_t best = 0;
    for (std::size_t m = 1; m < f.size(); ++m)
      if (f[m] > f[best] || (f[m] == f[best] && machines[m].positive < machines[best].positive))
        best = m;
    return machines[best].positive;
  }

  /// Those that may be the largest, where there are several.
  template <class Machines>
  static std::vector<std::size_t> doubtful(std::size_t, const Machines&, std::span<const double> f,
                                           std::span<const double> blur) {
    const auto top = static_cast<std::size_t>(std::max_element(f.begin(), f.end()) - f.begin());
    std::vector<std::size_t> undecided;
    for (std::size_t m = 0; m < f.size(); ++m)
      if (m != top && f[top] - f[m] < blur[top] + blur[m]) undecided.push_back(m);
    if (!undecided.empty()) undecided.push_back(top);
    return undecided;
  }
};

}  // namespace maxmargin
