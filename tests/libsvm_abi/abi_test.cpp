// A program that uses LIBSVM's C interface, linked against ours. Compiled once for each layout.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

#include "capi/libsvm/svm.h"

// The layouts, byte by byte, as programs compiled for LIBSVM on x86-64 have them.
static_assert(sizeof(svm_node) == 16 && offsetof(svm_node, value) == 8);
static_assert(sizeof(svm_problem) == 24 && offsetof(svm_problem, y) == 8 &&
              offsetof(svm_problem, x) == 16);
static_assert(sizeof(svm_parameter) == 104 && offsetof(svm_parameter, kernel_type) == 4 &&
              offsetof(svm_parameter, degree) == 8 && offsetof(svm_parameter, gamma) == 16 &&
              offsetof(svm_parameter, coef0) == 24 && offsetof(svm_parameter, cache_size) == 32 &&
              offsetof(svm_parameter, eps) == 40 && offsetof(svm_parameter, C) == 48 &&
              offsetof(svm_parameter, nr_weight) == 56 &&
              offsetof(svm_parameter, weight_label) == 64 &&
              offsetof(svm_parameter, weight) == 72 && offsetof(svm_parameter, nu) == 80 &&
              offsetof(svm_parameter, p) == 88 && offsetof(svm_parameter, shrinking) == 96 &&
              offsetof(svm_parameter, probability) == 100);
#if LIBSVM_VERSION >= 331
constexpr std::size_t further = 8;  // prob_density_marks
static_assert(offsetof(svm_model, prob_density_marks) == 152);
#else
constexpr std::size_t further = 0;
#endif
static_assert(offsetof(svm_model, nr_class) == 104 && offsetof(svm_model, l) == 108 &&
              offsetof(svm_model, SV) == 112 && offsetof(svm_model, sv_coef) == 120 &&
              offsetof(svm_model, rho) == 128 && offsetof(svm_model, probA) == 136 &&
              offsetof(svm_model, probB) == 144 &&
              offsetof(svm_model, sv_indices) == 152 + further &&
              offsetof(svm_model, label) == 160 + further &&
              offsetof(svm_model, nSV) == 168 + further &&
              offsetof(svm_model, free_sv) == 176 + further && sizeof(svm_model) == 184 + further);
static_assert(C_SVC == 0 && NU_SVC == 1 && ONE_CLASS == 2 && EPSILON_SVR == 3 && NU_SVR == 4);
static_assert(LINEAR == 0 && POLY == 1 && RBF == 2 && SIGMOID == 3 && PRECOMPUTED == 4);

namespace {

svm_parameter defaults(int svm_type = C_SVC, int kernel_type = RBF) {
  svm_parameter param{};
  param.svm_type = svm_type;
  param.kernel_type = kernel_type;
  param.degree = 3;
  param.gamma = 0.5;
  param.cache_size = 100;
  param.eps = 1e-3;
  param.C = 1;
  param.nu = 0.3;
  param.p = 0.1;
  param.shrinking = 1;
  return param;
}

/// Points on a grid; classes are stripes.
struct Points {
  std::vector<std::vector<svm_node>> rows;
  std::vector<svm_node*> x;
  std::vector<double> y;
  svm_problem problem{};

  explicit Points(int classes, bool numbers = false) {
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 9; ++j) {
        const double a = i / 4.0 - 1, b = j / 4.0 - 1;
        rows.push_back({{1, a}, {3, b}, {-1, 0}});
        y.push_back(numbers ? a * b : (i * 7 + j * 3) / 5 % classes);
      }
    for (auto& row : rows) x.push_back(row.data());
    problem = {static_cast<int>(y.size()), y.data(), x.data()};
  }
};

class LibsvmAbi : public testing::Test {
 protected:
  void SetUp() override {
    svm_set_print_string_function([](const char*) {});
  }
  void TearDown() override { std::filesystem::remove(file_); }

  // Tests of both layouts run side by side.
  std::string file_ = testing::TempDir() + "/abi_" + std::to_string(LIBSVM_VERSION) + "_" +
                      std::to_string(getpid()) + ".model";
};

