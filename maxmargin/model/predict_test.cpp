#include "maxmargin/model/predict.hpp"

#include <gtest/gtest.h>

#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/model/segmented_coefficients.hpp"
#include "maxmargin/model/verify/tile_product.hpp"
#include "tests/sample_model.hpp"

namespace maxmargin::predict_test {
namespace {

using sample::Storage;

/// A kernel of its user: the product of x_0 and z_0, plus 1.
Custom first_features() {
  Custom kernel;
  kernel.label = "first features";
  kernel.function = [](const Rows& left, std::span<const Index> which, const Rows& right,
                       std::size_t begin, std::size_t count, double* out) {
    const auto first = [](const Rows& rows, std::size_t row) {
      double value = 0;
      rows.for_each(row, [&](Index feature, double x) { value = feature == 0 ? x : value; });
      return value;
    };
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t c = 0; c < count; ++c)
        out[r * count + c] = first(left, which[r]) * first(right, begin + c) + 1;
  };
  return kernel;
}

template <class Component>
Kernel usable(const Component& component) {
  if constexpr (requires { component.function; }) return first_features();
  return component;
}

double naive_kernel(const Model& model, const Rows& rows, std::size_t row, Index vector) {
  if (!std::holds_alternative<Precomputed>(model.kernel))
    return naive_value(model.kernel, rows, row, model.support, vector);
  double value = 0;
  rows.for_each(row, [&](Index feature, double x) {
    if (feature == model.support_row[vector]) value = x;
  });
  return value;
}

/// f by a plain double loop, and the sum of the sizes of its terms.
std::pair<double, double> naive_f(const Model& model, const Machine& machine, const Rows& rows,
                                  std::size_t row) {
  double sum = machine.bias(), size = std::abs(sum);
  for (std::size_t k = 0; k < machine.support.size(); ++k) {
    const double term = machine.coefficient[k] * naive_kernel(model, rows, row, machine.support[k]);
    sum += term;
    size += std::abs(term);
  }
  return {sum, size};
}

void expect_naive(const Model& model, const Rows& rows, const Threads& threads) {
  const std::vector<double> values = Predictor(model).decision_values(rows, threads);
  ASSERT_EQ(values.size(), rows.count * model.machines.size());
  for (std::size_t i = 0; i < rows.count; ++i) {
    for (std::size_t m = 0; m < model.machines.size(); ++m) {
      const auto [f, size] = naive_f(model, model.machines[m], rows, i);
      ASSERT_NEAR(values[i * model.machines.size() + m], f, 1e-6 * size)
          << name_of(model.kernel) << " row " << i << " machine " << m;
    }
  }
}

TEST(Predict, AgreesWithADoubleLoopForEveryListedKernelAndStorage) {
  const Threads threads(2);
  for_each_component<Kernel>([&](const auto& component) {
    for (const Storage of_model : sample::all_storage) {
      const Model model =
          sample::classifier(usable(component), 4, Multiclass::one_vs_one, of_model);
      for (const Storage of_rows : sample::all_storage) {
        Rng rng(9);
        expect_naive(model, sample::rows(70, model.features, of_rows, rng), threads);
      }
    }
  });
}

TEST(Predict, AgreesWithADoubleLoopForManySupportVectorsAndMachines) {
  const Threads threads(2);
  Rng rng(10);
  const Features rows = sample::rows(65, 6, Storage::dense_float, rng);
  for (const auto multiclass : {Multiclass::one_vs_one, Multiclass::one_vs_rest}) {
    for (const std::size_t classes : {2, 3, 7})
      expect_naive(sample::classifier(Rbf{2}, classes, multiclass, Storage::dense_double, 1500, 6),
                   rows, threads);
  }
}

// Support vectors of a class meet only the machines of that class, as training leaves it.
Model by_class(std::size_t classes, std::size_t vectors) {
  Model model =
      sample::classifier(Rbf{}, classes, Multiclass::one_vs_one, Storage::dense_float, vectors);
  Rng rng(11);
  for (Machine& machine : model.machines) {
    machine.support.clear();
    machine.coefficient.clear();
    for (std::size_t k = 0; k < vectors; ++k) {
      const int own = static_cast<int>(k % classes);
      if ((own != machine.positive && own != machine.negative) || rng.uniform() < 0.1) continue;
      machine.support.push_back(static_cast<Index>(k));
      machine.coefficient.push_back((own == machine.positive ? 1 : -1) * rng.uniform(0.1, 1));
    }
  }
  return model;
}

TEST(Predict, GroupsSupportVectorsByClass) {
  const Model model = by_class(5, 200);
  const SegmentedCoefficients coefficients(model);
  EXPECT_FALSE(coefficients.in_given_order());
  for (std::size_t p = 1; p < 200; ++p)
    EXPECT_LE(coefficients.order()[p - 1] % 5, coefficients.order()[p] % 5);
  Rng rng(12);
  expect_naive(model, sample::rows(40, 5, Storage::sparse_float, rng), Threads(1));
}

TEST(Predict, FewCoefficientsAmongManyMachinesTakeAList) {
  Model model = sample::classifier(Rbf{}, 40, Multiclass::one_vs_rest, Storage::dense_float, 80);
  Rng rng(13);
  for (std::size_t m = 0; m < 40; ++m) {
    model.machines[m].support = {static_cast<Index>(m), static_cast<Index>(m + 40)};
    model.machines[m].coefficient = {rng.normal(), rng.normal()};
  }
  expect_naive(model, sample::rows(40, 5, Storage::dense_float, rng), Threads(1));
}

TEST(Predict, SameBitsForAnyThreadsAndAnyCompany) {
  const Threads one(1), three(3);
  Rng rng(14);
  const Features rows = sample::rows(200, 5, Storage::sparse_float, rng);
  const Model models[] = {
      by_class(4, 1300),
      sample::classifier(Linear{}, 3, Multiclass::one_vs_rest, Storage::sparse_float, 100),
      sample::classifier(Polynomial{}, 2, Multiclass::one_vs_one, Storage::dense_double, 2100)};
  for (const Model& model : models) {
    const Predictor predictor(model);
    const std::size_t machines = model.machines.size();
    const std::vector<double> all = predictor.decision_values(rows, one);
    EXPECT_EQ(all, predictor.decision_values(rows, three));
    for (const std::size_t row : {0, 1, 63, 64, 127, 199}) {
      Features alone = Features::sparse(5);
      const Index which = static_cast<Index>(row);
      alone.append(rows, {&which, 1});
      const std::vector<double> value = predictor.decision_values(alone, three);
      for (std::size_t m = 0; m < machines; ++m)
        EXPECT_EQ(value[m], all[row * machines + m]) << row;
    }
  }
}

TEST(Predict, ValuesNearZeroAreThoseOfDoubleArithmetic) {
  Model model = sample::classifier(Rbf{0.3}, 2, Multiclass::one_vs_one, Storage::dense_double, 300);
  Rng rng(15);
  const Features rows = sample::rows(20, 5, Storage::dense_double, rng);
  for (std::size_t i = 0; i < 20; ++i) {
    // The bias that makes f of this row 3e-9, far below what float kernel values resolve.
    Machine& machine = model.machines[0];
    machine.lambda[0] = 0;
    machine.lambda[0] = 3e-9 - naive_f(model, machine, rows, i).first;
    const double f = Predictor(model).decision_values(rows, Threads(1))[i];
    EXPECT_NEAR(f, 3e-9, 1e-11);
  }
}

TEST(Predict, ClosestOfOneVsRestAreThoseOfDoubleArithmetic) {
  Model model =
      sample::classifier(Rbf{0.3}, 3, Multiclass::one_vs_rest, Storage::dense_double, 300);
  Rng rng(16);
  const Features rows = sample::rows(20, 5, Storage::dense_double, rng);
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t m = 0; m < 3; ++m) {
      const double wanted = m == 0 ? -1 : 2 + 1e-9 * static_cast<double>(m);
      model.machines[m].lambda[0] = 0;
      model.machines[m].lambda[0] = wanted - naive_f(model, model.machines[m], rows, i).first;
    }
    const Predictor predictor(model);
    const auto values = predictor.decision_values(rows, Threads(1));
    EXPECT_NEAR(values[i * 3 + 1], 2 + 1e-9, 1e-11);
    EXPECT_EQ(predictor.predict(std::span(values).subspan(i * 3, 3)), 2);
  }
}

