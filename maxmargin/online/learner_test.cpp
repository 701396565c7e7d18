#include "maxmargin/online/learner.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/model/predict.hpp"
#include "maxmargin/online/made_stream.hpp"

namespace maxmargin::learner_test {
namespace {

using made::gram;
using Stream = made::MadeStream;

/// The rules once more, as the table of the book has them: every alpha is multiplied at every step.
struct Naive {
  std::string rule;
  double lambda, nu = 0.1, sigma = 1, epsilon = 0.1, aggressiveness = 1;
  bool bias = true;
  std::vector<double> alpha{};
  double b = 0, width = 0;

  double f(const std::vector<std::vector<double>>& K, std::size_t t) const {
    double sum = 0;
    for (std::size_t i = 0; i < alpha.size(); ++i) sum += alpha[i] * K[i][t];
    return sum;
  }
  void learn(const std::vector<std::vector<double>>& K, std::size_t t, double y, double rate) {
    const double g = f(K, t) + b, r = y - g;
    const double side = r > 0 ? 1 : r < 0 ? -1 : 0;
    double fresh = 0;
    if (rule == "soft-margin" || rule == "pegasos") {
      if (y * g < 1) fresh = rate * y;
    } else if (rule == "nu") {
      if (y * g < width) fresh = rate * y;
      width += y * g < width ? -rate * (1 - nu) : rate * nu;
    } else if (rule == "perceptron" || rule == "regularised-perceptron") {
      if (y * g <= 0) fresh = rate * y;
    } else if (rule == "squared-hinge") {
      if (y * g < 1) fresh = rate * y * (1 - y * g);
    } else if (rule == "novelty") {
      if (g < width) fresh = rate;
      width += g < width ? -rate * (1 - nu) : rate * nu;
    } else if (rule == "squared") {
      fresh = rate * r;
    } else if (rule == "epsilon-nu") {
      if (std::abs(r) > width) fresh = rate * side;
      width += std::abs(r) > width ? rate * (1 - nu) : -rate * nu;
    } else if (rule == "huber" || rule == "adaptive-huber") {
      fresh = std::abs(r) < width ? rate * r / width : rate * side;
      if (rule == "adaptive-huber") width += std::abs(r) > width ? rate * (1 - nu) : -rate * nu;
    } else if (rule == "passive-aggressive") {
      const double self = K[t][t] + (bias ? 1 : 0);
      if (self > 0) fresh = y * std::min(aggressiveness, std::max(0.0, 1 - y * g) / self);
    } else if (rule == "passive-aggressive-regression") {
      const double self = K[t][t] + (bias ? 1 : 0);
      if (self > 0)
        fresh = side * std::min(aggressiveness, std::max(0.0, std::abs(r) - epsilon) / self);
    } else {
      ADD_FAILURE() << "no naive form of " << rule;
    }
    for (double& each : alpha) each *= 1 - lambda * rate;
    alpha.push_back(fresh);
    if (bias) b += fresh;
    if (rule != "pegasos") return;
    double squared = 0;
    for (std::size_t i = 0; i < alpha.size(); ++i)
      for (std::size_t j = 0; j < alpha.size(); ++j) squared += alpha[i] * alpha[j] * K[i][j];
    if (squared * lambda > 1)
      for (double& each : alpha) each /= std::sqrt(squared * lambda);
  }
};

Naive naive_of(const Learner& learner) {
  return std::visit(
      [&](const auto& rule) {
        Naive naive{std::string(rule.name), rule.decays ? learner.lambda() : 0};
        naive.width = rule.first_width();
        naive.bias = learner.options().bias && !rule.projects && rule.outcome != Outcome::novelty;
        return naive;
      },
      learner.options().rule);
}

double rate_at(const Learner& learner, std::size_t step) {
  const auto t = static_cast<double>(step);
  if (learner.rate() == Rate::constant) return learner.options().eta;
  if (learner.rate() == Rate::inverse_sqrt) return learner.options().eta / std::sqrt(t);
  return 1 / (learner.lambda() * (t + learner.options().t0));
}

void expect_as_naive(LearnerOptions options, const Stream& stream,
                     const std::vector<std::vector<double>>& K) {
  Learner learner(std::move(options));
  Naive naive = naive_of(learner);
  double worst = 0;
  for (std::size_t t = 0; t < stream.x.count(); ++t) {
    const double y = stream.label(learner.outcome(), t);
    // The first class is the positive one.
    const double target = learner.outcome() == Outcome::classes ? y * stream.sign[0] : y;
    const double g = naive.f(K, t) + naive.b;
    learner.learn(stream.row(t), y);
    const double shift = learner.outcome() == Outcome::novelty ? naive.width : 0;
    const double own = t == 0 ? -shift : learner.decision_values()[0];
    worst = std::max(worst, std::abs(own - (g - shift)) / std::max(1.0, std::abs(g)));
    naive.learn(K, t, target, rate_at(learner, t + 1));
  }
  EXPECT_LE(worst, 1e-12);
  EXPECT_NEAR(learner.machines()[0].width, naive.width, 1e-12);
  EXPECT_NEAR(learner.machines()[0].bias, naive.b, 1e-12 * std::max(1.0, std::abs(naive.b)));
  EXPECT_EQ(learner.steps(), stream.x.count());
}

TEST(OnlineRules, AreTheNaiveOnesOverAThousandRows) {
  const Stream stream(1000);
  const Stream shorter(200);
  for (const Kernel& kernel : {Kernel{Linear{}}, Kernel{Rbf{0.7}}}) {
    const auto K = gram(kernel, stream.x), few = gram(kernel, shorter.x);
    for_each_component<Rule>([&](const auto& rule) {
      const bool decays = rule.decays;
      for (const Rate rate : {Rate::constant, Rate::inverse_sqrt, Rate::inverse}) {
        if (rule.projects && rate != Rate::inverse) continue;
        if (rate == Rate::inverse && (!decays || !HasSlope<std::remove_cvref_t<decltype(rule)>>))
          continue;
        SCOPED_TRACE(std::string(rule.name) + " " + std::string(to_string(rate)));
        LearnerOptions options{.rule = rule, .kernel = kernel, .rate = rate};
        options.eta = rate == Rate::constant ? 0.05 : 0.3;
        // The first steps of 1/(lambda t) must not amplify rounding: lambda k(x,x) about 1.
        if (decays) options.lambda = rate == Rate::inverse ? 1 : 0.02;
        options.bias = rate != Rate::inverse;
        // The naive norm of pegasos is quadratic.
        if (rule.projects)
          expect_as_naive(options, shorter, few);
        else
          expect_as_naive(options, stream, K);
        if (rate != Rate::inverse) continue;
        options.t0 = 6.5;
        expect_as_naive(options, shorter, few);
      }
    });
  }
}

TEST(OnlineRules, LearnWithEveryKernel) {
  const Stream stream(150, 3, 0.0);
  for_each_component<Kernel>([&](auto kernel) {
    SCOPED_TRACE(kernel.name);
    if constexpr (requires { kernel.function; }) {
      kernel.function = [](const Rows& left, std::span<const Index> which, const Rows& right,
                           std::size_t begin, std::size_t count, double* out) {
        for (std::size_t r = 0; r < which.size(); ++r)
          for (std::size_t c = 0; c < count; ++c)
            out[r * count + c] = naive_value(Rbf{2}, left, which[r], right, begin + c);
      };
      expect_as_naive({.rule = SoftMarginRule{}, .kernel = kernel}, stream, gram(Rbf{2}, stream.x));
    } else if constexpr (std::is_same_v<decltype(kernel), Precomputed>) {
      const auto K = gram(Rbf{1}, stream.x);
      Learner by_matrix({.rule = SoftMarginRule{}, .kernel = kernel});
      Learner by_rows({.rule = SoftMarginRule{}, .kernel = Rbf{1}});
      std::vector<Index> all(stream.x.count());
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
      for (std::size_t t = 0; t < stream.x.count(); ++t) {
        by_matrix.learn({all, K[t], t}, stream.sign[t]);
        by_rows.learn(stream.row(t), stream.sign[t]);
      }
      EXPECT_NEAR(by_matrix.decision_values()[0], by_rows.decision_values()[0], 1e-12);
    } else {
      expect_as_naive({.rule = SoftMarginRule{}, .kernel = kernel, .eta = 0.3}, stream,
                      gram(kernel, stream.x));
    }
  });
}

TEST(OnlineRules, GoDownTheSlopeOfTheirRisk) {
  const Stream stream(40);
  const Kernel kernel = Rbf{1};
  const auto K = gram(kernel, stream.x);
  for_each_component<Rule>([&](const auto& rule) {
    using Chosen = std::remove_cvref_t<decltype(rule)>;
    if constexpr (HasSlope<Chosen>) {
      SCOPED_TRACE(rule.name);
      if (rule.projects) return;  // a projection is no gradient
      LearnerOptions options{.rule = rule, .kernel = kernel, .rate = Rate::constant};
      options.eta = 0.1;
      if (rule.decays) options.lambda = 0.5;
      Learner learner(options);
      Naive before = naive_of(learner);
      std::size_t t = 0;
      for (; t + 1 < stream.x.count(); ++t) {
        const double y = stream.label(learner.outcome(), t);
        before.learn(K, t, learner.outcome() == Outcome::classes ? y * stream.sign[0] : y, 0.1);
      }
      const double label = stream.label(learner.outcome(), t);
      const double y = learner.outcome() == Outcome::classes ? label * stream.sign[0] : label;
      before.alpha.push_back(0);
      const auto risk = [&](const Naive& at) {
        double norm = 0;
        for (std::size_t i = 0; i <= t; ++i)
          for (std::size_t j = 0; j <= t; ++j) norm += at.alpha[i] * at.alpha[j] * K[i][j];
        return rule.loss(y, at.f(K, t) + at.b, at.width) + at.lambda / 2 * norm;
      };
      Naive after = before;
      after.alpha.pop_back();
      after.learn(K, t, y, 0.1);
      const double h = 1e-6;
      const auto derivative = [&](auto&& move) {
        Naive up = before, down = before;
        move(up, h);
        move(down, -h);
        return (risk(up) - risk(down)) / (2 * h);
      };
      // The slope along k(x_i, .) is what the update has lost there, by the rate.
      for (std::size_t i = 0; i <= t; i += 7) {
        double change = 0;
        for (std::size_t j = 0; j <= t; ++j) change += (after.alpha[j] - before.alpha[j]) * K[i][j];
        EXPECT_NEAR(change, -0.1 * derivative([&](Naive& at, double d) { at.alpha[i] += d; }),
                    1e-6);
      }
      if (before.bias) {
        EXPECT_NEAR(after.b - before.b, -0.1 * derivative([](Naive& at, double d) { at.b += d; }),
                    1e-6);
      }
      if (rule.adaptive && rule.name != "adaptive-huber") {
        EXPECT_NEAR(after.width - before.width,
                    -0.1 * derivative([](Naive& at, double d) { at.width += d; }), 1e-6);
      }
    }
  });
}

TEST(OnlineRules, SigmaFollowsTheQuantileOfTheErrors) {
  const Stream stream(4000);
  LearnerOptions options{.rule = AdaptiveHuberRule{}, .kernel = Linear{}, .rate = Rate::constant};
  options.eta = 0.01;
  Learner learner(options);
  std::size_t beyond = 0;
  for (std::size_t t = 0; t < stream.x.count(); ++t) {
    const double width = learner.machines()[0].width;
    const double g = learner.learn(stream.row(t), stream.number[t]).before.value;
    if (t >= 1000) beyond += std::abs(stream.number[t] - g) > width;
  }
  EXPECT_NEAR(static_cast<double>(beyond) / 3000, 0.1, 0.02);
}

TEST(OnlineRules, NoveltyRaisesAlarmAtTheShareAskedFor) {
  const Stream stream(8000);
  for (const double nu : {0.05, 0.2}) {
    NoveltyRule rule;
    rule.nu = nu;
    Learner learner({.rule = rule,
                     .kernel = Rbf{1},
                     .rate = Rate::constant,
                     .eta = 0.01,
                     .truncation = Horizon{600}});
    std::size_t alarms = 0;
    for (std::size_t t = 0; t < stream.x.count(); ++t) {
      const Learned learned = learner.learn(stream.row(t), 0);
      alarms += t >= 4000 && !learned.correct;
    }
    EXPECT_NEAR(static_cast<double>(alarms) / 4000, nu, 0.1 * nu) << nu;
  }
}

TEST(Online, AClassMayComeInMidStream) {
  const Stream stream(600);
  LearnerOptions options{.rule = SoftMarginRule{}, .kernel = Rbf{2}};
  Learner two(options), three(options);
  const auto kind = [&](std::size_t i) {
    return i >= 300 && stream.number[i] > 0.8 ? "high" : stream.number[i] > -0.2 ? "plus" : "minus";
  };
  std::size_t late = 0, right = 0;
  for (std::size_t i = 0; i < 600; ++i) {
    const Learned learned = three.learn(stream.row(i), kind(i));
    if (i < 300) {
      two.learn(stream.row(i), kind(i));
      // Two classes are one machine, to the last bit as if nobody could join.
      EXPECT_EQ(two.machines().size(), 1u);
      if (i > 0) {
        EXPECT_EQ(two.decision_values()[0], three.decision_values()[0]);
      }
    } else if (i > 400) {
      ++late;
      right += learned.correct;
    }
  }
  EXPECT_EQ(three.classes().size(), 3u);
  EXPECT_EQ(three.machines().size(), 3u);
  EXPECT_GT(right, late * 3 / 5);  // of three classes
  const Model model = three.model(600);
  EXPECT_EQ(model.classes.size(), 3u);
  const Predictor predictor(model);
  const auto values = predictor.decision_values(stream.x, Threads(1));
  for (std::size_t i = 0; i < 600; i += 13)
    EXPECT_EQ(static_cast<int>(predictor.predict({values.data() + 3 * i, 3})),
              three.predict(stream.row(i)).class_number);
}

TEST(Online, TheSecondMachineIsMinusTheFirstWhenAThirdClassComes) {
  const Stream stream(50);
  Learner learner({.rule = SoftMarginRule{}, .kernel = Rbf{1}});
  for (std::size_t i = 0; i < 50; ++i) learner.learn(stream.row(i), stream.sign[i]);
  const std::size_t terms = learner.terms();
  learner.learn(stream.row(0), 7.0);
  ASSERT_EQ(learner.machines().size(), 3u);
  for (std::size_t k = 0; k < terms; ++k) {
    EXPECT_EQ(learner.machines()[0].coefficient[k], -learner.machines()[1].coefficient[k]);
    EXPECT_EQ(learner.machines()[2].coefficient[k], 0);
  }
  EXPECT_GT(terms, 0u);
}

/// The same updates with nothing dropped.
struct Shadow {
  std::vector<std::size_t> row;
  std::vector<double> alpha;

