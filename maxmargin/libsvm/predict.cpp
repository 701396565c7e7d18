#include "maxmargin/libsvm/predict.hpp"

#include "maxmargin/kernel/given.hpp"
#include "maxmargin/libsvm/calibration.hpp"

#include <algorithm>
#include <map>

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

}  // namespace

LibsvmPredictor::LibsvmPredictor(const LibsvmModel& model)
    : model_(model), serial_(distinct(model.serial)), own_(own_model(model, serial_)) {
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

std::vector<double> LibsvmPredictor::decision_values(const Rows& rows,
                                                     const Threads& threads) const {
  const bool only_decide = model_.type != LibsvmType::epsilon_svr &&
                           model_.type != LibsvmType::nu_svr && model_.prob_a.empty();
  return decision_values(rows, threads, only_decide ? Precision::fast : Precision::exact);
}

std::vector<double> LibsvmPredictor::decision_values(const Rows& rows, const Threads& threads,
                                                     Precision precision) const {
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
