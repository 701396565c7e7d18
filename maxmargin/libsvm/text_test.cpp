#include "maxmargin/libsvm/text.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/libsvm/predict.hpp"
#include "maxmargin/model/file/file.hpp"
#include "tests/sample_model.hpp"

namespace maxmargin::text_test {
namespace {

// As LIBSVM's documentation of the format has it, put together by hand.
constexpr std::string_view three_classes =
    "svm_type c_svc\n"
    "kernel_type rbf\n"
    "gamma 0.5\n"
    "nr_class 3\n"
    "total_sv 4\n"
    "rho 0.125 -2 0.33333333333333331\n"
    "label 3 -1 2\n"
    "probA -1.5 -2.5 -3.5\n"
    "probB 0.5 0 1\n"
    "nr_sv 1 2 1\n"
    "SV\n"
    "0.5 1 1:0.708333 3:-1 \n"
    "-0.25 0.75 2:1.5 \n"
    "-0.25 0 1:-1e-05 12:100000 \n"
    "-1 -0.75 \n";

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string_view::npos) << what;
  return std::string(text.substr(0, at)) + std::string(with) +
         std::string(text.substr(at + what.size()));
}

std::string without(std::string_view text, std::string_view keyword) {
  const std::size_t at = text.find(std::string(keyword) + " ");
  return std::string(text.substr(0, at)) + std::string(text.substr(text.find('\n', at) + 1));
}

std::string what_is_wrong(std::string_view text) {
  try {
    parse_libsvm_text(text, "m");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    EXPECT_EQ(error.place().file, "m");
    return error.what();
  }
  return "nothing";
}

constexpr std::size_t columns = 6;

LibsvmModel made(LibsvmType type, const Kernel& kernel, std::size_t classes, std::uint64_t seed,
                 bool probabilities) {
  Rng rng(seed);
  const auto numbers = [&](std::size_t count) {
    std::vector<double> list;
    for (std::size_t k = 0; k < count; ++k) list.push_back(rng.normal());
    return list;
  };
  LibsvmModel model;
  model.type = type;
  model.kernel = kernel;
  const bool of_classes = predicts_classes(type);
  const std::size_t pairs = of_classes ? classes * (classes - 1) / 2 : 1;
  model.rho = numbers(pairs);
  std::size_t vectors = 9;
  if (of_classes) {
    vectors = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      model.labels.push_back(static_cast<int>((k * 5 + 3) % classes) - 1);
      model.sizes.push_back(rng.below(5));
      vectors += model.sizes.back();
    }
  }
  if (probabilities && of_classes) model.prob_b = numbers(pairs);
  if (probabilities && of_classes) model.prob_a = numbers(pairs);
  if (probabilities && !of_classes && type != LibsvmType::one_class) model.prob_a = {rng.uniform()};
  if (probabilities && type == LibsvmType::one_class) {
    model.marks = numbers(10);
    std::ranges::sort(model.marks);
  }
  model.support = Features::sparse(columns);
  for (std::size_t k = 0; k < vectors; ++k) {
    std::vector<double> row = numbers(columns);
    row[0] = 0;  // LIBSVM counts from 1
    row[1 + rng.below(columns - 1)] = 0;
    if (std::holds_alternative<Precomputed>(kernel))
      model.serial.push_back(1 + (k * 5) % 11);
    else
      model.support.append(row);
  }
  // Every vector speaks for its own class.
  for (std::size_t of = 0; of < model.sizes.size(); ++of)
    for (std::uint64_t k = 0; k < model.sizes[of]; ++k)
      for (std::size_t column = 0; column < model.columns(); ++column)
        model.coefficients.push_back((column >= of ? 1 : -1) * rng.uniform());
  if (!of_classes) model.coefficients = numbers(vectors);
  return model;
}

std::vector<Kernel> kernels() {
  return {Linear{}, Polynomial{0.3, 2, 1.5}, Rbf{0.1}, Sigmoid{0.2, -0.7}, Precomputed{}};
}

