#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/problem/solution.hpp"

namespace maxmargin {

struct Smo {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;
  bool shrinking = true;

  static constexpr std::string_view name = "smo";
  static constexpr std::string_view summary =
      "second-order working sets over cached kernel rows; one equality row";
  static constexpr auto fields = std::tuple{
      field("shrinking", &Smo::shrinking, "leave variables out that have settled at a bound")};
};

/// Why this solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const Smo&);

Solution run(const DualQp& qp, const Smo& options, const Threads& threads,
             const Observer& observer);

}  // namespace maxmargin
