#include "maxmargin/train/machines/small_machines.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/certify/certify_known.hpp"
#include "maxmargin/train/machines/machine_matrix.hpp"

namespace maxmargin {
namespace {

constexpr double seconds_between_small_ones = 0.1;

}  // namespace

struct SmallMachines::Scratch {
  explicit Scratch(const MatrixTraits& traits) : K(std::make_shared<MachineMatrix>(traits)) {
    qp.K = K;
    qp.A.resize(1);
    qp.d = {0.0};
  }

  void state(const Subproblem& problem, std::span<const Index> point_of_row,
             std::span<const double> values, std::size_t stride) {
    points.clear();
    qp.row.clear();
    qp.block.clear();
    qp.A[0].clear();
    for (const Example& example : problem.examples) {
      qp.row.push_back(static_cast<Index>(points.size()));
      points.push_back(point_of_row[example.row]);
      qp.block.push_back(Hinge{}.blocks(example.target, example.cost)[0]);
      qp.A[0].push_back(example.target);
    }
    K->assign(values, stride, points);
    rows.begin(K->row(0));
    for (const Example& example : problem.examples)
      rows.add(Hinge{}.blocks(example.target, example.cost)[0].sign, example.cost);
  }

  Certified certified(const Threads& threads) const {
    const std::span<const double> a = rows.a();
    const std::vector<double> beta = qp.coefficients(a);
    Known known{{a.begin(), a.end()}, std::vector<double>(a.size()), {}};
    K->multiply(beta, known.f, Precision::exact, threads);
    known.error.all = product_error(*K, beta, Precision::exact);  // each point has one variable
    Solution solution;
    solution.ended = Ended::converged;
    solution.iterations = rows.iterations();
    return certify_known(qp, std::move(solution), std::move(known));
  }

  std::shared_ptr<MachineMatrix> K;
  DualQp qp;
  std::vector<Index> points;
  FewRows rows;
};

/// One of those that are free, or a new one; free again in the end.
class SmallMachines::Borrowed {
 public:
  explicit Borrowed(const SmallMachines& owner) : owner_(owner) {
    const std::lock_guard lock(owner.mutex_);
    if (owner.free_.empty()) {
      owner.free_.reserve(owner.lent_ + 1);  // giving back cannot fail
      scratch_ = std::make_unique<Scratch>(*owner.traits_);
    } else {
      scratch_ = std::move(owner.free_.back());
      owner.free_.pop_back();
    }
    ++owner.lent_;
  }
  ~Borrowed() {
    const std::lock_guard lock(owner_.mutex_);
    --owner_.lent_;
    if (owner_.free_.size() < owner_.free_.capacity()) owner_.free_.push_back(std::move(scratch_));
  }
  Borrowed(const Borrowed&) = delete;
  Scratch& operator*() const { return *scratch_; }

 private:
  const SmallMachines& owner_;
  std::unique_ptr<Scratch> scratch_;
};

SmallMachines::SmallMachines(const Examples& data, const Subproblems& problems,
                             const TrainOptions& options, const Context& context)
    : data_(data), most_rows_(std::min(context.costs.small_machines.most_rows, FewRows::most)) {
  if (!data.K || data.approximation || options.approximate || options.l1 || options.start ||
      options.settings || options.solver != "auto" || options.true_bound ||
      data.functions.count() > 0 || data.K->definite() != Definite::yes)
    return;
  const std::size_t n = data.K->size(), bytes = n * n * sizeof(double);
  if (bytes > memory_for(options, context).small_machines().bytes) return;
  std::size_t used = 0;  // kernel values that machines ask for
  for (std::size_t k = 0; k < problems.list.size(); ++k)
    if (const std::size_t rows = problems.list.examples(k); rows <= most_rows_) used += rows * rows;
  if (used < n * n / context.costs.small_machines.values_for_each_use) return;
  values_ = exact_values(*data.K, context.threads);
  points_ = n;
  traits_.emplace(data.K->traits());
}

SmallMachines::~SmallMachines() = default;

bool SmallMachines::takes(const Subproblem& problem) const {
  if (values_.empty() || problem.examples.size() > most_rows_ || !problem.start.empty() ||
      problem.bias != Bias::unpenalised || !std::holds_alternative<Hinge>(problem.loss))
    return false;
  // Equal rows share a variable.
  return std::ranges::all_of(problem.examples, [&](const Example& example) {
    return data_.first_equal[example.row] == example.row && !example.cost_over &&
           example.cost > 0 && std::isfinite(example.cost);
  });
}

void SmallMachines::tell(const MachineRun& run) const {
  {
    const std::lock_guard lock(mutex_);
    const double now = clock_.seconds();
    if (now < told_ + seconds_between_small_ones) return;
    told_ = now;
  }
  Progress progress;
  progress.phase = "train";
  run.audience.tell(run.number, progress);
}

std::optional<TrainedMachine> SmallMachines::train(const Subproblem& problem,
                                                   const MachineRun& run) const {
  if (!takes(problem)) return {};
  tell(run);
  const Stop& stop = run.options.stop;
  const Borrowed borrowed(*this);
  Scratch& scratch = *borrowed;
  scratch.state(problem, data_.point, values_, points_);
  double violation = stop.kkt;
  for (int round = 0; round < FewRows::rounds; ++round, violation *= FewRows::tighter) {
    if (!scratch.rows.improve(violation) || scratch.rows.iterations() > stop.iterations) return {};
    TrainedMachine part;
    part.certified = scratch.certified(run.given.threads);
    const Certificate& found = part.certified.certificate;
    if (!(found.kkt <= stop.kkt && found.relative_gap <= stop.relative_gap)) continue;
    part.solver = Smo::name;
    part.reason = "few rows each";
    run.given.note(Way::small_machine);
    const std::vector<double>& a = part.certified.solution.a;
    part.coefficients.reserve(a.size());
    for (std::size_t v = 0; v < a.size(); ++v)
      if (a[v] != 0)
        part.coefficients.emplace_back(problem.examples[v].row, problem.examples[v].target * a[v]);
    run.audience.finished(run.number);
    return part;
  }
  return {};
}

}  // namespace maxmargin
