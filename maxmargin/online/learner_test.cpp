#include "maxmargin/online/learner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/online/checkpoint.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t features = 5;

/// Sparse rows with some zeros, and labels of each kind.
struct Stream {
  Features x = Features::sparse(features);
  std::vector<double> sign, number;

  explicit Stream(std::size_t rows, std::uint64_t seed = 7, double least = -1) {
    Rng rng(seed);
    for (std::size_t i = 0; i < rows; ++i) {
      std::vector<double> row(features, 0.0);
      for (double& each : row)
        if (rng.uniform() < 0.8) each = rng.uniform(least, 1);
      x.append(row);
      sign.push_back(row[0] * row[1] + 0.3 * row[2] + 0.2 * rng.normal() > 0 ? 1 : -1);
      number.push_back(std::sin(3 * row[0]) + row[1] + 0.1 * rng.normal());
    }
  }
  StreamRow row(std::size_t i) const {
    const Rows rows = x;
    values_.resize(std::max(values_.size(), x.count()));
    if (values_[i].empty())
      rows.for_each(i, [&](Index, double value) { values_[i].push_back(value); });
    return {{rows.index + rows.start[i], values_[i].size()}, values_[i], i};
  }
  double label(Outcome outcome, std::size_t i) const {
    return outcome == Outcome::number ? number[i] : sign[i];
  }

 private:
  mutable std::vector<std::vector<double>> values_;
};

std::vector<std::vector<double>> gram(const Kernel& kernel, const Rows& rows) {
  std::vector<std::vector<double>> K(rows.count, std::vector<double>(rows.count));
  for (std::size_t i = 0; i < rows.count; ++i)
    for (std::size_t j = 0; j <= i; ++j) K[i][j] = K[j][i] = naive_value(kernel, rows, i, rows, j);
  return K;
}

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
  return 1 / (learner.lambda() * t);
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

TEST(OnlineState, ACutAtEveryRowGoesOnToTheSameBits) {
  const Stream stream(16);
  const auto last_state = [](Learner& learner) { return learner.state(); };
  for_each_component<Rule>([&](const auto& rule) {
    std::vector<LearnerOptions> all{{.rule = rule, .kernel = Linear{}},
                                    {.rule = rule, .kernel = Rbf{1}}};
    all.push_back({.rule = rule, .kernel = Rbf{1}, .average = true});
    all.push_back({.rule = rule, .kernel = Linear{}, .average = true});
    all.push_back({.rule = rule, .kernel = Rbf{1}, .truncation = Budget{4, Removal::merge}});
    all.push_back({.rule = rule, .kernel = Polynomial{}, .truncation = Horizon{5}});
    for (LearnerOptions& options : all) {
      options.eta = 0.5;
      SCOPED_TRACE(rule.name);
      const auto learn = [&](Learner& learner, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          learner.learn(stream.row(i), i == 11 && learner.outcome() == Outcome::classes
                                           ? 3.0
                                           : stream.label(learner.outcome(), i));
      };
      Learner whole(options);
      learn(whole, 0, 16);
      const std::string expected = last_state(whole);
      for (std::size_t cut = 0; cut <= 16; ++cut) {
        Learner first(options);
        learn(first, 0, cut);
        const std::string bytes = first.state();
        Learner second = Learner::from_state(std::as_bytes(std::span(bytes)), "cut");
        learn(second, cut, 16);
        ASSERT_EQ(second.state(), expected) << cut;
      }
    }
  });
}

