#include "capi/libsvm/svm.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "capi/libsvm/nodes.hpp"
#include "maxmargin/libsvm/calibration.hpp"
#include "maxmargin/libsvm/predict.hpp"
#include "maxmargin/libsvm/text.hpp"
#include "maxmargin/libsvm/train.hpp"

// No exception leaves this file: errors are reported on standard error and by the return value, as
// LIBSVM does.

int libsvm_version = LIBSVM_VERSION;

namespace {

using namespace maxmargin;
using namespace maxmargin::capi;

void print_to_stdout(const char* text) {
  std::fputs(text, stdout);
  std::fflush(stdout);
}
std::atomic<void (*)(const char*)> print_function = print_to_stdout;

void complain(const char* text) { std::fprintf(stderr, "ERROR: %s\n", text); }

/// What `act` returns, or `otherwise` after a message.
template <class Act, class Value>
Value guarded(Act&& act, Value otherwise) {
  try {
    return act();
  } catch (const std::bad_alloc&) {
    complain("out of memory");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return otherwise;
}

// A problem of so many nodes is trained before another thread has started.
constexpr std::size_t few_nodes = 8192;

bool is_small(const svm_problem& problem) {
  std::size_t nodes = 0;
  for (int i = 0; i < problem.l; ++i)
    for (const svm_node* node = problem.x[i]; node->index != -1; ++node)
      if (++nodes > few_nodes) return false;
  return true;
}

int thread_count(const svm_problem& problem) {
  const char* text = std::getenv("OMP_NUM_THREADS");
  const int count = text == nullptr ? 0 : std::atoi(text);
  if (count >= 1 && count <= 1024) return count;
  return is_small(problem) ? 1 : 0;
}

LibsvmRun make_run(const Threads& threads) {
  LibsvmRun run{.threads = threads};
  run.print = [](const std::string& text) { print_function.load()(text.c_str()); };
  run.warn = [](const std::string& text) { std::fputs(text.c_str(), stderr); };
  run.random = std::rand;
  return run;
}

bool has_classes(int svm_type) { return svm_type == C_SVC || svm_type == NU_SVC; }
bool is_regression(int svm_type) { return svm_type == EPSILON_SVR || svm_type == NU_SVR; }

std::size_t count_pairs(const svm_model& model) {
  const auto classes = static_cast<std::size_t>(std::max(model.nr_class, 1));
  return has_classes(model.param.svm_type) ? classes * (classes - 1) / 2 : 1;
}

/// The first class with the most votes.
int voted(const svm_model& model, const double* values) {
  if (model.nr_class < 1 || model.label == nullptr) return 0;
  const auto classes = static_cast<std::size_t>(model.nr_class);
  return model.label[libsvm_voted({values, classes * (classes - 1) / 2}, classes)];
}

double predicted(const svm_model& model, const double* values) {
  if (model.param.svm_type == ONE_CLASS) return values[0] > 0 ? 1 : -1;
  return is_regression(model.param.svm_type) ? values[0] : voted(model, values);
}

/// Of each class; of a one-class model that of "normal" and of "novel".
std::vector<double> probabilities(const svm_model& model, std::span<const double> values) {
#if LIBSVM_VERSION >= 331
  if (model.param.svm_type == ONE_CLASS) {
    DensityMarks marks{};
    std::copy_n(model.prob_density_marks, marks.size(), marks.begin());
    const double normal = libsvm_density(marks, values[0]);
    return {normal, 1 - normal};
  }
#endif
  const auto classes = static_cast<std::size_t>(model.nr_class);
  return libsvm_probabilities(values, {model.probA, values.size()}, {model.probB, values.size()},
                              classes);
}

/// The result where the parameters were accepted but the data is bad: a model without support
/// vectors, never null.
svm_model* model_of_nothing(const svm_problem& problem, const svm_parameter& param) {
  return make_model(empty_model(parameters_of(param), labels_of(problem, param)), param, &problem);
}

}  // namespace

extern "C" {

svm_model* svm_train(const svm_problem* prob, const svm_parameter* param) {
  const auto train = [&] {
    const LibsvmParameters parameters = parameters_of(*param);
    if (const char* wrong = check(parameters)) throw Error(Fault::usage, wrong);
    if (prob->l <= 0) return model_of_nothing(*prob, *param);
    const Threads threads(thread_count(*prob));
    const LibsvmModel model =
        libsvm_train(dataset_of(*prob, *param), parameters, make_run(threads));
    return make_model(model, *param, prob);
  };
  svm_model* const none = nullptr;
  svm_model* model = guarded(train, none);
  if (model == nullptr &&
      check(guarded([&] { return parameters_of(*param); }, LibsvmParameters{})) == nullptr)
    model = guarded([&] { return model_of_nothing(*prob, *param); }, none);
  return model;
}

void svm_cross_validation(const svm_problem* prob, const svm_parameter* param, int nr_fold,
                          double* target) {
  const auto rows = static_cast<std::size_t>(std::max(prob->l, 0));
  const bool done = guarded(
      [&] {
        if (rows == 0) return true;
        const Threads threads(thread_count(*prob));
        const LibsvmParameters parameters = parameters_of(*param);
        if (const char* wrong = check(parameters)) throw Error(Fault::usage, wrong);
        if (nr_fold < 2) throw Error(Fault::usage, "n-fold cross validation: n must >= 2");
        const std::vector<double> predicted = libsvm_cross_validation(
            dataset_of(*prob, *param), parameters, nr_fold, make_run(threads));
        std::ranges::copy(predicted, target);
        return true;
      },
      false);
  if (!done) std::fill_n(target, rows, std::numeric_limits<double>::quiet_NaN());
}

int svm_save_model(const char* model_file_name, const svm_model* model) {
  return guarded(
      [&] {
        save_libsvm(copy_of(*model), model_file_name, Sync::leave);
        return 0;
      },
      -1);
}

svm_model* svm_load_model(const char* model_file_name) {
  return guarded(
      [&] {
        const LibsvmModel model = load_libsvm(model_file_name);
        return make_model(model, parameters_for(model), nullptr);
      },
      static_cast<svm_model*>(nullptr));
}

int svm_get_svm_type(const svm_model* model) { return model->param.svm_type; }

int svm_get_nr_class(const svm_model* model) { return model->nr_class; }

void svm_get_labels(const svm_model* model, int* label) {
  if (model->label != nullptr) std::copy_n(model->label, model->nr_class, label);
}

void svm_get_sv_indices(const svm_model* model, int* sv_indices) {
  if (model->sv_indices != nullptr) std::copy_n(model->sv_indices, model->l, sv_indices);
}

int svm_get_nr_sv(const svm_model* model) { return model->l; }

double svm_get_svr_probability(const svm_model* model) {
  if (is_regression(model->param.svm_type) && model->probA != nullptr) return model->probA[0];
  std::fprintf(stderr, "Model doesn't contain information for SVR probability inference\n");
  return 0;
}

double svm_predict_values(const svm_model* model, const svm_node* x, double* dec_values) {
  return guarded(
      [&] {
        decision_values(*model, x, dec_values);
        return predicted(*model, dec_values);
      },
      std::numeric_limits<double>::quiet_NaN());
}

double svm_predict(const svm_model* model, const svm_node* x) {
  return guarded(
      [&] {
        std::vector<double> values(std::max<std::size_t>(count_pairs(*model), 1));
        return svm_predict_values(model, x, values.data());
      },
      std::numeric_limits<double>::quiet_NaN());
}

double svm_predict_probability(const svm_model* model, const svm_node* x, double* prob_estimates) {
  if (svm_check_probability_model(model) == 0 || is_regression(model->param.svm_type))
    return svm_predict(model, x);
  return guarded(
      [&] {
        std::vector<double> values(std::max<std::size_t>(count_pairs(*model), 1));
        decision_values(*model, x, values.data());
        const std::vector<double> p = probabilities(*model, values);
        std::ranges::copy(p, prob_estimates);
        if (model->param.svm_type == ONE_CLASS) return predicted(*model, values.data());
        return static_cast<double>(model->label[std::ranges::max_element(p) - p.begin()]);
      },
      std::numeric_limits<double>::quiet_NaN());
}

void svm_free_model_content(svm_model* model_ptr) {
  if (model_ptr->free_sv != 0 && model_ptr->l > 0 && model_ptr->SV != nullptr)
    std::free(model_ptr->SV[0]);
  if (model_ptr->sv_coef != nullptr)
    for (int c = 0; c + 1 < model_ptr->nr_class; ++c) std::free(model_ptr->sv_coef[c]);
  const auto release = [](auto*& memory) {
    std::free(memory);
    memory = nullptr;
  };
  release(model_ptr->SV);
  release(model_ptr->sv_coef);
  release(model_ptr->rho);
  release(model_ptr->label);
  release(model_ptr->probA);
  release(model_ptr->probB);
#if LIBSVM_VERSION >= 331
  release(model_ptr->prob_density_marks);
#endif
  release(model_ptr->sv_indices);
  release(model_ptr->nSV);
}

void svm_free_and_destroy_model(svm_model** model_ptr_ptr) {
  if (model_ptr_ptr == nullptr || *model_ptr_ptr == nullptr) return;
  svm_free_model_content(*model_ptr_ptr);
  std::free(*model_ptr_ptr);
  *model_ptr_ptr = nullptr;
}

void svm_destroy_param(svm_parameter* param) {
  std::free(param->weight_label);
  std::free(param->weight);
}

const char* svm_check_parameter(const svm_problem* prob, const svm_parameter* param) {
  return guarded(
      [&]() -> const char* {
        const LibsvmParameters parameters = parameters_of(*param);
        if (const char* wrong = check(parameters)) return wrong;
        if (LIBSVM_VERSION < 331 && param->probability == 1 && param->svm_type == ONE_CLASS)
          return "one-class SVM probability output not supported yet";
        // Reads no more of the data than LIBSVM does: callers may not have filled it yet.
        if (param->svm_type != NU_SVC) return nullptr;
        return check_nu(parameters, labels_of(*prob, *param));
      },
      static_cast<const char*>("out of memory"));
}

int svm_check_probability_model(const svm_model* model) {
  const int type = model->param.svm_type;
  if (has_classes(type)) return model->probA != nullptr && model->probB != nullptr;
#if LIBSVM_VERSION >= 331
  if (type == ONE_CLASS) return model->prob_density_marks != nullptr;
#endif
  return is_regression(type) && model->probA != nullptr;
}

void svm_set_print_string_function(void (*print_func)(const char*)) {
  print_function = print_func == nullptr ? print_to_stdout : print_func;
}

}  // extern "C"
