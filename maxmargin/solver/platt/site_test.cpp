#include "maxmargin/solver/platt/site.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "tests/dense_quadratic.hpp"

namespace maxmargin::site_test {
namespace {

/// A site of one of the kinds that losses make: hinge, tube, squared tube, Huber, logistic.
Site random_site(int kind, Rng& rng, Block& block) {
  Site site;
  if (kind == 0) {
    const double y = rng.uniform() < 0.5 ? -1 : 1;
    site.right = site.left = -y;
    site.low = y > 0 ? 0 : -rng.uniform(0.5, 2);
    site.high = y > 0 ? rng.uniform(0.5, 2) : 0;
  } else if (kind <= 2) {
    const double y = rng.normal(), epsilon = rng.uniform(0, 0.5);
    site.minus = 1;
    site.right = epsilon - y;
    site.left = -epsilon - y;
    site.low = -rng.uniform(0.5, 2);
    site.high = rng.uniform(0.5, 2);
    if (kind == 2) {
      site.right_bend = rng.uniform(0.1, 1);
      site.left_bend = rng.uniform(0.1, 1);
      site.low = -infinity;
      site.high = infinity;
    }
  } else if (kind == 3) {
    site.right = site.left = rng.normal();
    site.right_bend = site.left_bend = rng.uniform(0.1, 1);
    site.low = -1;
    site.high = 1;
  } else {
    block = {rng.uniform() < 0.5 ? -1.0 : 1.0, 0, 0, rng.uniform(0.5, 2), 0};
    block.entropy = Entropy::logistic;
    site.entropy = &block;
    site.low = block.sign > 0 ? 0 : -block.upper;
    site.high = block.sign > 0 ? block.upper : 0;
  }
  return site;
}

double random_beta(const Site& site, Rng& rng) {
  const double low = std::max(site.low, -2.0), high = std::min(site.high, 2.0);
  if (site.entropy == nullptr && rng.uniform() < 0.3)
    return rng.uniform() < 0.5 ? low : std::clamp(0.0, low, high);
  return low + (high - low) * rng.uniform(0.05, 0.95);
}

/// Calls check(pair) for many pairs of which a step pays.
template <class Check>
void for_each_pair(Check&& check) {
  Rng rng(7);
  Block first, second;
  int checked = 0;
  for (int n = 0; n < 3000; ++n) {
    const int kind = n % 5;
    const Site grows = random_site(kind, rng, first), falls = random_site(kind, rng, second);
    const Pair pair{grows,
                    falls,
                    random_beta(grows, rng),
                    random_beta(falls, rng),
                    rng.normal(),
                    rng.normal(),
                    n % 7 == 0 ? 0 : rng.uniform(0.1, 2)};
    if (!grows.can_grow(pair.grows_beta) || !falls.can_fall(pair.falls_beta)) continue;
    if (!(pair.slope() < -1e-6)) continue;
    ++checked;
    check(pair);
  }
  EXPECT_GT(checked, 500);
}

TEST(PlattSite, SlopesAreThoseOfTheObjective) {
  for_each_pair([](const Pair& pair) {
    const double t = 1e-7;
    if (pair.longest() < t) return;
    EXPECT_NEAR(pair.change(t) / t, pair.slope(), 1e-5 * (1 + std::abs(pair.slope())));
  });
}

TEST(PlattSite, BestStepIsTheExactMinimiserOfItsTwoVariables) {
  for_each_pair([](const Pair& pair) {
    const double t = pair.best(1), longest = pair.longest();
    if (std::isinf(t)) {
      EXPECT_TRUE(std::isinf(longest));
      return;
    }
    ASSERT_GT(t, 0);
    ASSERT_LE(t, longest);
    const double best = pair.change(t), end = std::min(longest, 4 * t + 1);
    for (int n = 1; n < 400; ++n)
      EXPECT_GE(pair.change(n * end / 400), best - 1e-12) << "of " << t << " at " << n * end / 400;
  });
}

TEST(PlattSite, EveryZetaBelowTwoLowersTheObjective) {
  for_each_pair([](const Pair& pair) {
    for (const double zeta : {0.1, 0.8, 1.3, 1.8, 1.999}) {
      const double t = pair.best(zeta);
      if (std::isinf(t)) continue;
      EXPECT_GT(t, 0);
      EXPECT_LE(t, pair.longest());
      EXPECT_LT(pair.change(t), 0) << zeta;
    }
  });
}

// (10.72): a hinge pair inside its bounds, by hand.
TEST(PlattSite, HingeStepIsTheFormulaOfTheBook) {
  Site plus, minus;
  plus.right = plus.left = -1;
  plus.high = 10;
  minus.right = minus.left = 1;
  minus.low = -10;
  const Pair pair{plus, minus, 1, -1, 0.2, 0.3, 0.5};
  // delta = y_i ((f_j - y_j) - (f_i - y_i)) = (0.3 + 1) - (0.2 - 1)
  EXPECT_DOUBLE_EQ(pair.best(1), (1.3 + 0.8) / 0.5);
  EXPECT_DOUBLE_EQ(pair.best(1.5), 1.5 * (1.3 + 0.8) / 0.5);
  EXPECT_DOUBLE_EQ(pair.best(1.9999), 2.1 / 0.5 * 1.9999);
}

TEST(PlattSite, BothSidesOfATubeAreOneSiteAndEqualRowsOfTwoClassesAreNot) {
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(2, std::vector<double>{1, 0, 0, 1});
  qp.row = {0, 0, 1, 1};
  qp.block = {{1, 0.1 - 3, 0, 2, 0}, {-1, 0.1 + 3, 0, 1, 0}, {1, -1, 0, 1, 0}, {-1, -1, 0, 1, 0}};
  const std::vector<std::uint32_t> group = {0, 0, 0, 0};
  const std::vector<Site> sites = sites_of(qp, group);
  ASSERT_EQ(sites.size(), 3u);
  EXPECT_TRUE(sites[0].has_kink());
  EXPECT_EQ(sites[0].low, -1);
  EXPECT_EQ(sites[0].high, 2);
  EXPECT_FALSE(sites[1].has_kink());
  const std::vector<double> a = {0, 0.5, 0.25, 0.75};
  EXPECT_EQ(to_variables(qp, sites, to_sites(qp, sites, a)), a);
  // Different rows, as those of nu, keep them apart.
  EXPECT_EQ(sites_of(qp, std::vector<std::uint32_t>{0, 1, 0, 1}).size(), 4u);
}

}  // namespace
}  // namespace maxmargin::site_test
