// The door as a user has it: nothing is included but the umbrella.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <maxmargin/maxmargin.hpp>
#include <optional>
#include <random>
#include <regex>

#include "tests/temporary_folder.hpp"

namespace {

using maxmargin::Dataset;
using maxmargin::Error;
using maxmargin::Learner;
using maxmargin::Model;
using maxmargin::Options;
using maxmargin::train;

/// Three clouds of points in the plane, and their numbers.
struct Clouds {
  std::vector<double> values;
  std::vector<double> number;
  std::vector<std::string> word;

  explicit Clouds(int rows, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 0.5);
    for (int i = 0; i < rows; ++i) {
      const int cloud = i % 3;
      values.push_back(2 * std::cos(2.1 * cloud) + noise(random));
      values.push_back(2 * std::sin(2.1 * cloud) + noise(random));
      number.push_back(10 * cloud);
      word.push_back(std::string(1, static_cast<char>('a' + cloud)));
    }
  }
};

double agreement(const std::vector<double>& x, const std::vector<double>& y) {
  double same = 0;
  for (std::size_t i = 0; i < x.size(); ++i) same += x[i] == y[i];
  return same / static_cast<double>(x.size());
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Door, PredictsThreeClassesByTheirOwnLabels) {
  const Clouds clouds(150), fresh(90, 2);
  const Model model = train(Dataset::dense(clouds.values, 2).labels(clouds.number));
  EXPECT_TRUE(model.classifies());
  EXPECT_EQ(model.machines(), 3u);
  EXPECT_TRUE(model.certificate().converged);
  EXPECT_LE(model.certificate().dual, model.certificate().primal);
  const std::vector<double> predicted = model.predict(Dataset::dense(fresh.values, 2));
  EXPECT_GT(agreement(predicted, fresh.number), 0.9);
  EXPECT_EQ(model.predict_labels(Dataset::dense(fresh.values, 2)).at(1), "10");
}

