#include "capi/libsvm/nodes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string>

#include "capi/libsvm/kernel_values.hpp"
#include "maxmargin/kernel/given.hpp"

namespace maxmargin::capi {
namespace {

std::size_t pairs_of(int classes) {
  const auto k = static_cast<std::size_t>(std::max(classes, 0));
  return k < 2 ? 0 : k * (k - 1) / 2;
}

bool has_classes(int svm_type) { return svm_type == C_SVC || svm_type == NU_SVC; }

[[noreturn]] void refuse(std::size_t row, const char* what, const char* mend) {
  throw Error(Fault::data, "row " + std::to_string(row + 1) + " has " + what, mend);
}

bool in_order(const svm_node* nodes) {
  std::int64_t previous = -1;
  for (; nodes->index != -1; previous = (nodes++)->index)
    if (nodes->index <= previous) return false;
  return true;
}

/// In order; of nodes with the same index the first, which is the one that LIBSVM multiplies.
std::vector<svm_node> ordered(const svm_node* nodes) {
  const svm_node* end = nodes;
  while (end->index != -1) ++end;
  std::vector<svm_node> row(nodes, end);
  std::ranges::stable_sort(row, {}, &svm_node::index);
  row.erase(std::unique(row.begin(), row.end(),
                        [](const svm_node& x, const svm_node& y) { return x.index == y.index; }),
            row.end());
  row.push_back({-1, 0});
  return row;
}

void append_row(const svm_node* nodes, std::size_t row, Features& to) {
  std::vector<svm_node> sorted;
  if (!in_order(nodes)) nodes = (sorted = ordered(nodes)).data();
  std::vector<Index> features;
  std::vector<double> values;
  int last = -1;
  for (; nodes->index != -1; ++nodes) {
    if (nodes->index < 0) refuse(row, "a negative index", "number the features from 0");
    if (!std::isfinite(nodes->value))
      refuse(row, "a value that is not a finite number", "remove the row or the value");
    last = nodes->index;
    if (nodes->value == 0) continue;
    features.push_back(static_cast<Index>(nodes->index));
    values.push_back(nodes->value);
  }
  to.widen(static_cast<std::size_t>(last) + 1);
  to.append(features, values);
}

// Callers free this memory: it comes from malloc.

template <class Value>
Value* allocated(std::size_t count) {
  void* memory = std::calloc(std::max<std::size_t>(count, 1), sizeof(Value));
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<Value*>(memory);
}

template <class Value, class From>
Value* copied(const std::vector<From>& values) {
  Value* copy = allocated<Value>(values.size());
  std::ranges::transform(values, copy, [](From value) { return static_cast<Value>(value); });
  return copy;
}

/// All nodes in one piece, which SV[0] points to, as svm_free_model_content expects.
void own_nodes(const LibsvmModel& from, svm_model& to) {
  const Rows rows = from.support;
  const bool precomputed = is_given(from.kernel);
  const auto count = static_cast<std::size_t>(to.l);
  to.free_sv = 1;
  if (count == 0) return;
  svm_node* node =
      allocated<svm_node>((precomputed ? count : static_cast<std::size_t>(rows.stored())) + count);
  for (std::size_t k = 0; k < count; ++k) {
    to.SV[k] = node;
    const auto put = [&](int index, double value) { *node++ = {index, value}; };
    if (precomputed)
      put(0, static_cast<double>(from.serial[k]));
    else
      rows.for_each(k, [&](Index feature, double value) { put(static_cast<int>(feature), value); });
    put(-1, 0);
  }
}

/// A model may come from anywhere, not only from svm_train and svm_load_model: numbers of support
/// vectors that do not add up would lead outside of its arrays (CVE-2020-28975).
void require_consistent(const svm_model& model) {
  std::int64_t sum = 0;
  bool good = model.l >= 0;
  if (has_classes(model.param.svm_type))
    for (int k = 0; k < model.nr_class; ++k) {
      good = good && model.nSV[k] >= 0;
      sum += model.nSV[k];
    }
  else
    sum = model.l;
  if (!good || sum != model.l)
    throw Error(Fault::data, "the numbers of nSV do not add up to l", "load the model again");
}

}  // namespace

LibsvmParameters parameters_of(const svm_parameter& param) {
  LibsvmParameters result;
  result.svm_type = param.svm_type;
  result.kernel_type = param.kernel_type;
  result.degree = param.degree;
  result.gamma = param.gamma;
  result.coef0 = param.coef0;
  result.cache_size = param.cache_size;
  result.eps = param.eps;
  result.C = param.C;
  for (int k = 0; k < param.nr_weight; ++k)
    result.weight.emplace_back(param.weight_label[k], param.weight[k]);
  result.nu = param.nu;
  result.p = param.p;
  result.shrinking = param.shrinking;
  result.probability = param.probability;
  return result;
}

svm_parameter parameters_for(const LibsvmModel& model) {
  svm_parameter param{};
  param.svm_type = static_cast<int>(model.type);
  if (const auto* polynomial = std::get_if<Polynomial>(&model.kernel)) {
    param.kernel_type = POLY;
    param.degree = polynomial->degree;
    param.gamma = polynomial->gamma;
    param.coef0 = polynomial->coef0;
  } else if (const auto* rbf = std::get_if<maxmargin::Rbf>(&model.kernel)) {
    param.kernel_type = RBF;
    param.gamma = rbf->gamma;
  } else if (const auto* sigmoid = std::get_if<Sigmoid>(&model.kernel)) {
    param.kernel_type = SIGMOID;
    param.gamma = sigmoid->gamma;
    param.coef0 = sigmoid->coef0;
  } else if (std::holds_alternative<Precomputed>(model.kernel)) {
    param.kernel_type = PRECOMPUTED;
  }
  return param;
}

std::vector<double> labels_of(const svm_problem& problem, const svm_parameter& param) {
  std::vector<double> y(problem.y, problem.y + std::max(problem.l, 0));
  constexpr double low = std::numeric_limits<int>::min(), high = std::numeric_limits<int>::max();
  if (has_classes(param.svm_type))
    for (double& label : y)
      label = std::isnan(label) ? 0 : std::trunc(std::clamp(label, low, high));
  return y;
}

Dataset dataset_of(const svm_problem& problem, const svm_parameter& param) {
  Dataset data;
  data.x = Features::sparse(0);
  data.y = labels_of(problem, param);
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    if (!std::isfinite(data.y[i]))
      refuse(i, "a label that is not a finite number", "remove the row or mend its label");
    append_row(problem.x[i], i, data.x);
  }
  return data;
}

