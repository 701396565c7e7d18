#include "maxmargin/train/disk/out_of_core.hpp"

#include <algorithm>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/solver/interior_point/streamed.hpp"
#include "maxmargin/train/prepared.hpp"

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

/// What a machine makes of a label.
struct Role {
  double target = 0;
  double cost = 0;  ///< 0: nothing
};

StreamedProblem problem_of(const SpilledData& data, const Subproblem& machine, Outcome outcome) {
  std::vector<Role> roles(std::max<std::size_t>(1, data.appearance.size()));
  for (const Example& example : machine.examples)
    roles[data.appearance.empty() ? 0 : data.appearance[example.row]] = {example.target,
                                                                         example.cost};
  const bool classes = outcome == Outcome::classes;
  return std::visit(
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
        return StreamedProblem{data.rows.get(), constant_of(machine.bias), blocks};
      },
      machine.loss);
}

/// Rows take part only if they have a cost, so what is left of the memory is for those that are
/// taken in at the end.
std::size_t working_bytes(const SpilledData& data, std::size_t numbers) {
  const std::size_t taken = program_bytes_out_of_core + streamed_pass_bytes(*data.rows, numbers);
  return data.memory_bytes > taken ? data.memory_bytes - taken : 0;
}

bool meets(const Certificate& certificate, const Stop& stop) {
  return certificate.kkt <= stop.kkt && certificate.relative_gap <= stop.relative_gap;
}

/// One machine's share of the model and of what is reported.
struct Part {
  Machine machine;
  std::vector<double> w;
  double certify_seconds = 0;
};

class Trainer {
 public:
  Trainer(const SpilledData& data, const TrainOptions& options, const Threads& threads,
          const Observer& observer, std::size_t machines)
      : data_(data),
        options_(options),
        threads_(threads),
        observer_(observer),
        machines_(static_cast<double>(machines)) {}

  Part train(const Subproblem& machine, Outcome outcome, DiskReport& disk) {
    const StreamedProblem problem = problem_of(data_, machine, outcome);
    StreamedInteriorPoint solver;
    solver.stop = options_.stop;
    solver.working_bytes = working_bytes(data_, problem.numbers());
    Run context{threads_, {}, {}};
    context.seconds_before = clock_.seconds();
    context.observer = [this](Progress progress) {
      progress.done = (done_ + progress.done) / machines_;
      answer_ = observer_ ? observer_(progress) : Control::proceed;
      return answer_;
    };
    if (answer_ != Control::proceed) solver.stop.seconds = 0;
    StreamedSolution solution = run(problem, solver, context);
    const StreamedCertified certified = certify(
        problem,
        [&](const RowChunk& chunk) { return variables_of(problem, solution.position, chunk); },
        solution.bias, threads_);
    done_ += 1;
    add(disk, solution);
    return part_of(machine, problem, solution, certified);
  }

 private:
  static void add(DiskReport& disk, const StreamedSolution& solution) {
    disk.passes += solution.iterations;
    disk.bytes_read += solution.traffic.bytes;
    disk.seconds += solution.seconds_passing;
    disk.waiting += solution.traffic.waiting;
    disk.rows_in_memory = std::max(disk.rows_in_memory, solution.rows_in_memory);
  }

  Part part_of(const Subproblem& subproblem, const StreamedProblem& problem,
               const StreamedSolution& solution, const StreamedCertified& certified) const {
    Part part;
    part.w = certified.point;
    Machine& machine = part.machine;
    static_cast<Sides&>(machine) = subproblem;
    if (problem.constant != Constant::none) {
      machine.lambda = {part.w.back()};
      part.w.pop_back();
    }
    machine.ended = solution.ended;
    machine.iterations = solution.iterations;
    machine.certificate = certified.certificate;
    if (machine.ended == Ended::converged && !meets(machine.certificate, options_.stop))
      machine.ended = Ended::stalled;
    part.certify_seconds = certified.seconds;
    return part;
  }

  const SpilledData& data_;
  const TrainOptions& options_;
  const Threads& threads_;
  const Observer& observer_;
  const double machines_;
  double done_ = 0;
  Control answer_ = Control::proceed;
  Stopwatch clock_;
};

Model model_of(const SpilledData& data, const Subproblems& problems, const TrainOptions& options) {
  Model model = model_asked_for(problems, options);
  model.options.emplace_back("out-of-core", "true");
  model.features = data.features;
  model.feature_names = data.outline.feature_names;
  model.rows = data.rows->rows();
  model.data_hash = data.data_hash;
  model.support = Features::dense(data.features);
  return model;
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
  if (!std::holds_alternative<Linear>(options.kernel)) return "it needs the linear kernel";
  if (options.solver != "auto" && options.solver != "interior-point")
    return "its solver is interior-point";
  if (options.scaling) return "it does not scale; scale the file first";
  if (options.approximate) return "it approximates nothing";
  if (!options.functions.empty()) return "it knows no functions beside the kernel part";
  if (options.probability_folds > 0) return "it learns no probabilities";
  if (options.start) return "it starts from no model";
  if (options.l1) return "it knows no other regulariser than |w|^2";
  if (is_one_problem(options.task)) return "it trains each machine by itself";
  return refuses_task(options.task);
}

TrainedOutOfCore train(const SpilledData& data, const TrainOptions& options, const Threads& threads,
                       const Observer& observer) {
  if (const auto reason = refuses_out_of_core(options))
    throw Error(Fault::usage, "out-of-core training cannot do this: " + *reason,
                "leave out what it cannot do, or give more memory and train in it");
  const Stopwatch clock;
  TrainedOutOfCore result;
  const Subproblems problems = machines_of(data, options.task);
  Trained& trained = result.trained;
  trained.solver = "interior-point";
  trained.reason = "the rows are read from disk in each iteration";
  trained.model = model_of(data, problems, options);
  Model& model = trained.model;
  Trainer trainer(data, options, threads, observer, problems.list.size());
  for (const Subproblem& machine : problems.list) {
    Part part = trainer.train(machine, problems.outcome, result.disk);
    add_to(trained, part, model.machines.empty());
    part.machine.support = {static_cast<Index>(model.support.count())};
    part.machine.coefficient = {1};
    model.support.append(part.w);
    model.support_row.push_back(0);
    model.machines.push_back(std::move(part.machine));
  }
  model.support.fit();
  result.disk.scratch_bytes = data.rows->bytes();
  result.disk.direct = data.rows->is_direct();
  trained.train_seconds = std::max(0.0, clock.seconds() - trained.certify_seconds);
  return result;
}

}  // namespace maxmargin
