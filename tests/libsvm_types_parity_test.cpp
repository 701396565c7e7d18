// LIBSVM's way of training beside LIBSVM: every type and kernel, with two classes, several,
// weights, probabilities; models go both ways. Debian's svm-train and svm-predict are the
// witnesses.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>

#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/libsvm/predict.hpp"
#include "maxmargin/libsvm/text.hpp"
#include "maxmargin/libsvm/train.hpp"
#include "tests/libsvm_witness.hpp"
#include "tests/made_data.hpp"
#include "tests/paths.hpp"

namespace maxmargin::libsvm_types_parity_test {
namespace {

namespace fs = std::filesystem;
using made::Storage;

/// A problem as it stands in LIBSVM's files.
struct Problem {
  std::string train, test;
  std::string options;
};

/// The kernel values of rows with training rows, behind the numbers of the rows.
std::string matrix_lines(const Dataset& data, const Dataset& train) {
  std::ostringstream out;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    out << shortest(data.y[i]) << " 0:" << i % train.rows() + 1;
    for (std::size_t j = 0; j < train.rows(); ++j)
      out << ' ' << j + 1 << ':' << shortest(naive_value(Rbf{0.7}, data.x, i, train.x, j));
    out << '\n';
  }
  return out.str();
}

ReadOptions as_libsvm_reads() {
  ReadOptions options;
  options.format = Format::libsvm;
  options.labels = LabelKind::number;
  options.base = ReadOptions::Base::zero;
  return options;
}

/// Whether no other class has as many votes, and no decision is close.
bool clear_cut(const LibsvmModel& model, std::span<const double> f) {
  std::vector<int> votes(std::max<std::size_t>(model.labels.size(), 2), 0);
  for (std::size_t i = 0, pair = 0; i < model.labels.size(); ++i)
    for (std::size_t j = i + 1; j < model.labels.size(); ++j) ++votes[f[pair++] > 0 ? i : j];
  std::ranges::sort(votes, std::greater{});
  if (!model.labels.empty() && votes[0] == votes[1]) return false;
  return std::ranges::all_of(f, [](double value) { return std::abs(value) > 1e-3; });
}

/// Parameters from the words of a command line.
LibsvmParameters parsed(const std::string& options) {
  LibsvmParameters result;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    double value = 0;
    words >> value;
    const auto whole = static_cast<int>(value);
    switch (word[1]) {
      case 's':
        result.svm_type = whole;
        break;
      case 't':
        result.kernel_type = whole;
        break;
      case 'd':
        result.degree = whole;
        break;
      case 'g':
        result.gamma = value;
        break;
      case 'r':
        result.coef0 = value;
        break;
      case 'c':
        result.C = value;
        break;
      case 'n':
        result.nu = value;
        break;
      case 'p':
        result.p = value;
        break;
      case 'b':
        result.probability = whole;
        break;
      case 'w':
        result.weight.emplace_back(std::stoi(word.substr(2)), value);
        break;
      default:
        ADD_FAILURE() << word;
    }
  }
  return result;
}

/// Labels and probabilities as svm-predict writes them, with six digits.
void expect_same_probabilities(const Folder& folder, const std::string& name, const Dataset& test) {
  folder.run("svm-predict -b 1 test " + name + " out");
  const LibsvmModel model = load_libsvm(folder / name);
  const LibsvmPredictor predictor(model);
  const auto f = predictor.decision_values(test.x, Threads(2));
  std::ifstream written(folder / "out");
  std::string word;
  for (std::size_t k = 0; k <= model.labels.size(); ++k) written >> word;  // the head
  for (std::size_t i = 0; i < test.rows(); ++i) {
    const auto values = std::span(f).subspan(i * predictor.pairs(), predictor.pairs());
    double label = 0;
    ASSERT_TRUE(written >> label);
    EXPECT_EQ(predictor.likeliest(values), label) << name << " " << i;
    for (const double probability : predictor.probabilities(values)) {
      double wanted = 0;
      ASSERT_TRUE(written >> wanted);
      EXPECT_NEAR(probability, wanted, 1e-5) << name << " " << i;
    }
  }
}

