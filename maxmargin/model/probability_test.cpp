#include "maxmargin/model/probability.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/libsvm/calibration.hpp"
#include "maxmargin/model/predict.hpp"
#include "tests/sample_model.hpp"

namespace maxmargin::probability_test {
namespace {

std::vector<double> random_distribution(std::size_t size, Rng& rng) {
  std::vector<double> p(size);
  for (double& each : p) each = -std::log(1 - rng.uniform());
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& each : p) each /= sum;
  return p;
}

TEST(PlattSigmoid, IsTheLogisticFunctionAndKeepsSmallProbabilities) {
  const PlattSigmoid sigmoid{-2, 0.5};
  EXPECT_DOUBLE_EQ(sigmoid(1), 1 / (1 + std::exp(-1.5)));
  EXPECT_DOUBLE_EQ(sigmoid(0.25), 0.5);
  EXPECT_GT(sigmoid(-300), 0);
  EXPECT_NEAR(std::log(sigmoid(-300)), -600.5, 1e-9);
  EXPECT_EQ(sigmoid(-1e300), 0);
  EXPECT_EQ(sigmoid(1e300), 1);
}

TEST(Couple, FindsTheDistributionThatPairsWereMadeFrom) {
  Rng rng(1);
  for (const std::size_t k : {2u, 3u, 5u, 12u, 40u}) {
    const std::vector<double> p = random_distribution(k, rng);
    std::vector<double> pairwise(k * k);
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < k; ++j) pairwise[i * k + j] = p[i] / (p[i] + p[j]);
    const std::vector<double> found = couple(pairwise, k);
    for (std::size_t i = 0; i < k; ++i) EXPECT_NEAR(found[i], p[i], 1e-7) << k;
  }
}

TEST(Couple, NoOtherDistributionFitsThePairsBetter) {
  Rng rng(2);
  const auto misfit = [](std::span<const double> r, std::span<const double> p) {
    const std::size_t k = p.size();
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double d = r[j * k + i] * p[i] - r[i * k + j] * p[j];
        sum += d * d;
      }
    return sum;
  };
  for (int trial = 0; trial < 100; ++trial) {
    const std::size_t k = 2 + rng.below(6);
    std::vector<double> r(k * k, 0.5);
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        r[i * k + j] = rng.uniform(0.001, 0.999);
        r[j * k + i] = 1 - r[i * k + j];
      }
    const std::vector<double> p = couple(r, k);
    EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-12);
    for (const double each : p) EXPECT_GE(each, 0);
    for (int other = 0; other < 20; ++other) {
      const std::vector<double> direction = random_distribution(k, rng);
      for (const double step : {1e-4, 1e-2, 0.5}) {
        std::vector<double> q = p;
        for (std::size_t i = 0; i < k; ++i) q[i] += step * (direction[i] - p[i]);
        EXPECT_GE(misfit(r, q), misfit(r, p) - 1e-12);
      }
    }
    // LIBSVM stops early, near the same.
    const std::vector<double> rough = couple(r, k, libsvm_coupling);
    for (std::size_t i = 0; i < k; ++i) EXPECT_NEAR(rough[i], p[i], 0.05);
  }
}

TEST(Favour, MovesTheLeastThatMakesTheLabelLead) {
  Rng rng(3);
  const auto leads = [](std::span<const double> p, std::size_t label, double by) {
    for (std::size_t c = 0; c < p.size(); ++c)
      if (c != label && !(p[label] >= p[c] + by)) return false;
    return true;
  };
  const auto distance = [](std::span<const double> p, std::span<const double> q) {
    double sum = 0;
    for (std::size_t c = 0; c < p.size(); ++c) sum += (p[c] - q[c]) * (p[c] - q[c]);
    return sum;
  };
  int moved = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t k = 2 + rng.below(6), label = rng.below(k);
    const std::vector<double> p = random_distribution(k, rng);
    std::vector<double> q = p;
    make_largest(label, q);
    EXPECT_TRUE(leads(q, label, 1e-6));
    EXPECT_NEAR(std::accumulate(q.begin(), q.end(), 0.0), 1, 1e-12);
    for (const double each : q) EXPECT_GE(each, 0);
    if (leads(p, label, 1e-5)) {
      EXPECT_EQ(p, q);
      continue;
    }
    ++moved;
    for (int other = 0; other < 30; ++other) {
      const std::vector<double> direction = random_distribution(k, rng);
      std::vector<double> nearer = q;
      for (std::size_t c = 0; c < k; ++c) nearer[c] += 0.01 * (direction[c] - q[c]);
      if (leads(nearer, label, 2e-6)) {
        EXPECT_GE(distance(nearer, p), distance(q, p) - 1e-12);
      }
    }
  }
  EXPECT_GT(moved, 100);
}