std::vector<double> values_of(const svm_model* model, const svm_node* x) {
  const int classes = svm_get_nr_class(model);
  std::vector<double> values(static_cast<std::size_t>(classes * (classes - 1) / 2));
  svm_predict_values(model, x, values.data());
  return values;
}

TEST_F(LibsvmAbi, TellsItsVersion) { EXPECT_EQ(libsvm_version, LIBSVM_VERSION); }

TEST_F(LibsvmAbi, EveryTypeAndKernelTrainsSavesAndLoads) {
  for (int type = C_SVC; type <= NU_SVR; ++type)
    for (int kernel = LINEAR; kernel <= SIGMOID; ++kernel) {
      const Points points(4, type >= EPSILON_SVR);
      svm_parameter param = defaults(type, kernel);
      param.nu = 0.2;
      ASSERT_STREQ(svm_check_parameter(&points.problem, &param), nullptr);
      svm_model* model = svm_train(&points.problem, &param);
      ASSERT_NE(model, nullptr) << type << " " << kernel;
      EXPECT_EQ(svm_get_svm_type(model), type);
      EXPECT_EQ(svm_get_nr_class(model), type <= NU_SVC ? 4 : 2);
      EXPECT_EQ(svm_get_nr_sv(model), model->l);
      EXPECT_EQ(model->free_sv, 0);
      ASSERT_EQ(svm_save_model(file_.c_str(), model), 0);
      svm_model* loaded = svm_load_model(file_.c_str());
      ASSERT_NE(loaded, nullptr);
      EXPECT_EQ(loaded->free_sv, 1);
      EXPECT_EQ(loaded->sv_indices, nullptr);
      for (const svm_node* x : points.x) {
        EXPECT_EQ(svm_predict(model, x), svm_predict(loaded, x));
        EXPECT_EQ(values_of(model, x), values_of(loaded, x));
      }
      svm_free_and_destroy_model(&loaded);
      svm_free_and_destroy_model(&model);
      EXPECT_EQ(model, nullptr);
    }
}

/// K(x, z) by the definition.
double kernel_by_definition(const svm_parameter& param, const std::vector<svm_node>& x,
                            const std::vector<svm_node>& z) {
  std::map<int, std::pair<long double, long double>> at;
  for (const svm_node& node : x) at[node.index].first = node.value;
  for (const svm_node& node : z) at[node.index].second = node.value;
  at.erase(-1);
  long double dot = 0, distance = 0;
  for (const auto& [index, pair] : at) {
    dot += pair.first * pair.second;
    distance += (pair.first - pair.second) * (pair.first - pair.second);
  }
  const auto inner = static_cast<double>(param.gamma * dot + param.coef0);
  switch (param.kernel_type) {
    case LINEAR:
      return static_cast<double>(dot);
    case POLY:
      return std::pow(inner, param.degree);
    case RBF:
      return static_cast<double>(std::exp(-param.gamma * distance));
    default:
      return std::tanh(inner);
  }
}

TEST_F(LibsvmAbi, DecisionValuesKeepTheirDigits) {
  // Large values that are equal, or almost; zeros that are written down; indices far away; nothing.
  std::vector<std::vector<svm_node>> rows{
      {{1, 1}, {4, -0.5}, {9, 2}, {-1, 0}},
      {{1, 1e6}, {2, 0.25}, {-1, 0}},
      {{1, 1e6}, {3, 0.5}, {-1, 0}},
      {{1, 1e6 + 0.5}, {2, 0}, {5, 1e-3}, {-1, 0}},
      {{0, 2}, {4, 0.5}, {2000000, 1}, {-1, 0}},
      {{7, 0.1}, {2000001, -1}, {2147483647, 0.5}, {-1, 0}},
      {{-1, 0}},
  };
  std::vector<svm_node*> x;
  for (auto& row : rows) x.push_back(row.data());
  for (int kernel = LINEAR; kernel <= SIGMOID; ++kernel) {
    svm_model model{};
    model.param = defaults(EPSILON_SVR, kernel);
    model.param.coef0 = 0.3;
    model.param.degree = 2;
    model.nr_class = 2;
    model.l = 1;
    double coefficient = 1, rho = 0;
    double* columns[] = {&coefficient};
    model.sv_coef = columns;
    model.rho = &rho;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      model.SV = &x[k];
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double expected = kernel_by_definition(model.param, rows[i], rows[k]);
        EXPECT_NEAR(svm_predict(&model, x[i]), expected, 1e-10 * std::abs(expected))
            << "kernel " << kernel << ", rows " << i << " and " << k;
      }
    }
  }
}

