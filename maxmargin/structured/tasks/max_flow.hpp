#pragma once

#include <cstddef>
#include <vector>

namespace maxmargin {

/// Maximum flow by Dinitz's algorithm: levels by breadth-first search, then paths along them until
/// none is left. Every path empties an arc, so it ends with capacities of any kind.
class MaxFlow {
 public:
  explicit MaxFlow(std::size_t nodes) : arcs_of_(nodes) {}

  void add(std::size_t from, std::size_t to, double capacity);
  /// Sends what can be sent; afterwards, who can be reached from the source: the smallest minimum
  /// cut.
  std::vector<char> cut(std::size_t source, std::size_t sink);

 private:
  bool find_levels(std::size_t source, std::size_t sink);
  double send(std::size_t node, std::size_t sink, double most);

  struct Arc {
    std::size_t to;
    double left;
  };
  std::vector<Arc> arcs_;  ///< arc k and its reverse k ^ 1
  std::vector<std::vector<std::size_t>> arcs_of_;
  std::vector<std::size_t> level_, next_;
};

}  // namespace maxmargin