TEST(OnlineState, BytesAreNotTrusted) {
  const Stream stream(20);
  for (const Kernel& kernel : {Kernel{Linear{}}, Kernel{Rbf{1}}}) {
    Learner learner({.kernel = kernel});
    for (std::size_t i = 0; i < 20; ++i) learner.learn(stream.row(i), stream.sign[i]);
    const std::string bytes = learner.state();
    for (std::size_t size = 0; size < bytes.size(); size += 3)
      EXPECT_THROW(Learner::from_state(std::as_bytes(std::span(bytes.data(), size)), "short"),
                   Error);
    Rng rng(1);
    std::size_t refused = 0;
    for (int trial = 0; trial < 400; ++trial) {
      std::string broken = bytes;
      for (int k = 0; k < 3; ++k)
        broken[rng.below(broken.size())] = static_cast<char>(rng.below(256));
      try {
        Learner read = Learner::from_state(std::as_bytes(std::span(broken)), "broken");
        read.learn(stream.row(0), 1);
      } catch (const Error&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 50u);
  }
}

TEST(OnlineState, ACheckpointSaysWhatIsWrongWithIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.checkpoint";
  save_checkpoint(path, "state");
  EXPECT_EQ(load_checkpoint(path), "state");
  const auto refusal = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    try {
      load_checkpoint(path);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal("maxmargin stream 2\nx").find("version 2"), std::string::npos);
  EXPECT_NE(refusal("maxmargin model 1\n").find("not a checkpoint"), std::string::npos);
  EXPECT_NE(refusal("maxmargin stream 1\nstate0123").find("checksum"), std::string::npos);
  EXPECT_NE(refusal("").find("not a checkpoint"), std::string::npos);
  EXPECT_THROW(save_checkpoint(folder / "no/such/folder", "x"), Error);
}

TEST(OnlineModel, PredictsWhatTheLearnerPredicts) {
  const Stream stream(200);
  for_each_component<Rule>([&](const auto& rule) {
    for (const Kernel& kernel : {Kernel{Linear{}}, Kernel{Rbf{1}}})
      for (const bool average : {false, true}) {
        SCOPED_TRACE(rule.name);
        Learner learner({.rule = rule, .kernel = kernel, .average = average});
        for (std::size_t i = 0; i < 200; ++i)
          learner.learn(stream.row(i), stream.label(learner.outcome(), i));
        const std::string bytes = to_bytes(learner.model(200));
        const Model model = from_bytes(std::as_bytes(std::span(bytes)), "m");
        const Predictor predictor(model);
        const auto values = predictor.decision_values(stream.x, Threads(1), Precision::exact);
        for (std::size_t i = 0; i < 200; i += 9) {
          const OnlinePrediction said = learner.predict(stream.row(i));
          EXPECT_NEAR(values[i], learner.decision_values()[0],
                      1e-9 * std::max(1.0, std::abs(values[i])));
          const double predicted = predictor.predict({&values[i], 1});
          if (model.outcome != Outcome::number) {
            EXPECT_EQ(predicted,
                      model.outcome == Outcome::classes ? said.class_number : said.value);
          }
        }
      }
  });
}

TEST(OnlineAverage, IsTheMeanOfAllStepsWithWeightsT) {
  const Stream stream(100);
  for (const Kernel& kernel : {Kernel{Linear{}}, Kernel{Rbf{1}}}) {
    LearnerOptions options{.rule = PegasosRule{}, .kernel = kernel, .lambda = 0.05};
    Learner plain(options);
    options.average = true;
    Learner averaged(options);
    const StreamRow probe = stream.row(17);
    double sum = 0, weight = 0;
    for (std::size_t i = 0; i < 100; ++i) {
      plain.learn(stream.row(i), stream.sign[i]);
      averaged.learn(stream.row(i), stream.sign[i]);
      plain.predict(probe);
      averaged.predict(probe);
      sum += static_cast<double>(i + 1) * plain.decision_values()[0];
      weight += static_cast<double>(i + 1);
      EXPECT_NEAR(averaged.decision_values()[0], sum / weight, 1e-12);
    }
  }
}

TEST(OnlineBound, LiesBelowTheBatchOptimumAndComesNear) {
  const Stream stream(3000);
  const double lambda = 0.05;
  for (const Kernel& kernel : {Kernel{Linear{}}, Kernel{Rbf{1}}}) {
    Learner learner({.rule = PegasosRule{}, .kernel = kernel, .lambda = lambda});
    Dataset data;
    data.x = Features::sparse(features);
    data.x.append(stream.x.view());
    data.y = stream.sign;
    TrainOptions options;
    Svc task;
    task.cost = 1 / (lambda * 3000);
    task.bias = Bias::none;
    options.task = task;
    options.kernel = kernel;
    const Trained batch = train(std::move(data), options, Threads(1));
    const double optimum = lambda * batch.certificate.dual;
    for (std::size_t i = 0; i < 3000; ++i) learner.learn(stream.row(i), stream.sign[i]);
    ASSERT_TRUE(learner.risk_bound().value);
    EXPECT_LE(*learner.risk_bound().value, optimum * (1 + 1e-3));
    EXPECT_GE(*learner.risk_bound().value, 0.8 * optimum);
  }
  EXPECT_NE(Learner(LearnerOptions{}).risk_bound().why_not, "");
}

TEST(OnlineExpansion, APanelAndRowsAsTheyAreGiveTheSameBits) {
  const Stream stream(80);
  for (const Kernel& kernel : {Kernel{Rbf{1}}, Kernel{Polynomial{}}, Kernel{Linear{}}}) {
    Expansion panel(kernel), plain(kernel);
    plain.limit_panel(0);
    Rng rng(5);
    for (std::size_t i = 0; i < 80; ++i) {
      panel.add(stream.row(i));
      plain.add(stream.row(i));
      if (i % 3 == 2) {
        const std::size_t slot = rng.below(panel.slots());
        if (!panel.used(slot)) continue;
        panel.remove(slot);
        plain.remove(slot);
      }
      const auto a = panel.values(stream.row(0));
      const std::vector<double> left(a.begin(), a.end());
      const auto b = plain.values(stream.row(0));
      for (std::size_t k = 0; k < left.size(); ++k) EXPECT_EQ(left[k], b[k]);
    }
  }
}

TEST(OnlineFaults, AreToldOnceAndChangeNothing) {
  const Stream stream(40);
  const std::vector<Index> one{0}, wide{1u << 30};
  const std::vector<double> huge{1e200}, value{1};
  for (const Kernel& kernel : {Kernel{Linear{}}, Kernel{Polynomial{}}, Kernel{Rbf{1}}}) {
    Learner learner({.kernel = kernel});
    for (std::size_t i = 0; i < 40; ++i) learner.learn(stream.row(i), stream.sign[i]);
    const std::string before = learner.state();
    if (!std::holds_alternative<Rbf>(kernel)) {
      EXPECT_THROW(learner.learn({one, huge, 41}, 1.0), Error);
      EXPECT_THROW(learner.learn({one, huge, 41}, "a new class"), Error);
    }
    EXPECT_THROW(learner.learn({wide, value, 41}, 1.0), Error);
    EXPECT_THROW(learner.learn({one, value, 41}, std::nan("")), Error);
    EXPECT_EQ(learner.state(), before);
  }
  Learner regression({.rule = SquaredRule{}});
  EXPECT_THROW(regression.learn({one, value, 0}, "word"), Error);
  EXPECT_THROW(regression.learn({one, value, 0}, 1e300), Error);
  EXPECT_THROW(regression.model(1), Error);
  LearnerOptions few;
  few.most_classes = 2;
  Learner crowded(few);
  crowded.learn({one, value, 0}, "a");
  crowded.learn({one, value, 1}, "b");
  EXPECT_THROW(crowded.learn({one, value, 2}, "c"), Error);
  Learner counts({.kernel = ChiSquared{}});
  const std::vector<double> negative{-1};
  EXPECT_THROW(counts.learn({one, negative, 0}, 1.0), Error);
}

TEST(OnlineFaults, OptionsThatContradictEachOtherAreRefused) {
  const auto refused = [](LearnerOptions options) {
    EXPECT_THROW(Learner{std::move(options)}, Error);
  };
  refused({.rule = PerceptronRule{}, .lambda = 0.1});
  refused({.rule = RegularisedPerceptronRule{}, .lambda = 0});
  refused({.rule = SoftMarginRule{}, .lambda = 0, .rate = Rate::inverse});
  refused({.rule = SoftMarginRule{}, .lambda = 2, .eta = 1});
  refused({.rule = PegasosRule{}, .rate = Rate::constant});
  refused({.rule = PassiveAggressiveRule{}, .rate = Rate::inverse});
  refused({.kernel = Linear{}, .truncation = Budget{}});
  refused({.kernel = Rbf{}, .average = true, .truncation = Budget{}});
  refused({.kernel = Polynomial{}, .truncation = Budget{10, Removal::merge}});
  refused({.kernel = Rbf{-1}});
  refused({.eta = -1});
  refused({.kernel = Custom{}});
}

}  // namespace
}  // namespace maxmargin
