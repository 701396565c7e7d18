#include "maxmargin/train/disk/out_of_core.hpp"

#include <algorithm>
#include <numeric>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/solver/streamed_solvers.hpp"
#include "maxmargin/train/disk/disk_basis.hpp"
#include "maxmargin/train/disk/disk_functions.hpp"
#include "maxmargin/train/formulate/prepared.hpp"

namespace maxmargin {
namespace {

using Constant = StreamedProblem::Constant;

Constant constant_of(Bias bias) {
  switch (bias) {
    case Bias::unpenalised:
      return Constant::free;
    case Bias::penalised:
      return Constant::penalised;
    case Bias::none:
      return Constant::none;
  }
  return Constant::free;
}

/// The machines over one row of each class (or one row at all): their costs are those of a row of
/// weight 1.
Subproblems machines_of(const SpilledData& data, const Task& task) {
  Dataset outline;
  outline.x = Features::sparse(0);
  outline.x.append(data.outline.x.view());
  outline.y = data.outline.y;
  outline.words = data.outline.words;
  for (const double weight : data.outline.weight) outline.weight.push_back(weight > 0 ? 1 : 0);
  return subproblems(outline, task);
}

/// The target and cost that a machine gives to a label.
struct Role {
  double target = 0;
  double cost = 0;  ///< 0: nothing
};

/// The rows that machines are trained on: those of the data, scaled, or those of Z = K_mn T'^-1,
/// and functions of them behind.
struct Stage {
  const RowFile* rows = nullptr;
  Scaling scaling{};
  std::optional<DiskFunctions> beside{};
  std::unique_ptr<RowFile> scaled{};
  std::optional<DiskBasis> basis{};

  std::size_t functions() const { return beside ? beside->count() : 0; }
};

StreamedProblem problem_of(const SpilledData& data, const Stage& stage, const Subproblem& machine,
                           Outcome outcome) {
  std::vector<Role> roles(std::max<std::size_t>(1, data.appearance.size()));
  for (const Example& example : machine.examples)
    roles[data.appearance.empty() ? 0 : data.appearance[example.row]] = {example.target,
                                                                         example.cost};
  const bool classes = outcome == Outcome::classes;
  return visit_list(
      [&](const auto& loss) {
        const auto blocks = [roles, classes, loss](double label, double weight,
                                                   Block* out) -> std::size_t {
          const Role& role = roles[classes ? static_cast<std::size_t>(label) : 0];
          const double cost = role.cost * weight;
          if (!(cost > 0)) return 0;
          const auto made = loss.blocks(classes ? role.target : label, cost);
          static_assert(made.size() <= 2);
          std::copy(made.begin(), made.end(), out);
          return made.size();
        };
        return StreamedProblem{stage.rows, constant_of(machine.bias), blocks, stage.functions()};
      },
      machine.loss);
}

std::size_t blocks_of(const Loss& loss) {
  return visit_list([](const auto& chosen) { return chosen.blocks(1, 1).size(); }, loss);
}

Stage stage_for(const SpilledData& data, const Subproblems& problems, const TrainOptions& options,
                const Threads& threads, const GoOn& go_on) {
  Stage stage;
  stage.rows = data.rows.get();
  const std::size_t chunk = spill_chunk_bytes(data.memory_bytes);
  if (!options.functions.empty()) {
    stage.beside = functions_on_disk(data, problems, options.functions, threads, go_on);
    if (!stage.beside) return {};
    stage.rows = stage.beside->rows.get();
  }
  if (options.scaling) {
    const std::size_t columns = data.rows->columns(), wide = stage.rows->columns();
    stage.scaling = learn_scaling(*stage.rows, columns, *options.scaling);
    stage.scaled = reshaped(
        *stage.rows, {data.folder, chunk, wide},
        [&](const RowChunk& rows, std::size_t begin, std::size_t count, double* out) {
          for (std::size_t i = 0; i < count; ++i) {
            const std::span<double> row(out + i * wide, wide);
            widen_row(rows, begin + i, row);
            apply(stage.scaling, row.first(columns), rows.first_row + begin + i);
          }
        },
        threads, go_on);
    if (!stage.scaled) return {};
    stage.rows = stage.scaled.get();
  }
  if (options.approximate) {
    Approximate how = *options.approximate;
    how.seed = options.seed;
    if (how.rank > 0) require_memory_out_of_core(data.memory_bytes, how.rank + stage.functions());
    const std::size_t sample =
        MemoryBudget{data.memory_bytes}.without(program_bytes_out_of_core).sample().bytes;
    stage.basis =
        approximate_on_disk(*stage.rows, options.kernel, how,
                            {data.folder, chunk, sample, stage.functions()}, threads, go_on);
    if (!stage.basis) return {};
    require_memory_out_of_core(data.memory_bytes, stage.basis->row.size() + stage.functions());
    stage.rows = stage.basis->rows.get();
  }
  return stage;
}

/// One machine's share of the model and of what is reported.
struct Part {
  Machine machine;
  std::vector<double> w;
  double certify_seconds = 0;
};

class Trainer {
 public:
  Trainer(const SpilledData& data, const Stage& stage, const TrainOptions& options,
          const Context& context, std::size_t machines)
      : data_(data),
        stage_(stage),
        rows_(*stage.rows),
        options_(options),
        given_(context),
        machines_(static_cast<double>(machines)) {}

