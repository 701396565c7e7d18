#include "maxmargin/structured/tasks/sequence/chain.hpp"

#include <algorithm>

#include "maxmargin/linalg/class_sums.hpp"
#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/tasks/sequence/label_loops.hpp"

namespace maxmargin {

ChainOracle::ChainOracle(const SequenceExamples& data, const ChainOptions& options,
                         const Metric* metric)
    : data_(data), options_(options), metric_(metric) {
  dimensions_ = first_end() + (options.ends ? 2 * data.labels : 0);
}

std::size_t ChainOracle::first_end() const {
  const std::size_t L = data_.labels;
  return first_triple() + (options_.order == 2 ? L * L * L : 0);
}

Structure ChainOracle::truth(std::size_t i) const {
  return Structure(data_.label.begin() + static_cast<std::ptrdiff_t>(data_.sentence[i]),
                   data_.label.begin() + static_cast<std::ptrdiff_t>(data_.sentence[i + 1]));
}

double ChainOracle::loss(std::size_t i, StructureView y) const {
  std::size_t wrong = 0;
  for (std::size_t t = 0; t < y.size(); ++t)
    wrong += y[t] != data_.label[data_.sentence[i] + t] ? 1 : 0;
  return static_cast<double>(wrong) * unit(i);
}

/// Visits the features of the label at t with the labels before it, and with the ends.
void ChainOracle::pair_features(StructureView y, std::size_t t, double scale,
                                JointFeatures& out) const {
  const std::size_t L = data_.labels;
  const auto label = [&](std::size_t at) { return static_cast<std::size_t>(y[at]); };
  if (t > 0) out.add(first_pair() + label(t - 1) * L + label(t), scale);
  if (options_.order == 2 && t > 1)
    out.add(first_triple() + (label(t - 2) * L + label(t - 1)) * L + label(t), scale);
  if (!options_.ends) return;
  if (t == 0) out.add(first_end() + label(t), scale);
  if (t + 1 == y.size()) out.add(first_end() + L + label(t), scale);
}

/// Reserves memory for all at once: solvers spend most of their time summing features.
void ChainOracle::attribute_features(std::size_t token, std::int32_t label, double scale,
                                     JointFeatures& out) const {
  const std::size_t at = out.size(), first = data_.token[token],
                    count = data_.token[token + 1] - first;
  out.index.resize(at + count);
  out.value.resize(at + count, scale);
  const auto L = static_cast<Index>(data_.labels), l = static_cast<Index>(label);
  for (std::size_t k = 0; k < count; ++k) out.index[at + k] = data_.attribute[first + k] * L + l;
  if (data_.value.empty()) return;
  for (std::size_t k = 0; k < count; ++k) out.value[at + k] = scale * data_.value_of(first + k);
}

void ChainOracle::features(std::size_t i, StructureView y, double scale, JointFeatures& out) const {
  for (std::size_t t = 0; t < y.size(); ++t) {
    attribute_features(data_.sentence[i] + t, y[t], scale, out);
    pair_features(y, t, scale, out);
  }
}

void ChainOracle::difference(std::size_t i, StructureView y, double scale,
                             JointFeatures& out) const {
  const StructureView right(data_.label.data() + data_.sentence[i], y.size());
  const std::size_t reach = static_cast<std::size_t>(options_.order);
  std::size_t differs_until = 0;  // one more than the last token with a wrong label
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (y[t] != right[t]) {
      differs_until = t + 1;
      attribute_features(data_.sentence[i] + t, right[t], scale, out);
      attribute_features(data_.sentence[i] + t, y[t], -scale, out);
    }
    if (differs_until == 0 || t > differs_until - 1 + reach) continue;
    pair_features(right, t, scale, out);
    pair_features(y, t, -scale, out);
  }
}

bool ChainOracle::is_structure(std::size_t i, StructureView y) const {
  if (y.size() != data_.length(i)) return false;
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (y[t] < 0 || static_cast<std::size_t>(y[t]) >= data_.labels) return false;
    if (data_.allowed.empty()) continue;
    const std::size_t l = static_cast<std::size_t>(y[t]);
    if (t == 0 ? !data_.allowed_first[l] : !data_.allowed[static_cast<std::size_t>(y[t - 1])][l])
      return false;
  }
  return true;
}

