#include <algorithm>
#include <numeric>

#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/tasks/binary_field.hpp"
#include "maxmargin/structured/tasks/sample/sample.hpp"

namespace maxmargin {
namespace {

/// The rows of one class by decreasing score, among equal ones in their order.
std::vector<std::size_t> by_score(const SampleExamples& data, std::span<const double> f,
                                  bool positive) {
  std::vector<std::size_t> order;
  for (std::size_t r = 0; r < data.size(); ++r)
    if ((data.positive[r] != 0) == positive) order.push_back(r);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return f[a] > f[b]; });
  return order;
}

/// Labels the first `right` and `wrong` rows of the two lists positive.
Structure labels_of(std::size_t rows, std::span<const std::size_t> positive, std::size_t right,
                    std::span<const std::size_t> negative, std::size_t wrong) {
  Structure y(rows, 0);
  for (const std::size_t r : positive.first(right)) y[r] = 1;
  for (const std::size_t r : negative.first(wrong)) y[r] = 1;
  return y;
}

}  // namespace

SampleOracle::SampleOracle(const SampleExamples& data)
    : data_(data),
      rows_(data.x),
      positives_(static_cast<std::size_t>(std::ranges::count(data.positive, 1))) {}

bool SampleOracle::allows(std::size_t right, std::size_t wrong) const {
  // The truth is always feasible.
  return !has_fixed_count() || right + wrong == data_.k || (right == positives_ && wrong == 0);
}

double SampleOracle::loss_of(std::size_t right, std::size_t wrong) const {
  if (right == positives_ && wrong == 0) return 0;
  const double a = static_cast<double>(right), b = static_cast<double>(wrong);
  const double p = static_cast<double>(positives_);
  switch (data_.loss) {
    case SampleLoss::error:
      return (p - a + b) / static_cast<double>(data_.size());
    case SampleLoss::f1:
      return 1 - 2 * a / (a + b + p);
    case SampleLoss::precision:
      return 1 - a / static_cast<double>(data_.k);
    case SampleLoss::recall:
      return 1 - a / p;
  }
  return 0;
}

double SampleOracle::loss(std::size_t, StructureView y) const {
  std::size_t right = 0, wrong = 0;
  for (std::size_t r = 0; r < y.size(); ++r)
    if (y[r] == 1) ++(data_.positive[r] != 0 ? right : wrong);
  return loss_of(right, wrong);
}

bool SampleOracle::is_structure(std::size_t, StructureView y) const {
  if (y.size() != data_.size()) return false;
  if (std::ranges::any_of(y, [](std::int32_t each) { return each < 0 || each > 1; })) return false;
  std::size_t right = 0, wrong = 0;
  for (std::size_t r = 0; r < y.size(); ++r)
    if (y[r] == 1) ++(data_.positive[r] != 0 ? right : wrong);
  return allows(right, wrong);
}

std::vector<double> SampleOracle::scores(std::span<const double> w) const {
  std::vector<double> f(data_.size(), data_.bias != 0 ? data_.bias * w.back() : 0);
  for (std::size_t r = 0; r < f.size(); ++r)
    rows_.for_each(r, [&](Index j, double value) { f[r] += w[j] * value; });
  return f;
}

void SampleOracle::append(std::span<const double> coefficient, double scale,
                          JointFeatures& out) const {
  std::vector<double> sum(dimensions(), 0.0);
  for (std::size_t r = 0; r < coefficient.size(); ++r) {
    if (coefficient[r] == 0) continue;
    rows_.for_each(r, [&](Index j, double value) { sum[j] += coefficient[r] * value; });
    if (data_.bias != 0) sum.back() += coefficient[r] * data_.bias;
  }
  for (std::size_t j = 0; j < sum.size(); ++j)
    if (sum[j] != 0) out.add(j, scale * sum[j] / static_cast<double>(data_.size()));
}

void SampleOracle::features(std::size_t, StructureView y, double scale, JointFeatures& out) const {
  append(std::vector<double>(y.begin(), y.end()), scale, out);
}