/// Decision values by the definition, on rows numbered as LIBSVM does.
std::vector<double> by_definition(const LibsvmModel& model, const Rows& rows, std::size_t row) {
  std::vector<double> k(model.vectors());
  for (std::size_t v = 0; v < k.size(); ++v) {
    if (std::holds_alternative<Precomputed>(model.kernel))
      rows.for_each(row, [&](Index feature, double value) {
        if (feature == model.serial[v]) k[v] = value;
      });
    else
      k[v] = naive_value(model.kernel, rows, row, model.support, v);
  }
  if (model.labels.empty()) {
    double sum = -model.rho[0];
    for (std::size_t v = 0; v < k.size(); ++v) sum += model.coefficients[v] * k[v];
    return {sum};
  }
  std::vector<std::size_t> start{0};
  for (const std::uint64_t size : model.sizes) start.push_back(start.back() + size);
  std::vector<double> values;
  for (std::size_t i = 0; i < model.labels.size(); ++i)
    for (std::size_t j = i + 1; j < model.labels.size(); ++j) {
      double sum = -model.rho[values.size()];
      for (std::size_t v = start[i]; v < start[i + 1]; ++v)
        sum += model.coefficients[v * model.columns() + j - 1] * k[v];
      for (std::size_t v = start[j]; v < start[j + 1]; ++v)
        sum += model.coefficients[v * model.columns() + i] * k[v];
      values.push_back(sum);
    }
  return values;
}

Features test_rows(bool precomputed) {
  Rng rng(99);
  const std::size_t width = precomputed ? 12 : columns;
  Features rows = Features::sparse(width);
  for (int i = 0; i < 5; ++i) {
    std::vector<double> row(width);
    for (std::size_t j = 1; j < width; ++j) row[j] = rng.normal();
    rows.append(row);
  }
  return rows;
}

TEST(LibsvmText, IsWhatLibsvmWrites) {
  const LibsvmModel model = parse_libsvm_text(three_classes, "m");
  EXPECT_EQ(model.labels, (std::vector{3, -1, 2}));
  EXPECT_EQ(model.vectors(), 4u);
  EXPECT_EQ(libsvm_text(model), three_classes);
}

TEST(LibsvmText, AllTypesAndKernelsComeBackTheSame) {
  std::uint64_t seed = 1;
  for (int type = 0; type < 5; ++type)
    for (const Kernel& kernel : kernels())
      for (const bool probabilities : {false, true})
        for (const std::size_t classes : {2u, 7u}) {
          const LibsvmModel model =
              made(static_cast<LibsvmType>(type), kernel, classes, ++seed, probabilities);
          const std::string text = libsvm_text(model);
          const LibsvmModel again = parse_libsvm_text(text, "m");
          EXPECT_EQ(libsvm_text(again), text);
          EXPECT_EQ(again.coefficients, model.coefficients);
          EXPECT_EQ(again.rho, model.rho);
          EXPECT_EQ(again.prob_a, model.prob_a);
          EXPECT_EQ(again.prob_b, model.prob_b);
          EXPECT_EQ(again.marks, model.marks);
          EXPECT_EQ(again.serial, model.serial);
          EXPECT_EQ(again.sizes, model.sizes);
        }
}

TEST(LibsvmText, NoDigitIsLost) {
  Rng rng(5);
  std::vector<double> values{5e-324, 1.7976931348623157e308, 1e8, 123456789, 0.1, 1e-4, 1e-5, -1e7};
  while (values.size() < 2000) {
    const double value = std::bit_cast<double>(rng.next());
    if (std::isfinite(value) && value != 0) values.push_back(value);
    values.push_back(rng.normal());
  }
  LibsvmModel model = made(LibsvmType::epsilon_svr, Linear{}, 0, 1, false);
  model.support = Features::sparse(values.size() + 1);
  model.support.append([&] {
    std::vector<double> row(values);
    row.insert(row.begin(), 0.0);
    return row;
  }());
  model.coefficients = {values[8]};
  const LibsvmModel again = parse_libsvm_text(libsvm_text(model), "m");
  const Rows rows = again.support;
  ASSERT_EQ(rows.stored(), values.size());
  for (std::size_t k = 0; k < values.size(); ++k) EXPECT_EQ(rows.value(k), values[k]);
  EXPECT_EQ(again.coefficients[0], values[8]);
}