  Part train(const Subproblem& machine, Outcome outcome, DiskReport& disk) {
    const StreamedProblem problem = problem_of(data_, stage_, machine, outcome);
    Run context{given_.watched_by([this](Progress progress) {
      progress.done = (done_ + progress.done) / machines_;
      answer_ = given_.observer ? given_.observer(progress) : Control::proceed;
      return answer_;
    })};
    context.seconds_before = clock_.seconds();
    Stop stop = options_.stop;
    stop.seconds = std::min(stop.seconds, given_.seconds);
    if (answer_ != Control::proceed) stop.seconds = 0;
    const StreamedSolver solver =
        streamed_solver(options_.solver, options_.settings, problem, stop,
                        MemoryBudget{data_.memory_bytes}.without(program_bytes_out_of_core).bytes);
    require_memory_for_variables(machine, problem, solver);
    const StreamedSolved solved = solve(problem, solver, context);
    disk.passes += solved.iterations;
    disk.bytes_read += solved.traffic.bytes;
    disk.seconds += solved.seconds_passing;
    disk.waiting += solved.traffic.waiting;
    disk.rows_in_memory = std::max(disk.rows_in_memory, solved.rows_in_memory);
    done_ += 1;
    return part_of(machine, problem, solved);
  }

 private:
  void require_memory_for_variables(const Subproblem& machine, const StreamedProblem& problem,
                                    const StreamedSolver& solver) const {
    const std::size_t each = bytes_per_variable(solver);
    if (each == 0) return;
    require_bytes_out_of_core(data_.memory_bytes,
                              program_bytes_out_of_core +
                                  streamed_pass_bytes(rows_, problem.numbers()) +
                                  rows_.rows() * blocks_of(machine.loss) * each,
                              std::to_string(rows_.rows()) + " rows by '" + options_.solver + "'");
  }

  Part part_of(const Subproblem& subproblem, const StreamedProblem& problem,
               const StreamedSolved& solved) const {
    Part part;
    const std::span<const double> point = solved.certified.point;
    const std::size_t features = problem.rows->columns() - problem.functions;
    part.w.assign(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(features));
    Machine& machine = part.machine;
    static_cast<Sides&>(machine) = subproblem;
    const double bias = problem.constant == Constant::free        ? point.back()
                        : problem.constant == Constant::penalised ? point[features]
                                                                  : 0;
    if (problem.functions > 0)
      machine.lambda =
          stage_.beside->translated(bias, point.subspan(problem.penalised(), problem.functions));
    else if (problem.constant != Constant::none)
      machine.lambda = {bias};
    machine.ended = solved.ended;
    machine.iterations = solved.iterations;
    machine.certificate = solved.certified.certificate;
    part.certify_seconds = solved.certified.seconds;
    return part;
  }