TEST(Predict, VotesAndTies) {
  const Model model =
      sample::classifier(Rbf{}, 3, Multiclass::one_vs_one, Storage::dense_float);  // 01 02 12
  const Predictor predictor(model);
  const auto predict = [&](double f01, double f02, double f12) {
    return predictor.predict(std::array{f01, f02, f12});
  };
  EXPECT_EQ(predict(1, 1, 1), 0);
  EXPECT_EQ(predict(-1, 1, 1), 1);
  EXPECT_EQ(predict(-1, -1, -1), 2);
  EXPECT_EQ(predict(0, 1, 1), 1);  // zero speaks for the negative side
  // One vote each: 0 over 1, 1 over 2, 2 over 0.
  EXPECT_EQ(predict(3, -1, 1), 0);
  EXPECT_EQ(predict(1, -1, 3), 1);
  EXPECT_EQ(predict(1, -3, 1), 2);
  EXPECT_EQ(predict(1, -1, 1), 0);
}

TEST(Predict, OneVsRestTakesTheLargest) {
  const Model model = sample::classifier(Rbf{}, 3, Multiclass::one_vs_rest, Storage::dense_float);
  const Predictor predictor(model);
  EXPECT_EQ(predictor.predict(std::array{-3.0, -1.0, -2.0}), 1);
  EXPECT_EQ(predictor.predict(std::array{0.5, 0.5, 0.0}), 0);
}

