#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "maxmargin/base/field.hpp"
#include "maxmargin/problem/context.hpp"
#include "maxmargin/structured/certificate.hpp"

namespace maxmargin {

/// Blocks of planes, one for each example (the default): examples drawn by their share of the gap
/// in batches of a fixed size, their oracles in parallel at a frozen w, each block solved over its
/// planes by pairs; sweeps over the known planes in between; passes over all examples for the gap.
/// Contains block-coordinate Frank-Wolfe, its cached form and n-slack cutting planes. Needs nothing
/// of the oracle; a pass costs n oracles.
struct BlockPlanes {
  std::size_t batch = 64;        ///< examples whose oracles see the same w, at most n/8
  std::size_t drawn_passes = 2;  ///< draws of n examples between two exact passes
  std::size_t sweeps = 10;       ///< over the known planes, at most, after each
  std::size_t idle = 3;          ///< visits after which a plane without alpha is dropped
  static constexpr std::string_view name = "blocks";
  static constexpr std::string_view summary =
      "blocks of planes drawn by their gap, oracles in parallel; the fastest";
  static constexpr auto fields = std::tuple{
      field("batch", &BlockPlanes::batch, "examples whose oracles see the same w", positive),
      field("drawn-passes", &BlockPlanes::drawn_passes,
            "draws of as many examples as there are between two exact passes", non_negative),
      field("sweeps", &BlockPlanes::sweeps,
            "sweeps over the known planes between calls of the oracles; in few dimensions tenfold",
            non_negative),
      field("idle", &BlockPlanes::idle, "visits after which a plane that has no alpha is dropped",
            positive)};
};

/// n-slack cutting planes: the most violated structure of every example at the same w, then the
/// dual over all planes to a tenth of the gap, warm started.
struct NSlack {
  std::size_t idle = 20;  ///< rounds after which a plane without alpha is dropped
  static constexpr std::string_view name = "n-slack";
  static constexpr std::string_view summary =
      "cutting planes with a slack for each example, the dual over all of them each round";
  static constexpr auto fields = std::tuple{field(
      "idle", &NSlack::idle, "rounds after which a plane that has no alpha is dropped", positive)};
};

/// 1-slack cutting planes: a plane is a structure for each example, their sum below one slack. For
/// squared slacks the planes are tangents of the sum of squares.
struct OneSlack {
  std::size_t idle = 20;  ///< rounds after which a plane without weight is dropped
  static constexpr std::string_view name = "1-slack";
  static constexpr std::string_view summary =
      "cutting planes with one slack for all examples; few planes";
  static constexpr auto fields =
      std::tuple{field("idle", &OneSlack::idle,
                       "rounds after which a plane that has no weight is dropped", positive)};
};

using StructuredSolver = std::variant<BlockPlanes, NSlack, OneSlack>;
StructuredSolver structured_solver_named(std::string_view name);

/// A point of the curves of a run: what an exact pass found.
struct StructuredPoint {
  std::uint64_t oracle_calls = 0;
  double seconds = 0, primal = infinity, dual = -infinity;
  std::uint64_t planes = 0;
};

struct StructuredSolution {
  Planes planes;
  std::vector<double> w;  ///< coefficients of the best primal met; empty: sum a psi is it
  Ended ended = Ended::stalled;
  std::uint64_t oracle_calls = 0, iterations = 0;
  double seconds = 0;
  std::vector<StructuredPoint> curve;
};

/// What a solver is given beside the problem: the context, and where it starts.
struct StructuredRun : Context {
  std::uint64_t seed = 0;
  Planes start = {};  ///< of a smaller C, a checkpoint; feasible for the problem
  /// Called after exact passes with what there is, e.g. to write it down.
  std::function<void(const Planes&)> checkpoint = {};
};

StructuredSolution run(const Structured&, const BlockPlanes&, const Stop&, const StructuredRun&);
StructuredSolution run(const Structured&, const NSlack&, const Stop&, const StructuredRun&);
StructuredSolution run(const Structured&, const OneSlack&, const Stop&, const StructuredRun&);

struct SolvedStructured {
  StructuredSolution solution;
  StructuredCertificate certificate;
  StructuredWeights w;
};

/// run + certify: no solver grades itself. What misses the gap asked for is not `converged`.
SolvedStructured solve(const Structured& problem, const StructuredSolver& solver, const Stop& stop,
                       const StructuredRun& run);

/// Planes of one cost for another: alpha in proportion where C bounds it.
Planes planes_for_cost(Planes planes, const Structured& from, double C);

}  // namespace maxmargin