std::string ChainOracle::example_name(std::size_t i) const {
  return "sequence " + std::to_string(i + 1) + " (line " + std::to_string(data_.line[i]) + ")";
}

void ChainOracle::table(std::size_t i, std::span<const double> w,
                        std::vector<double>& scores) const {
  const std::size_t L = data_.labels, T = data_.length(i);
  scores.resize(T * L);
  for (std::size_t t = 0; t < T; ++t) {
    const std::size_t token = data_.sentence[i] + t, first = data_.token[token];
    const float* value = data_.value.empty() ? nullptr : data_.value.data() + first;
    const ClassRow row{data_.attribute.data() + first, value, nullptr,
                       data_.token[token + 1] - first};
    class_sums(w.data(), row, L, scores.data() + t * L);
  }
}

double ChainOracle::pair_score(StructureView y, std::size_t t, std::span<const double> w) const {
  const std::size_t L = data_.labels;
  const auto label = [&](std::size_t at) { return static_cast<std::size_t>(y[at]); };
  double sum = t > 0 ? w[first_pair() + label(t - 1) * L + label(t)] : 0;
  if (options_.order == 2 && t > 1)
    sum += w[first_triple() + (label(t - 2) * L + label(t - 1)) * L + label(t)];
  if (!options_.ends) return sum;
  if (t == 0) sum += w[first_end() + label(t)];
  if (t + 1 == y.size()) sum += w[first_end() + L + label(t)];
  return sum;
}

/// Bound by cache misses of w: two independent sums have more loads in flight.
double ChainOracle::label_margin(std::size_t token, std::int32_t right, std::int32_t other,
                                 std::span<const double> w) const {
  const Index* attribute = data_.attribute.data() + data_.token[token];
  const std::size_t count = data_.token[token + 1] - data_.token[token], L = data_.labels;
  const double *of_right = w.data() + right, *of_other = w.data() + other;
  double sum = 0, less = 0;
  if (data_.value.empty()) {
    for (std::size_t k = 0; k < count; ++k) {
      sum += of_right[attribute[k] * L];
      less += of_other[attribute[k] * L];
    }
  } else {
    const float* value = data_.value.data() + data_.token[token];
    for (std::size_t k = 0; k < count; ++k) {
      sum += static_cast<double>(value[k]) * of_right[attribute[k] * L];
      less += static_cast<double>(value[k]) * of_other[attribute[k] * L];
    }
  }
  return sum - less;
}

/// Each wrong label that occurs in some of the chains is scored once per token; there are few.
void ChainOracle::margins(std::size_t i, std::span<const StructureView> ys,
                          std::span<const double> w, std::span<double> out) const {
  const std::size_t T = data_.length(i);
  const std::size_t reach = static_cast<std::size_t>(options_.order);
  const StructureView right(data_.label.data() + data_.sentence[i], T);
  std::vector<double> margin(data_.labels);
  std::vector<std::size_t> scored_at(data_.labels, 0), differs_until(ys.size(), 0);
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t t = 0; t < T; ++t) {
    double right_pair = 0;
    bool paired = false;
    for (std::size_t k = 0; k < ys.size(); ++k) {
      const std::int32_t label = ys[k][t];
      if (label != right[t]) {
        differs_until[k] = t + 1;
        const auto l = static_cast<std::size_t>(label);
        if (scored_at[l] != t + 1) {
          margin[l] = label_margin(data_.sentence[i] + t, right[t], label, w);
          scored_at[l] = t + 1;
        }
        out[k] += margin[l];
      }
      if (differs_until[k] == 0 || t > differs_until[k] - 1 + reach) continue;
      if (!paired) right_pair = pair_score(right, t, w);
      paired = true;
      out[k] += right_pair - pair_score(ys[k], t, w);
    }
  }
}