TEST(Predict, SignDecidesBetweenTwo) {
  Model model = sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::dense_float);
  model.machines[0].positive = 1;
  model.machines[0].negative = 0;
  EXPECT_EQ(Predictor(model).predict(std::array{0.1}), 1);
  EXPECT_EQ(Predictor(model).predict(std::array{0.0}), 0);
  model.multiclass = Multiclass::one_vs_rest;
  model.machines[0].negative = Machine::nobody;
  EXPECT_EQ(Predictor(model).predict(std::array{0.1}), 1);
  EXPECT_EQ(Predictor(model).predict(std::array{-0.1}), 0);
}

TEST(Predict, RegressionAndNovelty) {
  const Model number = sample::single(Rbf{}, Outcome::number, Storage::dense_float);
  EXPECT_EQ(Predictor(number).predict(std::array{0.25}), 0.25);
  const Model novelty = sample::single(Rbf{}, Outcome::novelty, Storage::dense_float);
  EXPECT_EQ(Predictor(novelty).predict(std::array{0.0}), 1);
  EXPECT_EQ(Predictor(novelty).predict(std::array{-1e-9}), -1);
}

TEST(Predict, RefusesAKernelWithoutItsFunction) {
  const Model model = sample::classifier(Custom{}, 2, Multiclass::one_vs_one, Storage::dense_float);
  EXPECT_THROW(Predictor{model}, Error);
}

TEST(Predict, PreparesRowsAsTheModelWasTrained) {
  Model model = sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::dense_float, 4, 2);
  model.scaling.offset = {1, 0};
  model.scaling.factor = {2, 3};
  const Predictor predictor(model);
  const Features scaled = predictor.prepared(Features::dense(2, std::array{2.0, 1.0, 0.0, 0.5})).x;
  EXPECT_EQ(scaled.columns(), 2u);
  EXPECT_EQ(scaled.view().value(0), 2);
  EXPECT_EQ(scaled.view().value(1), 3);
  EXPECT_EQ(scaled.view().value(2), -2);
  EXPECT_EQ(scaled.view().value(3), 1.5);
}

