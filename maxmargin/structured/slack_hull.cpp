#include "maxmargin/structured/slack_hull.hpp"

#include <algorithm>
#include <cmath>

namespace maxmargin {
namespace {

/// A vertex of the hull.
struct Vertex {
  Structure y;
  double loss = 0, margin = 0;
  double value() const { return loss * (1 - margin); }
};

/// The maximum of d (1 - m), a parabola, over the edge between two vertices.
double most_on_edge(const Vertex& a, const Vertex& b) {
  const double d = b.loss - a.loss, m = b.margin - a.margin;
  double most = std::max(a.value(), b.value());
  if (d * m > 0) {
    const double t = (d * (1 - a.margin) - a.loss * m) / (2 * d * m);
    if (t > 0 && t < 1) most = std::max(most, (a.loss + t * d) * (1 - a.margin - t * m));
  }
  return most;
}

}  // namespace

Structure SlackHull::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  if (ask != Ask::slack) return other_.most_violated(i, w, ask);
  const auto measured = [&](Structure y) {
    Vertex found{std::move(y)};
    found.loss = other_.loss(i, found.y);
    const std::vector<StructureView> ys{found.y};
    other_.margins(i, ys, w, {&found.margin, 1});
    return found;
  };
  std::vector<double> scaled(w.size(), 0.0);
  Vertex best = measured(other_.truth(i));
  const auto keep = [&](const Vertex& found) {
    if (found.value() > best.value()) best = found;
  };
  struct Edge {
    Vertex low, high;  ///< the high one has more loss
  };
  const Vertex least_margin = measured(other_.most_violated(i, w, Ask::best));
  const Vertex most_loss = measured(other_.most_violated(i, scaled, Ask::margin));
  keep(least_margin);
  keep(most_loss);
  std::vector<Edge> edges{{least_margin, most_loss}};
  constexpr int most_calls = 30;
  for (int calls = 0; !edges.empty() && calls < most_calls; ++calls) {
    const auto next = std::ranges::max_element(
        edges, {}, [](const Edge& edge) { return most_on_edge(edge.low, edge.high); });
    const Edge edge = *next;
    edges.erase(next);
    const double d = edge.high.loss - edge.low.loss, m = edge.high.margin - edge.low.margin;
    if (!(d > 0) || !(m > 0)) continue;  // one end dominates the other
    const double t = m / d;
    for (std::size_t j = 0; j < w.size(); ++j) scaled[j] = w[j] / t;
    const Vertex between = measured(other_.most_violated(i, scaled, Ask::margin));
    keep(between);
    const double gained = t * (between.loss - edge.low.loss) - (between.margin - edge.low.margin);
    if (gained <= 1e-12 * (m + std::abs(edge.low.margin)))
      continue;  // the edge belongs to the hull
    edges.push_back({edge.low, between});
    edges.push_back({between, edge.high});
  }
  return best.y;
}

}  // namespace maxmargin
