#include "maxmargin/model/predict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "maxmargin/data/like.hpp"
#include "maxmargin/data/renumbering.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/model/segmented_coefficients.hpp"
#include "maxmargin/model/verify/tile_product.hpp"
#include "maxmargin/model/weights.hpp"

namespace maxmargin {
namespace {

// A tile of 64 x 1024 float kernel values (256 KB) stays in the second-level cache while it is
// made and while all machines use it.
constexpr std::size_t tile_rows = 64;
constexpr std::size_t tile_columns = 1024;

double largest_self_value(const Kernel& kernel, const Rows& rows) {
  double most = 0;
  for (const double value : self_values(kernel, rows)) most = std::max(most, std::abs(value));
  return most;
}

/// The scale of the rounding error of a row's kernel values, besides their own size. A dot product
/// that cancels, x'z = 0, has the rounding of |x||z|: the scale is sqrt(K(x,x) K(z,z)), where
/// `self` is the largest K(z,z); for tanh it is 1.
std::vector<double> error_scales(const Kernel& kernel, const Rows& rows, double self) {
  const auto form = form_of(kernel);
  std::vector<double> scales(rows.count, 0.0);
  if (!form || form->pairing != Pairing::dot) return scales;
  if (std::holds_alternative<HyperbolicTangent>(form->map)) {
    std::ranges::fill(scales, 1.0);
    return scales;
  }
  scales = self_values(kernel, rows);
  for (double& scale : scales) scale = std::sqrt(std::abs(scale) * self);
  return scales;
}

void check_kernel(const Kernel& kernel) {
  visit_list(
      [](const auto& chosen) {
        if constexpr (requires { chosen.function; })
          if (!chosen.function)
            throw Error(Fault::usage,
                        "the kernel '" + chosen.label +
                            "' of this model is a function of its user, "
                            "which a model file cannot hold",
                        "load the model from C++ and give its kernel the function again");
      },
      kernel);
}

void check_values(const Kernel& kernel, const Rows& rows) {
  const auto form = form_of(kernel);
  if (!form || !form->needs_non_negative()) return;
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index feature, double value) {
      if (value < 0)
        throw Error(Fault::data,
                    "row " + std::to_string(i + 1) + ", feature " +
                        std::to_string(std::uint64_t{feature} + 1) + ": the " +
                        std::string(name_of(kernel)) + " kernel takes no negative value",
                    "scale the rows as the training data was");
    });
}

[[noreturn]] void throw_too_wide(std::size_t row, std::uint64_t feature, std::size_t known) {
  throw Error(Fault::data,
              "row " + std::to_string(row + 1) + " has a value for feature " +
                  std::to_string(feature + 1) + ", but the model knows only " +
                  std::to_string(known),
              "give rows with the features that the model was trained on");
}

/// What becomes of values of features that the model does not know.
enum class Beyond { refuse, leave_out };

/// A copy of rows with exactly `known` features. Absent features of sparse rows are zero; dense
/// rows must have them all.
Features fitted(const Rows& rows, std::size_t known, Beyond beyond) {
  if (!rows.sparse() && rows.columns < known)
    throw Error(Fault::data,
                "the rows have " + std::to_string(rows.columns) + " features, the model " +
                    std::to_string(known),
                "give rows with the features that the model was trained on");
  Features copy = none_like(rows, known);
  if (rows.columns <= known) {
    if (rows.count > 0) copy.append(rows);
    return copy;
  }
  return placed(rows, std::move(copy), [&](std::size_t i, Index feature, double value) {
    if (feature < known) return std::optional(feature);
    if (value != 0 && beyond == Beyond::refuse) throw_too_wide(i, feature, known);
    return std::optional<Index>();
  });
}

}  // namespace

struct Predictor::Packed {
  Renumbering numbers;                ///< of features, where there are large gaps between them
  std::unique_ptr<Model> renumbered;  ///< the model without these gaps
  std::unique_ptr<ParametricFunctions> functions;  ///< if there are any
  std::unique_ptr<Weights> weights;                ///< if the decision functions are linear; else:
  std::unique_ptr<SegmentedCoefficients> coefficients;
  Features reordered;  ///< support vectors in the coefficients' order, if that is not the model's
  std::unique_ptr<Engine> engine;
  std::vector<std::uint64_t> matrix_column;  ///< precomputed kernel: the feature of each position
  double self = 0;  ///< largest K(z, z) of a support vector, if the kernel is of products

