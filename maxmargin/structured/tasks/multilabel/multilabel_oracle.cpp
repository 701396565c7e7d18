#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/structured/tasks/multilabel/multilabel.hpp"

namespace maxmargin {
namespace {

/// Union-find; join() returns whether the two sets were different.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  bool join(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    parent_[a] = b;
    return a != b;
  }

 private:
  std::size_t root(std::size_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  std::vector<std::size_t> parent_;
};

bool is_forest(const MultilabelExamples& data) {
  DisjointSets sets(data.labels);
  return std::ranges::all_of(data.links,
                             [&](const FieldLink& link) { return sets.join(link.a, link.b); });
}

/// Max-product by eliminating one leaf after another: the leaf's best contribution, as a function
/// of its neighbour, is added to the neighbour's unary score.
Structure forest_by_leaves(const BinaryField& field) {
  const std::size_t n = field.size();
  std::vector<double> node = field.node;
  std::vector<std::size_t> removed;  // links, in the order of removal
  std::vector<std::size_t> leaf_of(field.links.size(), n);
  std::vector<char> gone(n, 0);
  for (bool found = true; found;) {
    found = false;
    for (std::size_t i = n; i-- > 0;) {
      std::vector<std::size_t> links;
      for (std::size_t k = 0; k < field.links.size(); ++k)
        if (leaf_of[k] == n && (field.links[k].a == i || field.links[k].b == i)) links.push_back(k);
      if (gone[i] || links.size() != 1) continue;
      const std::size_t k = links[0], other = field.links[k].a + field.links[k].b - i;
      node[other] += std::max(0.0, node[i] + field.together[k]) - std::max(0.0, node[i]);
      leaf_of[k] = i;
      removed.push_back(k);
      gone[i] = 1;
      found = true;
    }
  }
  Structure x(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    if (!gone[i]) x[i] = node[i] > 0 ? 1 : 0;
  for (std::size_t at = removed.size(); at-- > 0;) {
    const std::size_t k = removed[at], i = leaf_of[k];
    const std::size_t other = field.links[k].a + field.links[k].b - i;
    x[i] = node[i] + (x[other] == 1 ? field.together[k] : 0) > 0 ? 1 : 0;
  }
  return x;
}

}  // namespace

MultilabelOracle::MultilabelOracle(const MultilabelExamples& data)
    : data_(data),
      rows_(data.x),
      columns_(rows_.columns + (data.bias != 0 ? 1 : 0)),
      method_(is_forest(data)                  ? Method::forest
              : data.labels <= most_enumerated ? Method::all
                                               : Method::relaxed) {}

double MultilabelOracle::loss(std::size_t i, StructureView y) const {
  double wrong = 0;
  for (std::size_t l = 0; l < data_.labels; ++l)
    wrong += std::abs(field_node(y, data_.labels, l) - data_.y[i][l]);
  return wrong / static_cast<double>(data_.labels);
}

/// Adds the variables of a structure's labels and links.
void MultilabelOracle::add_terms(StructureView y, double scale, Terms& terms) const {
  for (std::size_t l = 0; l < data_.labels; ++l)
    terms.label[l] += scale * field_node(y, data_.labels, l);
  for (std::size_t k = 0; k < data_.links.size(); ++k)
    terms.link[k] += scale * field_link(y, data_.labels, k, data_.links[k]);
}

void MultilabelOracle::append(std::size_t i, const Terms& terms, JointFeatures& out) const {
  for (std::size_t l = 0; l < data_.labels; ++l) {
    const double on = terms.label[l];
    if (on == 0) continue;
    rows_.for_each(i, [&](Index j, double value) { out.add(l * columns_ + j, on * value); });
    if (data_.bias != 0) out.add((l + 1) * columns_ - 1, on * data_.bias);
  }
  for (std::size_t k = 0; k < data_.links.size(); ++k)
    if (terms.link[k] != 0) out.add(data_.labels * columns_ + k, terms.link[k]);
}

void MultilabelOracle::features(std::size_t i, StructureView y, double scale,
                                JointFeatures& out) const {
  Terms terms = no_terms();
  add_terms(y, scale, terms);
  append(i, terms, out);
}

void MultilabelOracle::difference(std::size_t i, StructureView y, double scale,
                                  JointFeatures& out) const {
  combine(i, std::span(&y, 1), std::span(&scale, 1), out);
}

void MultilabelOracle::combine(std::size_t i, std::span<const StructureView> ys,
                               std::span<const double> scale, JointFeatures& out) const {
  Terms terms = no_terms();
  double sum = 0;
  for (std::size_t k = 0; k < ys.size(); ++k) {
    add_terms(ys[k], -scale[k], terms);
    sum += scale[k];
  }
  add_terms(data_.y[i], sum, terms);
  append(i, terms, out);
}

void MultilabelOracle::margins(std::size_t i, std::span<const StructureView> ys,
                               std::span<const double> w, std::span<double> out) const {
  const BinaryField scores = field(i, w, Ask::best);
  const double right = scores.value(data_.y[i]);
  for (std::size_t k = 0; k < ys.size(); ++k) out[k] = right - scores.value(ys[k]);
}

BinaryField MultilabelOracle::field(std::size_t i, std::span<const double> w, Ask ask) const {
  BinaryField field{std::vector<double>(data_.labels), data_.links, {}};
  const double share = 1 / static_cast<double>(data_.labels);
  for (std::size_t l = 0; l < data_.labels; ++l) {
    const double* of_label = w.data() + l * columns_;
    double sum = data_.bias != 0 ? of_label[columns_ - 1] * data_.bias : 0;
    rows_.for_each(i, [&](Index j, double value) { sum += of_label[j] * value; });
    if (ask == Ask::margin) sum += data_.y[i][l] == 1 ? -share : share;
    field.node[l] = sum;
  }
  const auto links = w.subspan(data_.labels * columns_);
  field.together.assign(links.begin(), links.end());
  return field;
}

Structure MultilabelOracle::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  const BinaryField asked = field(i, w, ask);
  switch (method_) {
    case Method::forest:
      return best_of_forest(asked);
    case Method::all:
      return best_of_all(asked);
    case Method::relaxed:
      break;
  }
  Structure y = best_relaxed(asked);
  return ask == Ask::best ? rounded(asked, y) : y;
}

