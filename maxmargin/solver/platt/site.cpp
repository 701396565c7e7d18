#include "maxmargin/solver/platt/site.hpp"

#include <algorithm>
#include <cmath>

namespace maxmargin {
namespace {

/// Both sides of a tube: their sum costs, so that no point has both above zero.
bool are_sides_of_a_tube(const Block& one, const Block& other) {
  return one.sign == -other.sign && one.lower == 0 && other.lower == 0 &&
         one.linear + other.linear >= 0 && one.entropy == Entropy::none &&
         other.entropy == Entropy::none;
}

Site single(const DualQp& qp, std::uint32_t v) {
  const Block& block = qp.block[v];
  Site site;
  site.point = qp.row[v];
  site.plus = v;
  site.low = block.sign > 0 ? block.lower : -block.upper;
  site.high = block.sign > 0 ? block.upper : -block.lower;
  site.right = site.left = block.sign * block.linear;
  site.right_bend = site.left_bend = block.curvature;
  if (block.entropy != Entropy::none) site.entropy = &block;
  return site;
}

/// psi(beta) of a site without an entropy.
double value(const Site& site, double beta) {
  if (site.entropy != nullptr) return site.entropy->value(site.entropy->sign * beta);
  return beta >= 0 ? (site.right + site.right_bend * beta / 2) * beta
                   : (site.left + site.left_bend * beta / 2) * beta;
}

/// The zero of the derivative along the step, which grows: Newton's method between two ends.
double smooth_minimum(const Pair& pair, double longest) {
  const auto slope = [&](double t) {
    return pair.grows_f + pair.grows.slope_right(pair.grows_beta + t) - pair.falls_f -
           pair.falls.slope_left(pair.falls_beta - t) + pair.chi * t;
  };
  double low = 0, high = longest, t = 0;
  // Where nothing bounds the step, the first place with a rising objective does.
  if (std::isinf(high))
    for (high = 1; slope(high) < 0 && high < 1e300;) {
      low = high;
      high *= 4;
    }
  t = low + (high - low) / 2;
  for (int n = 0; n < 200 && low < high; ++n) {
    const double here = slope(t);
    if (here == 0) return t;
    (here < 0 ? low : high) = t;
    const double bend =
        pair.grows.bend(pair.grows_beta + t) + pair.falls.bend(pair.falls_beta - t) + pair.chi;
    double next = t - here / bend;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (std::abs(next - t) <= 1e-16 * std::abs(t) || next <= low || next >= high) return t;
    t = next;
  }
  return t;
}

}  // namespace

double Site::slope_right(double beta) const {
  if (entropy != nullptr) return entropy->sign * entropy->slope(entropy->sign * beta);
  return beta >= 0 ? right + right_bend * beta : left + left_bend * beta;
}

double Site::slope_left(double beta) const {
  if (entropy != nullptr) return entropy->sign * entropy->slope(entropy->sign * beta);
  return beta > 0 ? right + right_bend * beta : left + left_bend * beta;
}

double Site::bend(double beta) const {
  if (entropy != nullptr) return entropy->bend(entropy->sign * beta);
  return beta >= 0 ? right_bend : left_bend;
}

std::vector<Site> sites_of(const DualQp& qp, std::span<const std::uint32_t> group_of) {
  std::vector<Site> sites;
  const auto n = static_cast<std::uint32_t>(qp.size());
  std::vector<std::uint32_t> last(qp.K->size(), Site::none);  // site of each point, still single
  for (std::uint32_t v = 0; v < n; ++v) {
    std::uint32_t& waiting = last[qp.row[v]];
    if (waiting != Site::none && sites[waiting].group == group_of[v] &&
        are_sides_of_a_tube(qp.block[sites[waiting].plus], qp.block[v])) {
      Site& site = sites[waiting];
      const bool first_is_plus = qp.block[site.plus].sign > 0;
      site.minus = first_is_plus ? v : site.plus;
      if (!first_is_plus) site.plus = v;
      const Block &plus = qp.block[site.plus], &minus = qp.block[site.minus];
      site.low = -minus.upper;
      site.high = plus.upper;
      site.right = plus.linear;
      site.left = -minus.linear;
      site.right_bend = plus.curvature;
      site.left_bend = minus.curvature;
      waiting = Site::none;
      continue;
    }
    waiting = static_cast<std::uint32_t>(sites.size());
    sites.push_back(single(qp, v));
    sites.back().group = group_of[v];
  }
  return sites;
}

std::vector<double> to_sites(const DualQp& qp, std::span<const Site> sites,
                             std::span<const double> a) {
  std::vector<double> beta;
  beta.reserve(sites.size());
  for (const Site& site : sites)
    beta.push_back(site.has_kink() ? a[site.plus] - a[site.minus]
                                   : qp.block[site.plus].sign * a[site.plus]);
  return beta;
}

std::vector<double> to_variables(const DualQp& qp, std::span<const Site> sites,
                                 std::span<const double> beta) {
  std::vector<double> a(qp.size(), 0.0);
  for (std::size_t k = 0; k < sites.size(); ++k) {
    const Site& site = sites[k];
    if (site.has_kink()) {
      a[site.plus] = std::max(beta[k], 0.0);
      a[site.minus] = std::max(-beta[k], 0.0);
    } else {
      const double value = qp.block[site.plus].sign * beta[k];
      a[site.plus] = value == 0 ? 0.0 : value;
    }
  }
  return a;
}

double Pair::change(double t) const {
  return value(grows, grows_beta + t) - value(grows, grows_beta) + value(falls, falls_beta - t) -
         value(falls, falls_beta) + (grows_f - falls_f) * t + chi * t * t / 2;
}

double Pair::best(double zeta) const {
  const double most = longest();
  if (grows.entropy != nullptr || falls.entropy != nullptr) {
    const double minimum = smooth_minimum(*this, most);
    double t = zeta * minimum;
    // Not a parabola: as far as it lowers the objective, and short of infinite slopes.
    while (zeta > 1 && t > minimum && !(t < most && change(t) < 0))
      t = t - minimum > 1e-3 * minimum ? minimum + (t - minimum) / 2 : minimum;
    return t;
  }
  double start = 0, steepness = slope();
  while (true) {
    double end = most;
    if (grows.has_kink() && grows_beta + start < 0) end = std::min(end, -grows_beta);
    if (falls.has_kink() && falls_beta - start > 0) end = std::min(end, falls_beta);
    const double grown = grows_beta + start, fallen = falls_beta - start;
    const double bend = chi + (grown >= 0 ? grows.right_bend : grows.left_bend) +
                        (fallen > 0 ? falls.right_bend : falls.left_bend);
    const double length = end - start;
    if (bend > 0 && steepness + bend * length >= 0)
      return std::min(start + zeta * (-steepness / bend), end);
    if (end >= most) return most;
    steepness += bend * length;
    if (grows.has_kink() && end == -grows_beta) steepness += grows.right - grows.left;
    if (falls.has_kink() && end == falls_beta) steepness += falls.right - falls.left;
    if (steepness >= 0) return end;
    start = end;
  }
}

}  // namespace maxmargin