  /// Kernel values of rows `which` with the positions [begin, begin + count).
  void exact_tile(const Rows& rows, std::span<const Index> which, std::size_t begin,
                  std::size_t count, double* tile) const {
    if (engine) return engine->exact_block(rows, which, begin, count, tile, count);
    std::vector<double> row(rows.columns);
    for (std::size_t r = 0; r < which.size(); ++r) {
      std::ranges::fill(row, 0.0);
      rows.for_each(which[r], [&](Index feature, double value) { row[feature] = value; });
      for (std::size_t c = 0; c < count; ++c) tile[r * count + c] = row[matrix_column[begin + c]];
    }
  }

  /// Sums of all machines for some rows, with float kernel values; `reach` rises to each row's
  /// largest |K|.
  void fast_sums(const Rows& rows, std::span<const Index> which, double* sums,
                 std::span<double> reach) const {
    const std::size_t size = coefficients->order().size();
    // Small models touch no more pages than they need.
    const std::size_t stride = std::min(tile_columns, (size + 63) / 64 * 64);
    const auto tile = std::make_unique_for_overwrite<float[]>(tile_rows * stride);
    for (std::size_t begin = 0; begin < size; begin += tile_columns) {
      const std::size_t count = std::min(tile_columns, size - begin);
      engine->block(rows, which, begin, count, tile.get(), stride);
      coefficients->add(tile.get(), stride, which.size(), begin, count, sums);
      for (std::size_t r = 0; r < which.size(); ++r)
        reach[r] = std::max(reach[r], double{largest(tile.get() + r * stride, count)});
    }
  }

  void exact_sums(const Rows& rows, std::span<const Index> which, double* sums) const {
    const std::size_t size = coefficients->order().size();
    const auto tile =
        std::make_unique_for_overwrite<double[]>(tile_rows * std::min(tile_columns, size));
    for (std::size_t begin = 0; begin < size; begin += tile_columns) {
      const std::size_t count = std::min(tile_columns, size - begin);
      exact_tile(rows, which, begin, count, tile.get());
      coefficients->add(tile.get(), count, which.size(), begin, count, sums);
    }
  }
};

Predictor::Predictor(const Model& given, const CostModel& costs)
    : model_(given), packed_(std::make_unique<Packed>()) {
  check_kernel(given.kernel);
  if (form_of(given.kernel)) packed_->numbers = Renumbering(given.support);
  if (!packed_->numbers.none()) {
    packed_->renumbered = std::make_unique<Model>();
    packed_->renumbered->outcome = given.outcome;
    packed_->renumbered->kernel = given.kernel;
    packed_->renumbered->machines = given.machines;
    packed_->renumbered->support_row = given.support_row;
    packed_->renumbered->support = packed_->numbers.applied(given.support);
    packed_->renumbered->features = packed_->numbers.size();
  }
  if (!given.functions.empty())
    packed_->functions =
        std::make_unique<ParametricFunctions>(given.functions, given.feature_names, given.features);
  const Model& model = packed_->renumbered ? *packed_->renumbered : given;
  packed_->weights = Weights::of(model, costs.weights);
  if (packed_->weights) return;
  packed_->coefficients = std::make_unique<SegmentedCoefficients>(model);
  const auto order = packed_->coefficients->order();
  const auto form = form_of(model.kernel);
  if (form && form->pairing == Pairing::dot)
    packed_->self = largest_self_value(model.kernel, model.support);
  if (is_given(model.kernel)) {
    for (const Index vector : order) packed_->matrix_column.push_back(model.support_row[vector]);
    return;
  }
  if (packed_->coefficients->in_given_order()) {
    packed_->engine = make_engine(model.kernel, model.support, Threads(1), costs);
    return;
  }
  packed_->reordered = none_like(model.support);
  packed_->reordered.append(model.support, order);
  packed_->reordered.fit();
  packed_->engine = make_engine(model.kernel, packed_->reordered, Threads(1), costs);
}

Predictor::~Predictor() = default;

namespace {

/// The decision values of a row that float kernel values are too coarse for: those of unknown sign,
/// and those that decide what is predicted.
std::vector<std::size_t> uncertain_values(const Model& model,
                                          const SegmentedCoefficients& coefficients,
                                          std::span<const double> values, double reach) {
  if (model.outcome == Outcome::number) return {};
  std::vector<double> error(values.size());
  for (std::size_t m = 0; m < error.size(); ++m) error[m] = coefficients.error(m, reach);
  std::vector<std::size_t> list = in_doubt(model, values, error);
  for (std::size_t m = 0; m < error.size(); ++m)
    if (std::abs(values[m]) < error[m]) list.push_back(m);
  return list;
}

}  // namespace

std::vector<double> Predictor::decision_values(const Rows& rows, const Threads& threads,
                                               Precision precision) const {
  if (model_.functions.empty()) return values_of(rows, {}, threads, precision);
  if (!takes_as_it_is(rows))
    throw Error(Fault::usage, "the model scales its rows, and its functions see them unscaled",
                "pass them through prepared() first");
  return values_of(rows, packed_->functions->values(rows, threads), threads, precision);
}