void SampleOracle::difference(std::size_t, StructureView y, double scale,
                              JointFeatures& out) const {
  std::vector<double> c(y.size());
  for (std::size_t r = 0; r < y.size(); ++r) c[r] = data_.positive[r] - y[r];
  append(c, scale, out);
}

void SampleOracle::margins(std::size_t, std::span<const StructureView> ys,
                           std::span<const double> w, std::span<double> out) const {
  const std::vector<double> f = scores(w);
  for (std::size_t k = 0; k < ys.size(); ++k) {
    double sum = 0;
    for (std::size_t r = 0; r < f.size(); ++r) sum += (data_.positive[r] - ys[k][r]) * f[r];
    out[k] = sum / static_cast<double>(data_.size());
  }
}

Structure SampleOracle::most_violated(std::size_t, std::span<const double> w, Ask ask) const {
  const std::vector<double> f = scores(w);
  const auto positive = by_score(data_, f, true), negative = by_score(data_, f, false);
  const double n = static_cast<double>(data_.size());
  // Prefix sums of the sorted scores of either class.
  const auto sums = [&](const std::vector<std::size_t>& order) {
    std::vector<double> sum{0};
    for (const std::size_t r : order) sum.push_back(sum.back() + f[r] / n);
    return sum;
  };
  const std::vector<double> of_right = sums(positive), of_wrong = sums(negative);
  const auto value = [&](std::size_t a, std::size_t b) {
    return (ask == Ask::best ? 0 : loss_of(a, b)) + of_right[a] + of_wrong[b];
  };
  double most = -infinity;
  std::size_t right = 0, wrong = 0;
  const auto look_at = [&](std::size_t a, std::size_t b) {
    if (b >= of_wrong.size() || !allows(a, b) || !(value(a, b) > most)) return;
    most = value(a, b);
    right = a;
    wrong = b;
  };
  look_at(positives_, 0);
  for (std::size_t a = 0; a < of_right.size(); ++a) {
    if (has_fixed_count()) {
      if (a <= data_.k) look_at(a, data_.k - a);
      continue;
    }
    // The value is concave in the number of false positives, as scores decrease and so do the
    // differences of each Delta: bisection finds the maximum.
    std::size_t low = 0, high = negative.size();
    while (low < high) {
      const std::size_t b = low + (high - low) / 2;
      const double step =
          f[negative[b]] / n + (ask == Ask::best ? 0 : loss_of(a, b + 1) - loss_of(a, b));
      if (step > 0)
        low = b + 1;
      else
        high = b;
    }
    look_at(a, low);
  }
  return labels_of(data_.size(), positive, right, negative, wrong);
}

bool SampleWitness::next(std::size_t, Structure& y) const {
  do {
    if (!next_integral(oracle_.data().size(), y)) return false;
  } while (!oracle_.is_structure(0, y));
  return true;
}

Structure SampleWitness::most_violated(std::size_t, std::span<const double> w, Ask ask) const {
  constexpr std::size_t few = 10;
  const SampleExamples& data = oracle_.data();
  if (data.size() <= few) return EnumerationOracle::most_violated(0, w, ask);
  const std::vector<double> f = oracle_.scores(w);
  const auto positive = by_score(data, f, true), negative = by_score(data, f, false);
  double most = -infinity, sum = 0;
  std::size_t right = 0, wrong = 0;
  for (const std::size_t r : positive) sum += f[r];
  for (std::size_t b = 0; b <= negative.size(); ++b) {
    double value = sum;
    for (std::size_t a = positive.size() + 1; a-- > 0;) {
      const double total =
          value / static_cast<double>(data.size()) + (ask == Ask::best ? 0 : oracle_.loss_of(a, b));
      if (oracle_.allows(a, b) && total > most) {
        most = total;
        right = a;
        wrong = b;
      }
      if (a > 0) value -= f[positive[a - 1]];
    }
    if (b < negative.size()) sum += f[negative[b]];
  }
  return labels_of(data.size(), positive, right, negative, wrong);
}

}  // namespace maxmargin
