// LIBLINEAR (Debian's liblinear-tools) as an independent witness of Crammer and Singer's machine:
// the same weights, and objectives that enclose one optimum.
#include <gtest/gtest.h>

#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/libsvm_witness.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::liblinear_test {
namespace {

constexpr const char* program = "/usr/bin/liblinear-train";

/// w of each class, the classes in increasing order.
using ClassWeights = std::vector<std::vector<double>>;

/// A model as LIBLINEAR writes it: the labels in an order of its own, then a line per feature.
ClassWeights read_model(const std::string& path, std::size_t features) {
  std::ifstream file(path);
  std::string word;
  std::size_t count = 0;
  std::vector<std::size_t> label;
  while (file >> word && word != "w") {
    if (word == "nr_class") file >> count;
    if (word != "label") continue;
    label.resize(count);
    for (std::size_t& each : label) file >> each;
  }
  ClassWeights w(count, std::vector<double>(features));
  for (std::size_t j = 0; j < features; ++j)
    for (const std::size_t each : label) file >> w.at(each - 1)[j];
  EXPECT_TRUE(file) << path;
  return w;
}

/// A linear machine at the unit vectors.
ClassWeights weights_of(const Model& model, std::size_t features) {
  Features units = Features::dense(features);
  for (std::size_t j = 0; j < features; ++j) {
    std::vector<double> row(features, 0.0);
    row[j] = 1;
    units.append(row);
  }
  const std::vector<double> f = Predictor(model).decision_values(units, Threads(1));
  const std::size_t count = model.machines.size();
  ClassWeights w(count, std::vector<double>(features));
  for (std::size_t j = 0; j < features; ++j)
    for (std::size_t k = 0; k < count; ++k) w[k][j] = f[j * count + k];
  return w;
}

/// 1/2 sum_k |w_k|^2 + sum_i C_i (max_k ([k != y_i] + w_k'x_i) - w_{y_i}'x_i)
double objective(const ClassWeights& w, const Dataset& data, const std::vector<double>& cost) {
  double sum = 0;
  for (const auto& each : w)
    for (const double value : each) sum += value * value / 2;
  const Rows x = data.x;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const auto own = static_cast<std::size_t>(data.y[i]) - 1;
    std::vector<double> f(w.size(), 0.0);
    x.for_each(i, [&](Index feature, double value) {
      for (std::size_t k = 0; k < w.size(); ++k) f[k] += w[k][feature] * value;
    });
    double largest = f[own];
    for (std::size_t k = 0; k < w.size(); ++k)
      if (k != own) largest = std::max(largest, 1 + f[k]);
    sum += cost[own] * (largest - f[own]);
  }
  return sum;
}

TEST(Liblinear, FindsTheSameCrammerSingerMachine) {
  ASSERT_TRUE(std::filesystem::exists(program))
      << "scripts/install-dependencies brings " << program;
  constexpr std::size_t features = 5;
  struct Asked {
    int classes;
    double cost;
    made::Storage storage;
    double first_class = 1;  ///< factor of its cost
  };
  for (const auto& [classes, cost, storage, factor] :
       {Asked{3, 1, made::Storage::dense_doubles}, Asked{3, 10, made::Storage::sparse},
        Asked{6, 0.1, made::Storage::dense_floats}, Asked{4, 2, made::Storage::sparse, 2.5}}) {
    SCOPED_TRACE(std::to_string(classes) + " classes, C = " + shortest(cost));
    const Dataset data = made::classification(120, features, storage, 31, classes);
    const Folder folder;
    std::ofstream(folder / "data") << libsvm_lines(data);
    folder.run("liblinear-train -s 4 -e 1e-8 -c " + shortest(cost) + " -w1 " + shortest(factor) +
               " data model");
    const ClassWeights theirs = read_model(folder / "model", features);

    TrainOptions options{.task = Svc{.cost = cost,
                                     .bias = Bias::none,
                                     .multiclass = Multiclass::crammer_singer,
                                     .class_weights = {{"1", factor}}},
                         .kernel = Linear{}};
    options.stop = {1e-8, 1e-9};
    const Trained trained = train(made::copy_of(data), options, Threads(1));
    const ClassWeights ours = weights_of(trained.model, features);

    std::vector<double> costs(theirs.size(), cost);
    costs[0] *= factor;
    const Certificate& certificate = trained.certificate;
    const double reached = objective(theirs, data, costs);
    EXPECT_EQ(trained.ended, Ended::converged);
    EXPECT_NEAR(objective(ours, data, costs), certificate.primal, 1e-9 * certificate.primal);
    EXPECT_GE(reached, certificate.dual * (1 - 1e-12));
    EXPECT_NEAR(reached, certificate.primal, 1e-6 * certificate.primal);
    ASSERT_EQ(ours.size(), theirs.size());
    // The objective grows by |w - w*|^2 / 2 at least.
    for (std::size_t k = 0; k < ours.size(); ++k)
      for (std::size_t j = 0; j < features; ++j)
        EXPECT_NEAR(ours[k][j], theirs[k][j], 2e-3 * std::sqrt(certificate.primal));
  }
}

}  // namespace
}  // namespace maxmargin::liblinear_test
