#include "maxmargin/structured/tasks/max_flow.hpp"

#include <algorithm>
#include <limits>

namespace maxmargin {

void MaxFlow::add(std::size_t from, std::size_t to, double capacity) {
  arcs_of_[from].push_back(arcs_.size());
  arcs_.push_back({to, capacity});
  arcs_of_[to].push_back(arcs_.size());
  arcs_.push_back({from, 0});
}

/// Sets the level of each node, 1 + its distance from the source, 0 where it cannot be reached;
/// returns whether the sink can.
bool MaxFlow::build_level_graph(std::size_t source, std::size_t sink) {
  level_.assign(arcs_of_.size(), 0);
  level_[source] = 1;
  std::vector<std::size_t> queue{source};
  for (std::size_t head = 0; head < queue.size(); ++head)
    for (const std::size_t k : arcs_of_[queue[head]])
      if (arcs_[k].residual > 0 && level_[arcs_[k].to] == 0) {
        level_[arcs_[k].to] = level_[queue[head]] + 1;
        queue.push_back(arcs_[k].to);
      }
  return level_[sink] > 0;
}

double MaxFlow::send(std::size_t node, std::size_t sink, double most) {
  if (node == sink) return most;
  for (; next_[node] < arcs_of_[node].size(); ++next_[node]) {
    const std::size_t k = arcs_of_[node][next_[node]];
    if (!(arcs_[k].residual > 0) || level_[arcs_[k].to] != level_[node] + 1) continue;
    const double sent = send(arcs_[k].to, sink, std::min(most, arcs_[k].residual));
    if (sent > 0) {
      arcs_[k].residual -= sent;
      arcs_[k ^ 1].residual += sent;
      return sent;
    }
  }
  return 0;
}

std::vector<char> MaxFlow::cut(std::size_t source, std::size_t sink) {
  while (build_level_graph(source, sink)) {
    next_.assign(arcs_of_.size(), 0);
    while (send(source, sink, std::numeric_limits<double>::infinity()) > 0) {
    }
  }
  std::vector<char> reached;
  for (const std::size_t level : level_) reached.push_back(level > 0 ? 1 : 0);
  return reached;
}

}  // namespace maxmargin
