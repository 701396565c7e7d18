#pragma once

#include "maxmargin/data/dataset.hpp"
#include "maxmargin/structured/oracle.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

struct PlanEdge {
  std::uint32_t from = 0, to = 0;
};

/// Nodes with edges, each edge a row of features.
struct PlanGraph {
  std::vector<std::string> nodes;
  std::vector<PlanEdge> edges;
  std::size_t first_row = 0;  ///< features of its first edge
};

/// A demonstrated path.
struct PlanExample {
  std::size_t graph = 0;
  std::uint32_t start = 0, goal = 0;
  Structure path;  ///< edges; empty: unknown
  std::size_t line = 0;
};

struct PlanExamples {
  Features x;  ///< of the edges of all graphs
  std::vector<PlanGraph> graphs;
  std::vector<PlanExample> examples;
  std::size_t steps = 0;  ///< at most; 0: as many as a graph has nodes

  const PlanGraph& graph(std::size_t i) const { return graphs[examples[i].graph]; }
  std::size_t most_steps(std::size_t i) const { return steps > 0 ? steps : graph(i).nodes.size(); }
};

/// Maximum margin planning (Ratliff, Bagnell and Zinkevich 2006): the walk from a start to a goal
/// with the largest reward, the sum of w.x over its edges, among those of a limited number of
/// steps; with negative rewards a shortest path. Exact by Bellman and Ford's dynamic program from
/// the goal backwards, in O(steps edges). A structure is the list of edges. Delta is the number of
/// steps that are not on the demonstrated path.
class PlanOracle : public Oracle {
 public:
  /// `data` outlives it.
  explicit PlanOracle(const PlanExamples& data) : data_(data), rows_(data.x) {}

  std::size_t examples() const override { return data_.examples.size(); }
  std::size_t dimensions() const override { return rows_.columns; }
  Structure truth(std::size_t i) const override { return data_.examples[i].path; }
  double loss(std::size_t i, StructureView y) const override;
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  bool is_structure(std::size_t i, StructureView y) const override;
  std::string example_name(std::size_t i) const override {
    return "path " + std::to_string(i + 1) + " (line " + std::to_string(data_.examples[i].line) +
           ")";
  }
  /// The reward of each edge in the inference problem.
  std::vector<double> rewards(std::size_t i, std::span<const double> w, Ask ask) const;
  const PlanExamples& data() const { return data_; }

 private:
  const PlanExamples& data_;
  Rows rows_;
};

/// The same dynamic program from the start forwards.
class PlanWitness : public PlanOracle {
 public:
  explicit PlanWitness(const PlanOracle& other) : PlanOracle(other.data()) {}
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
};

StructuredTask plan_task();

}  // namespace maxmargin
