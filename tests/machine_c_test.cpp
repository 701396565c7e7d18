#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "maxmargin/machine.h"
#include "maxmargin/maxmargin.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::machine_c_test {
namespace {

/// Rows of three classes that overlap, dense and sparse, as a program in C would keep them.
struct Arrays {
  std::vector<double> values, label, stored;
  std::vector<std::uint64_t> start{0};
  std::vector<std::uint32_t> index;

  Arrays() {
    for (int i = 0; i < 60; ++i) {
      const int y = i % 3;
      const double x[2] = {i % 7 == 0 ? 0 : std::cos(0.7 * i) + (y == 0 ? 1.2 : 0),
                           std::sin(0.7 * i) + (y == 1 ? 1.5 : 0)};
      label.push_back(y + 4);
      for (std::uint32_t j = 0; j < 2; ++j) {
        values.push_back(x[j]);
        if (x[j] == 0) continue;
        stored.push_back(x[j]);
        index.push_back(j);
      }
      start.push_back(stored.size());
    }
  }
  maxmargin_rows dense() const {
    return {60, 2, values.data(), nullptr, nullptr, label.data(), nullptr};
  }
  maxmargin_rows sparse() const {
    return {60, 2, stored.data(), start.data(), index.data(), label.data(), nullptr};
  }
};

constexpr maxmargin_option crammer_singer[] = {
    {"multiclass", "crammer-singer"}, {"gamma", "0.5"}, {"gap", "1e-6"}, {"tolerance", "1e-5"}};

maxmargin_model* trained(const maxmargin_rows& rows, std::span<const maxmargin_option> options) {
  char message[256] = "";
  maxmargin_model* model = nullptr;
  EXPECT_EQ(
      maxmargin_model_train(&rows, options.data(), options.size(), &model, message, sizeof message),
      0)
      << message;
  return model;
}

TEST(MachineInC, CrammerSingerIsThatOfCpp) {
  const Arrays arrays;
  const maxmargin_rows rows = arrays.dense();
  maxmargin_model* model = trained(rows, crammer_singer);
  ASSERT_NE(model, nullptr);
  const auto data = v0::Dataset::dense(arrays.values, 2).labels(arrays.label);
  const v0::Model expected = v0::train(
      data,
      {{"multiclass", "crammer-singer"}, {"gamma", 0.5}, {"gap", "1e-6"}, {"tolerance", "1e-5"}});
  EXPECT_EQ(maxmargin_model_classes(model), 3u);
  EXPECT_STREQ(maxmargin_model_class(model, 2), "6");
  EXPECT_EQ(maxmargin_model_class(model, 3), nullptr);
  ASSERT_EQ(maxmargin_model_machines(model), 3u);
  maxmargin_certificate certificate{};
  EXPECT_EQ(maxmargin_model_certificate(model, &certificate, nullptr, 0), 0);
  EXPECT_EQ(certificate.converged, 1);
  EXPECT_LE(certificate.relative_gap, 1e-6);
  EXPECT_EQ(certificate.primal, expected.certificate().primal);
  std::vector<double> label(60), values(180);
  EXPECT_EQ(maxmargin_model_predict(model, &rows, 1, label.data(), nullptr, 0), 0);
  EXPECT_EQ(label, expected.predict(data));
  EXPECT_EQ(maxmargin_model_decision_values(model, &rows, 1, values.data(), nullptr, 0), 0);
  EXPECT_EQ(values, expected.decision_values(data));
  maxmargin_model_free(model);
}

TEST(MachineInC, SparseRowsFilesAndProbabilities) {
  const Arrays arrays;
  const maxmargin_rows dense = arrays.dense(), sparse = arrays.sparse();
  std::vector<maxmargin_option> options(std::begin(crammer_singer), std::end(crammer_singer));
  options.push_back({"probability", "3"});
  maxmargin_model* model = trained(sparse, options);
  ASSERT_NE(model, nullptr);
  const TemporaryFolder folder;
  const std::string path = folder / "classes.model";
  EXPECT_EQ(maxmargin_model_save(model, path.c_str(), nullptr, 0), 0);
  maxmargin_model* loaded = nullptr;
  ASSERT_EQ(maxmargin_model_load(path.c_str(), &loaded, nullptr, 0), 0);
  std::vector<double> before(180), after(180);
  EXPECT_EQ(maxmargin_model_probabilities(model, &sparse, 1, before.data(), nullptr, 0), 0);
  EXPECT_EQ(maxmargin_model_probabilities(loaded, &dense, 2, after.data(), nullptr, 0), 0);
  for (std::size_t i = 0; i < 60; ++i) {
    EXPECT_NEAR(before[3 * i] + before[3 * i + 1] + before[3 * i + 2], 1, 1e-9);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(before[3 * i + k], after[3 * i + k], 1e-9);
  }
  maxmargin_model_free(model);
  maxmargin_model_free(loaded);
}

TEST(MachineInC, ANumberIsPredictedByARegression) {
  const Arrays arrays;
  const maxmargin_rows rows = arrays.dense();
  const maxmargin_option options[] = {{"task", "svr"}, {"cost", "10"}};
  maxmargin_model* model = trained(rows, options);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(maxmargin_model_classes(model), 0u);
  EXPECT_EQ(maxmargin_model_class(model, 0), nullptr);
  EXPECT_EQ(maxmargin_model_machines(model), 1u);
  maxmargin_model_free(model);
}

TEST(MachineInC, SaysWhatIsWrongAndWritesNothing) {
  const Arrays arrays;
  maxmargin_rows rows = arrays.dense();
  char message[256];
  auto* untouched = reinterpret_cast<maxmargin_model*>(&rows);
  maxmargin_model* model = untouched;
  const auto refused = [&](const maxmargin_rows* given, std::span<const maxmargin_option> options,
                           const std::string& reason) {
    message[0] = '\0';
    EXPECT_EQ(maxmargin_model_train(given, options.data(), options.size(), &model, message,
                                    sizeof message),
              1);
    EXPECT_NE(std::string(message).find(reason), std::string::npos) << message;
    EXPECT_EQ(model, untouched);
  };
  refused(nullptr, {}, "a pointer is null");
  const maxmargin_option unknown[] = {{"mulitclass", "ovr"}};
  refused(&rows, unknown, "multiclass");
  const maxmargin_option no_value[] = {{"cost", nullptr}};
  refused(&rows, no_value, "a pointer is null");
  const maxmargin_option biased[] = {{"multiclass", "crammer-singer"}, {"bias", "unpenalised"}};
  refused(&rows, biased, "bias");
  rows.label = nullptr;
  refused(&rows, {}, "label");
  rows = arrays.sparse();
  rows.index = nullptr;
  refused(&rows, {}, "start and index");
  rows = arrays.dense();
  rows.values = nullptr;
  refused(&rows, {}, "a pointer is null");
  char cut[8];
  EXPECT_EQ(maxmargin_model_load("/no/such.model", &model, cut, sizeof cut), 1);
  EXPECT_EQ(std::string(cut).size(), 7u);
  EXPECT_EQ(maxmargin_model_save(nullptr, "x", nullptr, 0), 1);
  EXPECT_EQ(maxmargin_model_predict(nullptr, &rows, 1, nullptr, nullptr, 0), 1);
  EXPECT_EQ(maxmargin_model_classes(nullptr), 0u);
  EXPECT_EQ(maxmargin_model_machines(nullptr), 0u);
  maxmargin_model_free(nullptr);
}

}  // namespace
}  // namespace maxmargin::machine_c_test
