#include "maxmargin/train/disk/out_of_core.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "maxmargin/base/error.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "tests/made_data.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::out_of_core_test {
namespace {

constexpr std::size_t enough = std::size_t{256} << 20;

/// A data set as LIBSVM text in a file that goes with the test.
class OutOfCoreTest : public testing::Test {
 protected:
  std::string write(const Dataset& data, const std::vector<std::string>& names = {}) const {
    const std::string path = folder_ + "/data.svm";
    std::ofstream out(path);
    const Rows rows = data.x;
    for (std::size_t i = 0; i < rows.count; ++i) {
      out << (names.empty() ? shortest(data.y[i]) : names[static_cast<std::size_t>(data.y[i])]);
      rows.for_each(i,
                    [&](Index j, double value) { out << ' ' << j + 1 << ':' << shortest(value); });
      out << '\n';
    }
    if (!data.weight.empty()) {
      std::ofstream weights(folder_ + "/weights");
      for (const double weight : data.weight) weights << shortest(weight) << '\n';
    }
    return path;
  }
  SpilledData spilled(const std::string& path, Outcome outcome, ReadOptions reading = {}) const {
    reading.block_bytes = 5000;
    return spill(path, reading, outcome, {folder_, enough}, threads_);
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path().string();
  Threads threads_{2};
};

TrainOptions linear(const Task& task) {
  TrainOptions options;
  options.task = task;
  options.kernel = Linear{};
  options.stop.kkt = options.stop.relative_gap = 1e-11;
  options.solver = "interior-point";
  return options;
}

/// The same objectives, decision values and labels as from the same rows in memory, and a model
/// that can be verified.
void expect_equal(const std::string& path, const ReadOptions& reading, const SpilledData& data,
                  const TrainOptions& options, const Threads& threads) {
  const TrainedOutOfCore streamed = train(data, options, threads);
  const Trained whole = train(read(path, reading, threads), options, threads);
  EXPECT_EQ(streamed.trained.ended, Ended::converged);
  EXPECT_EQ(streamed.trained.model.data_hash, whole.model.data_hash);
  EXPECT_EQ(streamed.trained.model.classes, whole.model.classes);
  ASSERT_EQ(streamed.trained.model.machines.size(), whole.model.machines.size());
  for (std::size_t m = 0; m < whole.model.machines.size(); ++m) {
    const Machine& one = streamed.trained.model.machines[m];
    const Machine& other = whole.model.machines[m];
    EXPECT_EQ(one.positive, other.positive);
    EXPECT_EQ(one.negative, other.negative);
    // Bounds of the same sums, by what these may be wrong by in different orders.
    EXPECT_NEAR(one.certificate.primal, other.certificate.primal, 1e-9 * other.certificate.primal);
    EXPECT_NEAR(one.bias(), other.bias(), 1e-10);
  }
  const Model loaded =
      from_bytes(std::as_bytes(std::span<const char>(to_bytes(streamed.trained.model))), "model");
  const Dataset again = read(path, reading, threads);
  for (const Verified& machine : verify(loaded, again, threads)) {
    EXPECT_TRUE(machine.holds) << machine.reason;
    EXPECT_TRUE(machine.primal_only);
  }
  const Rows rows = again.x;
  const auto have = Predictor(loaded).decision_values(rows, threads, Precision::exact);
  const auto want = Predictor(whole.model).decision_values(rows, threads, Precision::exact);
  ASSERT_EQ(have.size(), want.size());
  for (std::size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(have[k], want[k], 1e-9);
}

TEST_F(OutOfCoreTest, TwoClasses) {
  const std::string path = write(made::classification(700, 6, made::Storage::sparse, 1));
  expect_equal(path, {}, spilled(path, Outcome::classes), linear(Svc{}), threads_);
}

TEST_F(OutOfCoreTest, SeveralClassesThatAreWordsWithWeights) {
  Dataset made_data = made::classification(500, 4, made::Storage::dense_doubles, 2, 3);
  for (double& label : made_data.y) label -= 1;
  Rng rng(1);
  for (std::size_t i = 0; i < made_data.rows(); ++i)
    made_data.weight.push_back(i % 7 == 0 ? 0 : rng.uniform(0.5, 2));
  const std::string path = write(made_data, {"zebra", "7", "ant"});
  ReadOptions reading;
  reading.weight_file = folder_ + "/weights";
  const SpilledData data = spilled(path, Outcome::classes, reading);
  Svc task;
  task.class_weights = {{"ant", 3}};
  task.bias = Bias::penalised;
  expect_equal(path, reading, data, linear(task), threads_);
  task.multiclass = Multiclass::one_vs_rest;
  expect_equal(path, reading, data, linear(task), threads_);
}

TEST_F(OutOfCoreTest, Regression) {
  const std::string path = write(made::regression(600, 5, made::Storage::dense_doubles, 3));
  Svr task;
  expect_equal(path, {}, spilled(path, Outcome::number), linear(task), threads_);
  task.loss = Huber{0.1};
  expect_equal(path, {}, spilled(path, Outcome::number), linear(task), threads_);
}

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(OutOfCoreTest, TooLittleMemorySaysHowMuch) {
  const std::string path = write(made::classification(50, 6, made::Storage::sparse, 1));
  const auto with = [&](std::size_t bytes) {
    return message_of([&] { spill(path, {}, Outcome::classes, {folder_, bytes}, threads_); });
  };
  const std::string message = with(1 << 20);
  const std::string needed = std::to_string((least_memory_out_of_core(6) >> 20) + 1) + "M";
  EXPECT_NE(message.find("give --memory " + needed), std::string::npos) << message;
  EXPECT_EQ(with(least_memory_out_of_core(6)), "no error");
  EXPECT_EQ(temporary_.files(), 1u);
}

TEST_F(OutOfCoreTest, SaysWhatItCannotDo) {
  const auto reason = [](const auto& change) {
    TrainOptions options = linear(Svc{});
    change(options);
    return refuses_out_of_core(options).value_or("");
  };
  EXPECT_EQ(reason([](TrainOptions&) {}), "");
  EXPECT_NE(reason([](TrainOptions& o) { o.kernel = Rbf{}; }), "");
  EXPECT_NE(reason([](TrainOptions& o) { o.task = OneClass{}; }), "");
  EXPECT_NE(reason([](TrainOptions& o) { o.solver = "smo"; }), "");
  EXPECT_NE(reason([](TrainOptions& o) { o.scaling = ScalingKind::range; }), "");
  EXPECT_NE(reason([](TrainOptions& o) { std::get<Svc>(o.task).hard_margin = true; }), "");
}

TEST_F(OutOfCoreTest, BadData) {
  const auto message = [&](const std::string& text, Outcome outcome, const TrainOptions& options) {
    const std::string path = folder_ + "/bad.svm";
    std::ofstream(path) << text;
    return message_of([&] { train(spilled(path, outcome), options, threads_); });
  };
  EXPECT_NE(message("1 1:1\n1 1:2\n", Outcome::classes, linear(Svc{})).find("only one class"),
            std::string::npos);
  EXPECT_NE(message("1 1:1\n1 1:x\n", Outcome::classes, linear(Svc{})).find("bad.svm:2:"),
            std::string::npos);
  EXPECT_NE(message("1 1:1\nred 1:2\n", Outcome::number, linear(Svr{})).find("'"),
            std::string::npos);
}

}  // namespace
}  // namespace maxmargin::out_of_core_test
