#pragma once

#include <cstddef>
#include <vector>

namespace maxmargin {

/// Dinitz's maximum flow: level graphs by breadth-first search, and blocking flows by depth-first
/// search. Every augmenting path saturates an arc, so it terminates with real capacities, too.
class MaxFlow {
 public:
  explicit MaxFlow(std::size_t nodes) : arcs_of_(nodes) {}

  void add(std::size_t from, std::size_t to, double capacity);
  /// Maximises the flow; returns the nodes reachable from the source in the residual graph, the
  /// smallest minimum cut.
  std::vector<char> cut(std::size_t source, std::size_t sink);

 private:
  bool build_level_graph(std::size_t source, std::size_t sink);
  double send(std::size_t node, std::size_t sink, double most);

  struct Arc {
    std::size_t to;
    double residual;
  };
  std::vector<Arc> arcs_;  ///< arc k and its reverse k ^ 1
  std::vector<std::vector<std::size_t>> arcs_of_;
  std::vector<std::size_t> level_, next_;
};

}  // namespace maxmargin
