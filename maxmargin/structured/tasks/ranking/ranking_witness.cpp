#include <algorithm>
#include <cmath>
#include <numeric>

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

/// Pairs one by one.
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
  if (ranking_.options().loss != RankingLoss::pairs)
    return k <= few ? EveryOrder(ranking_).most_violated(i, w, ask)
                    : ranking_.most_violated(i, w, ask);
  // Places by counting what is smaller, instead of sorting.
  std::vector<double> value = ranking_.scores(i, w);
  for (std::size_t d = 0; d < k; ++d) value.push_back(value[d] + (ask == Ask::best ? 0 : 1));
  Structure y(2 * k, 0);
  for (std::size_t a = 0; a < 2 * k; ++a)
    for (std::size_t b = 0; b < 2 * k; ++b)
      y[a] += value[b] < value[a] || (value[b] == value[a] && b > a) ? 1 : 0;
  return y;
}

}  // namespace maxmargin