TEST(LibsvmText, OwnModelsDecideTheSame) {
  const Threads threads(1);
  std::uint64_t seed = 1;
  for (int type = 0; type < 5; ++type)
    for (const Kernel& kernel : kernels())
      for (const Numbering numbering : {Numbering::libsvm, Numbering::own}) {
        const LibsvmModel foreign =
            made(static_cast<LibsvmType>(type), kernel, 4, ++seed, type != 2);
        const bool precomputed = std::holds_alternative<Precomputed>(kernel);
        const Features rows = test_rows(precomputed);
        const Model model = to_model(foreign, numbering);
        // The marks of one-class machines have no counterpart.
        EXPECT_EQ(model.calibration.none(), type == 2);
        Features own = Features::sparse(rows.columns());
        for (std::size_t i = 0; i < rows.count(); ++i) {
          std::vector<double> row(rows.columns());
          rows.view().for_each(i, [&](Index feature, double value) {
            row[feature - (numbering == Numbering::own ? 1 : 0)] = value;
          });
          own.append(row);
        }
        const Predictor predictor(model);
        const auto f = predictor.decision_values(predictor.prepared(own), threads);
        for (std::size_t i = 0; i < rows.count(); ++i) {
          const std::vector<double> expected = by_definition(foreign, rows, i);
          ASSERT_EQ(expected.size(), model.machines.size());
          for (std::size_t m = 0; m < expected.size(); ++m) {
            // Pairs have another order and orientation there; find by the classes.
            std::size_t pair = 0;
            double sign = 1;
            const Machine& machine = model.machines[m];
            for (std::size_t a = 0, p = 0; a < foreign.labels.size(); ++a)
              for (std::size_t b = a + 1; b < foreign.labels.size(); ++b, ++p) {
                const auto is = [&](std::size_t c, int number) {
                  return std::to_string(foreign.labels[c]) ==
                         model.classes[static_cast<std::size_t>(number)];
                };
                if (is(a, machine.positive) && is(b, machine.negative)) pair = p, sign = 1;
                if (is(b, machine.positive) && is(a, machine.negative)) pair = p, sign = -1;
              }
            EXPECT_NEAR(f[i * expected.size() + m], sign * expected[pair], 1e-4);
          }
        }
        EXPECT_EQ(libsvm_text(to_libsvm(model, numbering, foreign.labels)), libsvm_text(foreign));
      }
}

TEST(LibsvmText, MachinesAgainstTheRestDecideTheSameAsPairs) {
  const Threads threads(1);
  Rng rng(3);
  const Features rows = sample::rows(40, columns, sample::Storage::sparse_double, rng);
  for (const std::size_t classes : {3, 5}) {
    const Model model = sample::classifier(Rbf{0.7}, classes, Multiclass::one_vs_rest,
                                           sample::Storage::sparse_double, 30, columns);
    const LibsvmModel foreign = to_libsvm(model, Numbering::libsvm);
    const LibsvmModel again = parse_libsvm_text(libsvm_text(foreign), "m");
    const Predictor predictor(model);
    const auto f = predictor.decision_values(predictor.prepared(rows), threads);
    const auto named = [&](int label) {
      const auto found = std::ranges::find(model.classes, std::to_string(label));
      return static_cast<std::size_t>(found - model.classes.begin());
    };
    for (std::size_t i = 0; i < rows.count(); ++i) {
      const std::vector<double> pairs = by_definition(again, rows, i);
      std::size_t pair = 0;
      for (std::size_t a = 0; a < classes; ++a)
        for (std::size_t b = a + 1; b < classes; ++b, ++pair)
          EXPECT_NEAR(
              pairs[pair],
              f[i * classes + named(again.labels[a])] - f[i * classes + named(again.labels[b])],
              1e-5);
    }
  }
}

