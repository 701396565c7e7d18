#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/tasks/ranking/ranking.hpp"

namespace maxmargin {
namespace {

/// A Fenwick tree: prefix sums, and changes of one term, in O(log n).
class PrefixSums {
 public:
  explicit PrefixSums(std::size_t size) : tree_(size + 1, 0.0) {}
  void add(std::size_t position, double amount) {
    for (std::size_t k = position + 1; k < tree_.size(); k += k & (~k + 1)) tree_[k] += amount;
  }
  /// The sum of the terms before this position.
  double before(std::size_t position) const {
    double sum = 0;
    for (std::size_t k = position; k > 0; k -= k & (~k + 1)) sum += tree_[k];
    return sum;
  }

 private:
  std::vector<double> tree_;
};

/// The rank of each value among the distinct values, from 0.
std::vector<std::size_t> grades_of(std::span<const double> values, std::size_t& count) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  count = sorted.size();
  std::vector<std::size_t> grade;
  for (const double value : values)
    grade.push_back(
        static_cast<std::size_t>(std::ranges::lower_bound(sorted, value) - sorted.begin()));
  return grade;
}

double pairs_of(std::span<const double> relevance) {
  std::size_t count = 0;
  const std::vector<std::size_t> grade = grades_of(relevance, count);
  std::vector<double> size(count, 0.0);
  for (const std::size_t l : grade) ++size[l];
  double pairs = 0, below = 0;
  for (const double each : size) {
    pairs += each * below;
    below += each;
  }
  return pairs;
}

/// Documents by decreasing value, among equal ones in their order.
std::vector<std::int32_t> order_by(std::span<const double> value) {
  std::vector<std::int32_t> order(value.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int32_t a, std::int32_t b) {
    return value[static_cast<std::size_t>(a)] > value[static_cast<std::size_t>(b)];
  });
  return order;
}

double gain(double relevance) { return std::exp2(relevance) - 1; }

double average_precision(std::span<const double> relevance, StructureView order) {
  double found = 0, sum = 0;
  for (std::size_t position = 0; position < order.size(); ++position)
    if (relevance[static_cast<std::size_t>(order[position])] > 0)
      sum += ++found / static_cast<double>(position + 1);
  return found > 0 ? sum / found : 1;
}

double ndcg(std::span<const double> relevance, StructureView order) {
  std::vector<double> best(relevance.begin(), relevance.end());
  std::ranges::sort(best, std::greater<>());
  double sum = 0, ideal = 0;
  for (std::size_t position = 0; position < order.size(); ++position) {
    sum +=
        gain(relevance[static_cast<std::size_t>(order[position])]) * ranking_discount(position + 1);
    ideal += gain(best[position]) * ranking_discount(position + 1);
  }
  return ideal > 0 ? sum / ideal : 1;
}

/// The mean discount of each document over all right orders: documents of equal relevance share the
/// discounts of their positions.
std::vector<double> mean_discounts(std::span<const double> relevance) {
  const std::vector<std::int32_t> order = order_by(relevance);
  const auto of = [&](std::size_t position) {
    return relevance[static_cast<std::size_t>(order[position])];
  };
  std::vector<double> c(relevance.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    double sum = 0;
    for (end = begin; end < order.size() && of(end) == of(begin); ++end)
      sum += ranking_discount(end + 1);
    for (std::size_t position = begin; position < end; ++position)
      c[static_cast<std::size_t>(order[position])] = sum / static_cast<double>(end - begin);
  }
  return c;
}

}  // namespace

double ranking_discount(std::size_t position) {
  return 1 / std::log2(1 + static_cast<double>(position));
}

RankingOracle::RankingOracle(const RankingExamples& data, const RankingOptions& options)
    : data_(data), rows_(data.x), options_(options) {
  double all = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    pairs_.push_back(pairs_of(relevance(i)));
    all += pairs_.back();
  }
  for (const double pairs : pairs_) {
    double divisor = pairs;
    if (options.loss == RankingLoss::pairs && options.weight == PairWeight::pairs)
      divisor = all / static_cast<double>(data.size());
    if (options.loss == RankingLoss::pairs && options.weight == PairWeight::none) divisor = 1;
    divisor_.push_back(divisor > 0 ? divisor : 1);
  }
}

std::vector<double> RankingOracle::scores(std::size_t i, std::span<const double> w) const {
  std::vector<double> f(data_.documents(i));
  for (std::size_t d = 0; d < f.size(); ++d)
    rows_.for_each(data_.query[i] + d, [&](Index j, double value) { f[d] += w[j] * value; });
  return f;
}

