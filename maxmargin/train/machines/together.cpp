#include "maxmargin/train/machines/together.hpp"

#include <cmath>
#include <map>

#include "maxmargin/solver/patience.hpp"

namespace maxmargin {
namespace {

void require_possible(const Examples& data, const Subproblems& problems,
                      const TrainOptions& options) {
  const auto refuse = [](const std::string& why, const std::string& mend) {
    throw Error(Fault::usage, "crammer-singer cannot do this: " + why, mend);
  };
  // Those of all classes have the same rows, loss and bias.
  const Subproblem first = problems.list.front();
  if (std::holds_alternative<NuSvc>(options.task))
    refuse("it has a cost and no nu", "take --task svc, or choose another --multiclass");
  if (!std::holds_alternative<Hinge>(first.loss))
    refuse("its loss is the hinge", "leave --loss out, or choose another --multiclass");
  if (first.bias == Bias::unpenalised)
    refuse("it has no free bias", "choose --bias none or penalised");
  for (const Example& example : first.examples)
    if (std::isinf(example.cost))
      refuse("it has no hard margin", "give a large --cost in the place of --hard-margin");
  if (data.functions.count() > 0)
    refuse("it knows no functions beside the kernel part", "leave --parametric out");
  if (options.approximate)
    refuse("it takes the kernel as it is",
           "leave --approximate out, or choose another --multiclass");
  if (options.solver != "auto" || options.settings)
    refuse("it has a solver of its own", "leave --solver out");
  if (options.start) refuse("it starts from no model", "leave --start out");
}

/// The coefficients of each class, by row of the data, and their sums.
void put_coefficients(const FormulatedTogether& formulated, std::span<const double> a,
                      TrainedList& machines, std::vector<double>& sums) {
  const std::size_t classes = formulated.qp.classes;
  for (std::size_t k = 0; k < classes; ++k) machines[k].coefficients.clear();
  if (a.empty()) return;
  std::vector<std::size_t> nonzeros(classes, 0);
  const auto each = [&](const auto& body) {
    for (const auto& share : formulated.shares)
      for (std::size_t k = 0; k < classes; ++k)
        if (const double beta = share.part * a[share.example * classes + k]; beta != 0)
          body(k, share.row, beta);
  };
  each([&](std::size_t k, Index, double) { ++nonzeros[k]; });
  for (std::size_t k = 0; k < classes; ++k) machines[k].coefficients.reserve(nonzeros[k]);
  each([&](std::size_t k, Index row, double beta) {
    sums[k] += beta;
    machines[k].coefficients.emplace_back(row, beta);
  });
}

}  // namespace

FormulatedTogether formulate_together(const Examples& data, const Subproblems& problems,
                                      const Kernel& kernel, const Threads& threads) {
  const Subproblem& first = problems.list.front();
  const Formulated points =
      formulate(data, first.examples, first.loss, kernel, first.bias, threads);
  FormulatedTogether result;
  SimplexQp& qp = result.qp;
  qp.K = points.qp.K;
  qp.classes = problems.list.size();
  std::vector<Index> label(data.x->count(), 0);
  const SubproblemList& list = problems.list;
  for (std::size_t k = 0; k < list.size(); ++k) {
    const Subproblem own = list.is_kept() ? list[k] : list.of_class(list.sides(k).positive);
    for (const Example& example : own.examples)
      if (example.target > 0) label[example.row] = static_cast<Index>(k);
  }
  std::map<std::pair<Index, Index>, Index> example_of;  // of point and class
  for (std::size_t i = 0; i < first.examples.size(); ++i) {
    const Example& example = first.examples[i];
    const Index point = points.qp.row[points.shares[i].variable];
    const auto [at, fresh] =
        example_of.try_emplace({point, label[example.row]}, static_cast<Index>(qp.size()));
    if (fresh) {
      qp.row.push_back(point);
      qp.label.push_back(label[example.row]);
      qp.cost.push_back(0);
    }
    qp.cost[at->second] += example.cost;
    result.shares.push_back({example.row, at->second, example.cost});
  }
  for (auto& share : result.shares) share.part /= qp.cost[share.example];
  result.point_rows = points.point_rows;
  return result;
}

TrainedList train_together(const Examples& data, const Subproblems& problems,
                           const TrainOptions& options, const Context& context) {
  require_possible(data, problems, options);
  const FormulatedTogether formulated =
      formulate_together(data, problems, options.kernel, context.threads);
  const SimplexQp& qp = formulated.qp;
  std::optional<Features> rows;
  Rows view;
  const Bias bias = problems.list.front().bias;
  if (std::holds_alternative<Linear>(options.kernel) && bias == Bias::none) {
    rows = Features::compact(*data.x, formulated.point_rows, context.threads);
    view = *rows;
  }
  Audience audience(context, 1);
  SimplexSolved solved = solve(
      qp, rows ? &view : nullptr,
      {audience.rest_of(options.stop), memory_for(options, context).bytes, options.seed},
      context.watched_by([&](const Progress& progress) { return audience.tell(0, progress); }));
  TrainedList machines(qp.classes);
  std::vector<double> sums(qp.classes, 0.0);
  put_coefficients(formulated, solved.solution.a, machines, sums);
  for (std::size_t k = 0; k < qp.classes; ++k) {
    TrainedMachine& machine = machines[k];
    machine.solver = solved.solver;
    machine.reason = "all classes in one problem";
    Solution& solution = machine.certified.solution;
    solution.ended = audience.ended(solved.solution.ended);
    solution.iterations = k == 0 ? solved.solution.iterations : 0;
    machine.certified.certificate = solved.certified.of_class[k];
    machine.certified.seconds = k == 0 ? solved.certified.seconds : 0;
    if (std::isinf(solved.certified.certificate.gap))
      machine.certified.obstacle = std::string(no_time_to_certify);
    if (bias == Bias::penalised) solution.lambda = {sums[k]};
  }
  return machines;
}

}  // namespace maxmargin