/// Chains that have the same label at a token share its attributes.
void ChainOracle::combine(std::size_t i, std::span<const StructureView> ys,
                          std::span<const double> scale, JointFeatures& out) const {
  const std::size_t L = data_.labels, T = data_.length(i);
  const std::size_t reach = static_cast<std::size_t>(options_.order);
  const StructureView right(data_.label.data() + data_.sentence[i], T);
  std::vector<double> of_label(L, 0.0);
  std::vector<std::size_t> differs_until(ys.size(), 0);
  for (std::size_t t = 0; t < T; ++t) {
    bool any = false;
    for (std::size_t k = 0; k < ys.size(); ++k) {
      if (scale[k] == 0) continue;
      if (ys[k][t] != right[t]) {
        differs_until[k] = t + 1;
        of_label[static_cast<std::size_t>(ys[k][t])] -= scale[k];
        of_label[static_cast<std::size_t>(right[t])] += scale[k];
        any = true;
      }
      if (differs_until[k] == 0 || t > differs_until[k] - 1 + reach) continue;
      pair_features(right, t, scale[k], out);
      pair_features(ys[k], t, -scale[k], out);
    }
    if (!any) continue;
    for (std::size_t l = 0; l < L; ++l) {
      if (of_label[l] == 0) continue;
      attribute_features(data_.sentence[i] + t, static_cast<std::int32_t>(l), of_label[l], out);
      of_label[l] = 0;
    }
  }
}