TEST(LibsvmText, LabelsStandInIncreasingOrderButOneBeforeMinusOne) {
  LibsvmModel model = made(LibsvmType::c_svc, Linear{}, 2, 1, false);
  model.labels = {-1, 1};
  EXPECT_EQ(to_libsvm(to_model(model, Numbering::own), Numbering::own).labels,
            (std::vector{1, -1}));
  model.labels = {9, 4};
  EXPECT_EQ(to_libsvm(to_model(model, Numbering::own), Numbering::own).labels, (std::vector{4, 9}));
}

TEST(LibsvmText, WhatLibsvmHasNoPlaceForIsRefused) {
  const LibsvmModel foreign = made(LibsvmType::c_svc, Rbf{1}, 3, 1, false);
  const auto refused = [&](auto&& change) {
    Model model = to_model(foreign, Numbering::own);
    change(model);
    EXPECT_THROW(to_libsvm(model, Numbering::own), Error);
  };
  refused([](Model& model) { model.kernel = Laplacian{1}; });
  refused([](Model& model) { model.classes[0] = "setosa"; });
  refused([](Model& model) { model.classes[0] = "0.5"; });
  refused([](Model& model) { model.machines[0].lambda = {1, 2}; });
  refused([](Model& model) { model.machines[0].negative = Machine::nobody; });
  refused([](Model& model) { model.machines.pop_back(); });
  refused([](Model& model) {
    model.scaling.offset.assign(model.features, 0);
    model.scaling.factor.assign(model.features, 2);
  });
}

TEST(LibsvmText, LoadTakesEitherFormat) {
  const std::string path = testing::TempDir() + "/libsvm_text_test.model";
  save_libsvm(parse_libsvm_text(three_classes, "m"), path);
  const Model model = load_any(path);
  EXPECT_EQ(model.classes, (std::vector<std::string>{"-1", "2", "3"}));
  save(model, path);
  EXPECT_EQ(digest(load_any(path)), digest(model));
  EXPECT_THROW(load_libsvm(path), Error);
  std::filesystem::remove(path);
}