std::vector<double> Predictor::decision_values(const RowsToPredict& rows, const Threads& threads,
                                               Precision precision) const {
  return values_of(rows.x, rows.functions, threads, precision);
}

bool Predictor::takes_as_it_is(const Rows& rows) const {
  return model_.scaling.factor.empty() && (rows.sparse() || rows.columns <= model_.features) &&
         !is_given(model_.kernel) && !(packed_->functions && packed_->functions->hides());
}

std::vector<double> Predictor::values_of(Rows rows, std::span<const double> functions,
                                         const Threads& threads, Precision precision) const {
  check_values(model_.kernel, rows);
  Features renumbered;
  if (packed_->renumbered) {
    renumbered = packed_->numbers.applied(rows);
    rows = renumbered;
  }
  const std::size_t known = packed_->renumbered ? packed_->renumbered->features : model_.features;
  if (rows.sparse()) rows.columns = std::max(rows.columns, known);
  // Features that no support vector has are taken too, where the kernel is computed from features
  // and these are not scaled.
  const bool takes_more = packed_->renumbered || (rows.sparse() && model_.scaling.factor.empty() &&
                                                  !is_given(model_.kernel));
  if (rows.columns != known && !(takes_more && rows.columns > known))
    throw Error(Fault::usage,
                "the rows have " + std::to_string(rows.columns) + " features, the model " +
                    std::to_string(known),
                "pass them through prepared() first");
  const std::size_t machines = model_.machines.size();
  std::vector<double> values(rows.count * machines);
  threads.split(rows.count, tile_rows, [&](std::size_t begin, std::size_t end) {
    evaluate(rows, functions, begin, precision,
             std::span(values).subspan(begin * machines, (end - begin) * machines));
  });
  return values;
}

/// The bias and the functions of a row.
void Predictor::add_functions(std::span<const double> functions, std::size_t row,
                              double* sums) const {
  const std::size_t count = model_.functions.size();
  for (std::size_t m = 0; m < model_.machines.size(); ++m) {
    const Machine& machine = model_.machines[m];
    sums[m] += machine.bias();
    for (std::size_t r = 0; r < count; ++r)
      sums[m] += machine.lambda[r + 1] * functions[row * count + r];
  }
}

void Predictor::evaluate(const Rows& rows, std::span<const double> functions, std::size_t begin,
                         Precision precision, std::span<double> values) const {
  const std::size_t machines = model_.machines.size();
  const std::size_t count = values.size() / machines;
  const auto add_to = [&](std::span<const Index> of_rows, double* sums) {
    for (std::size_t r = 0; r < of_rows.size(); ++r)
      add_functions(functions, of_rows[r], sums + r * machines);
  };
  std::vector<Index> which(count);
  std::iota(which.begin(), which.end(), static_cast<Index>(begin));
  if (packed_->weights) {
    for (std::size_t r = 0; r < count; ++r)
      packed_->weights->add(rows, begin + r, values.data() + r * machines);
    return add_to(which, values.data());
  }
  if (!packed_->engine || precision == Precision::exact) {
    packed_->exact_sums(rows, which, values.data());
    return add_to(which, values.data());
  }
  std::vector<double> reach =
      error_scales(model_.kernel, rows.slice(begin, begin + count), packed_->self);
  packed_->fast_sums(rows, which, values.data(), reach);
  add_to(which, values.data());

  std::vector<Index> again;
  std::vector<std::vector<std::size_t>> uncertain;
  const auto row_values = [&](Index row) {
    return values.subspan((row - begin) * machines, machines);
  };
  for (const Index row : which) {
    auto list =
        uncertain_values(model_, *packed_->coefficients, row_values(row), reach[row - begin]);
    if (list.empty()) continue;
    again.push_back(row);
    uncertain.push_back(std::move(list));
  }
  if (again.empty()) return;
  std::vector<double> exact(again.size() * machines, 0.0);
  packed_->exact_sums(rows, again, exact.data());
  add_to(again, exact.data());
  for (std::size_t i = 0; i < again.size(); ++i) {
    const auto row = row_values(again[i]);
    for (const std::size_t m : uncertain[i]) row[m] = exact[i * machines + m];
  }
}

RowsToPredict Predictor::prepared(const Rows& rows) const { return prepared(rows, Threads(1)); }

