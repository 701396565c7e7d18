// Thousands of classes have millions of machines. Those that there was no time for are stated
// together.
#include <gtest/gtest.h>

#include <thread>

#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::untrained_test {
namespace {

constexpr int classes = 40;
constexpr std::size_t pairs = classes * (classes - 1) / 2;

Dataset many_classes() {
  Dataset data = made::classification(400, 3, made::Storage::dense_doubles, 9, classes);
  data.weight = made::weights(data.rows(), 3);
  return data;
}

/// Ends as soon as it is asked, after so many times.
Trained stopped(const Dataset& data, const TrainOptions& options, int asked) {
  const Threads threads(2);
  const Observer observer = [&](const Progress&) {
    return asked-- > 0 ? Control::proceed : Control::cancel;
  };
  return train(made::copy_of(data), options, {threads, observer});
}

Model again(const Model& model) {
  const std::string bytes = to_bytes(model);
  Model read = from_bytes(std::as_bytes(std::span(bytes)), "memory");
  EXPECT_EQ(to_bytes(read), bytes);
  return read;
}

TEST(Untrained, AreStatedByTheLossOfTheirClasses) {
  const Dataset data = many_classes();
  const Svc weighted{.cost = 3, .class_weights = {{"2", 5.0}}};
  for (const Task& task :
       {Task(weighted), Task(Svc{.cost = 2, .loss = Logistic{}}), Task(Svc{.bias = Bias::none})}) {
    TrainOptions options{.task = task, .kernel = Rbf{1}};
    const Trained trained = stopped(data, options, 0);
    EXPECT_EQ(trained.ended, Ended::cancelled);
    const Model model = again(trained.model);
    ASSERT_EQ(model.untrained.loss.size(), static_cast<std::size_t>(classes));
    EXPECT_EQ(model.machines.size() + untrained_machines(model), pairs);
    EXPECT_GT(untrained_machines(model), pairs / 2);
    const Judgement judged = judge(model, data, Threads(1));
    EXPECT_EQ(judged.verdict, Verdict::is_true) << judged.field << judged.reason;
    // All together: no optimum is below 0 or above what f = 0 loses.
    const Certificate certificate = certificate_of_untrained(model);
    EXPECT_EQ(certificate.dual, 0);
    EXPECT_GE(trained.certificate.primal, certificate.primal);
    for (const double factor : {0.999, 1.001}) {
      Model wrong = again(model);
      wrong.untrained.loss[3] *= factor;
      const Judgement found = judge(again(wrong), data, Threads(1));
      EXPECT_EQ(found.verdict, Verdict::is_false);
      EXPECT_EQ(found.field, "untrained");
    }
  }
}

TEST(Untrained, OptimaOfAllMachinesAreWithinTheSumOfTheirCertificates) {
  const Dataset data = many_classes();
  const TrainOptions options{.task = Svc{.cost = 1}, .kernel = Rbf{1}};
  const Trained whole = train(made::copy_of(data), options, Threads(2));
  ASSERT_TRUE(whole.model.untrained.none());
  ASSERT_EQ(whole.model.machines.size(), pairs);
  const Trained part = stopped(data, options, 0);
  EXPECT_LE(part.certificate.dual, whole.certificate.primal);
  EXPECT_GE(part.certificate.primal, whole.certificate.dual);
  EXPECT_EQ(part.certificate.relative_gap, 2);
}

TEST(Untrained, OfThresholdsInTheLossNothingIsClaimed) {
  const Dataset data = many_classes();
  const Trained trained = stopped(data, {.task = NuSvc{.nu = 0.1}, .kernel = Rbf{1}}, 0);
  const Model model = again(trained.model);
  EXPECT_EQ(model.untrained.loss[0], infinity);
  EXPECT_EQ(certificate_of_untrained(model).dual, -infinity);
  EXPECT_EQ(trained.certificate.primal, infinity);
}

TEST(Untrained, HaveNoVote) {
  const Dataset data = many_classes();
  for (const Multiclass scheme : {Multiclass::one_vs_one, Multiclass::one_vs_rest}) {
    Dataset more = made::classification(1200, 3, made::Storage::dense_doubles, 9, 120);
    const Dataset& rows = scheme == Multiclass::one_vs_one ? data : more;
    const Model model =
        stopped(rows, {.task = Svc{.multiclass = scheme}, .kernel = Rbf{1}}, 0).model;
    ASSERT_FALSE(model.untrained.none());
    std::vector<bool> votes(model.classes.size(), false);
    for (const Machine& machine : model.machines)
      for (const int side : {machine.positive, machine.negative})
        if (side != Sides::nobody) votes[static_cast<std::size_t>(side)] = true;
    if (model.machines.size() == 1 && scheme == Multiclass::one_vs_rest) continue;
    const Predictor predictor(model);
    const std::vector<double> f = predictor.decision_values(rows.x, Threads(1));
    const std::size_t machines = model.machines.size();
    for (std::size_t i = 0; i < rows.rows(); ++i)
      EXPECT_TRUE(votes[static_cast<std::size_t>(predictor.predict({&f[i * machines], machines}))]);
  }
}

TEST(Untrained, FewMachinesOfManyValuesAreLeftOutToo) {
  const Dataset data = made::classification(1500, 1000, made::Storage::dense_floats, 5, 4);
  for (const Multiclass scheme : {Multiclass::one_vs_one, Multiclass::one_vs_rest}) {
    const std::size_t machines = scheme == Multiclass::one_vs_one ? 6 : 4;
    Svc task{.cost = 2, .multiclass = scheme, .class_weights = {{"2", 5.0}}};
    const Trained trained = stopped(data, {.task = task, .kernel = Rbf{0.01}}, 0);
    EXPECT_EQ(trained.ended, Ended::cancelled);
    const Model model = again(trained.model);
    EXPECT_EQ(model.machines.size(), 1u);
    EXPECT_EQ(model.machines.size() + untrained_machines(model), machines);
    const Judgement judged = judge(model, data, Threads(1));
    EXPECT_EQ(judged.verdict, Verdict::is_true) << judged.field << judged.reason;
  }
  // Of few values they are certified as they are.
  const Dataset small = made::classification(60, 3, made::Storage::dense_doubles, 9, 4);
  const Trained trained = stopped(small, {.task = Svc{}, .kernel = Rbf{1}}, 0);
  EXPECT_EQ(trained.model.machines.size(), 6u);
  EXPECT_TRUE(trained.model.untrained.none());
}

TEST(Untrained, OfADamagedFileAreRefused) {
  const Model model = stopped(many_classes(), {.task = Svc{}, .kernel = Rbf{1}}, 0).model;
  const auto refused = [&](auto&& damage) {
    Model wrong = again(model);
    damage(wrong);
    EXPECT_THROW(to_bytes(wrong), Error);
  };
  refused([](Model& wrong) { wrong.untrained.loss.pop_back(); });
  refused([](Model& wrong) { wrong.untrained.loss[0] = -1; });
  refused([](Model& wrong) { wrong.untrained.loss[0] = std::nan(""); });
  refused([](Model& wrong) {
    wrong.untrained.loss[static_cast<std::size_t>(wrong.machines[0].positive)] = 0;
  });
}

TEST(Untrained, ProbabilitiesAreNotMadeOfThem) {
  TrainOptions options{.task = Svc{}, .kernel = Rbf{1}};
  options.probability_folds = 3;
  options.stop.seconds = 0;
  const Trained trained =
      train(made::classification(500, 3, made::Storage::dense_doubles, 9, 50), options, Threads(2));
  EXPECT_EQ(trained.ended, Ended::time_limit);
  EXPECT_TRUE(again(trained.model).calibration.none());
}

}  // namespace
}  // namespace maxmargin::untrained_test