  const SpilledData& data_;
  const Stage& stage_;
  const RowFile& rows_;
  const TrainOptions& options_;
  const Context& given_;
  const double machines_;
  double done_ = 0;
  Control answer_ = Control::proceed;
  Stopwatch clock_;
};

Model model_of(const SpilledData& data, const Subproblems& problems, const TrainOptions& options,
               Stage& stage) {
  Model model = model_asked_for(problems, options);
  // A model of basis functions is as one that was trained in memory.
  if (!stage.basis) model.options.emplace_back("out-of-core", "true");
  model.scaling = stage.scaling;
  model.features = data.features;
  model.feature_names = data.outline.feature_names;
  model.rows = data.rows->rows();
  model.data_hash = data.data_hash;
  model.support = Features::dense(data.features);
  if (stage.basis) {
    // In the order of the rows.
    std::vector<Index> order(stage.basis->row.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::sort(order, {}, [&](Index each) { return stage.basis->row[each]; });
    model.support.append(stage.basis->basis.view(), order);
    for (const Index each : order) model.support_row.push_back(stage.basis->row[each]);
  }
  return model;
}

/// w of a machine as one support vector, or as the coefficients of basis functions.
void add_machine(const Stage& stage, Part part, Model& model) {
  if (!stage.basis) {
    part.machine.support = {static_cast<Index>(model.support.count())};
    part.machine.coefficient = {1};
    model.support.append(part.w);
    model.support_row.push_back(0);
  } else {
    const std::vector<double> coefficient = stage.basis->coefficients(std::move(part.w));
    std::vector<std::pair<std::size_t, double>> in_order;
    for (std::size_t j = 0; j < coefficient.size(); ++j)
      in_order.emplace_back(stage.basis->row[j], coefficient[j]);
    std::ranges::sort(in_order);
    for (std::size_t k = 0; k < in_order.size(); ++k) {
      if (in_order[k].second == 0) continue;
      part.machine.support.push_back(static_cast<Index>(k));
      part.machine.coefficient.push_back(in_order[k].second);
    }
  }
  model.machines.push_back(std::move(part.machine));
}

void add_to(Trained& trained, const Part& part, bool first) {
  const Machine& machine = part.machine;
  trained.iterations += machine.iterations;
  trained.certify_seconds += part.certify_seconds;
  trained.ended = first ? machine.ended : worse(trained.ended, machine.ended);
  if (first)
    trained.certificate = machine.certificate;
  else
    maxmargin::add_to(trained.certificate, machine.certificate);
}

std::optional<std::string> refuses_task(const Task& task) {
  if (std::holds_alternative<NuSvc>(task) || std::holds_alternative<NuSvr>(task) ||
      std::holds_alternative<OneClass>(task))
    return "it knows the tasks svc and svr only";
  const auto* svc = std::get_if<Svc>(&task);
  if (svc != nullptr && svc->hard_margin) return "it knows no hard margin";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refuses_out_of_core(const TrainOptions& options) {
  const bool linear = std::holds_alternative<Linear>(options.kernel);
  if (!linear && !options.approximate)
    return "it needs the linear kernel, or --approximate for another one";
  if (linear && options.approximate) return "a linear kernel needs no approximation";
  if (is_given(options.kernel) || definite(options.kernel) == Definite::no)
    return "it approximates kernels of rows that are positive semi-definite";
  if (options.true_bound || options.true_gap > 0) return "it knows no bound with the true kernel";
  if (options.solver != "auto" && options.solver != "interior-point" &&
      options.solver != Lagrangian::name)
    return "its solvers are interior-point and lagrangian";
  if (!options.functions.empty() && options.solver == Lagrangian::name)
    return "the Lagrangian method knows no functions beside the kernel part";
  if (options.probability_folds > 0) return "it learns no probabilities";
  if (options.start) return "it starts from no model";
  if (options.l1) return "it knows no other regulariser than |w|^2";
  if (is_one_problem(options.task)) return "it trains each machine by itself";
  return refuses_task(options.task);
}

TrainedOutOfCore train(const SpilledData& data, const TrainOptions& options,
                       const Context& context) {
  if (const auto reason = refuses_out_of_core(options))
    throw Error(Fault::usage, "out-of-core training cannot do this: " + *reason,
                "leave out what it cannot do, or give more memory and train in it");
  const Stopwatch clock;
  TrainedOutOfCore result;
  const Subproblems problems = machines_of(data, options.task);
  Trained& trained = result.trained;
  trained.solver = options.solver == "auto" ? "interior-point" : options.solver;
  trained.reason = "the rows are read from disk in each iteration";
  Stage stage = stage_for(data, problems, options, context.threads, [&] {
    if (clock.seconds() >= std::min(options.stop.seconds, context.seconds)) return false;
    Progress progress;
    progress.phase = options.approximate ? "approximate" : options.scaling ? "scale" : "functions";
    progress.seconds = clock.seconds();
    return !context.observer || context.observer(progress) == Control::proceed;
  });
  if (stage.rows == nullptr)
    throw Error(Fault::usage, "the limit was reached before there were rows to train on",
                "give more time");
  trained.model = model_of(data, problems, options, stage);
  Model& model = trained.model;
  if (stage.basis) {
    trained.rank = stage.basis->row.size();
    trained.residual = stage.basis->residual;
  }
  Trainer trainer(data, stage, options, context, problems.list.size());
  for (const Subproblem& machine : problems.list) {
    Part part = trainer.train(machine, problems.outcome, result.disk);
    add_to(trained, part, model.machines.empty());
    add_machine(stage, std::move(part), model);
  }
  model.support.fit();
  result.disk.scratch_bytes =
      data.rows->bytes() + (stage.beside ? stage.beside->rows->bytes() : 0) +
      (stage.scaled ? stage.scaled->bytes() : 0) + (stage.basis ? stage.basis->rows->bytes() : 0);
  result.disk.direct = data.rows->is_direct();
  trained.train_seconds = std::max(0.0, clock.seconds() - trained.certify_seconds);
  return result;
}

}  // namespace maxmargin