RowsToPredict Predictor::prepared(const Rows& rows, const Threads& threads,
                                  std::size_t first_row) const {
  RowsToPredict result;
  const ParametricFunctions* functions = packed_->functions.get();
  if (functions != nullptr) result.functions = functions->values(rows, threads, first_row);
  if (rows.sparse() && rows.columns > model_.features && model_.scaling.factor.empty() &&
      !is_given(model_.kernel)) {
    result.x = Features::sparse(rows.columns);
    result.x.append(rows);
  } else {
    // A model of LIBSVM names the columns of its support vectors, and not how many there were.
    const bool names_some = is_given(model_.kernel) && model_.data_hash.empty();
    result.x = fitted(rows, model_.features, names_some ? Beyond::leave_out : Beyond::refuse);
  }
  if (functions != nullptr && functions->hides())
    result.x = functions->visible(result.x, result.x.columns());
  if (!model_.scaling.factor.empty()) apply(model_.scaling, result.x);
  return result;
}

namespace {

double by_sign(const Machine& machine, double value) {
  if (value > 0) return machine.positive;
  if (machine.negative != Machine::nobody) return machine.negative;
  return machine.positive == 0 ? 1 : 0;
}

}  // namespace

double predicted(const Model& model, std::span<const double> decision_values) {
  if (model.outcome == Outcome::number) return decision_values[0];
  if (model.outcome == Outcome::novelty) return decision_values[0] >= 0 ? 1 : -1;
  if (model.machines.size() == 1) return by_sign(model.machines[0], decision_values[0]);
  return with_scheme(model.multiclass, [&](auto scheme) {
    return scheme.decide(model.classes.size(), model.machines, decision_values);
  });
}

std::vector<std::size_t> in_doubt(const Model& model, std::span<const double> values,
                                  std::span<const double> error) {
  if (model.outcome == Outcome::number) return {};
  if (model.machines.size() > 1)
    return with_scheme(model.multiclass, [&](auto scheme) {
      return scheme.doubtful(model.classes.size(), model.machines, values, error);
    });
  if (std::abs(values[0]) < error[0]) return {0};
  return {};
}

namespace {

/// Estimates of every pair, coupled. Classes that no machine knows have probability 0.
std::vector<double> by_pairs(const Model& model, std::span<const double> values) {
  constexpr double least = 1e-7;  // no pair is ever certain
  std::vector<std::size_t> number_of(model.classes.size(), 0), known;
  for (const Machine& machine : model.machines)
    for (const int side : {machine.positive, machine.negative})
      number_of[static_cast<std::size_t>(side)] = 1;
  for (std::size_t c = 0; c < number_of.size(); ++c)
    if (number_of[c] == 1) {
      number_of[c] = known.size();
      known.push_back(c);
    }
  const std::size_t k = known.size();
  std::vector<double> pairwise(k * k, 0.5);
  for (std::size_t m = 0; m < values.size(); ++m) {
    const std::size_t i = number_of[static_cast<std::size_t>(model.machines[m].positive)];
    const std::size_t j = number_of[static_cast<std::size_t>(model.machines[m].negative)];
    const double r = std::clamp(model.calibration.sigmoid[m](values[m]), least, 1 - least);
    pairwise[i * k + j] = r;
    pairwise[j * k + i] = 1 - r;
  }
  const std::vector<double> coupled = couple(pairwise, k);
  std::vector<double> result(model.classes.size(), 0.0);
  for (std::size_t c = 0; c < k; ++c) result[known[c]] = coupled[c];
  return result;
}

std::vector<double> against_the_rest(const Model& model, std::span<const double> values) {
  std::vector<double> result(model.classes.size(), 0.0);
  double sum = 0;
  for (std::size_t m = 0; m < values.size(); ++m)
    sum += result[static_cast<std::size_t>(model.machines[m].positive)] =
        std::max(model.calibration.sigmoid[m](values[m]), std::numeric_limits<double>::min());
  for (double& each : result) each /= sum;
  return result;
}

}  // namespace

std::vector<double> Predictor::probabilities(std::span<const double> decision_values) const {
  if (model_.outcome != Outcome::classes || model_.calibration.none())
    throw Error(Fault::usage, "this model has no probabilities", "train it with --probability");
  const Machine& first = model_.machines[0];
  std::vector<double> result;
  if (model_.machines.size() == 1) {
    const double p = model_.calibration.sigmoid[0](decision_values[0]);
    result.assign(model_.classes.size(), 0.0);
    result[static_cast<std::size_t>(first.positive)] = p;
    result[static_cast<std::size_t>(by_sign(first, -1))] = 1 - p;
  } else {
    result = compares_pairs(model_.multiclass) ? by_pairs(model_, decision_values)
                                               : against_the_rest(model_, decision_values);
  }
  make_largest(static_cast<std::size_t>(predict(decision_values)), result);
  return result;
}

}  // namespace maxmargin
