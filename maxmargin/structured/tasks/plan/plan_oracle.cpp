#include <algorithm>

#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/tasks/plan/plan.hpp"

namespace maxmargin {
namespace {

bool is_on(const Structure& path, std::size_t edge) {
  return std::ranges::find(path, static_cast<std::int32_t>(edge)) != path.end();
}

}  // namespace

double PlanOracle::loss(std::size_t i, StructureView y) const {
  double wrong = 0;
  for (const std::int32_t edge : y)
    wrong += is_on(data_.examples[i].path, static_cast<std::size_t>(edge)) ? 0 : 1;
  return wrong;
}

void PlanOracle::features(std::size_t i, StructureView y, double scale, JointFeatures& out) const {
  for (const std::int32_t edge : y)
    rows_.for_each(data_.graph(i).first_row + static_cast<std::size_t>(edge),
                   [&](Index j, double value) { out.add(j, scale * value); });
}

bool PlanOracle::is_structure(std::size_t i, StructureView y) const {
  const PlanGraph& graph = data_.graph(i);
  std::uint32_t at = data_.examples[i].start;
  for (const std::int32_t edge : y) {
    if (edge < 0 || static_cast<std::size_t>(edge) >= graph.edges.size()) return false;
    if (graph.edges[static_cast<std::size_t>(edge)].from != at) return false;
    at = graph.edges[static_cast<std::size_t>(edge)].to;
  }
  return !y.empty() && at == data_.examples[i].goal && y.size() <= data_.most_steps(i);
}

std::vector<double> PlanOracle::rewards(std::size_t i, std::span<const double> w, Ask ask) const {
  const PlanGraph& graph = data_.graph(i);
  std::vector<double> reward(graph.edges.size(), 0.0);
  for (std::size_t e = 0; e < reward.size(); ++e) {
    rows_.for_each(graph.first_row + e, [&](Index j, double value) { reward[e] += w[j] * value; });
    if (ask == Ask::margin && !is_on(data_.examples[i].path, e)) reward[e] += 1;
  }
  return reward;
}

Structure PlanOracle::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  const PlanGraph& graph = data_.graph(i);
  const std::vector<double> reward = rewards(i, w, ask);
  const std::size_t n = graph.nodes.size(), most = data_.most_steps(i);
  // best[t][u]: from u to the goal in at most t steps, of which there is at least one.
  std::vector<std::vector<double>> best(most + 1, std::vector<double>(n, -infinity));
  std::vector<std::vector<std::int32_t>> step(most + 1, std::vector<std::int32_t>(n, -1));
  const auto after = [&](std::size_t t, std::uint32_t node) {
    return node == data_.examples[i].goal ? std::max(0.0, best[t][node]) : best[t][node];
  };
  for (std::size_t t = 1; t <= most; ++t)
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      const auto [from, to] = graph.edges[e];
      const double value = reward[e] + after(t - 1, to);
      if (value > best[t][from]) {
        best[t][from] = value;
        step[t][from] = static_cast<std::int32_t>(e);
      }
    }
  Structure y;
  std::uint32_t at = data_.examples[i].start;
  for (std::size_t t = most; t > 0 && step[t][at] >= 0; --t) {
    y.push_back(step[t][at]);
    at = graph.edges[static_cast<std::size_t>(step[t][at])].to;
    if (at == data_.examples[i].goal && !(best[t - 1][at] > 0)) break;
  }
  return y;
}

Structure PlanWitness::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  const PlanGraph& graph = data().graph(i);
  const std::vector<double> reward = rewards(i, w, ask);
  const std::size_t n = graph.nodes.size(), most = data().most_steps(i);
  // best[t][v]: from the start to v in exactly t steps, and the last of them.
  std::vector<std::vector<double>> best{std::vector<double>(n, -infinity)};
  std::vector<std::vector<std::int32_t>> last{std::vector<std::int32_t>(n, -1)};
  best[0][data().examples[i].start] = 0;
  std::size_t length = 0;
  const std::uint32_t goal = data().examples[i].goal;
  for (std::size_t t = 1; t <= most; ++t) {
    best.emplace_back(n, -infinity);
    last.emplace_back(n, -1);
    for (std::size_t e = graph.edges.size(); e-- > 0;) {
      const double value = best[t - 1][graph.edges[e].from] + reward[e];
      if (value > best[t][graph.edges[e].to]) {
        best[t][graph.edges[e].to] = value;
        last[t][graph.edges[e].to] = static_cast<std::int32_t>(e);
      }
    }
    if (best[t][goal] > -infinity && (length == 0 || best[t][goal] > best[length][goal]))
      length = t;
  }
  Structure y;
  for (std::uint32_t at = goal; length > 0; --length) {
    y.push_back(last[length][at]);
    at = graph.edges[static_cast<std::size_t>(last[length][at])].from;
  }
  std::ranges::reverse(y);
  return y;
}

}  // namespace maxmargin