TEST_F(LibsvmAbi, ATrainedModelPointsIntoTheCallersRows) {
  const Points points(3);
  const svm_parameter param = defaults();
  svm_model* model = svm_train(&points.problem, &param);
  ASSERT_NE(model, nullptr);
  std::vector<int> indices(static_cast<std::size_t>(model->l));
  svm_get_sv_indices(model, indices.data());
  for (int k = 0; k < model->l; ++k) {
    ASSERT_GE(indices[k], 1);
    ASSERT_LE(indices[k], points.problem.l);
    EXPECT_EQ(model->SV[k], points.x[static_cast<std::size_t>(indices[k] - 1)]);
  }
  // They stand by class, in the order of the labels.
  int labels[3], k = 0;
  svm_get_labels(model, labels);
  for (int c = 0; c < 3; ++c)
    for (int n = 0; n < model->nSV[c]; ++n, ++k)
      EXPECT_EQ(points.y[static_cast<std::size_t>(indices[k] - 1)], labels[c]);
  EXPECT_EQ(k, model->l);
  svm_free_model_content(model);
  EXPECT_EQ(model->SV, nullptr);
  EXPECT_EQ(model->sv_coef, nullptr);
  std::free(model);
}

TEST_F(LibsvmAbi, ParameterErrorsHaveLibsvmsWords) {
  const Points points(2);
  const auto says = [&](auto&& change) {
    svm_parameter param = defaults();
    change(param);
    const char* text = svm_check_parameter(&points.problem, &param);
    return std::string(text == nullptr ? "nothing" : text);
  };
  EXPECT_EQ(says([](svm_parameter&) {}), "nothing");
  EXPECT_EQ(says([](svm_parameter& p) { p.svm_type = 5; }), "unknown svm type");
  EXPECT_EQ(says([](svm_parameter& p) { p.kernel_type = -1; }), "unknown kernel type");
  EXPECT_EQ(says([](svm_parameter& p) { p.gamma = -1; }), "gamma < 0");
  EXPECT_EQ(says([](svm_parameter& p) { p.kernel_type = POLY, p.degree = -1; }),
            "degree of polynomial kernel < 0");
  EXPECT_EQ(says([](svm_parameter& p) { p.kernel_type = POLY, p.degree = 101; }),
            "degree of polynomial kernel > 100");
  EXPECT_EQ(says([](svm_parameter& p) { p.cache_size = 0; }), "cache_size <= 0");
  EXPECT_EQ(says([](svm_parameter& p) { p.eps = 0; }), "eps <= 0");
  EXPECT_EQ(says([](svm_parameter& p) { p.C = 0; }), "C <= 0");
  EXPECT_EQ(says([](svm_parameter& p) { p.svm_type = NU_SVC, p.nu = 0; }), "nu <= 0 or nu > 1");
  EXPECT_EQ(says([](svm_parameter& p) { p.svm_type = EPSILON_SVR, p.p = -1; }), "p < 0");
  EXPECT_EQ(says([](svm_parameter& p) { p.shrinking = 2; }), "shrinking != 0 and shrinking != 1");
  EXPECT_EQ(says([](svm_parameter& p) { p.probability = 2; }),
            "probability != 0 and probability != 1");
  EXPECT_EQ(says([](svm_parameter& p) { p.svm_type = NU_SVC, p.nu = 1; }),
            "specified nu is infeasible");
  EXPECT_EQ(
      says([](svm_parameter& p) { p.svm_type = ONE_CLASS, p.probability = 1; }),
      LIBSVM_VERSION < 331 ? "one-class SVM probability output not supported yet" : "nothing");
}