TEST(Probabilities, TheLargestIsThatOfThePredictedClass) {
  Rng rng(4);
  for (const Multiclass multiclass : {Multiclass::one_vs_one, Multiclass::one_vs_rest})
    for (const std::size_t classes : {2u, 3u, 4u, 7u}) {
      Model model = sample::classifier(Rbf{1}, classes, multiclass, sample::Storage::dense_double,
                                       20, 5, classes);
      // Sigmoids as bad as can be: the label must lead all the same.
      sample::calibrate(model, rng.next());
      const Predictor predictor(model);
      for (int row = 0; row < 200; ++row) {
        std::vector<double> f(model.machines.size());
        for (double& each : f) each = rng.uniform() < 0.1 ? 0 : rng.normal();
        const std::vector<double> p = predictor.probabilities(f);
        ASSERT_EQ(p.size(), classes);
        EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-12);
        const auto label = static_cast<std::size_t>(predictor.predict(f));
        for (std::size_t c = 0; c < classes; ++c)
          if (c != label) {
            EXPECT_GT(p[label], p[c]);
          }
      }
    }
}

TEST(Probabilities, OfTwoClassesAreTheSigmoid) {
  Model model = sample::classifier(Rbf{1}, 2, Multiclass::one_vs_one, sample::Storage::dense_float);
  const Predictor before(model);
  EXPECT_THROW(before.probabilities(std::vector<double>{1.0}), Error);
  model.calibration.folds = 5;
  model.calibration.sigmoid = {{-2, 0}};
  const Predictor predictor(model);
  const std::vector<double> p = predictor.probabilities(std::vector<double>{0.75});
  const auto positive_class = static_cast<std::size_t>(model.machines[0].positive);
  EXPECT_DOUBLE_EQ(p[positive_class], 1 / (1 + std::exp(-1.5)));
  EXPECT_DOUBLE_EQ(p[1 - positive_class], 1 - 1 / (1 + std::exp(-1.5)));
}

TEST(PValue, CountsTheRowsThatAreNoMoreNormal) {
  Rng rng(5);
  std::vector<double> seen(50);
  for (double& each : seen) each = rng.normal();
  Calibration calibration;
  calibration.folds = 5;
  calibration.weight = 50;
  calibration.marks = quantile_marks(seen, {});
  ASSERT_EQ(calibration.marks.size(), seen.size());
  double last = 0;
  std::ranges::sort(seen);
  for (const double f : seen) {
    const auto no_more = std::ranges::upper_bound(seen, f) - seen.begin();
    EXPECT_NEAR(calibration.p_value(f), (1 + static_cast<double>(no_more)) / 51, 1e-12);
    EXPECT_GT(calibration.p_value(f), last);
    last = calibration.p_value(f);
  }
  EXPECT_NEAR(calibration.p_value(-100), 1.0 / 51, 1e-15);
  EXPECT_EQ(calibration.p_value(100), 1);
}

TEST(QuantileMarks, ARowOfWeightThreeIsThreeRows) {
  const std::vector<double> values{3, 1, 2, 5}, weights{1, 3, 2, 1};
  const std::vector<double> repeated{1, 1, 1, 2, 2, 3, 5};
  const auto exact = [&](double t) {
    return repeated[static_cast<std::size_t>(std::ceil(std::max(1.0, t * 7))) - 1];
  };
  const std::vector<double> marks = quantile_marks(values, weights);
  for (std::size_t k = 0; k < marks.size(); ++k)
    EXPECT_EQ(marks[k], exact(static_cast<double>(k) / static_cast<double>(marks.size() - 1)));
  EXPECT_EQ(quantile_marks(std::vector<double>{4}, {}), (std::vector<double>{4, 4}));
  EXPECT_EQ(quantile_marks(std::vector<double>(5000, 1.0), {}).size(), 1001u);
}

TEST(Interval, LeavesTheSameShareOutOnEitherSide) {
  Calibration calibration;
  calibration.folds = 5;
  calibration.noise = 2;
  const auto laplace = calibration.interval(0.9);
  EXPECT_NEAR(std::exp(-laplace.upper / 2), 0.1, 1e-12);
  EXPECT_EQ(laplace.lower, -laplace.upper);

  std::vector<double> errors;
  for (int i = 1; i <= 99; ++i) errors.push_back(i);
  calibration.marks = quantile_marks(errors, {});
  calibration.weight = 99;
  // The r-th of n is passed with probability r / (n + 1).
  EXPECT_NEAR(calibration.interval(0.9).lower, 5, 1e-9);
  EXPECT_NEAR(calibration.interval(0.9).upper, 95, 1e-9);
  // More than the rows can tell: all that was seen.
  EXPECT_EQ(calibration.interval(0.999).lower, 1);
  EXPECT_EQ(calibration.interval(0.999).upper, 99);
}

}  // namespace
}  // namespace maxmargin::probability_test