Structure MultilabelWitness::most_violated(std::size_t i, std::span<const double> w,
                                           Ask ask) const {
  constexpr std::size_t few = 6;
  const std::size_t labels = oracle_.data().labels;
  if (exactness() == Exactness::relaxed) return best_relaxed_plainly(oracle_.field(i, w, ask));
  if (labels <= few) return EnumerationOracle::most_violated(i, w, ask);
  const BinaryField field = oracle_.field(i, w, ask);
  if (is_forest(oracle_.data())) return forest_by_leaves(field);
  Structure y, best;
  double most = 0;
  while (next_integral(labels, y)) {
    const double value = field.value(y);
    if (best.empty() || value > most) {
      best = y;
      most = value;
    }
  }
  return best;
}

std::vector<FieldLink> label_pairs(std::size_t labels) {
  std::vector<FieldLink> links;
  for (std::size_t a = 0; a < labels; ++a)
    for (std::size_t b = a + 1; b < labels; ++b)
      links.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)});
  return links;
}

std::vector<FieldLink> label_tree(const std::vector<Structure>& y, std::size_t labels) {
  const double n = static_cast<double>(y.size());
  std::vector<FieldLink> pairs = label_pairs(labels), tree;
  std::vector<double> information;
  for (const auto [a, b] : pairs) {
    double count[2][2] = {{0, 0}, {0, 0}};
    for (const Structure& row : y) ++count[row[a]][row[b]];
    double sum = 0;
    for (const int u : {0, 1})
      for (const int v : {0, 1})
        if (count[u][v] > 0)
          sum += count[u][v] / n *
                 std::log(count[u][v] * n /
                          ((count[u][0] + count[u][1]) * (count[0][v] + count[1][v])));
    information.push_back(sum);
  }
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return information[a] > information[b]; });
  DisjointSets sets(labels);
  for (const std::size_t k : order)
    if (sets.join(pairs[k].a, pairs[k].b)) tree.push_back(pairs[k]);
  return tree;
}

}  // namespace maxmargin
