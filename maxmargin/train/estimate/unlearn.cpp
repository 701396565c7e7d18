#include "maxmargin/train/estimate/unlearn.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/solver/decremental/decremental.hpp"
#include "maxmargin/solver/patience.hpp"
#include "maxmargin/train/memory_plan.hpp"

namespace maxmargin {
namespace {

/// The bounds that are left without an example; none where a curvature would change.
std::vector<Decremental::Bounds> bounds_without(const Formulated& formulated, std::size_t blocks,
                                                std::size_t example) {
  std::vector<Decremental::Bounds> bounds;
  for (std::size_t b = 0; b < blocks; ++b) {
    const Formulated::Share& share = formulated.shares[example * blocks + b];
    const Block& block = formulated.qp.block[share.variable];
    const double rest = 1 - share.part;
    if (rest > 0 && block.curvature != 0) return {};
    bounds.push_back(
        {share.variable, rest > 0 ? rest * block.lower : 0.0, rest > 0 ? rest * block.upper : 0.0});
  }
  return bounds;
}

}  // namespace

bool has_nu(const Task& task) {
  return visit_list(
      [](const auto& chosen) {
        return requires { chosen.nu; };
      },
      task);
}

namespace {

/// Nothing also where all has to end before it is made.
auto made_in_time(const DualQp& qp, const Certified& certified, const TrainOptions& options,
                  const Context& context) {
  Patience patience(context.observer, std::min(options.stop.seconds, context.seconds));
  const Threads hurried =
      context.threads.interrupted_by([&patience] { return patience.is_over(); });
  try {
    return Decremental::make(qp, certified, options.stop,
                             memory_for(options, context).leave_one_out().bytes,
                             context.on(hurried));
  } catch (const Threads::Interrupted&) {
    return decltype(Decremental::make(qp, certified, options.stop, 0, context)){};
  }
}

}  // namespace

std::vector<double> values_without(const WholeMachine& whole, std::span<const std::size_t> examples,
                                   const TrainOptions& options, const Context& context) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const Formulated& formulated = whole.formulated;
  const Subproblem& problem = whole.problem;  // clang 14 lets no lambda see a structured binding
  const Certified& certified = whole.certified;
  std::vector<double> result(examples.size(), unknown);
  if (has_nu(options.task) || formulated.basis || certified.solution.ended != Ended::converged)
    return result;
  const Stopwatch clock;
  const auto unlearning = made_in_time(formulated.qp, certified, options, context);
  if (!unlearning) return result;
  const std::size_t blocks = formulated.shares.size() / problem.examples.size();
  const auto others = [&](double target) {
    return std::ranges::count_if(problem.examples,
                                 [&](const Example& each) { return each.target == target; }) > 1;
  };
  const bool is_class = problem.positive != problem.negative;
  const bool may_lose_positive = !is_class || others(1),
             may_lose_negative = !is_class || others(-1);
  std::vector<std::size_t> asked;
  std::vector<std::vector<Decremental::Bounds>> changes;
  for (std::size_t k = 0; k < examples.size(); ++k) {
    if (!(problem.examples[examples[k]].target > 0 ? may_lose_positive : may_lose_negative))
      continue;
    auto bounds = bounds_without(formulated, blocks, examples[k]);
    if (bounds.empty()) continue;
    asked.push_back(k);
    changes.push_back(std::move(bounds));
  }
  std::mutex telling;
  std::size_t told = 0;
  const GoOn go_on = [&] {
    const std::lock_guard lock(telling);
    if (clock.seconds() > std::min(options.stop.seconds, context.seconds)) return false;
    if (!context.observer) return true;
    Progress progress;
    progress.phase = "train";
    progress.seconds = clock.seconds();
    progress.done = std::min(1.0, 32.0 * static_cast<double>(told++) /
                                      static_cast<double>(std::max<std::size_t>(1, asked.size())));
    return context.observer(progress) == Control::proceed;
  };
  const std::vector<double> values = unlearning->values(changes, context.threads, go_on);
  for (std::size_t k = 0; k < asked.size(); ++k) result[asked[k]] = values[k];
  return result;
}

}  // namespace maxmargin
