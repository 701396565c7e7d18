#include "cli/verbs/repeat.hpp"

#include <fmt/format.h>

#include <cmath>

#include "maxmargin/train/recorded.hpp"

namespace maxmargin::cli {
namespace {

/// The last digits of probabilities depend on the order of sums alone.
bool is_near(double x, double y) {
  return x == y || std::abs(x - y) <= 1e-6 * std::max(std::abs(x), std::abs(y));
}

}  // namespace

TrainOptions options_from(const Model& model) {
  TrainOptions options = options_of_model(model);
  options.probability_folds = model.calibration.folds;
  for (const auto& [name, text] : model.options)
    if (name == "solver") options.solver = text;
  return options;
}

std::string differing_calibration(const Model& model, Dataset data, const Threads& threads) {
  const Calibration& stored = model.calibration;
  const Calibration now = train(std::move(data), options_from(model), threads).model.calibration;
  const auto differs = [](const std::string& what, double found, double claimed) {
    return fmt::format("the {} is {}, not {}", what, found, claimed);
  };
  if (!is_near(now.weight, stored.weight)) return differs("weight", now.weight, stored.weight);
  if (!is_near(now.noise, stored.noise)) return differs("noise", now.noise, stored.noise);
  if (now.sigmoid.size() != stored.sigmoid.size() || now.marks.size() != stored.marks.size())
    return "it has other parts";
  for (std::size_t m = 0; m < now.sigmoid.size(); ++m) {
    if (!is_near(now.sigmoid[m].slope, stored.sigmoid[m].slope))
      return differs("slope of a sigmoid", now.sigmoid[m].slope, stored.sigmoid[m].slope);
    if (!is_near(now.sigmoid[m].offset, stored.sigmoid[m].offset))
      return differs("offset of a sigmoid", now.sigmoid[m].offset, stored.sigmoid[m].offset);
  }
  for (std::size_t k = 0; k < now.marks.size(); ++k)
    if (!is_near(now.marks[k], stored.marks[k]))
      return differs("quantile", now.marks[k], stored.marks[k]);
  return {};
}

}  // namespace maxmargin::cli