  void step(double decay, std::size_t t, double fresh) {
    for (double& each : alpha) each *= decay;
    row.push_back(t);
    alpha.push_back(fresh);
  }
  double f(const std::vector<std::vector<double>>& K, std::size_t t) const {
    double sum = 0;
    for (std::size_t k = 0; k < row.size(); ++k) sum += alpha[k] * K[row[k]][t];
    return sum;
  }
};

TEST(OnlineTruncation, BothBoundsHoldAgainstAShadowThatDropsNothing) {
  const Stream stream(400);
  for (const Kernel& kernel : {Kernel{Rbf{1}}, Kernel{Polynomial{}}}) {
    const auto K = gram(kernel, stream.x);
    for (const Truncation& truncation :
         {Truncation{Horizon{60}}, Truncation{Budget{40}}, Truncation{Budget{40, Removal::project}},
          Truncation{Budget{40, Removal::merge}}, Truncation{LargestError{0.2}}}) {
      const auto* budget = std::get_if<Budget>(&truncation);
      const bool merges = budget != nullptr && budget->removal == Removal::merge;
      if (merges && !std::holds_alternative<Rbf>(kernel)) continue;
      SCOPED_TRACE(std::string(name_of(truncation)) + " " + std::string(name_of(kernel)));
      LearnerOptions options{.rule = SoftMarginRule{}, .kernel = kernel, .lambda = 0.2};
      options.rate = Rate::constant;
      options.eta = 0.1;
      options.truncation = truncation;
      options.bias = false;
      Learner learner(options);
      Shadow shadow;
      double most = 0;
      std::size_t doubted = 0;
      for (std::size_t t = 0; t < stream.x.count(); ++t) {
        const OnlinePrediction said = learner.predict(stream.row(t));
        const double f = t == 0 ? 0 : learner.decision_values()[0], true_f = shadow.f(K, t);
        const double reach = std::sqrt(K[t][t]) * learner.dropped();
        ASSERT_LE(std::abs(f - true_f), reach + 1e-9) << t;
        most = std::max(most, std::abs(f - true_f));
        if (learner.classes().size() == 2) {
          if ((f > 0) != (true_f > 0)) {
            EXPECT_TRUE(said.doubtful) << t;
          }
          doubted += said.doubtful;
        }
        const double y = stream.sign[t] * stream.sign[0];
        shadow.step(1 - 0.2 * 0.1, t, y * f < 1 ? 0.1 * y : 0);
        learner.learn(stream.row(t), stream.sign[t]);
        if (std::holds_alternative<Horizon>(truncation)) {
          double gone = 0;
          ASSERT_TRUE(learner.horizon_bound().value);
          for (std::size_t k = 0; k + 60 <= t; ++k)
            gone += std::abs(shadow.alpha[k]) * std::sqrt(K[k][k]);
          EXPECT_LE(gone, *learner.horizon_bound().value);
          EXPECT_LE(learner.dropped(), *learner.horizon_bound().value * (1 + 1e-12));
        }
        if (budget != nullptr) {
          EXPECT_LE(learner.terms(), 40u);
        }
        if (std::holds_alternative<LargestError>(truncation)) {
          EXPECT_LE(learner.dropped(), 0.2);
        }
      }
      EXPECT_GT(most, 0) << "nothing was ever truncated";
      EXPECT_LT(doubted, stream.x.count());
    }
  }
}

TEST(OnlineTruncation, SaysWhyTheBookHasNoBound) {
  const auto why = [](LearnerOptions options) { return Learner(options).horizon_bound().why_not; };
  LearnerOptions options{.kernel = Rbf{1}, .truncation = Horizon{10}};
  EXPECT_NE(why(options).find("not constant"), std::string::npos);
  options.rate = Rate::constant;
  options.eta = 0.1;
  EXPECT_EQ(why(options), "");
  options.rule = SquaredRule{};
  EXPECT_NE(why(options).find("no bound"), std::string::npos);
  options.rule = PerceptronRule{};
  EXPECT_NE(why(options).find("lambda is 0"), std::string::npos);
  options.truncation = Budget{};
  EXPECT_NE(why(options).find("horizon"), std::string::npos);
}

}  // namespace
}  // namespace maxmargin::learner_test