// Perl's Algorithm::SVM asks before it has filled its rows, OpenMS with rows of another kind.
TEST_F(LibsvmAbi, CheckingReadsNoRowsAndLabelsForNuOnly) {
  Points points(2);
  svm_node** const nowhere = reinterpret_cast<svm_node**>(8);
  double* const no_labels = reinterpret_cast<double*>(8);
  for (int type = C_SVC; type <= NU_SVR; ++type) {
    const svm_problem unfilled{points.problem.l, type == NU_SVC ? points.y.data() : no_labels,
                               nowhere};
    const svm_parameter param = defaults(type);
    EXPECT_STREQ(svm_check_parameter(&unfilled, &param), nullptr);
  }
}

// Whoever was told that the parameters are good gets a model that can be asked and freed.
TEST_F(LibsvmAbi, AfterAYesThereIsAModel) {
  const auto expect_model = [&](const Points& points, const svm_parameter& param,
                                const char* what) {
    ASSERT_STREQ(svm_check_parameter(&points.problem, &param), nullptr) << what;
    svm_model* model = svm_train(&points.problem, &param);
    ASSERT_NE(model, nullptr) << what;
    const double predicted = svm_predict(model, points.x[0]);
    EXPECT_TRUE(std::isfinite(predicted)) << what;
    EXPECT_EQ(svm_save_model(file_.c_str(), model), 0) << what;
    svm_free_and_destroy_model(&model);
  };
  svm_parameter constant = defaults(C_SVC, POLY);
  constant.degree = 0;
  expect_model(Points(2), constant, "degree");
  int label = 1;
  double weight = 0;
  svm_parameter param = defaults();
  param.nr_weight = 1;
  param.weight_label = &label;
  param.weight = &weight;
  expect_model(Points(3), param, "a class of weight 0");
  {
    const Points points(2);
    svm_model* model = svm_train(&points.problem, &param);
    for (const svm_node* x : points.x) EXPECT_EQ(svm_predict(model, x), 0);
    svm_free_and_destroy_model(&model);
    weight = -1;
    EXPECT_STREQ(svm_check_parameter(&points.problem, &param), "weight < 0");
  }
  param = defaults();
  Points points(2);
  points.rows[4][1].value = std::nan("");
  expect_model(points, param, "no number");
  points.rows[4][1].value = 1e200;
  expect_model(points, defaults(C_SVC, LINEAR), "a kernel value that overflows");
  points.rows[4][1] = {1, 0.5};
  expect_model(points, param, "an index twice");
  points.rows[4][1] = {0, 0.5};
  expect_model(points, param, "indices that fall");
  points.rows[4][1] = {-7, 0.5};
  expect_model(points, param, "a negative index");
  points.rows[4][1] = {3, 0.5};
  points.y[7] = 0.5;
  expect_model(points, param, "half a label");
  points.y[7] = std::nan("");
  expect_model(points, param, "no label");
  expect_model(points, defaults(EPSILON_SVR), "no target");
}

TEST_F(LibsvmAbi, NoRowsGiveAnEmptyModel) {
  for (int type = C_SVC; type <= NU_SVR; ++type) {
    const svm_problem none{0, nullptr, nullptr};
    const svm_parameter param = defaults(type);
    ASSERT_STREQ(svm_check_parameter(&none, &param), nullptr);
    svm_model* model = svm_train(&none, &param);
    ASSERT_NE(model, nullptr);
    EXPECT_EQ(svm_get_nr_sv(model), 0);
    const svm_node row[] = {{1, 1}, {-1, 0}};
    EXPECT_TRUE(std::isfinite(svm_predict(model, row)));
    svm_cross_validation(&none, &param, 5, nullptr);
    svm_free_and_destroy_model(&model);
  }
}

// Found by fuzzing: the noise of a regression comes from folds, and one row leaves none.
TEST_F(LibsvmAbi, FewRowsHaveProbabilitiesToo) {
  for (int type = C_SVC; type <= NU_SVR; ++type)
    for (int rows = 1; rows <= 6; ++rows) {
      Points points(2, type >= EPSILON_SVR);
      points.problem.l = rows;
      svm_parameter param = defaults(type);
      param.probability = type != ONE_CLASS;
      if (svm_check_parameter(&points.problem, &param) != nullptr) continue;
      svm_model* model = svm_train(&points.problem, &param);
      ASSERT_NE(model, nullptr) << type << " " << rows;
      double p[2];
      svm_predict_probability(model, points.x[0], p);
      svm_free_and_destroy_model(&model);
    }
}

