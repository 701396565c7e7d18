#include "maxmargin/online/dual_learner.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/online/progressive.hpp"
#include "maxmargin/train/train.hpp"

namespace maxmargin::dual_learner_test {
namespace {

/// Two (or three) noisy classes in the plane.
struct Cloud {
  Features x = Features::sparse(2);
  std::vector<double> y;

  explicit Cloud(std::size_t rows, int classes = 2) {
    Rng rng(11);
    for (std::size_t i = 0; i < rows; ++i) {
      const double a = rng.uniform(-1, 1), b = rng.uniform(-1, 1);
      x.append(std::vector<double>{a, b});
      const double side = a * b + 0.15 * rng.normal();
      y.push_back(classes == 3 && a + b > 0.8 ? 3 : side > 0 ? 1 : 2);
    }
  }
  StreamRow row(std::size_t i) const {
    const Rows rows = x;
    doubles_.resize(x.count());
    if (doubles_[i].empty())
      rows.for_each(i, [&](Index, double value) { doubles_[i].push_back(value); });
    return {{rows.index + rows.start[i], doubles_[i].size()}, doubles_[i], i};
  }
  /// What training afresh on some of the rows reaches.
  Trained trained(const std::vector<Index>& which, double cost, const Kernel& kernel) const {
    Dataset data;
    data.x = Features::sparse(2);
    data.x.append(x.view(), which);
    for (const Index i : which) data.y.push_back(y[i]);
    TrainOptions options;
    Svc task;
    task.cost = cost;
    task.multiclass = Multiclass::one_vs_rest;
    options.task = task;
    options.kernel = kernel;
    options.stop = {.kkt = 1e-6, .relative_gap = 1e-6};
    return train(std::move(data), options, Threads(1));
  }