LibsvmModel empty_model(const LibsvmParameters& parameters, std::span<const double> labels) {
  LibsvmModel model;
  model.type = parameters.type();
  model.kernel = kernel_of(parameters);
  model.rho = {0};
  if (!predicts_classes(model.type)) {
    if (parameters.probability == 1 && model.type != LibsvmType::one_class) model.prob_a = {0};
    return model;
  }
  model.labels = libsvm_classes(labels);
  model.sizes.assign(model.labels.size(), 0);
  model.rho.assign(pairs_of(static_cast<int>(model.labels.size())), 0);
  if (parameters.probability == 1) model.prob_a = model.prob_b = model.rho;
  return model;
}

LibsvmModel copy_of(const svm_model& model) {
  LibsvmModel copy;
  const LibsvmParameters parameters = parameters_of(model.param);
  copy.type = parameters.type();
  copy.kernel = kernel_of(parameters);
  const auto vectors = static_cast<std::size_t>(model.l);
  const auto classes = static_cast<std::size_t>(model.nr_class);
  const std::size_t pairs = pairs_of(model.nr_class);
  const bool of_classes = has_classes(model.param.svm_type);
  copy.rho.assign(model.rho, model.rho + pairs);
  if (of_classes) {
    copy.labels.assign(model.label, model.label + classes);
    copy.sizes.assign(model.nSV, model.nSV + classes);
  }
  if (model.probA != nullptr) copy.prob_a.assign(model.probA, model.probA + pairs);
  if (model.probB != nullptr && of_classes) copy.prob_b.assign(model.probB, model.probB + pairs);
#if LIBSVM_VERSION >= 331
  if (model.prob_density_marks != nullptr)
    copy.marks.assign(model.prob_density_marks, model.prob_density_marks + 10);
#endif
  for (std::size_t k = 0; k < vectors; ++k)
    for (std::size_t c = 0; c + 1 < classes; ++c) copy.coefficients.push_back(model.sv_coef[c][k]);
  copy.support = Features::sparse(0);
  for (std::size_t k = 0; k < vectors; ++k)
    if (model.param.kernel_type == PRECOMPUTED)
      copy.serial.push_back(static_cast<std::uint64_t>(model.SV[k]->value));
    else
      append_row(model.SV[k], k, copy.support);
  return copy;
}