TEST(Door, AllWaysToGiveRowsGiveTheSameModel) {
  const Clouds clouds(60);
  std::vector<std::vector<double>> copied;
  std::vector<std::uint64_t> start{0};
  std::vector<std::uint32_t> index;
  for (std::size_t i = 0; i < 60; ++i) {
    copied.push_back({clouds.values[2 * i], clouds.values[2 * i + 1]});
    index.insert(index.end(), {0, 1});
    start.push_back(index.size());
  }
  const Options options{{"gamma", 0.5}, {"gap", 1e-6}};
  const Dataset rows[] = {Dataset::dense(clouds.values, 2), Dataset::from(copied),
                          Dataset::csr(start, index, std::span<const double>(clouds.values), 2)};
  const std::vector<double> expected =
      train(Dataset(rows[0]).labels(clouds.number), options).decision_values(rows[0]);
  for (const Dataset& each : rows) {
    const Model model = train(Dataset(each).labels(clouds.number), options);
    for (const Dataset& asked : rows) {
      const std::vector<double> values = model.decision_values(asked);
      ASSERT_EQ(values.size(), expected.size());
      for (std::size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(values[k], expected[k], 1e-3);
    }
  }
}

template <class... Arrays>
concept MakesCsr = requires(Arrays&&... arrays) {
  Dataset::csr(std::forward<Arrays>(arrays)..., 2);
};
template <class Array>
concept MakesDense = requires(Array&& array) {
  Dataset::dense(std::forward<Array>(array), 2);
};

using Doubles = std::vector<double>;
static_assert(MakesDense<Doubles> && MakesDense<Doubles&> && MakesDense<std::span<const double>>);
static_assert(MakesDense<std::array<double, 4>&> && !MakesDense<std::array<double, 4>>);
using Starts = std::vector<std::uint64_t>;
using Columns = std::vector<std::uint32_t>;
static_assert(MakesCsr<Starts, Columns, Doubles> && MakesCsr<Starts&, Columns&, Doubles&>);
static_assert(!MakesCsr<Starts&, Columns&, Doubles> && !MakesCsr<Starts, Columns&, Doubles&>);

// A data set made of a function's vectors outlives these, and so do its copies.
TEST(Door, KeepsVectorsThatAreTemporary) {
  const Clouds clouds(60);
  const auto values = [&] { return clouds.values; };
  const auto sparse = [&] {
    Starts start{0};
    Columns index;
    for (std::size_t i = 0; i < 60; ++i) {
      index.insert(index.end(), {0, 1});
      start.push_back(index.size());
    }
    return Dataset::csr(std::move(start), std::move(index), values(), 2);
  };
  const Dataset data = Dataset::dense(values(), 2).labels(clouds.number);
  const Model model = train(data);
  const std::vector<double> expected = model.decision_values(Dataset::dense(clouds.values, 2));
  std::optional<Dataset> copy;
  {
    const Dataset gone = Dataset::dense(values(), 2);
    copy = gone;
  }
  EXPECT_EQ(model.decision_values(*copy), expected);
  EXPECT_EQ(model.decision_values(sparse()).size(), expected.size());
  EXPECT_EQ(train(copy->labels(clouds.number)).decision_values(data), expected);
}

TEST(Door, WordsProbabilitiesAndWeights) {
  const Clouds clouds(150);
  std::vector<double> weights(150, 1.0);
  for (std::size_t i = 0; i < 150; i += 3) weights[i] = 0;  // the class "a" does not count
  const Dataset data = Dataset::dense(clouds.values, 2).labels(clouds.word);
  const Model three = train(data, {{"probability", 5}});
  EXPECT_EQ(three.classes(), (std::vector<std::string>{"a", "b", "c"}));
  const std::vector<double> p = three.probabilities(data);
  const std::vector<std::string> labels = three.predict_labels(data);
  for (std::size_t i = 0; i < 150; ++i) {
    EXPECT_NEAR(p[3 * i] + p[3 * i + 1] + p[3 * i + 2], 1, 1e-9);
    const auto best = std::max_element(p.begin() + 3 * static_cast<std::ptrdiff_t>(i),
                                       p.begin() + 3 * static_cast<std::ptrdiff_t>(i) + 3);
    EXPECT_EQ(labels[i], three.classes()[static_cast<std::size_t>(best - p.begin()) % 3]);
  }
  EXPECT_EQ(train(Dataset(data).weights(weights)).machines(), 1u);
  EXPECT_NE(message([&] { three.predict(data); }).find("predict_labels"), std::string::npos);
  EXPECT_NE(message([&] { train(data).probabilities(data); }), "no error");
}

TEST(Door, SavesAndLoads) {
  const maxmargin::TemporaryFolder folder;
  const Clouds clouds(90);
  const Dataset data = Dataset::dense(clouds.values, 2).labels(clouds.number);
  const Model model = train(data, {{"scale", "range"}, {"seed", 3}});
  model.save(folder / "model");
  const Model again = Model::load(folder / "model");
  EXPECT_EQ(again.decision_values(data), model.decision_values(data));
  EXPECT_EQ(again.certificate().primal, model.certificate().primal);
  EXPECT_EQ(model.decision_values(data, 1), model.decision_values(data, 2));
}

TEST(Door, OwnKernelsComeBackByTheirFunction) {
  const maxmargin::TemporaryFolder folder;
  const Clouds clouds(60);
  const Dataset data = Dataset::dense(clouds.values, 2).labels(clouds.number);
  const auto dot = [](const maxmargin::Row& x, const maxmargin::Row& z) {
    std::vector<double> dense(x.columns(), 0.0);
    x.for_each([&](std::size_t column, double value) { dense[column] = value; });
    double sum = 0;
    z.for_each([&](std::size_t column, double value) { sum += dense[column] * value; });
    return sum;
  };
  Options options{{"gap", 1e-9}, {"tolerance", 1e-6}};
  options.own_kernel("dot", dot);
  const Model own = train(data, options);
  const Model linear = train(data, {{"kernel", "linear"}, {"gap", 1e-9}, {"tolerance", 1e-6}});
  EXPECT_NEAR(own.certificate().primal, linear.certificate().primal, 1e-6);
  own.save(folder / "model");
  const Model loaded = Model::load(folder / "model");
  EXPECT_NE(message([&] { loaded.predict(data); }).find("with_kernel"), std::string::npos);
  EXPECT_EQ(loaded.with_kernel(dot).decision_values(data), own.decision_values(data));
  EXPECT_NE(message([&] { linear.with_kernel(dot); }), "no error");
}

TEST(Door, AWatcherEndsTheTraining) {
  const Clouds clouds(300);
  Options options{{"gap", 1e-12}, {"tolerance", 1e-12}, {"cost", 1e6}};
  int calls = 0;
  options.watch([&](const maxmargin::TrainingProgress& progress) {
    EXPECT_GE(progress.seconds, 0);
    ++calls;
    return false;
  });
  const Model model = train(Dataset::dense(clouds.values, 2).labels(clouds.number), options);
  if (calls > 0) {
    EXPECT_FALSE(model.certificate().converged);
  }
}

TEST(Door, SaysWhatIsWrongWithOptions) {
  const Clouds clouds(30);
  const Dataset data = Dataset::dense(clouds.values, 2).labels(clouds.number);
  const auto wrong = [&](const Options& options) { return message([&] { train(data, options); }); };
  EXPECT_NE(wrong({{"gama", 1}}).find("did you mean 'gamma'"), std::string::npos);
  EXPECT_NE(wrong({{"cost", -1}}).find("out of range"), std::string::npos);
  EXPECT_NE(wrong({{"cost", "ten"}}).find("not a finite number"), std::string::npos);
  EXPECT_NE(wrong({{"degree", 2}}).find("no effect"), std::string::npos);
  EXPECT_NE(wrong({{"kernel", "rbff"}}).find("rbf"), std::string::npos);
  EXPECT_NE(wrong({{"working-set", 2}}), "no error");
  EXPECT_NE(wrong({{"scale", "rang"}}), "no error");
  EXPECT_NE(wrong({{"hard-margin", "maybe"}}), "no error");
  EXPECT_NE(wrong({{"task", "one-class"}, {"multiclass", "ovr"}}), "no error");
}

TEST(Door, SaysWhatIsWrongWithArrays) {
  const std::vector<double> values{1, 2, 3, 4};
  const std::vector<std::uint64_t> start{0, 2, 4}, falling{0, 3, 2};
  const std::vector<std::uint32_t> index{0, 1, 1, 0};
  const double nan = std::nan("");
  const std::span<const double> some(values);
  EXPECT_NE(message([&] { Dataset::dense(some, 3); }), "no error");
  EXPECT_NE(message([&] { Dataset::dense(some, 0); }), "no error");
  EXPECT_NE(message([&] { Dataset::dense(std::span(&nan, 1), 1); }), "no error");
  EXPECT_NE(message([&] { Dataset::csr(start, index, some, 2); }).find("increase"),
            std::string::npos);
  EXPECT_NE(message([&] { Dataset::csr(start, index, some, 1); }).find("of only 1"),
            std::string::npos);
  EXPECT_NE(message([&] { Dataset::csr(falling, index, some, 2); }), "no error");
  EXPECT_NE(message([&] { Dataset::dense(some, 2).labels(some); }).find("4 labels for 2 rows"),
            std::string::npos);
  EXPECT_NE(message([&] { Dataset::from({{1, 2}, {3}}); }), "no error");
  EXPECT_NE(message([&] { train(Dataset::dense(some, 2)); }), "no error");
}

TEST(Door, EveryOptionIsListedOnce) {
  std::vector<std::string> names;
  for (const Options::Help& each : Options::all()) {
    EXPECT_FALSE(each.text.empty()) << each.name;
    names.push_back(each.name);
  }
  for (const char* expected : {"cost", "gamma", "kernel", "nu", "gap", "scale"})
    EXPECT_EQ(std::count(names.begin(), names.end(), expected), 1) << expected;
}

TEST(Door, LearnsARowAtATime) {
  const Clouds clouds(600);
  const Options options{{"kernel", "rbf"}, {"gamma", 1}, {"truncate", "budget"}, {"budget", 50}};
  Learner whole(options), first(options), second(options);
  int wrong = 0;
  for (std::size_t i = 0; i < 600; ++i) {
    const std::span<const double> x(&clouds.values[2 * i], 2);
    const Learner::Prediction said = whole.predict(x);
    const Learner::Learned learned = whole.learn(x, clouds.word[i]);
    EXPECT_EQ(said.label, learned.before.label);
    EXPECT_EQ(learned.correct, said.label == clouds.word[i]);
    wrong += i >= 100 && !learned.correct;
    // Sparse rows, a stop after 250 of them, and words in place of numbers.
    if (i == 250) second.restore(first.state());
    const std::uint32_t features[] = {0, 1};
    (i < 250 ? first : second).learn(features, x, clouds.word[i]);
  }
  EXPECT_LT(wrong, 50);
  EXPECT_EQ(whole.state(), second.state());
  EXPECT_EQ(whole.rows(), 600u);
  EXPECT_EQ(whole.support_vectors(), 50u);
  EXPECT_GT(whole.truncation_bound(), 0);
  EXPECT_EQ(whole.classes(), (std::vector<std::string>{"a", "b", "c"}));
  const Clouds fresh(90, 2);
  const auto labels = whole.model().predict_labels(Dataset::dense(fresh.values, 2));
  for (std::size_t i = 0; i < 90; ++i)
    EXPECT_EQ(labels[i], whole.predict({&fresh.values[2 * i], 2}).label);
}

TEST(Door, ALearnerSaysWhatIsWrong) {
  const double x[] = {1, 2}, bad[] = {1, NAN};
  const std::uint32_t twice[] = {1, 1}, one[] = {0};
  Learner learner({{"exact", true}, {"window", 5}, {"kernel", "rbf"}, {"gamma", 1}});
  EXPECT_NE(message([&] { learner.learn(bad, 1); }).find("feature 1 is not a finite"),
            std::string::npos);
  EXPECT_NE(message([&] { learner.learn(twice, x, 1); }).find("do not increase"),
            std::string::npos);
  EXPECT_NE(message([&] { learner.learn(one, x, 1); }).find("a value per feature"),
            std::string::npos);
  EXPECT_EQ(learner.rows(), 0u);
  for (const double label : {1.0, 2.0, 1.0}) learner.learn(x, label);
  EXPECT_TRUE(learner.forget(1));
  EXPECT_FALSE(learner.forget(1));
  EXPECT_NE(message([&] { learner.restore("no state"); }).find("state of a learner"),
            std::string::npos);
  EXPECT_NE(message([] { Learner({{"rul", "nu"}}); }).find("rule"), std::string::npos);
  EXPECT_NE(message([] { Learner({{"kernel", "rbf"}}); }).find("gamma"), std::string::npos);
  EXPECT_NE(message([] { Learner({{"cost", 1}}); }).find("no effect"), std::string::npos);
  const auto product = [](const maxmargin::Row& a, const maxmargin::Row& b) {
    double sum = 1;
    a.for_each([&](std::size_t i, double u) {
      b.for_each([&](std::size_t j, double v) { sum += i == j ? u * v : 0; });
    });
    return sum;
  };
  Learner own(Options{}.own_kernel("product", product));
  own.learn(x, 1);
  own.learn(std::vector<double>{-1, -2}, 2);
  EXPECT_EQ(own.predict(x).label, "1");
}

}  // namespace