 private:
  mutable std::vector<std::vector<double>> doubles_;
};

TEST(OnlineWindow, IsAtTheOptimumOfItsRowsAfterEveryRow) {
  for (const int classes : {2, 3}) {
    const Cloud cloud(120, classes);
    DualLearnerOptions options{.kernel = Rbf{2}, .cost = 3, .window = 40, .tolerance = 1e-6};
    DualLearner learner(options);
    for (std::size_t t = 0; t < 120; ++t) {
      learner.learn(cloud.row(t), cloud.y[t]);
      EXPECT_EQ(learner.terms(), std::min<std::size_t>(t + 1, 40));
      if (t % 17 != 0 || t < 17) continue;
      const auto certificate = learner.certificate(Threads(1));
      ASSERT_TRUE(certificate);
      EXPECT_LE(certificate->kkt, 2e-6) << t;
      EXPECT_LE(certificate->equality_residual, 1e-12);
      EXPECT_EQ(certificate->bound_residual, 0);
      std::vector<Index> held;
      for (std::size_t i = t < 40 ? 0 : t - 39; i <= t; ++i) held.push_back(static_cast<Index>(i));
      const Trained afresh = cloud.trained(held, 3, Rbf{2});
      if (afresh.model.classes.size() == static_cast<std::size_t>(classes)) {
        EXPECT_NEAR(certificate->dual, afresh.certificate.dual, 1e-4 * afresh.certificate.dual)
            << t;
      }
    }
  }
}

TEST(OnlineWindow, ForgetsARowAsIfItHadNeverCome) {
  const Cloud cloud(60);
  DualLearner learner({.kernel = Rbf{2}, .cost = 2, .window = 100, .tolerance = 1e-7});
  for (std::size_t t = 0; t < 60; ++t) learner.learn(cloud.row(t), cloud.y[t]);
  std::vector<Index> held;
  for (Index i = 0; i < 60; ++i)
    if (i % 4 == 1)
      EXPECT_TRUE(learner.forget(i));
    else
      held.push_back(i);
  EXPECT_FALSE(learner.forget(1));
  EXPECT_EQ(learner.terms(), held.size());
  const Trained afresh = cloud.trained(held, 2, Rbf{2});
  EXPECT_LE(learner.certificate(Threads(1))->kkt, 2e-7);
  const Predictor predictor(afresh.model);
  const auto values = predictor.decision_values(cloud.x, Threads(1), Precision::exact);
  const int positive_class = afresh.model.machines[0].positive;
  const double sign =
      afresh.model.classes[static_cast<std::size_t>(positive_class)] == learner.classes()[0] ? 1
                                                                                             : -1;
  for (std::size_t i = 0; i < 60; ++i) {
    learner.predict(cloud.row(i));
    EXPECT_NEAR(learner.decision_values()[0], sign * values[i], 1e-3) << i;
  }
}

TEST(OnlineSmo, StaysFeasibleAndComesNearToTheBatch) {
  const Cloud cloud(800);
  DualLearner learner({.kernel = Rbf{2}, .cost = 1});
  for (std::size_t t = 0; t < 800; ++t) {
    learner.learn(cloud.row(t), cloud.y[t]);
    if (t % 250 != 249) continue;
    const auto certificate = learner.certificate(Threads(1));
    ASSERT_TRUE(certificate);
    EXPECT_LE(certificate->equality_residual, 1e-10);
    EXPECT_LE(certificate->bound_residual, 1e-12);
    EXPECT_LE(certificate->dual, certificate->primal);
  }
  EXPECT_LT(learner.terms(), 800u) << "rows beyond the margin are let go";
  learner.finish();
  EXPECT_LE(learner.certificate(Threads(1))->kkt, 2e-3);
  std::vector<Index> all(800);
  for (Index i = 0; i < 800; ++i) all[i] = i;
  const Trained batch = cloud.trained(all, 1, Rbf{2});
  EXPECT_GT(learner.certificate(Threads(1))->dual, 0.9 * batch.certificate.dual);
  const Model model = learner.model(800);
  const Predictor predictor(model);
  const auto values = predictor.decision_values(cloud.x, Threads(1));
  std::size_t same = 0;
  for (std::size_t i = 0; i < 800; ++i)
    same += static_cast<int>(predictor.predict({&values[i], 1})) ==
            learner.predict(cloud.row(i)).class_number;
  EXPECT_GE(same, 795u);
}

TEST(OnlineDual, ACutAtEveryRowGoesOnToTheSameBits) {
  const Cloud cloud(24, 3);
  for (const Kernel& kernel : {Kernel{Rbf{2}}, Kernel{Laplacian{}}, Kernel{Linear{}}})
    for (const std::uint64_t window : {0u, 8u}) {
      const DualLearnerOptions options{.kernel = kernel, .cost = 2, .window = window};
      DualLearner whole(options);
      for (std::size_t t = 0; t < 24; ++t) whole.learn(cloud.row(t), cloud.y[t]);
      for (std::size_t cut = 0; cut <= 24; ++cut) {
        DualLearner first(options), second(options);
        for (std::size_t t = 0; t < cut; ++t) first.learn(cloud.row(t), cloud.y[t]);
        const std::string bytes = first.state();
        second.restore(std::as_bytes(std::span(bytes)), "cut");
        for (std::size_t t = cut; t < 24; ++t) second.learn(cloud.row(t), cloud.y[t]);
        ASSERT_EQ(second.state(), whole.state()) << cut << " " << window;
      }
    }
}

TEST(OnlineDual, AnyRoomForKernelRowsGivesTheSameBits) {
  const Cloud cloud(500);
  for (const std::uint64_t window : {0, 40}) {
    std::string expected;
    for (const std::size_t bytes : {1 << 29, 4000, 0}) {
      DualLearner learner({.kernel = Rbf{2}, .cost = 3, .window = window, .cache_bytes = bytes});
      for (std::size_t t = 0; t < 500; ++t) {
        learner.learn(cloud.row(t), cloud.y[t]);
        if (t % 7 == 3) learner.forget(t - 2);
      }
      if (expected.empty()) expected = learner.state();
      EXPECT_EQ(learner.state(), expected) << window << " " << bytes;
    }
  }
}

TEST(OnlineDual, BytesAreNotTrustedAndOptionsMustAgree) {
  const Cloud cloud(20);
  const DualLearnerOptions options{.kernel = Rbf{2}, .window = 10};
  DualLearner learner(options);
  for (std::size_t t = 0; t < 20; ++t) learner.learn(cloud.row(t), cloud.y[t]);
  const std::string bytes = learner.state();
  for (std::size_t size = 0; size < bytes.size(); size += 5)
    EXPECT_THROW(
        DualLearner(options).restore(std::as_bytes(std::span(bytes.data(), size)), "short"), Error);
  Rng rng(2);
  for (int trial = 0; trial < 200; ++trial) {
    std::string broken = bytes;
    for (int k = 0; k < 3; ++k)
      broken[rng.below(broken.size())] = static_cast<char>(rng.below(256));
    try {
      DualLearner read(options);
      read.restore(std::as_bytes(std::span(broken)), "broken");
      read.learn(cloud.row(0), 1);
    } catch (const Error&) {
    }
  }
  DualLearnerOptions other = options;
  other.cost = 7;
  EXPECT_THROW(DualLearner(other).restore(std::as_bytes(std::span(bytes)), "other"), Error);
  EXPECT_THROW(DualLearner({.kernel = Precomputed{}}), Error);
  EXPECT_THROW(DualLearner({.window = 1}), Error);
  const std::vector<Index> one{0};
  const std::vector<double> huge{1e200};
  DualLearner linear({.kernel = Linear{}});
  EXPECT_THROW(linear.learn({one, huge, 0}, 1.0), Error);
  EXPECT_THROW(linear.model(0), Error);
}

TEST(OnlineDrift, IsToldAtItsLevelAndSoonAfterAChange) {
  int false_notices = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    DriftTest test(100, 0.05);
    bool told = false;
    for (int t = 0; t < 5000; ++t) told = test.add(rng.uniform() < 0.2 ? 1 : 0).has_value() || told;
    false_notices += told;
  }
  EXPECT_LE(false_notices, 5 + 7);  // a mean of 5 at most, and three deviations
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    DriftTest test(200, 0.01);
    std::optional<DriftNotice> notice;
    for (int t = 0; t < 4000 && !notice; ++t)
      notice = test.add(rng.uniform() < (t < 2000 ? 0.1 : 0.5) ? 1 : 0);
    ASSERT_TRUE(notice) << seed;
    EXPECT_GT(notice->row, 2000u);
    EXPECT_LE(notice->row, 2400u);
    EXPECT_GT(notice->window - notice->before, notice->bound);
  }
}

// Found by fuzzing: a class was there, and its row was not.
TEST(OnlineDual, ARowThatOverflowsChangesNothing) {
  const Index feature[] = {0};
  for (const std::uint64_t window : {0, 3})
    for (const Kernel& kernel : {Kernel{Linear{}}, Kernel{Polynomial{.degree = 3, .coef0 = -1}}})
      for (const double size : {1e40, 1e80, 1e110, 1e148, 1e152, 1e154, 1e200}) {
        SCOPED_TRACE(size);
        DualLearner learner({.kernel = kernel, .window = window});
        for (std::uint64_t i = 0; i < 12; ++i) {
          const double value[] = {(i % 3 == 0 ? -size : size) / static_cast<double>(1 + i % 4)};
          const std::string before = learner.state();
          try {
            learner.learn({feature, value, i}, std::string_view(&"abcdbacdabca"[i], 1));
          } catch (const Error&) {
            ASSERT_EQ(learner.state(), before) << i;
          }
          DualLearner again({.kernel = kernel, .window = window});
          const std::string state = learner.state();
          again.restore(std::as_bytes(std::span(state)), "again");
          ASSERT_EQ(again.state(), state);
        }
      }
}

}  // namespace
}  // namespace maxmargin::dual_learner_test
