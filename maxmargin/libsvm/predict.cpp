#include "maxmargin/libsvm/predict.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "maxmargin/data/renumbering.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/libsvm/calibration.hpp"

namespace maxmargin {
namespace {

std::vector<std::uint64_t> distinct(std::vector<std::uint64_t> numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

/// The own model. Of a precomputed kernel it has the columns in use only, however large their
/// numbers are.
Model own_model(const LibsvmModel& model, std::span<const std::uint64_t> serial) {
  Model own = to_model(model, Numbering::libsvm);
  if (!is_given(model.kernel)) return own;
  for (std::uint64_t& row : own.support_row)
    row = static_cast<std::uint64_t>(std::ranges::lower_bound(serial, row) - serial.begin());
  own.rows = own.features = serial.size();
  return own;
}

// With fewer support vectors a class the general way would spend most of its time on the overhead
// of each pair.
constexpr std::size_t few_vectors_a_class = 20;
// Rows whose sums share a pass over the coefficients.
constexpr std::size_t rows_a_pass = 8;

bool has_classes_of_few(const LibsvmModel& model) {
  const std::size_t classes = model.labels.size();
  return classes > 2 && !is_given(model.kernel) && !model.training &&
         model.vectors() <= few_vectors_a_class * classes && Renumbering(model.support).none();
}

Features as_sparse(const Rows& rows) {
  Features result = Features::sparse(rows.columns);
  std::vector<Index> which;
  std::vector<double> values;
  for (std::size_t i = 0; i < rows.count; ++i) {
    which.clear();
    values.clear();
    rows.for_each(i, [&](Index feature, double value) {
      which.push_back(feature);
      values.push_back(value);
    });
    result.append(which, values);
  }
  return result;
}

}  // namespace

LibsvmPredictor::LibsvmPredictor(const LibsvmModel& model)
    : model_(model), serial_(distinct(model.serial)) {
  if (has_classes_of_few(model)) {
    engine_ = make_engine(model.kernel, model.support);
    // A pair asks for one column of its second class and goes on to the next class.
    const std::size_t n = model.vectors(), columns = model.columns();
    of_column_.resize(n * columns);
    for (std::size_t v = 0; v < n; ++v)
      for (std::size_t c = 0; c < columns; ++c)
        of_column_[c * n + v] = model.coefficients[v * columns + c];
    return;
  }
  own_ = own_model(model, serial_);
  if (!own_.machines.empty()) predictor_.emplace(own_);
  if (model.labels.empty()) {
    pair_machine_ = {{0, 1}};
    return;
  }
  std::map<std::pair<int, int>, std::size_t> number;  // of the machine, by its classes
  for (std::size_t m = 0; m < own_.machines.size(); ++m)
    number[{own_.machines[m].positive, own_.machines[m].negative}] = m;
  std::vector<int> rank(model.labels.size());
  for (std::size_t k = 0; k < rank.size(); ++k)
    rank[k] = static_cast<int>(
        std::ranges::count_if(model.labels, [&](int label) { return label < model.labels[k]; }));
  for (std::size_t i = 0; i < rank.size(); ++i)
    for (std::size_t j = i + 1; j < rank.size(); ++j)
      pair_machine_.push_back(rank[i] > rank[j] ? PairMachine{number.at({rank[i], rank[j]}), 1}
                                                : PairMachine{number.at({rank[j], rank[i]}), -1});
}

Features LibsvmPredictor::matrix_rows(const Rows& rows) const {
  Features chosen = Features::sparse(serial_.size());
  std::vector<Index> features;
  std::vector<double> values;
  for (std::size_t i = 0; i < rows.count; ++i) {
    features.clear();
    values.clear();
    auto wanted = serial_.begin();
    rows.for_each(i, [&](Index feature, double value) {
      wanted = std::lower_bound(wanted, serial_.end(), feature);
      if (wanted == serial_.end() || *wanted != feature) return;
      features.push_back(static_cast<Index>(wanted - serial_.begin()));
      values.push_back(value);
    });
    chosen.append(features, values);
  }
  return chosen;
}

/// The sums over the support vectors of each pair, as LIBSVM's README defines them, with kernel
/// values in double.
std::vector<double> LibsvmPredictor::by_definition(const Rows& given,
                                                   const Threads& threads) const {
  Rows rows = given;
  rows.columns = std::max(rows.columns, model_.support.columns());
  const std::size_t n = model_.vectors(), columns = model_.columns(), many = pairs();
  std::vector<std::size_t> first{0};  // the first vector of each class
  for (const std::uint64_t size : model_.sizes) first.push_back(first.back() + size);
  std::vector<double> values(rows.count * many);
  threads.split(rows.count, rows_a_pass, [&](std::size_t begin, std::size_t end) {
    std::vector<Index> which(end - begin);
    std::iota(which.begin(), which.end(), static_cast<Index>(begin));
    std::vector<double> K(which.size() * n), turned(n * rows_a_pass, 0.0);
    engine_->exact_block(rows, which, 0, n, K.data(), n);
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t v = 0; v < n; ++v) turned[v * rows_a_pass + r] = K[r * n + v];
    std::array<double, rows_a_pass> sum;
    const auto add = [&](double coefficient, std::size_t vector) {
      const double* value = &turned[vector * rows_a_pass];
      for (std::size_t r = 0; r < rows_a_pass; ++r) sum[r] += coefficient * value[r];
    };
    std::size_t pair = 0;
    for (std::size_t i = 0; i + 1 < first.size(); ++i)
      for (std::size_t j = i + 1; j + 1 < first.size(); ++j, ++pair) {
        sum.fill(-model_.rho[pair]);
        for (std::size_t v = first[i]; v < first[i + 1]; ++v)
          add(model_.coefficients[v * columns + j - 1], v);
        for (std::size_t v = first[j]; v < first[j + 1]; ++v) add(of_column_[i * n + v], v);
        for (std::size_t r = 0; r < which.size(); ++r) values[(begin + r) * many + pair] = sum[r];
      }
  });
  return values;
}

std::vector<double> LibsvmPredictor::decision_values(const Rows& rows,
                                                     const Threads& threads) const {
  const bool only_decide = model_.type != LibsvmType::epsilon_svr &&
                           model_.type != LibsvmType::nu_svr && model_.prob_a.empty();
  return decision_values(rows, threads, only_decide ? Precision::fast : Precision::exact);
}

std::vector<double> LibsvmPredictor::decision_values(const Rows& rows, const Threads& threads,
                                                     Precision precision) const {
  if (engine_ && rows.sparse()) return by_definition(rows, threads);
  if (engine_) return by_definition(as_sparse(rows), threads);
  if (!predictor_) return {};
  std::vector<double> f;
  if (is_given(model_.kernel))
    f = predictor_->decision_values(matrix_rows(rows), threads, precision);
  else if (rows.sparse())
    f = predictor_->decision_values(rows, threads, precision);
  else
    f = predictor_->decision_values(predictor_->prepared(rows), threads, precision);
  std::vector<double> values(f.size());
  for (std::size_t begin = 0; begin < f.size(); begin += pairs())
    for (std::size_t pair = 0; pair < pairs(); ++pair)
      values[begin + pair] = pair_machine_[pair].sign * f[begin + pair_machine_[pair].machine];
  return values;
}

double libsvm_predicted(const LibsvmModel& model, std::span<const double> values) {
  if (model.type == LibsvmType::one_class) return values[0] > 0 ? 1 : -1;
  if (model.labels.empty()) return values[0];
  return model.labels[libsvm_voted(values, model.labels.size())];
}

std::size_t libsvm_voted(std::span<const double> values, std::size_t classes) {
  std::vector<int> votes(classes, 0);
  std::size_t pair = 0;
  for (std::size_t i = 0; i < classes; ++i)
    for (std::size_t j = i + 1; j < classes; ++j) ++votes[values[pair++] > 0 ? i : j];
  return static_cast<std::size_t>(std::ranges::max_element(votes) - votes.begin());
}

std::vector<double> libsvm_probabilities(const LibsvmModel& model, std::span<const double> values) {
  if (model.type == LibsvmType::one_class) {
    DensityMarks marks{};
    std::ranges::copy_n(model.marks.begin(), marks.size(), marks.begin());
    const double normal = libsvm_density(marks, values[0]);
    return {normal, 1 - normal};
  }
  return libsvm_probabilities(values, model.prob_a, model.prob_b, model.labels.size());
}

double libsvm_likeliest(const LibsvmModel& model, std::span<const double> values) {
  if (!predicts_classes(model.type)) return libsvm_predicted(model, values);
  const std::vector<double> p = libsvm_probabilities(model, values);
  return model.labels[static_cast<std::size_t>(std::ranges::max_element(p) - p.begin())];
}

std::vector<double> libsvm_probabilities(std::span<const double> values,
                                         std::span<const double> prob_a,
                                         std::span<const double> prob_b, std::size_t classes) {
  constexpr double least = 1e-7;
  std::vector<double> pairwise(classes * classes, 0.0);
  std::size_t pair = 0;
  for (std::size_t i = 0; i < classes; ++i)
    for (std::size_t j = i + 1; j < classes; ++j, ++pair) {
      const double p =
          std::clamp(PlattSigmoid{prob_a[pair], prob_b[pair]}(values[pair]), least, 1 - least);
      pairwise[i * classes + j] = p;
      pairwise[j * classes + i] = 1 - p;
    }
  if (classes == 2) return {pairwise[1], pairwise[2]};
  return couple(pairwise, classes, libsvm_coupling);
}

}  // namespace maxmargin
