#include <algorithm>
#include <cmath>

#include "maxmargin/structured/tasks/collective/collective.hpp"

namespace maxmargin {
namespace {

std::size_t of(StructureView y, std::size_t document) {
  return static_cast<std::size_t>(y[document]);
}

}  // namespace

CollectiveOracle::CollectiveOracle(const CollectiveExamples& data)
    : data_(data), rows_(data.documents.x), columns_(rows_.columns + (data.bias != 0 ? 1 : 0)) {
  if (data.labels > 2)
    for (std::size_t i = 0; i < data.size(); ++i) split_.emplace_back(data.count(i), data.links[i]);
}

Structure CollectiveOracle::truth(std::size_t i) const {
  const auto first = data_.label.begin() + static_cast<std::ptrdiff_t>(data_.documents.start[i]);
  return {first, first + static_cast<std::ptrdiff_t>(data_.count(i))};
}

double CollectiveOracle::share(std::size_t i, StructureView y, std::size_t document,
                               std::size_t label) const {
  if (is_integral(y, data_.count(i))) return of(y, document) == label ? 1 : 0;
  if (data_.labels > 2) {
    const SplitGraph& split = split_[i];
    double sum = of(y, document) == label ? 1 : 0;
    for (std::size_t c = 0; c < split.copies(); ++c)
      if (split.original(c) == document && of(y, data_.count(i) + c) == label) ++sum;
    return sum * split.weight(document);
  }
  const double one = field_node(y, data_.count(i), document);
  return label == 1 ? one : 1 - one;
}

double CollectiveOracle::loss(std::size_t i, StructureView y) const {
  const Structure right = truth(i);
  double wrong = 0;
  for (std::size_t d = 0; d < right.size(); ++d) wrong += 1 - share(i, y, d, of(right, d));
  return wrong / static_cast<double>(right.size());
}

void CollectiveOracle::features(std::size_t i, StructureView y, double scale,
                                JointFeatures& out) const {
  const std::size_t n = data_.count(i), first = data_.documents.start[i];
  for (std::size_t d = 0; d < n; ++d)
    for (std::size_t l = 0; l < data_.labels; ++l) {
      const double amount = scale * share(i, y, d, l);
      if (amount == 0) continue;
      rows_.for_each(first + d,
                     [&](Index j, double value) { out.add(l * columns_ + j, amount * value); });
      if (data_.bias != 0) out.add((l + 1) * columns_ - 1, amount * data_.bias);
    }
  for (std::size_t k = 0; k < data_.links[i].size(); ++k) {
    const auto [a, b] = data_.links[i][k];
    if (is_integral(y, n) || data_.labels > 2) {
      const std::int32_t second = is_integral(y, n) ? y[b] : split_[i].second_label(y, k);
      if (y[a] == second) out.add(data_.labels * columns_ + of(y, a), scale);
      continue;
    }
    const double ones = field_link(y, n, k, data_.links[i][k]);
    const double zeros = 1 - field_node(y, n, a) - field_node(y, n, b) + ones;
    if (zeros != 0) out.add(2 * columns_, scale * zeros);
    if (ones != 0) out.add(2 * columns_ + 1, scale * ones);
  }
}

bool CollectiveOracle::is_structure(std::size_t i, StructureView y) const {
  if (data_.labels == 2) return is_field_structure(y, data_.count(i), data_.links[i]);
  const std::size_t n = data_.count(i);
  return (y.size() == n || y.size() == n + split_[i].copies()) &&
         std::ranges::all_of(y, [&](std::int32_t each) {
           return each >= 0 && static_cast<std::size_t>(each) < data_.labels;
         });
}

std::vector<double> CollectiveOracle::gains(std::size_t i, std::span<const double> w,
                                            Ask ask) const {
  const std::size_t n = data_.count(i), first = data_.documents.start[i];
  std::vector<double> gain;
  for (std::size_t d = 0; d < n; ++d)
    for (std::size_t l = 0; l < data_.labels; ++l) {
      const double* of_label = w.data() + l * columns_;
      double sum = data_.bias != 0 ? of_label[columns_ - 1] * data_.bias : 0;
      rows_.for_each(first + d, [&](Index j, double value) { sum += of_label[j] * value; });
      if (ask == Ask::margin && of(data_.label, first + d) != l) sum += 1 / static_cast<double>(n);
      gain.push_back(sum);
    }
  return gain;
}

BinaryField CollectiveOracle::field(std::size_t i, std::span<const double> w, Ask ask) const {
  const std::vector<double> gain = gains(i, w, ask);
  const double zeros = attraction(w, 0), ones = attraction(w, 1);
  BinaryField field{{}, data_.links[i], {}};
  for (std::size_t d = 0; d < data_.count(i); ++d)
    field.node.push_back(gain[2 * d + 1] - gain[2 * d]);
  for (const auto& [a, b] : data_.links[i]) {
    // u0 (1 - x_a)(1 - x_b) + u1 x_a x_b, without its constant.
    field.node[a] -= zeros;
    field.node[b] -= zeros;
    field.together.push_back(zeros + ones);
  }
  return field;
}

/// Alpha-expansion: for each label in turn, the best set of documents that change to it, found by a
/// minimum cut, until no label improves.
Structure CollectiveOracle::expand(std::size_t i, std::span<const double> w, Ask ask) const {
  const std::size_t n = data_.count(i), K = data_.labels;
  const std::vector<double> gain = gains(i, w, ask);
  Structure y(n, 0);
  for (std::size_t d = 0; d < n; ++d) {
    const auto first = gain.begin() + static_cast<std::ptrdiff_t>(d * K);
    y[d] = static_cast<std::int32_t>(
        std::max_element(first, first + static_cast<std::ptrdiff_t>(K)) - first);
  }
  for (std::size_t since = 0, label = 0; since < K; label = (label + 1) % K) {
    BinaryField move{std::vector<double>(n), data_.links[i], {}};
    for (std::size_t d = 0; d < n; ++d) move.node[d] = gain[d * K + label] - gain[d * K + of(y, d)];
    const double offered = attraction(w, label);
    for (const auto& [a, b] : data_.links[i]) {
      const double neither = y[a] == y[b] ? attraction(w, of(y, a)) : 0;
      const double first = of(y, b) == label ? offered : 0;
      const double second = of(y, a) == label ? offered : 0;
      move.node[a] += first - neither;
      move.node[b] += second - neither;
      move.together.push_back(offered - first - second + neither);
    }
    Structure taken = best_relaxed(move);
    Structure whole(n);
    for (std::size_t d = 0; d < n; ++d) whole[d] = field_node(taken, n, d) == 1 ? 1 : 0;
    const double scale = std::abs(move.value(Structure(n, 1))) + 1;
    if (move.value(whole) > 1e-12 * scale) {
      for (std::size_t d = 0; d < n; ++d)
        if (whole[d] == 1) y[d] = static_cast<std::int32_t>(label);
      since = 0;
    } else {
      ++since;
    }
  }
  return y;
}

Structure CollectiveOracle::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  if (data_.labels > 2) {
    if (ask == Ask::best) return expand(i, w, ask);
    return split_[i].best(gains(i, w, ask), w.subspan(data_.labels * columns_, data_.labels));
  }
  const BinaryField asked = field(i, w, ask);
  Structure y = best_relaxed(asked);
  return ask == Ask::best ? rounded(asked, y) : y;
}

Structure CollectiveWitness::most_violated(std::size_t i, std::span<const double> w,
                                           Ask ask) const {
  const std::size_t labels = oracle_.data().labels;
  if (labels == 2) return best_relaxed_plainly(oracle_.field(i, w, ask));
  return oracle_.split(i).best_plainly(oracle_.gains(i, w, ask), w.subspan(w.size() - labels));
}

}  // namespace maxmargin
