#include "maxmargin/libsvm/small_pairs.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/made_data.hpp"

namespace maxmargin::small_pairs_test {
namespace {

using made::Storage;

/// Thirty classes in no order, of one row to four.
Dataset uneven_classes() {
  constexpr std::size_t classes = 30;
  const Dataset all = made::classification(1000, 4, Storage::dense_doubles, 11, classes);
  std::vector<std::size_t> left(classes + 1);
  for (std::size_t c = 0; c < left.size(); ++c) left[c] = c % 4 + 1;
  Dataset data;
  data.x = Features::dense(4);
  for (std::size_t i = 0; i < all.rows(); ++i) {
    std::size_t& of = left[static_cast<std::size_t>(all.y[i])];
    if (of == 0) continue;
    --of;
    data.x.append(all.x.view().slice(i, i + 1));
    data.y.push_back(all.y[i]);
  }
  return data;
}

LibsvmParameters parameters_of(int kernel) {
  LibsvmParameters parameters;
  parameters.kernel_type = kernel;
  parameters.gamma = 0.5;
  parameters.coef0 = 1;
  parameters.degree = 2;
  parameters.C = 10;
  parameters.weight = {{2, 0.25}};
  return parameters;
}

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(SmallPairs, AreTheCertifiedMachinesInLibsvmsForm) {
  const Dataset data = uneven_classes();
  const std::vector<int> classes = libsvm_classes(data.y);
  for (const int kernel : {0, 1, 2})
    for (const int count_of_threads : {1, 3}) {
      const Threads threads(count_of_threads);
      const LibsvmParameters parameters = parameters_of(kernel);
      const Trained certified =
          train(made::copy_of(data), train_options(parameters, classes), threads);
      EXPECT_EQ(certified.ended, Ended::converged);
      LibsvmModel expected = to_libsvm(certified.model, Numbering::libsvm, classes);
      std::vector<double> bounds;
      for (const int label : classes) bounds.push_back(10 * parameters.weight_of(label));
      put_at_bound(bounds, expected);

      std::string text, warnings;
      LibsvmRun run{.threads = threads};
      run.print = [&](const std::string& lines) { text += lines; };
      run.warn = [&](const std::string& lines) { warnings += lines; };
      Dataset own = made::copy_of(data);
      const std::optional<LibsvmModel> model = train_small_pairs(own, parameters, run);
      ASSERT_TRUE(model);
      EXPECT_EQ(model->labels, expected.labels);
      EXPECT_EQ(model->sizes, expected.sizes);
      EXPECT_EQ(model->row, expected.row);
      EXPECT_EQ(model->rho, expected.rho);
      EXPECT_EQ(model->coefficients, expected.coefficients);
      EXPECT_EQ(model->training->count(), data.rows());
      EXPECT_EQ(count(text, "optimization finished"), classes.size() * (classes.size() - 1) / 2);
      EXPECT_EQ(count(text, "Total nSV = "), 1u);
      EXPECT_EQ(warnings, "");
    }
}

TEST(SmallPairs, LeaveTheRestToTheGeneralWay) {
  const Threads threads(1);
  const LibsvmRun run{.threads = threads};
  const auto is_taken = [&](Dataset data, const LibsvmParameters& parameters) {
    const std::size_t rows = data.rows();
    const bool taken = train_small_pairs(data, parameters, run).has_value();
    if (!taken) {
      EXPECT_EQ(data.x.count(), rows);  // nothing is taken from the general way
    }
    return taken;
  };
  const LibsvmParameters usual = parameters_of(2);
  EXPECT_TRUE(is_taken(uneven_classes(), usual));

  Dataset equal = uneven_classes();
  equal.x.append(made::copy_of(equal).x.view().slice(0, 1));
  equal.y.push_back(equal.y[1]);
  EXPECT_FALSE(is_taken(std::move(equal), usual));

  EXPECT_FALSE(is_taken(made::classification(20, 4, Storage::sparse, 3, 2), usual));
  EXPECT_FALSE(is_taken(made::classification(100, 4, Storage::sparse, 3, 3), usual));
  EXPECT_FALSE(is_taken(uneven_classes(), parameters_of(3)));  // sigmoid
  LibsvmParameters other = usual;
  other.probability = 1;
  EXPECT_FALSE(is_taken(uneven_classes(), other));
  other = usual;
  other.svm_type = 1;
  EXPECT_FALSE(is_taken(uneven_classes(), other));
  other = usual;
  other.weight = {{1, 0}};
  EXPECT_FALSE(is_taken(uneven_classes(), other));
}

TEST(SmallPairs, KeepWhatTheyHaveWhenStopped) {
  const Threads threads(1);
  std::string warnings;
  LibsvmRun run{.threads = threads};
  run.warn = [&](const std::string& lines) { warnings += lines; };
  std::atomic<int> asked = 0;
  run.stop = [&] { return ++asked > 3; };
  Dataset data = uneven_classes();
  const std::optional<LibsvmModel> model = train_small_pairs(data, parameters_of(2), run);
  ASSERT_TRUE(model);
  EXPECT_NE(warnings.find("cancelled"), std::string::npos) << warnings;
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(model->rho.size(), 30u * 29 / 2);
  // Three classes against those behind them.
  const auto machine_has_rows = [](double each) { return each != 0; };
  const auto there = std::ranges::count_if(model->coefficients, machine_has_rows);
  run.stop = {};
  Dataset again = uneven_classes();
  const auto all = std::ranges::count_if(
      train_small_pairs(again, parameters_of(2), run)->coefficients, machine_has_rows);
  EXPECT_GE(there, 2 * (29 + 28 + 27));
  EXPECT_LT(there, all);
}

}  // namespace
}  // namespace maxmargin::small_pairs_test