// Found by fuzzing: a share of the least double is 0, and ten times as much is no more.
TEST_F(LibsvmAbi, LabelsNextToNothingAreLearnedToo) {
  svm_node ends{-1, 0};
  svm_node* x[] = {&ends, &ends, &ends, &ends};
  double y[] = {3.79e-321, 0, 0, 0};
  const svm_problem problem{4, y, x};
  svm_parameter param = defaults(NU_SVR, LINEAR);
  param.C = 5;
  param.probability = 1;
  svm_model* model = svm_train(&problem, &param);
  ASSERT_NE(model, nullptr);
  EXPECT_NEAR(svm_predict(model, &ends), 0, 1e-300);
  svm_free_and_destroy_model(&model);
}

#ifndef MAXMARGIN_SANITIZED  // ten million steps
// Found by fuzzing: a kernel that is not definite and a huge C, steps towards which are small.
// LIBSVM gives up after ten million.
TEST_F(LibsvmAbi, AHugeCEndsToo) {
  svm_node ends{-1, 0}, one[] = {{1, -7.5}, ends}, two[] = {{2, -7.4375}, ends};
  svm_node* x[] = {one, two, &ends, &ends};
  double y[] = {0, 2, 0, 0};
  const svm_problem problem{4, y, x};
  svm_parameter param = defaults(C_SVC, POLY);
  param.degree = 1;
  param.gamma = 1e-300;
  param.coef0 = -7.4375;
  param.C = 5e173;
  ASSERT_EQ(svm_check_parameter(&problem, &param), nullptr);
  svm_model* model = svm_train(&problem, &param);
  ASSERT_NE(model, nullptr);
  EXPECT_TRUE(std::isfinite(svm_predict(model, one)));
  svm_free_and_destroy_model(&model);
}
#endif

TEST_F(LibsvmAbi, AnAsymmetricMatrixIsTakenBySymmetry) {
  Points points(2);
  for (std::size_t i = 0; i < points.rows.size(); ++i) {
    std::vector<svm_node> row{{0, static_cast<double>(i + 1)}};
    for (std::size_t j = 0; j < points.rows.size(); ++j)
      row.push_back({static_cast<int>(j + 1), i == j ? 2.0 : i < j ? 0.5 : 0.0});
    row.push_back({-1, 0});
    points.rows[i] = row;
    points.x[i] = points.rows[i].data();
  }
  const svm_parameter param = defaults(C_SVC, PRECOMPUTED);
  svm_model* model = svm_train(&points.problem, &param);
  ASSERT_NE(model, nullptr);
  EXPECT_GT(svm_get_nr_sv(model), 0);
  svm_free_and_destroy_model(&model);
}

TEST_F(LibsvmAbi, FilesThatAreNoModelAreNull) {
  EXPECT_EQ(svm_load_model((file_ + ".nowhere").c_str()), nullptr);
  const Points points(3);
  const svm_parameter param = defaults();
  svm_model* model = svm_train(&points.problem, &param);
  ASSERT_EQ(svm_save_model(file_.c_str(), model), 0);
  EXPECT_EQ(svm_save_model("/nowhere/model", model), -1);
  svm_free_and_destroy_model(&model);
  std::ostringstream whole;
  whole << std::ifstream(file_).rdbuf();
  const std::string text = whole.str();
  const auto write = [&](const std::string& content) { std::ofstream(file_) << content; };
  for (const std::size_t size : {0, 5, 20, 60, 100, 150, 400}) {
    write(text.substr(0, size));
    EXPECT_EQ(svm_load_model(file_.c_str()), nullptr) << size;
  }
  for (const char* with : {"total_sv 2000000000", "total_sv -1", "total_sv 1", "total_sv x"}) {
    const std::size_t at = text.find("total_sv"), end = text.find('\n', at);
    write(text.substr(0, at) + with + text.substr(end));
    EXPECT_EQ(svm_load_model(file_.c_str()), nullptr) << with;
  }
  for (const char* with : {"nr_class 2000000000", "nr_class -3", "nr_class 0"}) {
    const std::size_t at = text.find("nr_class"), end = text.find('\n', at);
    write(text.substr(0, at) + with + text.substr(end));
    EXPECT_EQ(svm_load_model(file_.c_str()), nullptr) << with;
  }
  for (const char* with : {"nr_sv 1 1 1", "nr_sv -1 60 1", "nr_sv 2000000000 2000000000 294967296",
                           "nr_sv 20", "nr_sv", ""}) {
    const std::size_t at = text.find("nr_sv"), end = text.find('\n', at);
    write(text.substr(0, at) + with + text.substr(end));
    EXPECT_EQ(svm_load_model(file_.c_str()), nullptr) << with;
  }
  for (const char* without :
       {"svm_type", "kernel_type", "gamma", "nr_class", "total_sv", "rho", "label", "SV"}) {
    const std::size_t at = text.find(std::string("\n") + without, 1);
    const std::size_t begin = at == std::string::npos ? 0 : at + 1, end = text.find('\n', begin);
    write(text.substr(0, begin) + text.substr(end + 1));
    EXPECT_EQ(svm_load_model(file_.c_str()), nullptr) << without;
  }
  std::srand(7);
  for (int k = 0; k < 20; ++k) {
    std::string noise = text.substr(0, k % 2 == 0 ? 0 : 150);
    for (int i = 0; i < 300; ++i) noise += static_cast<char>(std::rand());
    write(noise);
    EXPECT_EQ(svm_load_model(file_.c_str()), nullptr);
  }
}

