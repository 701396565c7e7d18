#include "maxmargin/structured/train.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/structured/doctor.hpp"
#include "maxmargin/structured/slack_hull.hpp"

namespace maxmargin {
namespace {

/// Throws Error unless the planes of a file are structures of these examples.
void check_planes(const StructuredModel& model, const StructuredData& data) {
  const Oracle& oracle = data.oracle();
  if (const std::string unknown = data.unknown(); !unknown.empty())
    throw Error(Fault::data, unknown, "give the data that the model was trained on");
  if (model.planes.size() != oracle.examples())
    throw Error(Fault::data,
                "the model was trained on " + std::to_string(model.planes.size()) +
                    " examples, the data has " + std::to_string(oracle.examples()),
                "give the data that it was trained on");
  for (std::size_t i = 0; i < model.planes.size(); ++i)
    for (const Plane& plane : model.planes[i])
      if (!oracle.is_structure(i, plane.y))
        throw Error(Fault::data,
                    oracle.example_name(i) + ": the model has a plane that does not fit to it",
                    "give the data that the model was trained on");
}

bool needs_hull(const Oracle& oracle, Rescaling rescaling) {
  return rescaling == Rescaling::slack && !oracle.answers(Ask::slack);
}

/// An oracle, wrapped in a SlackHull where slack rescaling needs that.
class RescaledOracle {
 public:
  RescaledOracle(const Oracle& oracle, bool hulled)
      : oracle_(oracle), hull_(oracle), hulled_(hulled) {}
  const Oracle& operator*() const { return hulled_ ? static_cast<const Oracle&>(hull_) : oracle_; }

