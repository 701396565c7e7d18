#include "maxmargin/model/file/consistency.hpp"

#include "maxmargin/kernel/given.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace maxmargin {
namespace {

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

class Checker {
 public:
  Checker(const Model& model, const std::string& name) : model_(model), name_(name) {}

  void run() const {
    check_kernel();
    check_support();
    check_classes();
    check_scaling();
    check_functions();
    demand(!model_.machines.empty(), "it has no decision function");
    for (const Machine& machine : model_.machines) {
      check_coefficients(machine);
      check_sides(machine);
    }
    check_machines();
    check_untrained();
    check_calibration();
  }

 private:
  void demand(bool good, const char* otherwise) const {
    if (!good) throw_damaged(name_, otherwise);
  }

  void check_kernel() const {
    try {
      visit_list([](const auto& kernel) { validate(kernel); }, model_.kernel);
    } catch (const Error& error) {
      throw_damaged(name_, error.what());
    }
  }

  void check_support() const {
    constexpr std::uint64_t most = std::uint64_t{1} << 32;
    const bool precomputed = is_given(model_.kernel);
    demand(model_.features <= most, "it has more features than an index can number");
    demand(model_.support.count() < most, "it has more support vectors than an index can number");
    demand(model_.support_row.size() == model_.support.count(),
           "support vectors and their row numbers differ in count");
    demand(precomputed || model_.support.columns() == model_.features,
           "support vectors do not have the features of the model");
    // Of a precomputed kernel, a row's features are its kernel values with the training rows.
    const std::uint64_t rows =
        precomputed ? std::min<std::uint64_t>(model_.rows, model_.features) : model_.rows;
    demand(std::ranges::all_of(model_.support_row, [&](std::uint64_t row) { return row < rows; }),
           "a support vector comes from a row beyond the training data");
    demand(model_.feature_names.empty() || model_.feature_names.size() == model_.features,
           "names of features and features differ in count");
  }

  void check_classes() const {
    if (model_.outcome != Outcome::classes) return;
    demand(model_.classes.size() >= 2, "it has fewer than two classes");
    demand(model_.classes.size() <= std::numeric_limits<int>::max(), "it has too many classes");
    std::vector<std::string_view> names(model_.classes.begin(), model_.classes.end());
    std::ranges::sort(names);
    demand(std::ranges::adjacent_find(names) == names.end(), "a class is named twice");
    demand(!model_.numeric_classes || std::ranges::all_of(model_.classes, is_number),
           "the name of a class is not a number");
  }

  void check_scaling() const {
    const Scaling& scaling = model_.scaling;
    const std::size_t known = scaling.lists_features() ? scaling.feature.size() : model_.features;
    demand(
        scaling.factor.size() == scaling.offset.size() &&
            (scaling.factor.empty() ? !scaling.lists_features() : scaling.factor.size() == known),
        "the scaling does not have the features of the model");
    demand(!scaling.lists_features() ||
               (std::ranges::is_sorted(scaling.feature, std::ranges::less_equal{}) &&
                scaling.feature.back() < model_.features),
           "features of the scaling do not increase or are too large");
    demand(all_finite(scaling.factor) && all_finite(scaling.offset),
           "the scaling is not of finite numbers");
  }

  /// Columns of every name are there, and expressions can be evaluated.
  void check_functions() const {
    if (model_.functions.empty()) return;
    const bool precomputed = is_given(model_.kernel);
    const std::uint64_t values =
        precomputed ? std::min<std::uint64_t>(model_.rows, model_.features) : 0;
    bool of_kernel_values = false;
    try {
      const ParametricFunctions made(model_.functions, model_.feature_names, model_.features);
      of_kernel_values = made.user_of_first(values) != nullptr;
    } catch (const Error& error) {
      throw_damaged(name_, error.what());
    }
    demand(!of_kernel_values, "it has functions of kernel values");
  }

  void check_coefficients(const Machine& machine) const {
    demand(machine.support.size() == machine.coefficient.size(),
           "support vectors and coefficients differ in count");
    demand(all_finite(machine.coefficient) && all_finite(machine.lambda) &&
               std::isfinite(machine.width),
           "a coefficient is not a finite number");
    const std::size_t functions = model_.functions.size();
    demand(machine.lambda.size() == functions + 1 || (machine.lambda.empty() && functions == 0),
           "functions and their coefficients differ in count");
    demand(std::ranges::is_sorted(machine.support, std::ranges::less_equal{}) &&
               (machine.support.empty() || machine.support.back() < model_.support.count()),
           "positions of support vectors do not increase or are too large");
  }

