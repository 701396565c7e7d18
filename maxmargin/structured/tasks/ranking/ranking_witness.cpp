#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/enumeration.hpp"
#include "maxmargin/structured/tasks/ranking/ranking.hpp"

namespace maxmargin {
namespace {

/// Every order of few documents.
class EveryOrder : public EnumerationOracle {
 public:
  explicit EveryOrder(const RankingOracle& ranking)
      : EnumerationOracle(ranking), data_(ranking.data()) {}

 protected:
  bool next(std::size_t i, Structure& y) const override {
    if (!y.empty()) return std::next_permutation(y.begin(), y.end());
    y.resize(data_.documents(i));
    std::iota(y.begin(), y.end(), 0);
    return true;
  }

 private:
  const RankingExamples& data_;
};

}  // namespace

/// NDCG: the score of a document at a position is a product, discount times value, so that an order
/// is optimal if no exchange of two neighbours improves it (Hardy, Littlewood and Polya).
Structure RankingWitness::exchanged(std::size_t i, std::span<const double> w, Ask ask) const {
  const RankingExamples& data = ranking_.data();
  const std::size_t k = data.documents(i);
  std::vector<double> value = ranking_.scores(i, w);
  if (ask != Ask::best) {
    std::vector<double> gains;
    for (std::size_t d = 0; d < k; ++d)
      gains.push_back(std::pow(2.0, data.relevance[data.query[i] + d]) - 1);
    std::vector<double> sorted = gains;
    std::ranges::sort(sorted, std::greater<>());
    double ideal = 0;
    for (std::size_t d = k; d-- > 0;) ideal += sorted[d] * ranking_discount(d + 1);
    for (std::size_t d = 0; d < k && ideal > 0; ++d) value[d] -= gains[d] / ideal;
  }
  Structure order(k);
  std::iota(order.begin(), order.end(), 0);
  const auto of = [&](std::size_t position) {
    return value[static_cast<std::size_t>(order[position])];
  };
  for (std::size_t end = k; end > 1; --end)
    for (std::size_t position = 0; position + 1 < end; ++position)
      if (of(position) < of(position + 1)) std::swap(order[position], order[position + 1]);
  return order;
}

/// Average precision: both kinds of documents by falling score, and every way to merge them, by
/// dynamic programming over how many of either kind stand in front. m relevant and n other ones
/// take m n steps.
Structure RankingWitness::merged(std::size_t i, std::span<const double> w, Ask ask) const {
  const RankingExamples& data = ranking_.data();
  const std::vector<double> f = ranking_.scores(i, w);
  std::vector<std::size_t> kinds[2];  // 1: relevant
  for (std::size_t d = 0; d < f.size(); ++d)
    kinds[data.relevance[data.query[i] + d] > 0 ? 1 : 0].push_back(d);
  for (auto& kind : kinds)
    std::ranges::stable_sort(kind, [&](std::size_t a, std::size_t b) { return f[a] > f[b]; });
  const std::size_t m = kinds[1].size(), n = kinds[0].size();
  const double pairs = std::max(1.0, static_cast<double>(m) * static_cast<double>(n));
  // A relevant document put behind r relevant and o others, and another one put there: what its
  // place costs in precision, and its sign in the pairs with those of the other kind.
  const auto gain = [&](int kind, std::size_t r, std::size_t o) {
    const double behind = static_cast<double>(kind == 1 ? o : r);
    const double ahead = static_cast<double>(kind == 1 ? n : m) - behind;
    const double score = f[kinds[kind][kind == 1 ? r : o]] * (ahead - behind) / pairs;
    const double precision = static_cast<double>(r + 1) / static_cast<double>(r + o + 1);
    return kind == 1 && ask != Ask::best ? score - precision / static_cast<double>(m) : score;
  };
  // best[o]: the front of r relevant and o others, one r after the other.
  std::vector<double> best(n + 1, -infinity);
  std::vector<bool> ends_relevant((m + 1) * (n + 1), false);
  best[0] = 0;
  for (std::size_t r = 0; r <= m; ++r)
    for (std::size_t o = 0; o <= n; ++o) {
      if (r + o == 0) continue;
      const double relevant_last = r > 0 ? best[o] + gain(1, r - 1, o) : -infinity;
      const double other_last = o > 0 ? best[o - 1] + gain(0, r, o - 1) : -infinity;
      ends_relevant[r * (n + 1) + o] = relevant_last > other_last;
      best[o] = std::max(relevant_last, other_last);
    }
  Structure y(m + n);
  for (std::size_t r = m, o = n; r + o > 0;) {
    const int kind = ends_relevant[r * (n + 1) + o] ? 1 : 0;
    const std::size_t position = r + o - 1;
    y[position] = static_cast<std::int32_t>(kinds[kind][kind == 1 ? --r : --o]);
  }
  return y;
}

/// By a double loop over all pairs.
void RankingWitness::difference(std::size_t i, StructureView y, double scale,
                                JointFeatures& out) const {
  if (ranking_.options().loss != RankingLoss::pairs) return Oracle::difference(i, y, scale, out);
  const RankingExamples& data = ranking_.data();
  const std::size_t k = data.documents(i), first = data.query[i];
  const Rows rows = data.x;
  std::vector<double> c(k, 0.0);
  double swapped = 0;
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t b = 0; b < k; ++b)
      if (data.relevance[first + a] > data.relevance[first + b] && y[a] < y[k + b]) {
        ++c[a];
        --c[b];
        ++swapped;
      }
  const double loss = ranking_.loss(i, y);
  const double unit = swapped > 0 ? loss / swapped : 0;
  for (std::size_t d = 0; d < k; ++d)
    if (c[d] != 0)
      rows.for_each(first + d, [&](Index j, double value) {
        if (value != 0) out.add(j, scale * unit * c[d] * value);
      });
}

Structure RankingWitness::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  const RankingExamples& data = ranking_.data();
  const std::size_t k = data.documents(i);
  constexpr std::size_t few = 5;
  if (ranking_.options().loss != RankingLoss::pairs) {
    if (k <= few) return EveryOrder(ranking_).most_violated(i, w, ask);
    return ranking_.options().loss == RankingLoss::ndcg ? exchanged(i, w, ask) : merged(i, w, ask);
  }
  // Positions by counting smaller values, instead of sorting.
  std::vector<double> value = ranking_.scores(i, w);
  for (std::size_t d = 0; d < k; ++d) value.push_back(value[d] + (ask == Ask::best ? 0 : 1));
  Structure y(2 * k, 0);
  for (std::size_t a = 0; a < 2 * k; ++a)
    for (std::size_t b = 0; b < 2 * k; ++b)
      y[a] += value[b] < value[a] || (value[b] == value[a] && b > a) ? 1 : 0;
  return y;
}

}  // namespace maxmargin