void expect_same(const Problem& problem) {
  SCOPED_TRACE(problem.options);
  const Folder folder;
  const Threads threads(2);
  std::ofstream(folder / "train") << problem.train;
  std::ofstream(folder / "test") << problem.test;
  LibsvmParameters parameters = parsed(problem.options);
  // Close enough to the optimum that slopes of probabilities, which double the errors of decision
  // values many times, can be compared.
  parameters.eps = 1e-6;
  const std::string log = folder.run("svm-train -e " + shortest(parameters.eps) + " " +
                                     problem.options + " train theirs");

  std::string printed;
  LibsvmRun run{.threads = threads};
  run.print = [&](const std::string& text) { printed += text; };
  std::srand(1);  // as in a process of its own
  run.random = std::rand;
  const LibsvmModel ours =
      libsvm_train(read(folder / "train", as_libsvm_reads(), threads), parameters, run);
  save_libsvm(ours, folder / "ours");
  const LibsvmModel theirs = load_libsvm(folder / "theirs");

  const Objectives wanted(log), found(printed);
  ASSERT_EQ(found.value.size(), wanted.value.size());
  for (std::size_t k = 0; k < wanted.value.size(); ++k)
    EXPECT_NEAR(found.value[k], wanted.value[k],
                1e-6 * std::abs(wanted.value[k]) + wanted.rounding[k])
        << k;
  EXPECT_EQ(ours.labels, theirs.labels);
  EXPECT_EQ(ours.type, theirs.type);
  EXPECT_EQ(name_of(ours.kernel), name_of(theirs.kernel));
  const auto expect_near = [](const std::vector<double>& one, const std::vector<double>& other) {
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t k = 0; k < one.size(); ++k)
      EXPECT_NEAR(one[k], other[k], 2e-3 * (1 + std::abs(other[k]))) << k;
  };
  expect_near(ours.prob_a, theirs.prob_a);
  expect_near(ours.prob_b, theirs.prob_b);

  // Both models by our code, then ours by theirs.
  const Dataset test = read(folder / "test", as_libsvm_reads(), threads);
  const LibsvmPredictor of_ours(ours), of_theirs(theirs);
  const auto f = of_ours.decision_values(test.x, threads);
  const auto g = of_theirs.decision_values(test.x, threads);
  folder.run("svm-predict test ours out");
  folder.run("svm-predict test theirs out2");
  std::ifstream by_them(folder / "out"), all_theirs(folder / "out2");
  const std::size_t pairs = of_ours.pairs();
  std::size_t clear = 0;
  for (std::size_t i = 0; i < test.rows(); ++i) {
    const auto mine = std::span(f).subspan(i * pairs, pairs);
    const auto other = std::span(g).subspan(i * pairs, pairs);
    for (std::size_t p = 0; p < pairs; ++p)
      EXPECT_NEAR(mine[p], other[p], 1e-3 * (1 + std::abs(other[p]))) << i << " " << p;
    double label = 0, their_label = 0;
    ASSERT_TRUE(by_them >> label && all_theirs >> their_label);
    if (ours.labels.empty() && ours.type != LibsvmType::one_class) {
      EXPECT_NEAR(of_ours.predict(mine), label, 1e-6 * (1 + std::abs(label)));
      EXPECT_NEAR(label, their_label, 1e-3 * (1 + std::abs(label)));
      ++clear;
    } else if (clear_cut(theirs, other)) {
      EXPECT_EQ(of_ours.predict(mine), label) << i;
      EXPECT_EQ(label, their_label) << i;
      ++clear;
    }
  }
  EXPECT_GT(clear, test.rows() * 7 / 10);
  for (const char* model : {"ours", "theirs"})
    if (!ours.prob_b.empty()) expect_same_probabilities(folder, model, test);
}

const std::string kernel_options[] = {"-t 0", "-t 1 -d 2 -g 1 -r 0.5", "-t 2 -g 0.7",
                                      "-t 3 -g 0.02 -r 0", "-t 4"};