  bool is_class(int number) const {
    return number >= 0 && static_cast<std::size_t>(number) < model_.classes.size();
  }

  void check_sides(const Machine& machine) const {
    if (model_.outcome != Outcome::classes) {
      demand(machine.positive == Machine::nobody && machine.negative == Machine::nobody,
             "a decision function speaks for classes where there are none");
      return;
    }
    const bool against_one = machine.negative != Machine::nobody;
    demand(is_class(machine.positive) && (!against_one || is_class(machine.negative)) &&
               machine.positive != machine.negative,
           "a decision function speaks for a class that is not there");
    const bool may_lack = !compares_pairs(model_.multiclass);
    const bool may_have = !may_lack || model_.classes.size() == 2;
    demand(against_one ? may_have : may_lack,
           "the classes of a decision function do not fit the kind of model");
  }

  // Every pair of classes (one-vs-one) or class (one-vs-rest) has one decision function at most.
  void check_machines() const {
    if (model_.outcome != Outcome::classes) {
      demand(model_.machines.size() == 1, "it has more than one decision function");
      return;
    }
    std::vector<std::pair<int, int>> sides;
    sides.reserve(model_.machines.size());
    for (const Machine& machine : model_.machines)
      sides.emplace_back(std::minmax(machine.positive, machine.negative));
    std::ranges::sort(sides);
    demand(std::ranges::adjacent_find(sides) == sides.end(),
           "two decision functions speak for the same classes");
  }

  void check_untrained() const {
    const std::vector<double>& loss = model_.untrained.loss;
    if (loss.empty()) return;
    demand(model_.outcome == Outcome::classes && !is_one_problem(model_.multiclass) &&
               loss.size() == model_.classes.size() && model_.calibration.none(),
           "machines that were not trained do not fit the kind of model");
    demand(std::ranges::all_of(loss, [](double each) { return each >= 0; }),
           "the loss of a class is not a number");
    demand(std::ranges::all_of(model_.machines,
                               [&](const Machine& machine) {
                                 return has_rows(machine.positive) && has_rows(machine.negative);
                               }),
           "a decision function speaks for a class without rows");
    demand(untrained_machines(model_) > 0, "no machine is left that was not trained");
  }
  bool has_rows(int number) const {
    return number == Machine::nobody || model_.untrained.loss[static_cast<std::size_t>(number)] > 0;
  }

  void check_calibration() const {
    const Calibration& calibration = model_.calibration;
    if (calibration.none()) return;
    const std::size_t sigmoids =
        model_.outcome == Outcome::classes ? model_.machines.size() : std::size_t{0};
    demand(calibration.folds > 0 && calibration.sigmoid.size() == sigmoids,
           "its probabilities do not fit its decision functions");
    for (const PlattSigmoid& sigmoid : calibration.sigmoid)
      demand(std::isfinite(sigmoid.slope) && std::isfinite(sigmoid.offset),
             "a probability has no finite parameters");
    demand(std::isfinite(calibration.noise) && calibration.noise >= 0 &&
               std::isfinite(calibration.weight) && calibration.weight >= 0 &&
               all_finite(calibration.marks) && std::ranges::is_sorted(calibration.marks),
           "its quantiles are not increasing finite numbers");
  }

  const Model& model_;
  const std::string& name_;
};

}  // namespace

void throw_damaged(const std::string& name, const std::string& what) {
  throw Error(Fault::data, Place{name}, "this model is damaged: " + what,
              "fetch a fresh copy of it or train it again");
}

void check_rows(const Rows& rows, std::uint64_t stored, const std::string& name) {
  if (rows.sparse()) {
    if (rows.start[0] != 0 || rows.start[rows.count] != stored)
      throw_damaged(name, "offsets of sparse rows do not match their values");
    for (std::size_t i = 0; i < rows.count; ++i)
      if (rows.start[i] > rows.start[i + 1])
        throw_damaged(name, "offsets of sparse rows do not increase");
    for (std::size_t i = 0; i < rows.count; ++i)
      for (std::uint64_t k = rows.start[i]; k < rows.start[i + 1]; ++k)
        if (rows.index[k] >= rows.columns ||
            (k > rows.start[i] && rows.index[k] <= rows.index[k - 1]))
          throw_damaged(name, "features of a sparse row do not increase or are too large");
  }
  for (std::uint64_t k = 0; k < stored; ++k)
    if (!std::isfinite(rows.value(k))) throw_damaged(name, "a value is not a finite number");
}

void check_model(const Model& model, const std::string& name) { Checker(model, name).run(); }

}  // namespace maxmargin