Structure RankingOracle::truth(std::size_t i) const {
  const std::size_t k = data_.documents(i);
  if (options_.loss == RankingLoss::average_precision) return order_by(relevance(i));
  if (options_.loss == RankingLoss::ndcg) return {};
  // No pair is swapped: all positions as the better one are behind those as the worse one.
  Structure y(2 * k, 0);
  for (std::size_t d = 0; d < k; ++d) y[d] = 1;
  return y;
}

bool RankingOracle::is_structure(std::size_t i, StructureView y) const {
  const std::size_t k = data_.documents(i);
  if (options_.loss == RankingLoss::pairs) return y.size() == 2 * k;
  if (y.empty() && options_.loss == RankingLoss::ndcg) return true;
  if (y.size() != k) return false;
  std::vector<char> seen(k, 0);
  for (const std::int32_t d : y) {
    if (d < 0 || static_cast<std::size_t>(d) >= k || seen[static_cast<std::size_t>(d)])
      return false;
    seen[static_cast<std::size_t>(d)] = 1;
  }
  return true;
}

std::string RankingOracle::example_name(std::size_t i) const {
  return "query " + data_.name[i] + " (line " + std::to_string(data_.line[i]) + ")";
}

/// Counts swapped pairs, those whose better document's position is before the worse one's.
RankingOracle::Swaps RankingOracle::swaps(std::size_t i, StructureView y) const {
  const std::size_t k = data_.documents(i);
  std::size_t grades = 0;
  const std::vector<std::size_t> grade = grades_of(relevance(i), grades);
  std::vector<std::size_t> order(2 * k);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // At equal positions the worse one comes first: such a pair is not swapped.
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return y[a] != y[b] ? y[a] < y[b] : a / k > b / k;
  });
  Swaps result;
  result.coefficient.assign(k, 0.0);
  PrefixSums better(grades), worse(grades);
  for (const std::size_t event : order) {
    const std::size_t d = event % k;
    if (event < k) {
      better.add(grade[d], 1);
    } else {
      const double swapped = better.before(grades) - better.before(grade[d] + 1);
      result.coefficient[d] -= swapped;
      result.count += swapped;
    }
  }
  for (std::size_t at = order.size(); at-- > 0;) {
    const std::size_t event = order[at], d = event % k;
    if (event >= k)
      worse.add(grade[d], 1);
    else
      result.coefficient[d] += worse.before(grade[d]);
  }
  return result;
}

double RankingOracle::loss(std::size_t i, StructureView y) const {
  switch (options_.loss) {
    case RankingLoss::pairs:
      return swaps(i, y).count / divisor_[i];
    case RankingLoss::average_precision:
      return std::max(0.0, 1 - average_precision(relevance(i), y));
    case RankingLoss::ndcg:
      return y.empty() ? 0 : std::max(0.0, 1 - ndcg(relevance(i), y));
  }
  return 0;
}

/// The coefficients of the documents in Psi, for pairs in -psi.
std::vector<double> RankingOracle::coefficients(std::size_t i, StructureView y) const {
  const std::size_t k = data_.documents(i);
  std::vector<double> c(k, 0.0);
  if (options_.loss == RankingLoss::ndcg) {
    for (std::size_t position = 0; position < k && !y.empty(); ++position)
      c[static_cast<std::size_t>(y[position])] = ranking_discount(position + 1);
    return y.empty() ? mean_discounts(relevance(i)) : c;
  }
  if (options_.loss == RankingLoss::pairs) {
    const Swaps found = swaps(i, y);
    for (std::size_t d = 0; d < k; ++d) c[d] = -found.coefficient[d] / divisor_[i];
    return c;
  }
  // For each pair of a relevant and another document, +1 for the one in front, -1 for the other.
  double relevant = 0, others = 0, total = 0;
  for (const double each : relevance(i)) total += each > 0 ? 1 : 0;
  for (const std::int32_t document : y) {
    const std::size_t d = static_cast<std::size_t>(document);
    if (relevance(i)[d] > 0) {
      ++relevant;
      c[d] = (static_cast<double>(k) - total - 2 * others) / divisor_[i];
    } else {
      ++others;
      c[d] = (total - 2 * relevant) / divisor_[i];
    }
  }
  return c;
}