TEST(LibsvmText, DamageIsFoundAndNamed) {
  const auto wrong = [](std::string_view what, std::string_view with) {
    return what_is_wrong(replaced(three_classes, what, with));
  };
  EXPECT_NE(wrong("total_sv 4", "total_sv 5").find("add up"), std::string::npos);
  EXPECT_NE(wrong("nr_sv 1 2 1", "nr_sv 1 2 2").find("add up"), std::string::npos);
  EXPECT_NE(wrong("nr_sv 1 2 1", "nr_sv 1 2").find("each class"), std::string::npos);
  EXPECT_NE(wrong("nr_sv 1 2 1", "nr_sv 6 -3 1").find("m:10:9"), std::string::npos);
  EXPECT_NE(wrong("total_sv 4", "total_sv -4").find("m:5:10: '-4' is out of range"),
            std::string::npos);
  EXPECT_NE(wrong("total_sv 4", "total_sv 99999999999999999999").find("out of range"),
            std::string::npos);
  EXPECT_NE(wrong("nr_class 3", "nr_class 2147483647").find("pair"), std::string::npos);
  EXPECT_NE(wrong("nr_class 3", "nr_class 0").find("no class"), std::string::npos);
  EXPECT_NE(wrong("nr_class 3", "nr_class").find("m:4"), std::string::npos);
  EXPECT_NE(wrong("rho 0.125 -2", "rho -2").find("'rho'"), std::string::npos);
  EXPECT_NE(wrong("rho 0.125", "rho nan").find("m:6:5: 'nan' is not a finite number"),
            std::string::npos);
  EXPECT_NE(wrong("label 3 -1 2", "label 3 -1 3").find("twice"), std::string::npos);
  EXPECT_NE(wrong("label 3", "label 3.5").find("whole number"), std::string::npos);
  EXPECT_NE(wrong("kernel_type rbf", "kernel_type chi2").find("unknown kernel"), std::string::npos);
  EXPECT_NE(wrong("svm_type c_svc", "svm_type d_svc").find("unknown svm type"), std::string::npos);
  EXPECT_NE(wrong("gamma 0.5", "gamma -0.5").find("out of range"), std::string::npos);
  EXPECT_NE(wrong("gamma 0.5", "gamma 0.5\ngamma 1").find("twice"), std::string::npos);
  EXPECT_NE(wrong("gamma 0.5", "gamma 0.5 1").find("more here"), std::string::npos);
  EXPECT_NE(wrong("gamma 0.5", "gramma 0.5").find("unknown word 'gramma'"), std::string::npos);
  EXPECT_NE(wrong("1:0.708333 3:-1", "1:0.708333 3:x").find("m:12:18: 'x' is not a number"),
            std::string::npos);
  EXPECT_NE(wrong("1:0.708333 3:-1", "3:1 1:2").find("increase"), std::string::npos);
  EXPECT_NE(wrong("1:0.708333", "-1:1").find("out of range"), std::string::npos);
  EXPECT_NE(wrong("1:0.708333", "3000000000:1").find("out of range"), std::string::npos);
  EXPECT_NE(wrong("1:0.708333", "1:1e999").find("not a finite number"), std::string::npos);
  EXPECT_NE(wrong("-1 -0.75", "-1").find("coefficient is missing"), std::string::npos);
  EXPECT_NE(wrong("-1 -0.75 \n", "-1 -0.75 \n1 1 \n").find("more support vectors"),
            std::string::npos);
  EXPECT_NE(wrong("-1 -0.75 \n", "").find("ends behind 3 of 4"), std::string::npos);
  EXPECT_NE(wrong("SV\n", "").find("m:11:1: unknown word '0.5'"), std::string::npos);
  EXPECT_NE(what_is_wrong("").find("'SV' is missing"), std::string::npos);
  EXPECT_NE(what_is_wrong("SV\n").find("'svm_type' is missing"), std::string::npos);
  for (const char* keyword : {"svm_type", "kernel_type", "gamma", "nr_class", "total_sv", "rho",
                              "label", "probA", "probB", "nr_sv"})
    EXPECT_NE(what_is_wrong(without(three_classes, keyword)), "nothing") << keyword;
}

TEST(LibsvmText, EveryBeginningOfAFileIsRefused) {
  // Up to the last number, which may lose digits.
  const std::size_t most = three_classes.find("0.75 \n", three_classes.find("12:"));
  for (std::size_t size = 0; size < most; ++size)
    EXPECT_NE(what_is_wrong(three_classes.substr(0, size)), "nothing") << size;
}

// LIBSVM writes such a file when it is trained on one class.
TEST(LibsvmText, OneClassIsAlwaysPredicted) {
  const std::string_view text =
      "svm_type c_svc\nkernel_type linear\nnr_class 1\ntotal_sv 0\nrho\nlabel 4\nnr_sv 0\nSV\n";
  const LibsvmModel model = parse_libsvm_text(text, "m");
  EXPECT_EQ(libsvm_text(model), text);
  const LibsvmPredictor predictor(model);
  const Features rows = test_rows(false);
  const std::vector<double> values = predictor.decision_values(rows, Threads(1));
  EXPECT_TRUE(values.empty());
  EXPECT_EQ(predictor.predict(values), 4);
}

TEST(LibsvmText, RandomBytesAreNoModel) {
  Rng rng(17);
  for (int k = 0; k < 2000; ++k) {
    std::string text(three_classes);
    for (int change = 0; change < 3; ++change)
      text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    try {
      const LibsvmModel model = parse_libsvm_text(text, "m");
      EXPECT_EQ(libsvm_text(parse_libsvm_text(libsvm_text(model), "m")), libsvm_text(model));
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
    }
  }
}

}  // namespace
}  // namespace maxmargin::text_test