namespace {

/// Transition scores, minus infinity where a transition is not allowed.
struct Links {
  std::vector<double> first, last, pair, triple;
};

Links links_of(const ChainOracle& chain, std::span<const double> w) {
  const SequenceExamples& data = chain.data();
  const std::size_t L = data.labels;
  Links links;
  links.first.assign(L, 0.0);
  links.last.assign(L, 0.0);
  const double* pairs = w.data() + chain.first_pair();
  links.pair.assign(pairs, pairs + L * L);
  if (chain.options().order == 2) {
    const double* triples = w.data() + chain.first_triple();
    links.triple.assign(triples, triples + L * L * L);
  }
  for (std::size_t l = 0; l < L && chain.options().ends; ++l) {
    links.first[l] = w[chain.first_end() + l];
    links.last[l] = w[chain.first_end() + L + l];
  }
  if (data.allowed.empty()) return links;
  for (std::size_t a = 0; a < L; ++a) {
    if (!data.allowed_first[a]) links.first[a] = -infinity;
    for (std::size_t b = 0; b < L; ++b)
      if (!data.allowed[a][b]) links.pair[a * L + b] = -infinity;
  }
  return links;
}

std::size_t first_largest(std::span<const double> values) {
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

/// The k that attains best_before().
std::size_t came_from(std::span<const double> from, const double* pair, std::size_t L,
                      std::size_t l) {
  std::size_t best = 0;
  double most = -infinity;
  for (std::size_t k = 0; k < L; ++k)
    if (from[k] + pair[k * L + l] > most) {
      most = from[k] + pair[k * L + l];
      best = k;
    }
  return best;
}

Structure viterbi(const std::vector<double>& table, const Links& links, std::size_t L) {
  const std::size_t T = table.size() / L;
  std::vector<double> best(T * L);
  const auto row = [&](std::size_t t) { return std::span<double>(best.data() + t * L, L); };
  for (std::size_t l = 0; l < L; ++l) best[l] = table[l] + links.first[l];
  for (std::size_t t = 1; t < T; ++t) {
    best_before(row(t - 1).data(), links.pair.data(), L, row(t).data());
    for (std::size_t l = 0; l < L; ++l) best[t * L + l] += table[t * L + l];
  }
  for (std::size_t l = 0; l < L; ++l) best[(T - 1) * L + l] += links.last[l];
  Structure y(T);
  std::size_t label = first_largest(row(T - 1));
  y[T - 1] = static_cast<std::int32_t>(label);
  for (std::size_t t = T - 1; t > 0; --t) {
    label = came_from(row(t - 1), links.pair.data(), L, label);
    y[t - 1] = static_cast<std::int32_t>(label);
  }
  return y;
}

/// Order 2: the states are pairs of labels.
Structure viterbi_of_triples(const std::vector<double>& table, const Links& links, std::size_t L) {
  const std::size_t T = table.size() / L, pairs = L * L;
  if (T == 1) return viterbi(table, links, L);
  std::vector<double> best(T * pairs);
  std::vector<double> from(L);
  for (std::size_t a = 0; a < L; ++a)
    for (std::size_t b = 0; b < L; ++b)
      best[pairs + a * L + b] = table[a] + links.first[a] + table[L + b] + links.pair[a * L + b];
  // For each b: to[c] = max over a of best[a, b] + triple[a, b, c].
  const auto gather = [&](std::size_t t, std::size_t b) {
    for (std::size_t a = 0; a < L; ++a) from[a] = best[t * pairs + a * L + b];
  };
  std::vector<double> triple(L * pairs);  // [b][a][c]
  for (std::size_t a = 0; a < L; ++a)
    for (std::size_t b = 0; b < L; ++b)
      std::copy_n(links.triple.data() + (a * L + b) * L, L, triple.data() + (b * L + a) * L);
  for (std::size_t t = 2; t < T; ++t)
    for (std::size_t b = 0; b < L; ++b) {
      gather(t - 1, b);
      double* to = best.data() + t * pairs + b * L;
      best_before(from.data(), triple.data() + b * pairs, L, to);
      for (std::size_t c = 0; c < L; ++c) to[c] += links.pair[b * L + c] + table[t * L + c];
    }
  const std::span<double> end(best.data() + (T - 1) * pairs, pairs);
  for (std::size_t s = 0; s < pairs; ++s) end[s] += links.last[s % L];
  std::size_t state = first_largest(end);
  Structure y(T);
  y[T - 1] = static_cast<std::int32_t>(state % L);
  y[T - 2] = static_cast<std::int32_t>(state / L);
  for (std::size_t t = T - 1; t > 1; --t) {
    const std::size_t b = static_cast<std::size_t>(y[t - 1]), c = static_cast<std::size_t>(y[t]);
    gather(t - 1, b);
    y[t - 2] = static_cast<std::int32_t>(came_from(from, triple.data() + b * pairs, L, c));
  }
  return y;
}

/// Slack rescaling: Viterbi finds the best chain for each number of wrong labels; the one with the
/// largest loss * (1 - margin) is returned.
Structure viterbi_by_errors(const std::vector<double>& table, const Links& links,
                            StructureView right, double unit, double truth_score, std::size_t L) {
  const std::size_t T = right.size(), layer = (T + 1) * L;
  std::vector<double> best(T * layer, -infinity);
  const auto state = [&](std::size_t t, std::size_t k) { return best.data() + t * layer + k * L; };
  const auto wrong = [&](std::size_t t, std::size_t l) {
    return static_cast<std::size_t>(right[t]) != l ? std::size_t{1} : std::size_t{0};
  };
  for (std::size_t l = 0; l < L; ++l) state(0, wrong(0, l))[l] = table[l] + links.first[l];
  std::vector<double> to(L);
  for (std::size_t t = 1; t < T; ++t)
    for (std::size_t k = 0; k <= t; ++k) {
      best_before(state(t - 1, k), links.pair.data(), L, to.data());
      for (std::size_t l = 0; l < L; ++l) state(t, k + wrong(t, l))[l] = to[l] + table[t * L + l];
    }
  double most = 0;
  std::size_t errors = 0, label = static_cast<std::size_t>(right[T - 1]);
  for (std::size_t k = 1; k <= T; ++k)
    for (std::size_t l = 0; l < L; ++l) {
      const double score = state(T - 1, k)[l] + links.last[l];
      if (score == -infinity) continue;
      const double s = static_cast<double>(k) * unit * (1 - truth_score + score);
      if (s > most) {
        most = s;
        errors = k;
        label = l;
      }
    }
  if (errors == 0) return {right.begin(), right.end()};
  Structure y(T);
  y[T - 1] = static_cast<std::int32_t>(label);
  for (std::size_t t = T - 1; t > 0; --t) {
    errors -= wrong(t, label);
    label = came_from({state(t - 1, errors), L}, links.pair.data(), L, label);
    y[t - 1] = static_cast<std::int32_t>(label);
  }
  return y;
}

}  // namespace

Structure ChainOracle::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  const std::size_t L = data_.labels, T = data_.length(i);
  std::vector<double> scores;
  table(i, w, scores);
  const Links links = links_of(*this, w);
  const StructureView right(data_.label.data() + data_.sentence[i], T);
  if (ask == Ask::slack) {
    JointFeatures psi;
    features(i, right, 1, psi);
    return viterbi_by_errors(scores, links, right, unit(i), psi.dot(w), L);
  }
  if (ask == Ask::margin)
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t l = 0; l < L; ++l)
        if (static_cast<std::size_t>(right[t]) != l) scores[t * L + l] += unit(i);
  return options_.order == 2 ? viterbi_of_triples(scores, links, L) : viterbi(scores, links, L);
}

}  // namespace maxmargin
