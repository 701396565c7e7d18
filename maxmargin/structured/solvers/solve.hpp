#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "maxmargin/base/field.hpp"
#include "maxmargin/problem/context.hpp"
#include "maxmargin/structured/certificate.hpp"

namespace maxmargin {

/// Block-coordinate ascent with cached planes, the default: block-coordinate Frank-Wolfe
/// (Lacoste-Julien, Jaggi, Schmidt and Pletscher 2013) with gap sampling and cached oracles
/// (Osokin, Alayrac, Lukasewitz, Dokania and Lacoste-Julien 2016), where each step solves the dual
/// over all known planes of the example. Examples are drawn in batches by their terms of the gap,
/// their oracles called in parallel at the same w; between calls there are sweeps over the known
/// planes, and passes over all examples compute the gap. Such a pass costs n calls of the oracle.
struct BlockPlanes {
  std::size_t batch = 64;        ///< examples whose oracles see the same w, at most n/8
  std::size_t drawn_passes = 2;  ///< draws of n examples between two exact passes
  std::size_t sweeps = 10;       ///< most sweeps over the known planes after each
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

/// n-slack cutting planes (Tsochantaridis, Joachims, Hofmann and Altun 2005): each round finds the
/// most violated structure of every example at the same w, and solves the dual over all planes,
/// from the last solution, to a tenth of the gap.
struct NSlack {
  std::size_t idle = 20;  ///< rounds after which a plane without alpha is dropped
  static constexpr std::string_view name = "n-slack";
  static constexpr std::string_view summary =
      "cutting planes with a slack for each example, the dual over all of them each round";
  static constexpr auto fields = std::tuple{field(
      "idle", &NSlack::idle, "rounds after which a plane that has no alpha is dropped", positive)};
};

/// 1-slack cutting planes (Joachims, Finley and Yu 2009): one slack for all examples, and a plane
/// is the sum of one structure's plane per example. For squared slacks the planes are tangents of
/// the sum of squares.
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

/// What an exact pass found, a point of the curves of a run.
struct StructuredPoint {
  std::uint64_t oracle_calls = 0;
  double seconds = 0, primal = infinity, dual = -infinity;
  std::uint64_t planes = 0;
};

struct StructuredSolution {
  Planes planes;
  std::vector<double> w;  ///< coefficients of the w with the lowest primal; empty: sum a psi has it
  Ended ended = Ended::stalled;
  std::uint64_t oracle_calls = 0, iterations = 0;
  double seconds = 0;
  std::vector<StructuredPoint> curve;
};

/// The context of a solver, and where it starts.
struct StructuredRun : Context {
  std::uint64_t seed = 0;
  Planes start = {};  ///< feasible for the problem, as from a smaller C or a checkpoint
  /// Called after exact passes with the planes so far.
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

/// Runs the solver and certifies its solution by other code. Where the certificate misses the gap
/// that was asked for, `ended` is not converged.
SolvedStructured solve(const Structured& problem, const StructuredSolver& solver, const Stop& stop,
                       const StructuredRun& run);

/// A feasible start for the cost C from planes for another cost: alpha scaled in proportion.
Planes planes_for_cost(Planes planes, const Structured& from, double C);

}  // namespace maxmargin
