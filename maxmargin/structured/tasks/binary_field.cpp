#include "maxmargin/structured/tasks/binary_field.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "maxmargin/structured/tasks/max_flow.hpp"

namespace maxmargin {
namespace {

/// The structure of nodes in units of 1/2, with the best links that the nodes allow.
Structure with_links(const BinaryField& field, Structure halves) {
  if (std::ranges::find(halves, 1) == halves.end()) {
    for (std::int32_t& each : halves) each /= 2;
    return halves;
  }
  for (std::size_t k = 0; k < field.links.size(); ++k) {
    const std::int32_t a = halves[field.links[k].a], b = halves[field.links[k].b];
    halves.push_back(field.together[k] > 0 ? std::min(a, b) : std::max(0, a + b - 2));
  }
  return halves;
}

/// The arcs of the doubled graph: x_i = 1 puts node i on the source's side, x_i = 0 node n + i.
template <class Add>
void add_doubled_arcs(const BinaryField& field, Add&& add) {
  const std::size_t n = field.size(), source = 2 * n, sink = 2 * n + 1;
  const auto negated = [n](std::size_t literal) { return literal < n ? literal + n : literal - n; };
  std::vector<double> cost(n);
  for (std::size_t i = 0; i < n; ++i) cost[i] = -field.node[i];
  const auto add_cost_of_both = [&](std::size_t u, std::size_t v, double c) {
    add(u, negated(v), c / 2);
    add(v, negated(u), c / 2);
  };
  for (std::size_t k = 0; k < field.links.size(); ++k) {
    const std::size_t a = field.links[k].a, b = field.links[k].b;
    const double u = field.together[k];
    if (u < 0) {
      add_cost_of_both(a, b, -u);
    } else if (u > 0) {
      // -u x_a x_b = -u x_a + u x_a (1 - x_b), and the same with a and b exchanged; half of each.
      cost[a] -= u / 2;
      cost[b] -= u / 2;
      add_cost_of_both(a, n + b, u / 2);
      add_cost_of_both(b, n + a, u / 2);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (cost[i] == 0) continue;
    const std::size_t costly = cost[i] > 0 ? i : n + i;
    add(costly, sink, std::abs(cost[i]) / 2);
    add(source, negated(costly), std::abs(cost[i]) / 2);
  }
}

Structure from_cut(const BinaryField& field, const std::vector<char>& reached) {
  const std::size_t n = field.size();
  // Without negative links the two copies are separate graphs, and the first gives a minimum cut.
  const bool attracts = std::ranges::all_of(field.together, [](double u) { return u >= 0; });
  Structure halves(n);
  for (std::size_t i = 0; i < n; ++i)
    halves[i] = attracts ? 2 * reached[i] : 1 + reached[i] - reached[n + i];
  return with_links(field, std::move(halves));
}

/// By how much the value changes when a node goes from 0 to 1 and the others stay.
std::vector<double> gains(const BinaryField& field, StructureView x) {
  std::vector<double> gain = field.node;
  for (std::size_t k = 0; k < field.links.size(); ++k) {
    const auto [a, b] = field.links[k];
    gain[a] += field.together[k] * field_node(x, field.size(), b);
    gain[b] += field.together[k] * field_node(x, field.size(), a);
  }
  return gain;
}

}  // namespace

double BinaryField::value(StructureView x) const {
  double sum = 0;
  for (std::size_t i = 0; i < size(); ++i) sum += node[i] * field_node(x, size(), i);
  for (std::size_t k = 0; k < links.size(); ++k)
    sum += together[k] * field_link(x, size(), k, links[k]);
  return sum;
}

bool is_field_structure(StructureView x, std::size_t nodes, const std::vector<FieldLink>& links) {
  const bool whole = is_integral(x, nodes);
  if (!whole && x.size() != nodes + links.size()) return false;
  if (std::ranges::any_of(x, [&](std::int32_t v) { return v < 0 || v > (whole ? 1 : 2); }))
    return false;
  for (std::size_t k = 0; k < links.size() && !whole; ++k) {
    const std::int32_t a = x[links[k].a], b = x[links[k].b], e = x[nodes + k];
    if (e > std::min(a, b) || e < a + b - 2) return false;
  }
  return true;
}

Structure best_of_all(const BinaryField& field) {
  const std::size_t n = field.size();
  std::vector<double> matrix(n * n, 0.0);
  for (std::size_t k = 0; k < field.links.size(); ++k) {
    const auto [a, b] = field.links[k];
    matrix[a * n + b] += field.together[k];
    matrix[b * n + a] += field.together[k];
  }
  std::vector<double> gain = field.node;
  double value = 0, most = 0;
  std::uint64_t x = 0, best = 0;
  for (std::uint64_t step = 1; step < std::uint64_t{1} << n; ++step) {
    const std::size_t i = static_cast<std::size_t>(std::countr_zero(step));
    const double sign = (x >> i & 1) != 0 ? -1 : 1;
    x ^= std::uint64_t{1} << i;
    value += sign * gain[i];
    for (std::size_t j = 0; j < n; ++j) gain[j] += sign * matrix[i * n + j];
    if (value > most) {
      most = value;
      best = x;
    }
  }
  Structure found(n);
  for (std::size_t i = 0; i < n; ++i) found[i] = best >> i & 1;
  return found;
}

Structure best_of_forest(const BinaryField& field) {
  const std::size_t n = field.size();
  std::vector<std::vector<std::size_t>> links_of(n);
  for (std::size_t k = 0; k < field.links.size(); ++k) {
    links_of[field.links[k].a].push_back(k);
    links_of[field.links[k].b].push_back(k);
  }
  // Parents before children; each node but a root has the link to its parent.
  const std::size_t none = field.links.size();
  std::vector<std::size_t> order, up(n, none);
  std::vector<char> seen(n, 0);
  for (std::size_t root = 0; root < n; ++root) {
    if (seen[root]) continue;
    seen[root] = 1;
    order.push_back(root);
    for (std::size_t head = order.size() - 1; head < order.size(); ++head)
      for (const std::size_t k : links_of[order[head]]) {
        const std::size_t other = field.links[k].a + field.links[k].b - order[head];
        if (seen[other]) continue;
        seen[other] = 1;
        up[other] = k;
        order.push_back(other);
      }
  }
  const auto parent = [&](std::size_t i) {
    return field.links[up[i]].a + field.links[up[i]].b - i;
  };
  // The best value of the subtree of a node, with the node at 0 and at 1.
  std::vector<double> off(n, 0.0), on = field.node;
  for (std::size_t at = n; at-- > 0;) {
    const std::size_t i = order[at];
    if (up[i] == none) continue;
    off[parent(i)] += std::max(off[i], on[i]);
    on[parent(i)] += std::max(off[i], on[i] + field.together[up[i]]);
  }
  Structure x(n, 0);
  for (const std::size_t i : order) {
    const bool with = up[i] != none && x[parent(i)] == 1;
    x[i] = on[i] + (with ? field.together[up[i]] : 0) > off[i] ? 1 : 0;
  }
  return x;
}

Structure best_relaxed(const BinaryField& field) {
  const std::size_t n = field.size();
  MaxFlow flow(2 * n + 2);
  add_doubled_arcs(field, [&](std::size_t a, std::size_t b, double c) { flow.add(a, b, c); });
  return from_cut(field, flow.cut(2 * n, 2 * n + 1));
}

Structure rounded(const BinaryField& field, const Structure& x) {
  const std::size_t n = field.size();
  Structure y(n);
  const std::vector<double> first = gains(field, x);
  for (std::size_t i = 0; i < n; ++i) {
    const double v = field_node(x, n, i);
    y[i] = v == 0.5 ? (first[i] > 0 ? 1 : 0) : static_cast<std::int32_t>(v);
  }
  if (is_integral(x, n)) return y;
  std::vector<std::vector<std::size_t>> links_of(n);
  for (std::size_t k = 0; k < field.links.size(); ++k) {
    links_of[field.links[k].a].push_back(k);
    links_of[field.links[k].b].push_back(k);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < n; ++i) {
      double gain = field.node[i];
      for (const std::size_t k : links_of[i])
        gain += field.together[k] * y[field.links[k].a + field.links[k].b - i];
      if ((gain > 0 && y[i] == 0) || (gain < 0 && y[i] == 1)) {
        y[i] = 1 - y[i];
        changed = true;
      }
    }
  }
  return y;
}

Structure best_relaxed_plainly(const BinaryField& field) {
  const std::size_t n = field.size(), nodes = 2 * n + 2, source = 2 * n, sink = 2 * n + 1;
  std::vector<double> left(nodes * nodes, 0.0);
  add_doubled_arcs(field,
                   [&](std::size_t a, std::size_t b, double c) { left[a * nodes + b] += c; });
  while (true) {
    std::vector<std::size_t> from(nodes, nodes), queue{source};
    from[source] = source;
    for (std::size_t head = 0; head < queue.size(); ++head)
      for (std::size_t to = 0; to < nodes; ++to)
        if (from[to] == nodes && left[queue[head] * nodes + to] > 0) {
          from[to] = queue[head];
          queue.push_back(to);
        }
    if (from[sink] == nodes) {
      std::vector<char> reached;
      for (const std::size_t each : from) reached.push_back(each != nodes ? 1 : 0);
      return from_cut(field, reached);
    }
    double sent = left[from[sink] * nodes + sink];
    for (std::size_t v = sink; v != source; v = from[v])
      sent = std::min(sent, left[from[v] * nodes + v]);
    for (std::size_t v = sink; v != source; v = from[v]) {
      left[from[v] * nodes + v] -= sent;
      left[v * nodes + from[v]] += sent;
    }
  }
}

bool next_integral(std::size_t nodes, Structure& x) {
  if (x.empty()) {
    x.assign(nodes, 0);
    return true;
  }
  for (std::int32_t& each : x) {
    each = 1 - each;
    if (each == 1) return true;
  }
  return false;
}

}  // namespace maxmargin