void RankingOracle::add_documents(std::size_t i, std::span<const double> coefficient, double scale,
                                  JointFeatures& out) const {
  std::vector<double> sum(rows_.columns, 0.0);
  for (std::size_t d = 0; d < coefficient.size(); ++d) {
    if (coefficient[d] == 0) continue;
    rows_.for_each(data_.query[i] + d,
                   [&](Index j, double value) { sum[j] += coefficient[d] * value; });
  }
  for (std::size_t j = 0; j < sum.size(); ++j)
    if (sum[j] != 0) out.add(j, scale * sum[j]);
}

void RankingOracle::features(std::size_t i, StructureView y, double scale,
                             JointFeatures& out) const {
  add_documents(i, coefficients(i, y), scale, out);
}

void RankingOracle::difference(std::size_t i, StructureView y, double scale,
                               JointFeatures& out) const {
  std::vector<double> c = coefficients(i, y);
  if (options_.loss == RankingLoss::pairs) {
    for (double& each : c) each = -each;
  } else {
    const std::vector<double> right = coefficients(i, truth(i));
    for (std::size_t d = 0; d < c.size(); ++d) c[d] = right[d] - c[d];
  }
  add_documents(i, c, scale, out);
}

/// Relevant and other documents each by falling score; where among the relevant ones another is put
/// in is decided for each by itself: Yue, Finley, Radlinski and Joachims, 2007.
Structure RankingOracle::worst_precision(std::size_t i, std::span<const double> f) const {
  const std::vector<std::int32_t> order = order_by(f);
  std::vector<std::size_t> relevant, others;
  for (const std::int32_t document : order) {
    const std::size_t d = static_cast<std::size_t>(document);
    (relevance(i)[d] > 0 ? relevant : others).push_back(d);
  }
  const double m = static_cast<double>(relevant.size());
  // Other j (from 1) before the relevant ones from k on: what that changes, one k after the other.
  std::vector<std::vector<std::size_t>> before(relevant.size() + 1);
  std::size_t last = 0;
  for (std::size_t j = 1; j <= others.size(); ++j) {
    double sum = 0, most = 0;
    std::size_t best = relevant.size();
    for (std::size_t k = relevant.size(); k-- > 0;) {
      const double position = static_cast<double>(j), rank = static_cast<double>(k + 1);
      const double lost = (rank / (rank + position - 1) - rank / (rank + position)) / m;
      sum += lost - 2 * (f[relevant[k]] - f[others[j - 1]]) / divisor_[i];
      if (sum > most) {
        most = sum;
        best = k;
      }
    }
    last = std::max(last, best);  // rounding must not put a worse one in front
    before[last].push_back(others[j - 1]);
  }
  Structure y;
  for (std::size_t k = 0; k <= relevant.size(); ++k) {
    for (const std::size_t d : before[k]) y.push_back(static_cast<std::int32_t>(d));
    if (k < relevant.size()) y.push_back(static_cast<std::int32_t>(relevant[k]));
  }
  return y;
}

Structure RankingOracle::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  std::vector<double> f = scores(i, w);
  const std::size_t k = f.size();
  if (options_.loss == RankingLoss::ndcg) {
    if (ask == Ask::best) return order_by(f);
    // sum over places of discount * (f - gain / ideal)
    const Structure right = order_by(relevance(i));
    double ideal = 0;
    for (std::size_t position = 0; position < k; ++position)
      ideal += gain(relevance(i)[static_cast<std::size_t>(right[position])]) *
               ranking_discount(position + 1);
    for (std::size_t d = 0; d < k && ideal > 0; ++d) f[d] -= gain(relevance(i)[d]) / ideal;
    return order_by(f);
  }
  if (options_.loss == RankingLoss::average_precision)
    return ask == Ask::best || pairs_[i] == 0 ? order_by(f) : worst_precision(i, f);
  // A pair is swapped if f_a < f_b + 1, so places are those in the order of f_a and f_b + 1.
  std::vector<double> value(2 * k);
  for (std::size_t d = 0; d < k; ++d) {
    value[d] = f[d];
    value[k + d] = f[d] + (ask == Ask::best ? 0 : 1);
  }
  std::vector<std::size_t> order(2 * k);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    if (value[a] != value[b]) return value[a] < value[b];
    return a > b;  // the worse one first: equal values are not swapped
  });
  Structure y(2 * k);
  for (std::size_t position = 0; position < order.size(); ++position)
    y[order[position]] = static_cast<std::int32_t>(position);
  return y;
}

}  // namespace maxmargin