class LibsvmTypes : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(LibsvmTypes, AgreeWithLibsvm) {
  const auto [type, kernel] = GetParam();
  constexpr std::size_t rows = 120, columns = 5;
  const auto problem = [&, type = type, kernel = kernel](int classes, const std::string& more) {
    const auto made_rows = [&](std::uint64_t seed) {
      Dataset data = type >= 3
                         ? made::regression(rows, columns, Storage::sparse, seed)
                         : made::classification(rows, columns, Storage::sparse, seed, classes);
      if (type >= 3)
        for (double& y : data.y) y *= 5;
      return data;
    };
    const Dataset train = made_rows(1), test = made_rows(2);
    const std::string options =
        "-s " + std::to_string(type) + " " + kernel_options[kernel] + " " + more;
    return kernel == 4 ? Problem{matrix_lines(train, train), matrix_lines(test, train), options}
                       : Problem{libsvm_lines(train), libsvm_lines(test), options};
  };
  // Such that there is a margin at all, and that no solution has all its variables at bounds, where
  // the bias would not be unique.
  const std::string nu = type == 1 ? (kernel % 3 == 0 ? "-n 0.853 " : "-n 0.613 ") : "-n 0.413 ";
  const std::string cost = "-c 2 -p 0.3 ";
  expect_same(problem(2, nu + cost));
#ifndef MAXMARGIN_SANITIZED
  if (type > 2) expect_same(problem(2, nu + cost + "-b 1"));
  if (type >= 2) return;
  expect_same(problem(4, nu + cost));
  expect_same(problem(3, nu + cost + "-b 1"));
  // LIBSVM does not weight the classes of nu-SVC.
  expect_same(problem(2, nu + cost + "-w1 3 -w-1 0.5"));
  expect_same(problem(4, nu + cost + "-w1 3 -w2 0.5 -w4 2"));
  if (type == 0) expect_same(problem(3, cost + "-w1 3 -w3 0.5 -b 1"));
#endif
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<int, int>>& info) {
  const char* kernels[] = {"Linear", "Polynomial", "Rbf", "Sigmoid", "Precomputed"};
  const char* types[] = {"CSvc", "NuSvc", "OneClass", "EpsilonSvr", "NuSvr"};
  return std::string(types[std::get<0>(info.param)]) + kernels[std::get<1>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(, LibsvmTypes,
                         testing::Combine(testing::Range(0, 5), testing::Range(0, 5)),
                         name_of_case);

#ifndef MAXMARGIN_SANITIZED

/// Every `step`-th row of a public data set.
std::string shared(const fs::path& path, std::size_t step, std::size_t first) {
  const Dataset data = read(path, {}, Threads(2));
  std::vector<Index> which;
  for (std::size_t i = first; i < data.rows(); i += step) which.push_back(static_cast<Index>(i));
  return libsvm_lines(made::chosen(data, which));
}

void expect_same_on(const std::string& name, std::size_t step, const std::string& options) {
  const fs::path path = data_dir() / (name + ".zst");
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path << " to compare on";
  expect_same({shared(path, step, 0), shared(path, step, step / 2), options});
}

TEST(LibsvmTypesShared, Heart) {
  for (const char* options :
       {"-s 0 -c 2 -g 0.1 -b 1", "-s 1 -n 0.413 -g 0.1", "-s 2 -n 0.3 -g 0.1"})
    expect_same_on("binary/heart_scale", 1, options);
}

TEST(LibsvmTypesShared, Digits) {
  for (const char* options : {"-s 0 -c 10 -g 0.01", "-s 1 -n 0.103 -g 0.01"})
    expect_same_on("multiclass/usps", 24, options);
}

TEST(LibsvmTypesShared, Abalone) {
  for (const char* options : {"-s 3 -c 2 -p 0.5 -g 0.5 -b 1", "-s 4 -c 2 -n 0.403 -g 0.5"})
    expect_same_on("regression/abalone_scale", 6, options);
}

#endif

}  // namespace
}  // namespace maxmargin::libsvm_types_parity_test