 private:
  const Oracle& oracle_;
  SlackHull hull_;
  bool hulled_;
};

Structured problem_of(const Oracle& oracle, const StructuredTraining& training) {
  return {oracle, training.C, training.rescaling, training.slack};
}

StructuredModel empty_model(const StructuredTask& task, const Settings& settings,
                            const StructuredData& data, const StructuredTraining& training) {
  StructuredModel model;
  model.program = "maxmargin " MAXMARGIN_VERSION;
  model.task = task.name;
  model.solver = name_of(training.solver);
  model.settings = task.stored(settings);
  model.C = training.C;
  model.rescaling = training.rescaling;
  model.slack = training.slack;
  model.seed = training.seed;
  model.vocabulary = data.vocabulary();
  return model;
}

/// What is left of a time limit that several runs share.
Stop what_is_left(Stop stop, const Stopwatch& watch) {
  stop.seconds = std::max(0.0, stop.seconds - watch.seconds());
  return stop;
}

/// Solves for the costs of the path in turn; returns the planes for the last one.
Planes follow_path(const StructuredTraining& training, Structured problem, Planes start,
                   const Threads& threads, const Observer& observer) {
  const Stopwatch watch;
  for (const double C : training.path) {
    StructuredRun run{{threads, observer}, training.seed};
    if (!start.empty()) run.start = planes_for_cost(std::move(start), problem, C);
    problem.C = C;
    start =
        solve(problem, training.solver, what_is_left(training.stop, watch), run).solution.planes;
  }
  return start.empty() ? start : planes_for_cost(std::move(start), problem, training.C);
}

}  // namespace

TrainedStructured train_structured(const StructuredTask& task, const Settings& settings,
                                   const StructuredData& data, const StructuredTraining& training,
                                   const Threads& threads, const Observer& observer) {
  const Stopwatch watch;
  const RescaledOracle oracle(data.oracle(), needs_hull(data.oracle(), training.rescaling));
  const Structured problem = problem_of(*oracle, training);
  check(problem);
  if (const std::string unknown = data.unknown(); !unknown.empty())
    throw Error(Fault::data, unknown, "give data with the right structures");
  DoctorOptions doctor;
  doctor.examples = 8;
  examine(problem, doctor);
  StructuredModel model = empty_model(task, settings, data, training);
  Planes start;
  double C = training.C;
  if (training.resume != nullptr) {
    check_planes(*training.resume, data);
    start = training.resume->planes;
    C = training.resume->C;
  }
  Structured before = problem;
  before.C = C;
  StructuredRun run{{threads, observer}, training.seed};
  run.start = training.path.empty()
                  ? (start.empty() ? start : planes_for_cost(start, before, problem.C))
                  : follow_path(training, before, start, threads, observer);
  const auto with_planes = [&](const Planes& planes) {
    StructuredModel so_far = model;
    so_far.planes = planes;
    so_far.w = plane_coefficients(problem, planes);
    so_far.ended = Ended::cancelled;
    return so_far;
  };
  Planes last;
  run.checkpoint = [&, since = Stopwatch(), written = 0.0](const Planes& planes) mutable {
    constexpr double seconds_between = 10;
    if (training.rescue) last = planes;
    if (!training.checkpoint || since.seconds() - written < seconds_between) return;
    written = since.seconds();
    training.checkpoint(with_planes(planes));
  };
  SolvedStructured solved = [&] {
    try {
      return solve(problem, training.solver, what_is_left(training.stop, watch), run);
    } catch (const Error&) {
      if (!last.empty()) training.rescue(with_planes(last));
      throw;
    }
  }();
  model.w = solved.w.coefficients();
  model.w_is_of_planes = solved.solution.w.empty();
  model.planes = std::move(solved.solution.planes);
  model.certificate = solved.certificate;
  model.ended = solved.solution.ended;
  model.oracle_calls = solved.solution.oracle_calls;
  model.iterations = solved.solution.iterations;
  model.seconds = watch.seconds();
  return {std::move(model), std::move(solved.solution.curve)};
}

std::vector<double> scores_of(const StructuredModel& model, const StructuredData& data) {
  return data.scores(model.w);
}

std::vector<Structure> predict_structures(const Oracle& oracle, std::span<const double> w,
                                          const Threads& threads) {
  std::vector<std::size_t> all(oracle.examples());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return oracle.most_violated(all, w, Ask::best, threads);
}

namespace {

/// Whether the stored weights are sum a psi, up to the rounding of terms that may cancel.
bool are_of_planes(const std::vector<double>& w, const StructuredWeights& own,
                   const Structured& problem, const Planes& planes) {
  std::vector<double> sizes(w.size(), 0.0);
  JointFeatures psi;
  for (std::size_t i = 0; i < planes.size(); ++i)
    for (const Plane& plane : planes[i]) {
      psi.clear();
      problem.oracle.difference(i, plane.y, problem.plane_scale(plane.loss), psi);
      for (std::size_t k = 0; k < psi.size(); ++k)
        sizes[psi.index[k]] += plane.alpha * std::abs(psi.value[k]);
    }
  const double largest = sizes.empty() ? 0 : std::ranges::max(sizes);
  for (std::size_t j = 0; j < w.size(); ++j)
    if (std::abs(own.coefficients()[j] - w[j]) > 1e-9 * largest) return false;
  return true;
}

/// What refutes the stored certificate; nothing if the recomputed one does not. Each of the two may
/// be wrong by the rounding errors of its own scores, of which only the recomputed bound is taken.
std::string refutation(const StructuredCertificate& then, const StructuredCertificate& now) {
  const double size = std::abs(then.primal) + std::abs(then.dual);
  const double allowed = 1e-9 * size + 2 * now.rounding;
  const auto is_close = [&](double a, double b) { return std::abs(a - b) <= allowed; };
  if (now.exactness != then.exactness)
    return "its oracle is " + std::string(to_string(now.exactness));
  if (!is_close(now.primal, then.primal)) return "the primal differs";
  if (!is_close(now.dual, then.dual)) return "the dual differs";
  if (now.gap * (1 - 1e-9) > then.gap + allowed) return "the gap is larger";
  if (now.violation > then.violation + 1e-9 * (1 + then.violation))
    return "margins are violated by more";
  return {};
}

}  // namespace

VerifiedStructured verify_structured(const StructuredModel& model, const StructuredData& data,
                                     const Threads& threads) {
  check_planes(model, data);
  if (model.w.size() != data.oracle().dimensions())
    throw Error(Fault::data, "the model's weights do not fit to this data",
                "give the data that it was trained on");
  // Two heuristics find different structures, so a heuristic's certificate is recomputed by itself.
  const bool hulled = needs_hull(data.oracle(), model.rescaling);
  const RescaledOracle oracle(data.oracle(), hulled), witness(data.witness(), hulled);
  const bool heuristic = (*oracle).exactness() == Exactness::heuristic;
  const Structured first{*oracle, model.C, model.rescaling, model.slack};
  const Structured second{*witness, model.C, model.rescaling, model.slack};
  const Structured& problem = heuristic ? first : second;
  check(problem);
  const StructuredWeights own(problem, model.planes), stored(problem.oracle, model.w);
  // Where large alpha cancel, the order of the planes' sum decides digits of w that the gap
  // multiplies by alpha: the claim is about the w that is stored, its dual about the planes.
  const auto certify_by = [&](const Structured& judge) {
    if (!model.w_is_of_planes)
      return certify(judge, model.planes, {own, &stored}, threads).certificate;
    StructuredCertificate found = certify(judge, model.planes, {stored}, threads).certificate;
    found.dual += (stored.squared_norm() - own.squared_norm()) / 2;
    return found;
  };
  VerifiedStructured verified;
  verified.recomputed = certify_by(problem);
  // Where halves are as good as a structure, the second oracle may find these. The maximum is
  // attained at structures if those of the first oracle score as much.
  if (verified.recomputed.exactness == Exactness::relaxed &&
      model.certificate.exactness == Exactness::exact) {
    StructuredCertificate relaxed = certify_by(first);
    const Exactness found = relaxed.exactness;
    relaxed.exactness = Exactness::relaxed;
    if (refutation(relaxed, verified.recomputed).empty()) verified.recomputed.exactness = found;
  }
  if (model.w_is_of_planes && !are_of_planes(model.w, own, problem, model.planes))
    verified.reason = "the weights are not those of the planes";
  else
    verified.reason = refutation(model.certificate, verified.recomputed);
  verified.holds = verified.reason.empty();
  if (heuristic) verified.by_witness = certify(second, model.planes, threads).certificate;
  return verified;
}

CrossValidatedStructured cross_validate_structured(const StructuredData& data,
                                                   const StructuredTraining& training,
                                                   std::size_t folds, const Threads& threads,
                                                   const Observer& observer) {
  const Stopwatch watch;
  const bool hulled = needs_hull(data.oracle(), training.rescaling);
  const RescaledOracle rescaled(data.oracle(), hulled);
  const Oracle& oracle = *rescaled;
  const bool by_rows = data.divisible_rows() > 0;
  const std::size_t n = by_rows ? data.divisible_rows() : oracle.examples();
  if (folds > n)
    throw Error(Fault::usage, "there are fewer examples than folds", "ask for fewer folds");
  if (const std::string unknown = data.unknown(); !unknown.empty())
    throw Error(Fault::data, unknown, "give data with the right structures");
  check(problem_of(oracle, training));
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng(training.seed);
  for (std::size_t k = n; k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
  CrossValidatedStructured result;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<std::size_t> inside, outside;
    for (std::size_t k = 0; k < n; ++k) (k % folds == fold ? outside : inside).push_back(order[k]);
    std::ranges::sort(inside);
    std::ranges::sort(outside);
    const OracleSubset part(oracle, inside), rest(oracle, outside);
    const auto rows_inside = by_rows ? data.part(inside) : nullptr;
    const auto rows_outside = by_rows ? data.part(outside) : nullptr;
    const RescaledOracle rescaled_rows(by_rows ? rows_inside->oracle() : oracle, hulled && by_rows);
    const SolvedStructured solved =
        solve(problem_of(by_rows ? *rescaled_rows : part, training), training.solver,
              what_is_left(training.stop, watch), {{threads, observer}, training.seed});
    if (solved.solution.ended != Ended::converged) result.ended = solved.solution.ended;
    result.oracle_calls += solved.solution.oracle_calls;
    if (result.cut_short()) {
      result.scores.clear();
      break;
    }
    const std::span<const double> w = solved.w.scores();
    const std::vector<std::size_t> whole{0};
    // Scores are means over the examples of a fold, and are weighted by their number.
    const StructuredScores scores =
        by_rows
            ? rows_outside->score(whole, predict_structures(rows_outside->oracle(), w, threads), w)
            : data.score(outside, predict_structures(rest, w, threads), w);
    if (result.scores.empty())
      for (const auto& [name, value] : scores) result.scores.emplace_back(name, 0);
    for (std::size_t k = 0; k < scores.size(); ++k)
      result.scores[k].second +=
          scores[k].second * static_cast<double>(outside.size()) / static_cast<double>(n);
  }
  result.seconds = watch.seconds();
  return result;
}

}  // namespace maxmargin
