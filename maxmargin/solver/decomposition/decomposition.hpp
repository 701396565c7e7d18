#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/base/short_name.hpp"
#include "maxmargin/problem/matrix/cache/value_cache.hpp"
#include "maxmargin/solver/decomposition/selection.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// The solver that is given the sub-problems: one of the list, or auto.
struct InnerSolver {
  ShortName name{"auto"};

  static constexpr std::string_view accepts = "auto or the name of a solver";
  static std::optional<InnerSolver> parse(std::string_view text) {
    if (text.empty() || text.size() > ShortName::most_letters) return std::nullopt;
    return InnerSolver{text};
  }
  std::string text() const { return std::string(name.text()); }
};

/// Working sets (S4; Learning with Kernels, algorithm 10.2): a few variables that violate their
/// conditions are given to another solver, the rest standing still, until none violates them. For
///
///   min 1/2 a'Qa + p'a   subject to   A a = d,   l <= a <= u
///
/// with any rows and costs that the inner solver takes. Needs rows and products of K and the matrix
/// of the set; a set costs its solution, O(points) for each point that changed, and O(n log n) to
/// choose.
struct Decomposition {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;  ///< for the inner solver
  SelectionRule selection = SelectionRule::gradient;
  bool balanced = true;
  int working_set = 100;
  int sticky = 0;
  InnerSolver inner{};
  CachePolicy cache = CachePolicy::function;

  static constexpr bool any_convex_cost = true;
  static constexpr std::string_view name = "decomposition";
  static constexpr std::string_view summary =
      "working sets of variables, each solved by any other solver; whatever rows that takes";
  static constexpr auto fields = std::tuple{
      field("selection", &Decomposition::selection,
            "what gives a variable a place in the set: kkt-gap, gradient or multiplier"),
      field("balanced", &Decomposition::balanced,
            "take as many variables that raise as that lower the sum of their equality row"),
      field("working-set", &Decomposition::working_set, "variables in a working set",
            Range{1, 1000, false, false, "from the number of equality rows plus one to 1000"}),
      field("sticky", &Decomposition::sticky,
            "sets for which a variable that has come to a bound stays there",
            Range{0, 1000, false, false, "from 0 to 1000"}),
      field("inner", &Decomposition::inner, "the solver of the sub-problems, or auto"),
      field("cache", &Decomposition::cache, cache_help)};
};

/// Chunking (10.4.1): the set are all support vectors, and the worst of the other variables that
/// violate their conditions; what is no support vector any more leaves it. It grows to as many
/// variables as there are support vectors, whose matrix the inner solver has to bear.
struct Chunking {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;  ///< for the inner solver
  int chunk = 500;
  InnerSolver inner{};
  CachePolicy cache = CachePolicy::function;

  static constexpr bool any_convex_cost = true;
  static constexpr std::string_view name = "chunking";
  static constexpr std::string_view summary =
      "all support vectors and a chunk of violators, solved by any other solver, again and again";
  static constexpr auto fields = std::tuple{
      field("chunk", &Chunking::chunk, "variables that are added to the support vectors at a time",
            Range{1, 100000, false, false, "from the number of equality rows plus one to 100000"}),
      field("inner", &Chunking::inner, "the solver of the sub-problems, or auto"),
      field("cache", &Chunking::cache, cache_help)};
};

/// Why a solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const Decomposition& options);
std::optional<std::string> refuses(const DualQp& qp, const Chunking& options);

Solution run(const DualQp& qp, const Decomposition& options, const Run& run);
Solution run(const DualQp& qp, const Chunking& options, const Run& run);

}  // namespace maxmargin
