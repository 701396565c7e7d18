#include "maxmargin/model/model.hpp"

#include <algorithm>

#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/evaluate.hpp"

namespace maxmargin {

std::uint64_t untrained_machines(const Model& model) {
  if (model.untrained.none()) return 0;
  const auto classes = static_cast<std::uint64_t>(
      std::ranges::count_if(model.untrained.loss, [](double loss) { return loss > 0; }));
  const std::uint64_t all =
      compares_pairs(model.multiclass) ? classes * (classes - 1) / 2 : classes;
  return all - std::min<std::uint64_t>(all, model.machines.size());
}

Certificate certificate_of_untrained(const Model& model) {
  const std::vector<double>& loss = model.untrained.loss;
  Certificate sum;
  sum.primal = 0;
  const auto add = [&](double count, double each) {
    if (count > 0) sum.primal = rounded_up(sum.primal + rounded_up(count * each));
  };
  if (compares_pairs(model.multiclass)) {
    // Each class has a machine with each other one.
    const auto others = std::ranges::count_if(loss, [](double each) { return each > 0; }) - 1;
    std::vector<std::ptrdiff_t> missing(loss.size(), others);
    for (const Machine& machine : model.machines)
      for (const int side : {machine.positive, machine.negative})
        --missing[static_cast<std::size_t>(side)];
    for (std::size_t k = 0; k < loss.size(); ++k)
      if (loss[k] > 0) add(static_cast<double>(missing[k]), loss[k]);
  } else {
    const auto missing = static_cast<double>(untrained_machines(model));
    for (const double each : loss) add(missing, each);
  }
  // Losses are not negative.
  if (std::isfinite(sum.primal)) sum.dual = 0;
  sum.gap = sum.primal;
  sum.relative_gap = relative_gap(sum.primal, sum.dual);
  sum.best_primal = sum.primal;
  sum.best_dual = sum.dual;
  return sum;
}

Texts recorded_options(const Model& model) {
  Texts all = model.task ? texts_of(*model.task) : Texts{};
  all.insert(all.end(), model.options.begin(), model.options.end());
  return all;
}

std::string task_name(const Model& model) {
  if (model.task) return std::string(name_of(*model.task));
  for (const auto& [name, value] : model.options)
    if (name == "task") return value;
  return {};
}

}  // namespace maxmargin
