#include "maxmargin/solver/hulls/hulls.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/linalg/small.hpp"

namespace maxmargin {

std::optional<std::string> refuses_separation(const DualQp& qp) {
  if (qp.K->definite() == Definite::no)
    return "it needs a positive semi-definite kernel, which has hulls";
  for (const Block& block : qp.block)
    if (block.lower != 0 || block.upper != infinity || !(block.linear < 0) ||
        block.linear != qp.block[0].linear)
      return "it separates two classes: give --hard-margin, or --loss squared-hinge";
  if (qp.A.empty()) return std::nullopt;
  const std::vector<double>& row = qp.A[0];
  const auto [least, most] = std::ranges::minmax(row);
  const bool two_classes =
      qp.A.size() == 1 && qp.d[0] == 0 && most > 0 && least == -most &&
      std::ranges::all_of(row, [most = most](double entry) { return std::abs(entry) == most; });
  if (!two_classes) return "it takes no equality row but that of a bias";
  return std::nullopt;
}

Hulls::Hulls(const DualQp& qp, std::span<const double> start, CachePolicy cache,
             std::size_t cache_bytes, Precision precision, const Threads& threads)
    : qp_(qp),
      precision_(precision),
      threads_(threads),
      cache_(qp.K, cache_bytes, cache, threads),
      hull_(qp.size(), 0),
      alpha_(qp.size(), 0.0),
      part_(qp.A.empty() ? 1 : 2) {
  std::vector<double> sum(count(), 0.0);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    if (!qp.A.empty()) hull_[v] = qp.A[0][v] > 0 ? 0 : 1;
    if (!start.empty()) sum[hull_[v]] += start[v];
  }
  std::vector<bool> placed(count(), false);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const std::size_t hull = hull_[v];
    if (sum[hull] > 0)
      alpha_[v] = start[v] / sum[hull];
    else if (!placed[hull])
      alpha_[v] = 1;
    placed[hull] = true;
  }
  refresh();
}

void Hulls::refresh() {
  f_.assign(qp_.K->size(), 0.0);
  for (std::size_t hull = 0; hull < count(); ++hull) {
    std::vector<double> own = alpha_;
    for (std::size_t v = 0; v < own.size(); ++v)
      if (hull_[v] != hull) own[v] = 0;
    part_[hull].resize(f_.size());
    qp_.K->multiply(qp_.coefficients(own), part_[hull], precision_, threads_);
    for (std::size_t p = 0; p < f_.size(); ++p) f_[p] += part_[hull][p];
  }
}

double Hulls::along(std::size_t v, std::span<const double> f) const {
  return qp_.block[v].sign * f[qp_.row[v]] + qp_.block[v].curvature * alpha_[v];
}

std::vector<Hulls::View> Hulls::views() const {
  std::vector<View> views(count(), View{0, 0, infinity, 0, -infinity});
  for (std::size_t v = 0; v < qp_.size(); ++v) {
    View& view = views[hull_[v]];
    const double value = along(v, f_);
    if (value < view.least) {
      view.least = value;
      view.near = v;
    }
    if (alpha_[v] == 0) continue;
    view.mean += alpha_[v] * value;
    if (value > view.most) {
      view.most = value;
      view.far = v;
    }
  }
  return views;
}

/// The hull's point times `keep`, and so much more of a vertex.
void Hulls::move(std::size_t hull, double keep, std::size_t vertex, double weight) {
  const float* row = cache_.row(qp_.row[vertex]);
  const double coefficient = qp_.block[vertex].sign * weight;
  std::vector<double>& part = part_[hull];
  for (std::size_t p = 0; p < f_.size(); ++p) {
    const double change = (keep - 1) * part[p] + coefficient * static_cast<double>(row[p]);
    part[p] += change;
    f_[p] += change;
  }
  if (keep != 1)
    for (std::size_t v = 0; v < alpha_.size(); ++v)
      if (hull_[v] == hull) alpha_[v] *= keep;
  alpha_[vertex] += weight;
}

namespace {

/// The least of slope t + bend t^2 / 2 on [0, most].
double best_length(double slope, double bend, double most) {
  return bend * most > -slope ? -slope / bend : most;
}

}  // namespace

void Hulls::exchange(std::size_t from, std::size_t to) {
  const Index i = qp_.row[to], j = qp_.row[from];
  const Block &gains = qp_.block[to], &loses = qp_.block[from];
  const auto diagonal = qp_.K->diagonal();
  const double bend = diagonal[i] + diagonal[j] + gains.curvature + loses.curvature -
                      2 * gains.sign * loses.sign * static_cast<double>(cache_.row(i)[j]);
  const double most = alpha_[from];
  const double weight = best_length(along(to, f_) - along(from, f_), bend, most);
  move(hull_[to], 1, to, weight);
  move(hull_[to], 1, from, -weight);
  if (weight == most) alpha_[from] = 0;
}

void Hulls::toward(std::size_t vertex, double sign, double most) {
  const std::size_t hull = hull_[vertex];
  const std::vector<double>& part = part_[hull];
  double mean = 0, square = 0;
  for (std::size_t v = 0; v < qp_.size(); ++v)
    if (hull_[v] == hull && alpha_[v] != 0) {
      mean += alpha_[v] * along(v, f_);
      square += alpha_[v] * along(v, part);
    }
  const double bend = qp_.K->diagonal()[qp_.row[vertex]] + qp_.block[vertex].curvature -
                      2 * along(vertex, part) + square;
  const double length = best_length(sign * (along(vertex, f_) - mean), bend, most);
  move(hull, 1 - sign * length, vertex, sign * length);
  if (sign < 0 && length == most) alpha_[vertex] = 0;
}

void Hulls::go_toward(std::size_t vertex) { toward(vertex, 1, 1); }

void Hulls::go_away(std::size_t vertex) {
  toward(vertex, -1, alpha_[vertex] / (1 - alpha_[vertex]));
}

double Hulls::scale() const {
  double square = 0, linear = 0;
  for (std::size_t v = 0; v < qp_.size(); ++v) {
    square += alpha_[v] * along(v, f_);
    linear -= alpha_[v] * qp_.block[v].linear;
  }
  return square > 0 ? linear / square : infinity;
}

std::vector<double> Hulls::variables() const {
  const double times = scale();
  std::vector<double> a = alpha_;
  if (std::isfinite(times))
    for (double& each : a) each *= times;
  return a;
}

}  // namespace maxmargin