// CVE-2020-28975: a model put together elsewhere whose numbers lead outside of its arrays.
TEST_F(LibsvmAbi, CountsThatDoNotAddUpAreNotFollowed) {
  const Points points(3);
  svm_parameter param = defaults();
  param.probability = 1;
  svm_model* model = svm_train(&points.problem, &param);
  ASSERT_NE(model, nullptr);
  const int before = model->nSV[0];
  for (const int wrong : {before + 1, 1 << 30, -1}) {
    model->nSV[0] = wrong;
    double values[3], probabilities[3];
    EXPECT_TRUE(std::isnan(svm_predict(model, points.x[0])));
    EXPECT_TRUE(std::isnan(svm_predict_values(model, points.x[0], values)));
    EXPECT_TRUE(std::isnan(svm_predict_probability(model, points.x[0], probabilities)));
  }
  model->nSV[0] = before;
  EXPECT_FALSE(std::isnan(svm_predict(model, points.x[0])));
  svm_free_and_destroy_model(&model);
}

TEST_F(LibsvmAbi, ProbabilitiesAndFoldsOfEveryType) {
  for (int type = C_SVC; type <= NU_SVR; ++type) {
    const Points points(3, type >= EPSILON_SVR);
    svm_parameter param = defaults(type);
    param.nu = 0.2;
    const auto rows = static_cast<std::size_t>(points.problem.l);
    std::vector<double> predicted(rows, std::nan(""));
    svm_cross_validation(&points.problem, &param, 4, predicted.data());
    for (const double value : predicted) EXPECT_TRUE(std::isfinite(value)) << type;

    svm_model* plain = svm_train(&points.problem, &param);
    ASSERT_NE(plain, nullptr);
    EXPECT_EQ(svm_check_probability_model(plain), 0);
    EXPECT_EQ(svm_get_svr_probability(plain), 0);
    std::vector<double> p(3, -1.0);
    EXPECT_EQ(svm_predict_probability(plain, points.x[3], p.data()),
              svm_predict(plain, points.x[3]));
    svm_free_and_destroy_model(&plain);

    param.probability = 1;
    if (svm_check_parameter(&points.problem, &param) != nullptr) continue;  // one-class of 3.24
    svm_model* model = svm_train(&points.problem, &param);
    ASSERT_NE(model, nullptr) << type;
    EXPECT_EQ(svm_check_probability_model(model), 1) << type;
    ASSERT_EQ(svm_save_model(file_.c_str(), model), 0);
    svm_model* loaded = svm_load_model(file_.c_str());
    ASSERT_NE(loaded, nullptr);
    EXPECT_EQ(svm_check_probability_model(loaded), 1) << type;
    if (type >= EPSILON_SVR) {
      EXPECT_GT(svm_get_svr_probability(model), 0);
      EXPECT_EQ(svm_get_svr_probability(loaded), svm_get_svr_probability(model));
      EXPECT_EQ(svm_predict_probability(model, points.x[0], p.data()),
                svm_predict(model, points.x[0]));
    } else {
      const std::size_t outcomes = type == ONE_CLASS ? 2 : 3;
      for (const svm_node* x : points.x) {
        const double label = svm_predict_probability(model, x, p.data());
        std::vector<double> again(3, -1.0);
        EXPECT_EQ(svm_predict_probability(loaded, x, again.data()), label);
        double sum = 0;
        for (std::size_t k = 0; k < outcomes; ++k) {
          EXPECT_EQ(again[k], p[k]);
          sum += p[k];
        }
        EXPECT_NEAR(sum, 1, 1e-9);
        const auto best = std::max_element(p.begin(), p.begin() + 3) - p.begin();
        if (type != ONE_CLASS) {
          EXPECT_EQ(label, model->label[best]);
        }
      }
    }
    svm_free_and_destroy_model(&loaded);
    svm_free_and_destroy_model(&model);
  }
}

