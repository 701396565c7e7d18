#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// Sequential minimal optimisation with second-order pair selection (S1), two loops deep: an outer
/// loop picks the most violating variables as a working set and has their kernel rows computed or
/// found in the cache; inside the set, pairs are chosen by second order and moved, all in cache
/// memory; then the products K beta are updated by the rows that changed.
struct Smo {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;  ///< for kernel rows
  bool shrinking = true;
  int working_set = 768;

  static constexpr bool takes_start = true;  ///< uses Run::start
  static constexpr std::string_view name = "smo";
  static constexpr std::string_view summary =
      "pairs of variables chosen by second order in working sets; a bias, and any equality rows";
  static constexpr auto fields = std::tuple{
      field("shrinking", &Smo::shrinking, "leave variables out that have settled at a bound"),
      field("working-set", &Smo::working_set, "most variables in a working set",
            Range{2, 4096, false, false, "from 2 to 4096"})};
};

/// Why this solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const Smo& options);

/// Solves qp where every variable stands in one equality row whose entries are the signs of its
/// variables (times one number): formulations with a bias, one-class, and the nu forms, which have
/// two such rows. Any other rows may come on top, one for each unpenalised function: the method of
/// multipliers satisfies them, see coupled_rows.hpp. Needs rows and products of K. An outer
/// iteration costs O(n) per row that changed, a step O(working set).
Solution run(const DualQp& qp, const Smo& options, const Run& run);

}  // namespace maxmargin
