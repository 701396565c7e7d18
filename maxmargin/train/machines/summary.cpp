#include <algorithm>

#include "maxmargin/data/like.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/margin.hpp"
#include "maxmargin/train/machines/approximation.hpp"
#include "maxmargin/train/machines/machines.hpp"
#include "maxmargin/train/recorded.hpp"

namespace maxmargin {

void add_to(Certificate& sum, const Certificate& part) {
  // Sums are rounded to the safe side, so that they remain bounds.
  sum.primal = rounded_up(sum.primal + part.primal);
  sum.dual = rounded_down(sum.dual + part.dual);
  // At least the difference of the rounded sums.
  sum.gap = rounded_up(std::max(sum.gap + part.gap, sum.primal - sum.dual));
  sum.best_primal = rounded_up(sum.best_primal + part.best_primal);
  sum.best_dual = rounded_down(sum.best_dual + part.best_dual);
  sum.relative_gap = std::max(sum.relative_gap, part.relative_gap);
  sum.kkt = std::max(sum.kkt, part.kkt);
  sum.equality_residual = std::max(sum.equality_residual, part.equality_residual);
  sum.bound_residual = std::max(sum.bound_residual, part.bound_residual);
  sum.rounding = std::max(sum.rounding, part.rounding);
  sum.mercer = sum.mercer && part.mercer;
  sum.sampled = sum.sampled || part.sampled;
}

Ended worse(Ended x, Ended y) {
  const auto rank = [](Ended ended) {
    switch (ended) {
      case Ended::converged:
        return 0;
      case Ended::stalled:
        return 1;
      case Ended::iteration_limit:
        return 2;
      case Ended::time_limit:
        return 3;
      case Ended::cancelled:
        return 4;
      case Ended::unbounded:
        return 5;
    }
    return 5;
  };
  return rank(x) >= rank(y) ? x : y;
}

Model model_asked_for(const Subproblems& problems, const TrainOptions& options) {
  Model model;
  model.task = options.task;
  model.outcome = problems.outcome;
  model.multiclass = problems.multiclass;
  model.classes = problems.classes;
  model.numeric_classes = problems.numeric_classes;
  model.kernel = options.kernel;
  model.functions = options.functions;
  model.options = recorded(options);
  model.seed = options.seed;
  model.program = "maxmargin " MAXMARGIN_VERSION;
  return model;
}

namespace {

Model model_without_machines(const Prepared& prepared, const Subproblems& problems,
                             const TrainOptions& options) {
  Model model = model_asked_for(problems, options);
  model.features = prepared.features;
  model.feature_names = prepared.feature_names;
  model.scaling = prepared.scaling;
  model.rows = prepared.examples.x->count();
  model.data_hash = prepared.data_hash;
  return model;
}

}  // namespace

Trained summed_up(const Prepared& prepared, const Subproblems& problems,
                  const TrainOptions& options, const TrainedList& parts, const Threads& threads) {
  const Examples& examples = prepared.examples;
  Trained trained;
  trained.merged_rows = prepared.merged_rows;
  trained.model = model_without_machines(prepared, problems, options);
  // Machines that had no time to begin have no solver.
  std::size_t first = 0;
  while (first < parts.size() && parts[first].solver.empty()) ++first;
  trained.solver = first == parts.size() ? "none" : parts[first].solver;
  trained.reason = first == parts.size() ? "there was no time to begin" : parts[first].reason;
  trained.model.options.emplace_back("solver", trained.solver);
  trained.model.options.emplace_back("reason", trained.reason);
  if (examples.approximation) {
    const Approximated& low = examples.approximation->low;
    trained.rank = low.basis.size();
    trained.residual = low.residual.empty() ? 1 : low.residual.back() / low.trace;
  }
  trained.true_dual = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const TrainedMachine& part = parts[k];
    trained.true_dual += part.true_dual;
    if (!part.improvement) continue;
    trained.improvement.push_back(*part.improvement);
    trained.rank = std::max(trained.rank, part.rank);
    trained.residual = std::max(trained.residual, part.residual);
  }
  trained.ended = prepared.ended();
  trained.certificate = parts[0].certified.certificate;
  trained.own_primal = trained.own_dual = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Certified& certified = parts[k].certified;
    if (k > 0) add_to(trained.certificate, certified.certificate);
    trained.iterations += certified.solution.iterations;
    trained.values_asked += certified.solution.values_asked;
    trained.values_found += certified.solution.values_found;
    trained.own_primal += certified.solution.own_primal;
    trained.own_dual += certified.solution.own_dual;
    trained.certify_seconds += certified.seconds;
    if (trained.obstacle.empty()) trained.obstacle = certified.obstacle;
  }
  // Machines that are trained side by side are certified side by side.
  if (side_by_side(parts.size(), threads)) trained.certify_seconds /= threads.count();
  assemble(examples, problems, parts, trained.model);
  for (const Machine& machine : trained.model.machines)
    trained.ended = worse(trained.ended, machine.ended);
  if (trained.ended == Ended::unbounded && trained.obstacle.empty())
    trained.obstacle = std::string(no_margin);
  if (!problems.untrained.none()) {
    trained.ended = worse(trained.ended, problems.untrained.ended);
    add_to(trained.certificate, certificate_of_untrained(trained.model));
  }
  return trained;
}

Trained put_together(const Prepared& prepared, const Subproblems& problems,
                     const TrainOptions& options, const TrainedList& parts,
                     const Threads& threads) {
  Trained trained = summed_up(prepared, problems, options, parts, threads);
  const Features& all = *prepared.examples.x;
  Model& model = trained.model;
  const std::vector<Index> rows(model.support_row.begin(), model.support_row.end());
  model.support = none_like(all);
  model.support.append(all.view(), rows, threads);
  model.support.fit();
  if (!prepared.numbers.none())
    model.support = prepared.numbers.undone(model.support, prepared.features);
  return trained;
}

}  // namespace maxmargin