svm_model* make_model(const LibsvmModel& from, const svm_parameter& param,
                      const svm_problem* problem) {
  struct Free {
    void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
  };
  std::unique_ptr<svm_model, Free> model(allocated<svm_model>(1));
  model->param = param;
  model->nr_class = predicts_classes(from.type) ? static_cast<int>(from.labels.size()) : 2;
  const std::size_t vectors = from.vectors();
  const std::size_t columns = model->nr_class > 0 ? from.columns() : 0;
  model->l = static_cast<int>(vectors);
  model->SV = allocated<svm_node*>(vectors);
  model->sv_coef = allocated<double*>(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    model->sv_coef[c] = allocated<double>(vectors);
    for (std::size_t k = 0; k < vectors; ++k)
      model->sv_coef[c][k] = from.coefficients[k * columns + c];
  }
  model->rho = copied<double>(from.rho);
  if (!from.prob_a.empty()) model->probA = copied<double>(from.prob_a);
  if (!from.prob_b.empty()) model->probB = copied<double>(from.prob_b);
#if LIBSVM_VERSION >= 331
  if (!from.marks.empty()) model->prob_density_marks = copied<double>(from.marks);
#endif
  if (predicts_classes(from.type)) {
    model->label = copied<int>(from.labels);
    model->nSV = copied<int>(from.sizes);
  }
  if (problem == nullptr) {
    own_nodes(from, *model);
    return model.release();
  }
  model->sv_indices = allocated<int>(vectors);
  for (std::size_t k = 0; k < vectors; ++k) {
    model->SV[k] = problem->x[from.row[k]];
    model->sv_indices[k] = static_cast<int>(from.row[k]) + 1;
  }
  return model.release();
}

void decision_values(const svm_model& model, const svm_node* x, double* values) {
  require_consistent(model);
  std::vector<double> kernel(static_cast<std::size_t>(model.l));
  kernel_values(model, x, kernel);
  const auto sum = [&](const double* coefficients, std::size_t begin, std::size_t count) {
    double total = 0;
    for (std::size_t k = begin; k < begin + count; ++k) total += coefficients[k] * kernel[k];
    return total;
  };
  if (!has_classes(model.param.svm_type)) {
    values[0] = sum(model.sv_coef[0], 0, kernel.size()) - model.rho[0];
    return;
  }
  std::size_t pair = 0, start_i = 0;
  for (int i = 0; i < model.nr_class; start_i += static_cast<std::size_t>(model.nSV[i++])) {
    std::size_t start_j = start_i + static_cast<std::size_t>(model.nSV[i]);
    for (int j = i + 1; j < model.nr_class; start_j += static_cast<std::size_t>(model.nSV[j++])) {
      values[pair] = sum(model.sv_coef[j - 1], start_i, static_cast<std::size_t>(model.nSV[i])) +
                     sum(model.sv_coef[i], start_j, static_cast<std::size_t>(model.nSV[j])) -
                     model.rho[pair];
      ++pair;
    }
  }
}

}  // namespace maxmargin::capi