// A model of a file whose last features were absent must take a file that has them.
TEST(Predict, SparseFeaturesBeyondTheModelCountInTheDistance) {
  const Model model =
      sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::sparse_float, 4, 2);
  const Predictor predictor(model);
  Features wide = Features::sparse(5);
  wide.append(std::array<Index, 2>{0, 4}, std::array{0.5, 2.0});
  double want = model.machines[0].bias();
  for (std::size_t k = 0; k < model.machines[0].support.size(); ++k)
    want += model.machines[0].coefficient[k] *
            naive_value(model.kernel, wide, 0, model.support, model.machines[0].support[k]);
  EXPECT_NEAR(predictor.decision_values(wide, Threads(1))[0], want, 1e-6 * std::abs(want) + 1e-6);
  EXPECT_EQ(predictor.decision_values(predictor.prepared(wide), Threads(1)),
            predictor.decision_values(wide, Threads(1)));
}

TEST(Predict, FeaturesOfATableBeyondTheModelMustBeZero) {
  const Model model =
      sample::classifier(Rbf{}, 2, Multiclass::one_vs_one, Storage::sparse_float, 4, 2);
  const Predictor predictor(model);
  const Features zero = Features::dense(3, std::array{2.0, 1.0, 0.0});
  EXPECT_EQ(predictor.prepared(zero).x.columns(), 2u);
  const Features beyond = Features::dense(3, std::array{2.0, 1.0, 0.5});
  EXPECT_THROW(predictor.prepared(beyond), Error);
  const Features fewer = Features::dense(1, std::array{2.0});
  EXPECT_THROW(predictor.prepared(fewer), Error);
  EXPECT_THROW(predictor.decision_values(fewer, Threads(1)), Error);
  Features narrow = Features::sparse(1);
  narrow.append(std::array{2.0});
  EXPECT_EQ(predictor.prepared(narrow).x.columns(), 2u);
  EXPECT_EQ(predictor.decision_values(narrow, Threads(1)).size(), 1u);
}

TEST(Predict, NegativeValuesWhereTheKernelTakesNone) {
  const Model model =
      sample::classifier(ChiSquared{}, 2, Multiclass::one_vs_one, Storage::dense_float, 4, 2);
  const Features negative = Features::dense(2, std::array{2.0, -1.0});
  EXPECT_THROW(Predictor(model).decision_values(negative, Threads(1)), Error);
}

TEST(TileProduct, EqualsADoubleLoopWhateverTheShape) {
  Rng rng(17);
  for (const std::size_t rows : {1, 3, 4, 9}) {
    for (const std::size_t many : {1, 2, 3, 5}) {
      for (const std::size_t count : {0, 1, 7, 8, 33}) {
        std::vector<float> tile(rows * 40);
        std::vector<double> matrix(many * 50), out(rows * many);
        for (float& value : tile) value = static_cast<float>(rng.normal());
        for (double& value : matrix) value = rng.normal();
        tile_product(tile.data(), 40, rows, matrix.data(), 50, many, count, out.data());
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t s = 0; s < many; ++s) {
            double sum = 0;
            for (std::size_t k = 0; k < count; ++k)
              sum += double{tile[r * 40 + k]} * matrix[s * 50 + k];
            EXPECT_NEAR(out[r * many + s], sum, 1e-13);
          }
        }
      }
    }
  }
}

TEST(TileProduct, LargestIsOfTheSizes) {
  std::vector<float> values(37, 0.5f);
  EXPECT_EQ(largest(values.data(), 0), 0);
  EXPECT_EQ(largest(values.data(), 37), 0.5f);
  values[36] = -2;
  EXPECT_EQ(largest(values.data(), 37), 2);
  EXPECT_EQ(largest(values.data(), 36), 0.5f);
}

}  // namespace
}  // namespace maxmargin::predict_test
