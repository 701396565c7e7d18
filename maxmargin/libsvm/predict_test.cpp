#include "maxmargin/libsvm/predict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"

namespace maxmargin::libsvm_predict_test {
namespace {

constexpr double gamma = 0.7;

/// Classes of `sizes` support vectors with any coefficients.
LibsvmModel model_of(std::vector<std::uint64_t> sizes, std::size_t features) {
  Rng rng(3);
  LibsvmModel model;
  model.kernel = Rbf{gamma};
  model.support = Features::sparse(features);
  std::size_t vectors = 0;
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    model.labels.push_back(static_cast<int>(7 * c % 5) - 2);
    vectors += sizes[c];
  }
  for (std::size_t v = 0; v < vectors; ++v) {
    const std::vector<Index> which{0, static_cast<Index>(1 + rng.below(features - 1))};
    model.support.append(which, std::vector<double>{rng.normal(), rng.normal()});
  }
  for (std::size_t k = 0; k < vectors * model.columns(); ++k)
    model.coefficients.push_back(rng.normal());
  for (std::size_t k = 0; k < sizes.size() * (sizes.size() - 1) / 2; ++k)
    model.rho.push_back(rng.normal());
  model.sizes = std::move(sizes);
  return model;
}

std::vector<double> dense(const Rows& rows, std::size_t i, std::size_t features) {
  std::vector<double> values(features, 0.0);
  rows.for_each(i, [&](Index feature, double value) { values[feature] = value; });
  return values;
}

/// The definition in the head of LibsvmModel, pair by pair.
std::vector<double> naive(const LibsvmModel& model, const Rows& rows, std::size_t features) {
  std::vector<double> values;
  for (std::size_t i = 0; i < rows.count; ++i) {
    const std::vector<double> x = dense(rows, i, features);
    std::vector<double> K;
    for (std::size_t v = 0; v < model.vectors(); ++v) {
      const std::vector<double> z = dense(model.support, v, features);
      double distance = 0;
      for (std::size_t k = 0; k < features; ++k) distance += (x[k] - z[k]) * (x[k] - z[k]);
      K.push_back(std::exp(-gamma * distance));
    }
    std::size_t pair = 0, first = 0;
    for (std::size_t c = 0; c < model.sizes.size(); first += model.sizes[c++]) {
      std::size_t second = first + model.sizes[c];
      for (std::size_t d = c + 1; d < model.sizes.size(); second += model.sizes[d++], ++pair) {
        double sum = -model.rho[pair];
        for (std::size_t v = first; v < first + model.sizes[c]; ++v)
          sum += model.coefficients[v * model.columns() + d - 1] * K[v];
        for (std::size_t v = second; v < second + model.sizes[d]; ++v)
          sum += model.coefficients[v * model.columns() + c] * K[v];
        values.push_back(sum);
      }
    }
  }
  return values;
}

/// Rows of a class are many or few, so that both ways of summing are taken; there are classes
/// without a support vector, rows with more features than the model, and more rows than one pass.
TEST(LibsvmPredict, ValuesOfPairsAreTheirDefinition) {
  for (const std::vector<std::uint64_t>& sizes :
       {std::vector<std::uint64_t>{1, 1, 1}, {3, 0, 2, 5}, {1, 2, 1, 1, 4}, {30, 40, 25}, {2, 3}})
    for (const std::size_t features : {6u, 12u})
      for (const bool is_sparse : {true, false}) {
        const LibsvmModel model = model_of(sizes, 8);
        const std::size_t wide = is_sparse ? features : 8;
        Rng rng(9);
        Features rows = no_rows(is_sparse, wide);
        for (int i = 0; i < 21; ++i) {
          std::vector<double> values;
          for (std::size_t k = 0; k < wide; ++k) values.push_back(rng.normal());
          if (is_sparse) {
            std::vector<Index> which(wide);
            std::iota(which.begin(), which.end(), Index{0});
            rows.append(which, values);
          } else {
            rows.append(values);
          }
        }
        const LibsvmPredictor predictor(model);
        const std::vector<double> found =
            predictor.decision_values(rows, Threads(2), Precision::exact);
        const std::vector<double> wanted = naive(model, rows, std::max<std::size_t>(wide, 8));
        ASSERT_EQ(found.size(), wanted.size());
        for (std::size_t k = 0; k < found.size(); ++k)
          ASSERT_NEAR(found[k], wanted[k], 1e-12 * (1 + std::abs(wanted[k]))) << sizes.size();
      }
}

}  // namespace
}  // namespace maxmargin::libsvm_predict_test