TEST_F(LibsvmAbi, OneClassOnlyGivesAModelThatSaysSo) {
  Points points(2);
  points.y.assign(points.y.size(), 7);
  points.problem.y = points.y.data();
  const svm_parameter param = defaults();
  svm_model* model = svm_train(&points.problem, &param);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(svm_get_nr_class(model), 1);
  EXPECT_EQ(svm_predict(model, points.x[0]), 7);
  svm_free_and_destroy_model(&model);
}

TEST_F(LibsvmAbi, PrecomputedKernelsGoByTheNumberOfTheRow) {
  const Points points(2);
  const auto count = points.x.size();
  std::vector<std::vector<svm_node>> gram(count);
  std::vector<svm_node*> x;
  for (std::size_t i = 0; i < count; ++i) {
    gram[i].push_back({0, static_cast<double>(i + 1)});
    for (std::size_t j = 0; j < count; ++j) {
      const double a = points.rows[i][0].value - points.rows[j][0].value;
      const double b = points.rows[i][1].value - points.rows[j][1].value;
      gram[i].push_back({static_cast<int>(j + 1), std::exp(-0.5 * (a * a + b * b))});
    }
    gram[i].push_back({-1, 0});
    x.push_back(gram[i].data());
  }
  std::vector<double> y = points.y;
  const svm_problem problem{static_cast<int>(count), y.data(), x.data()};
  svm_parameter param = defaults(C_SVC, PRECOMPUTED);
  param.eps = 1e-6;
  svm_model* model = svm_train(&problem, &param);
  param.kernel_type = RBF;
  svm_model* direct = svm_train(&points.problem, &param);
  ASSERT_NE(model, nullptr);
  ASSERT_NE(direct, nullptr);
  for (std::size_t i = 0; i < count; ++i)
    EXPECT_NEAR(values_of(model, x[i])[0], values_of(direct, points.x[i])[0], 1e-4);
  svm_free_and_destroy_model(&model);
  svm_free_and_destroy_model(&direct);
}

TEST_F(LibsvmAbi, ThreadsTrainAndPredictSideBySide) {
  const Points points(3);
  const svm_parameter param = defaults();
  svm_model* model = svm_train(&points.problem, &param);
  std::vector<double> expected;
  for (const svm_node* x : points.x) expected.push_back(svm_predict(model, x));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      svm_model* own = svm_train(&points.problem, &param);
      for (std::size_t i = 0; i < points.x.size(); ++i) {
        wrong += svm_predict(model, points.x[i]) != expected[i];
        wrong += svm_predict(own, points.x[i]) != expected[i];
      }
      svm_free_and_destroy_model(&own);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  svm_free_and_destroy_model(&model);
}

std::string printed;

TEST_F(LibsvmAbi, PrintsWhereItIsTold) {
  const Points points(2);
  const svm_parameter param = defaults();
  printed.clear();
  svm_set_print_string_function([](const char* text) { printed += text; });
  svm_model* model = svm_train(&points.problem, &param);
  EXPECT_NE(printed.find("optimization finished, #iter = "), std::string::npos);
  EXPECT_NE(printed.find("Total nSV = "), std::string::npos);
  svm_free_and_destroy_model(&model);
}

}  // namespace
