#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include "maxmargin/base/error.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/online/checkpoint.hpp"
#include "maxmargin/online/learner.hpp"
#include "maxmargin/online/made_stream.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::learner_state_test {
namespace {

using made::features;
using Stream = made::MadeStream;

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
    if (rule.decays && HasSlope<std::remove_cvref_t<decltype(rule)>>)
      all.push_back({.rule = rule, .kernel = Linear{}, .rate = Rate::inverse, .t0 = 0.1});
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
  EXPECT_NE(refusal("maxmargin stream 1\nx").find("version 1"), std::string::npos);
  EXPECT_NE(refusal("maxmargin model 1\n").find("not a checkpoint"), std::string::npos);
  EXPECT_NE(refusal("maxmargin stream 2\nstate0123").find("checksum"), std::string::npos);
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
    for (const double t0 : {0.0, 300.0}) {
      Learner learner({.rule = PegasosRule{}, .kernel = kernel, .lambda = lambda, .t0 = t0});
      for (std::size_t i = 0; i < 3000; ++i) learner.learn(stream.row(i), stream.sign[i]);
      ASSERT_TRUE(learner.risk_bound().value);
      EXPECT_LE(*learner.risk_bound().value, optimum * (1 + 1e-3));
      EXPECT_GE(*learner.risk_bound().value, 0.8 * optimum);
    }
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

TEST(OnlineExpansion, CountedFeaturesGiveTheSameBits) {
  Rng rng(3);
  std::vector<std::vector<Index>> made_rows(200);
  for (auto& row : made_rows)
    for (Index j = 0; j < 300; ++j)
      if (rng.uniform() < 0.3) row.push_back(j);
  const std::vector<double> ones(300, 1.0), halves(300, 0.5);
  for (const Kernel& kernel :
       {Kernel{Rbf{0.01}}, Kernel{Polynomial{}}, Kernel{Linear{}}, Kernel{Sigmoid{}}}) {
    Expansion counted(kernel), plain(kernel);
    plain.limit_panel(0);
    for (std::size_t i = 0; i < 200; ++i) {
      // From row 150 on not all values are 1.
      const StreamRow x{made_rows[i], {(i < 150 ? ones : halves).data(), made_rows[i].size()}, i};
      EXPECT_EQ(counted.counts_features(), i <= 150);
      const auto a = counted.values(x), b = plain.values(x);
      ASSERT_TRUE(std::ranges::equal(a, b)) << i;
      counted.add(x);
      plain.add(x);
      const std::size_t slot = rng.below(counted.slots());
      if (i % 3 != 2 || !counted.used(slot)) continue;
      counted.remove(slot);
      plain.remove(slot);
    }
  }
  // More of them than a byte counts.
  Expansion wide(Linear{});
  std::vector<Index> all(300);
  std::iota(all.begin(), all.end(), Index{0});
  wide.add({all, ones, 0});
  EXPECT_EQ(wide.values({all, ones, 1})[0], 300);
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
  refused({.rule = SoftMarginRule{}, .t0 = 10});
  refused({.rule = PegasosRule{}, .t0 = -1});
  refused({.kernel = Linear{}, .truncation = Budget{}});
  refused({.kernel = Rbf{}, .average = true, .truncation = Budget{}});
  refused({.kernel = Polynomial{}, .truncation = Budget{10, Removal::merge}});
  refused({.kernel = Rbf{-1}});
  refused({.eta = -1});
  refused({.kernel = Custom{}});
}

}  // namespace
}  // namespace maxmargin::learner_state_test
