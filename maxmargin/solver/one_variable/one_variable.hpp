#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/solver/run.hpp"

// Solvers that move one variable at a time (S9). They need problems without equality rows: a
// machine whose bias is left out or penalised.

namespace maxmargin {

/// Greedy coordinate descent (Gauss-Seidel steps): the variable with the largest violation moves to
/// its minimiser within its bounds; the primal-dual method without rows.
struct GaussSeidel {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;  ///< for kernel rows
  int working_set = 256;
  bool newton = true;

  static constexpr bool takes_start = true;  ///< uses Run::start
  static constexpr std::string_view name = "gauss-seidel";
  static constexpr std::string_view summary =
      "the largest violation first, one variable at a time; no equality row";
  static constexpr auto fields =
      std::tuple{field("working-set", &GaussSeidel::working_set, "variables in a working set",
                       Range{1, 4096, false, false, "from 1 to 4096"}),
                 field("newton", &GaussSeidel::newton,
                       "also move all free variables at once, where one at a time takes long")};
};

/// Successive over-relaxation (Mangasarian and Musicant, 1999): sweeps over the variables in their
/// order, each moved `relaxation` times as far as would be best, within its bounds.
struct Sor {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;
  double relaxation = 1;

  static constexpr bool takes_start = true;  ///< uses Run::start
  static constexpr std::string_view name = "sor";
  static constexpr std::string_view summary =
      "sweeps with over-relaxation, one variable at a time; no equality row";
  static constexpr auto fields =
      std::tuple{field("relaxation", &Sor::relaxation, "length of a step; 1 is the best for itself",
                       Range{0, 2, true, true, "greater than 0 and less than 2"})};
};

/// The kernel AdaTron (Friess, Cristianini and Campbell, 1998): sweeps over the variables, each
/// moved against its derivative by a learning rate that is the same for all, within its bounds.
struct AdaTron {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;
  double rate = 1;

  static constexpr bool takes_start = true;  ///< uses Run::start
  static constexpr std::string_view name = "adatron";
  static constexpr std::string_view summary =
      "sweeps with one learning rate, one variable at a time; no equality row";
  static constexpr auto fields = std::tuple{
      field("rate", &AdaTron::rate, "learning rate, in units of 1 / the largest entry of Q",
            Range{0, 2, true, true, "greater than 0 and less than 2"})};
};

/// Why a solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const GaussSeidel& options);
std::optional<std::string> refuses(const DualQp& qp, const Sor& options);
std::optional<std::string> refuses(const DualQp& qp, const AdaTron& options);

/// min 1/2 a'Qa + p'a subject to l <= a <= u. They need rows and products of K; a step costs
/// O(points) for the row of its variable. Every step lowers the objective, so they always converge,
/// for an indefinite K to a point where no variable alone can do better. Sources: Kienzle and
/// Schoelkopf, 4.2; Schoelkopf and Smola, 10.6.1.
Solution run(const DualQp& qp, const GaussSeidel& options, const Run& run);
Solution run(const DualQp& qp, const Sor& options, const Run& run);
Solution run(const DualQp& qp, const AdaTron& options, const Run& run);

}  // namespace maxmargin
