#include "maxmargin/train/race.hpp"

#include <algorithm>
#include <memory>
#include <tuple>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/memory_budget.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/train/formulate/prepared.hpp"
#include "maxmargin/train/machines/approximation.hpp"

namespace maxmargin {
namespace {

Subproblem largest(const Subproblems& problems) {
  std::size_t most = 0;
  for (std::size_t k = 1; k < problems.list.size(); ++k)
    if (problems.list.examples(k) > problems.list.examples(most)) most = k;
  return problems.list[most];
}

std::vector<std::size_t> ranks_for(const DualQp& qp, const RaceOptions& options,
                                   const RaceChoice& choice) {
  const Quadratic& K = *qp.K;
  if (options.train.approximate || K.definite() == Definite::no || K.columns() < K.size())
    return {};
  if (!options.ranks.empty()) return options.ranks;
  if (K.size() < choice.approximate_from) return {};
  return {std::clamp(K.size() / choice.points_a_column, choice.least_columns, choice.most_columns)};
}

std::vector<Lane> lanes_for(const DualQp& qp, const RaceOptions& options, const Solver& chosen,
                            const RaceChoice& choice) {
  std::vector<Lane> lanes;
  const auto* path = std::get_if<InteriorPoint>(&chosen);
  for_each_component<Solver>([&](const auto& solver) {
    if (!options.only.empty() && std::ranges::count(options.only, solver.name) == 0) return;
    lanes.push_back({std::string(solver.name)});
    if (path != nullptr && path->low_rank > 0 && solver.name == InteriorPoint::name)
      lanes.push_back({.solver = std::string(solver.name), .low_rank = path->low_rank});
  });
  for (const std::size_t rank : ranks_for(qp, options, choice))
    if (rank > 0)
      lanes.push_back({"auto", Approximate{.selection = Selection::pivoted, .rank = rank}});
  if (options.on_disk != nullptr)
    lanes.push_back({.solver = "interior-point", .out_of_core = true});
  return lanes;
}

/// The settings of a lane that differ from the defaults of its solver.
std::optional<Solver> settings_of(const Lane& lane) {
  if (!(lane.low_rank > 0)) return std::nullopt;
  InteriorPoint path;
  path.low_rank = lane.low_rank;
  return path;
}

class Runner {
 public:
  Runner(const Prepared& prepared, const TrainOptions& options, const SpilledData* on_disk,
         const Context& context)
      : prepared_(prepared), options_(options), on_disk_(on_disk), context_(context) {}

  /// `before` of `all` lanes have ended.
  Raced run(const Lane& lane, std::size_t before, std::size_t all) const {
    Raced raced{lane, {}, {}, 0};
    TrainOptions options = options_;
    options.solver = lane.solver;
    options.settings = settings_of(lane);
    const std::string name = lane.name();
    const Context named = context_.watched_by([&](Progress progress) {
      progress.phase = name;
      progress.done = (static_cast<double>(before) + progress.done) / static_cast<double>(all);
      return context_.observer ? context_.observer(progress) : Control::proceed;
    });
    if (lane.approximate) {
      options.approximate = lane.approximate;
      raced.trained = approximated(options, named);
    } else if (lane.out_of_core) {
      raced.trained = train(*on_disk_, options, named).trained;
    } else {
      raced.trained = train(prepared_, prepared_.problems, options, named);
    }
    raced.model_bytes = to_bytes(raced.trained.model).size();
    return raced;
  }

 private:
  Trained approximated(const TrainOptions& options, const Context& context) const {
    Prepared prepared = prepared_;
    prepared.examples.K = nullptr;
    const auto kernel = std::make_shared<const ApproximatedKernel>(
        approximate_kernel(prepared.examples, options, context));
    prepared.examples.approximation = kernel;
    Trained trained =
        train(prepared, prepared.problems, options, context.after(kernel->seconds, options.stop));
    trained.train_seconds += kernel->seconds;
    return trained;
  }

  const Prepared& prepared_;
  const TrainOptions& options_;
  const SpilledData* on_disk_;
  const Context& context_;
};

void sort_lanes(std::vector<Raced>& lanes) {
  std::ranges::stable_sort(lanes, {}, [](const Raced& raced) {
    const double measure =
        raced.converged() ? raced.seconds() : raced.trained.certificate.relative_gap;
    return std::tuple{!raced.refused.empty(), !raced.converged(), measure};
  });
}

}  // namespace

std::string Lane::name() const {
  if (out_of_core) return "out-of-core";
  if (low_rank > 0) return solver + " --thin " + shortest(low_rank);
  return approximate ? std::string(to_string(approximate->selection)) + " " +
                           std::to_string(approximate->rank)
                     : solver;
}

Race race(Dataset data, const RaceOptions& options, const Context& context,
          const std::function<void(const Raced&)>& finished) {
  TrainOptions train = options.train;
  // The same budget for all, whatever memory is free when each of them starts.
  if (train.memory_bytes == 0) train.memory_bytes = MemoryBudget::of_machine().bytes;
  const Prepared prepared = prepare(std::move(data), train, context);
  const Subproblem& problem = largest(prepared.problems);
  const Formulated formulated = formulate(prepared.examples, problem.examples, problem.loss,
                                          train.kernel, problem.bias, context);
  for (const std::string& name : options.only)
    named_solver(name, formulated.qp, train.stop, train.memory_bytes);

  Race race{{}, choose_solver(formulated.qp, train.stop, train.memory_bytes, context.costs)};
  const Runner runner(prepared, train, options.on_disk, context);
  const std::vector<Lane> lanes =
      lanes_for(formulated.qp, options, race.automatic.solver, context.costs.races);
  for (const Lane& lane : lanes) {
    Raced raced{lane, {}, {}, 0};
    if (lane.out_of_core)
      raced.refused = refuses_out_of_core(train).value_or("");
    else if (!lane.approximate && lane.low_rank == 0)
      raced.refused = refusal(formulated.qp, named_solver(lane.solver, formulated.qp, train.stop,
                                                          train.memory_bytes))
                          .value_or("");
    if (raced.refused.empty()) {
      raced = runner.run(lane, race.lanes.size(), lanes.size());
      race.best_primal = std::min(race.best_primal, raced.trained.certificate.primal);
      if (!lane.approximate)
        race.best_dual = std::max(race.best_dual, raced.trained.certificate.dual);
    }
    if (finished) finished(raced);
    race.interrupted = raced.trained.ended == Ended::cancelled;
    race.lanes.push_back(std::move(raced));
    if (race.interrupted) break;
  }
  sort_lanes(race.lanes);
  return race;
}

}  // namespace maxmargin
