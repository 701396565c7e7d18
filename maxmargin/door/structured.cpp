#include "maxmargin/structured.h"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/door/guarded.hpp"
#include "maxmargin/structured/doctor.hpp"
#include "maxmargin/structured/solvers/solve.hpp"

namespace maxmargin {
namespace {

/// An oracle written in C.
class ForeignOracle : public Oracle {
 public:
  explicit ForeignOracle(const maxmargin_oracle& table) : table_(table) {}

  std::size_t examples() const override { return table_.examples; }
  std::size_t dimensions() const override { return table_.dimensions; }
  Exactness exactness() const override { return static_cast<Exactness>(table_.exactness); }
  bool answers(Ask ask) const override { return ask != Ask::slack || table_.answers_slack != 0; }
  Structure truth(std::size_t i) const override {
    return filled(
        [&](std::int32_t* y, std::size_t room) { return table_.truth(table_.self, i, y, room); });
  }
  double loss(std::size_t i, StructureView y) const override {
    return table_.loss(table_.self, i, y.data(), y.size());
  }
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override {
    std::vector<std::uint32_t> index(usual_room);
    std::vector<double> value(usual_room);
    const auto ask = [&] {
      return table_.features(table_.self, i, y.data(), y.size(), index.data(), value.data(),
                             index.size());
    };
    std::size_t count = ask();
    if (count > index.size()) {
      index.resize(count);
      value.resize(count);
      count = std::min(ask(), index.size());
    }
    for (std::size_t k = 0; k < count; ++k) {
      // Before anything reads a weight by it.
      if (index[k] >= table_.dimensions)
        throw Error(Fault::data,
                    example_name(i) + ": the oracle names feature " + std::to_string(index[k]) +
                        ", beyond its dimensions",
                    "mend the oracle");
      if (!std::isfinite(value[k]))
        throw Error(Fault::data, example_name(i) + ": a feature is not finite", "mend the oracle");
      out.add(index[k], scale * value[k]);
    }
  }
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override {
    return filled([&](std::int32_t* y, std::size_t room) {
      return table_.most_violated(table_.self, i, w.data(), static_cast<int>(ask), y, room);
    });
  }
  using Oracle::most_violated;

 private:
  static constexpr std::size_t usual_room = 256;

  template <class Fill>
  static Structure filled(Fill&& fill) {
    Structure y(usual_room);
    std::size_t count = fill(y.data(), y.size());
    if (count > y.size()) {
      y.resize(count);
      count = std::min(fill(y.data(), y.size()), y.size());
    }
    y.resize(count);
    return y;
  }

  const maxmargin_oracle& table_;
};

static_assert(static_cast<int>(Ask::best) == maxmargin_best &&
              static_cast<int>(Ask::margin) == maxmargin_margin &&
              static_cast<int>(Ask::slack) == maxmargin_slack);
static_assert(static_cast<int>(Exactness::heuristic) == maxmargin_heuristic);

void demand(bool holds, const char* what) {
  if (!holds) throw Error(Fault::usage, what);
}

void train_foreign(const maxmargin_oracle* oracle, const maxmargin_structured_options* options,
                   double* w, maxmargin_structured_result* result) {
  demand(oracle != nullptr && options != nullptr && w != nullptr, "a pointer is null");
  demand(oracle->truth != nullptr && oracle->loss != nullptr && oracle->features != nullptr &&
             oracle->most_violated != nullptr,
         "a function of the oracle is null");
  demand(oracle->exactness >= 0 && oracle->exactness <= 2, "exactness is not known");
  demand(options->rescaling == 0 || options->rescaling == 1, "rescaling is 0 or 1");
  demand(options->slack >= 0 && options->slack <= 2, "slack is 0, 1 or 2");
  demand(options->relative_gap > 0, "relative_gap must be above 0");
  demand(oracle->dimensions <= UINT32_MAX, "there are more than 2^32 - 1 dimensions");
  const ForeignOracle foreign(*oracle);
  const Structured problem{foreign, options->cost,
                           options->rescaling == 1 ? Rescaling::slack : Rescaling::margin,
                           static_cast<Slack>(options->slack)};
  check(problem);
  examine(problem);
  Stop stop;
  stop.relative_gap = options->relative_gap;
  if (options->seconds > 0) stop.seconds = options->seconds;
  const Threads threads(options->threads);
  const SolvedStructured solved =
      solve(problem,
            options->solver == nullptr ? StructuredSolver{BlockPlanes{}}
                                       : structured_solver_named(options->solver),
            stop, {{threads}, options->seed});
  std::ranges::copy(solved.w.coefficients(), w);
  if (result == nullptr) return;
  const StructuredCertificate& c = solved.certificate;
  *result = {c.primal,
             c.dual,
             c.gap,
             c.relative_gap,
             static_cast<int>(c.exactness),
             solved.solution.ended == Ended::converged ? 1 : 0,
             solved.solution.oracle_calls,
             c.planes};
}

}  // namespace
}  // namespace maxmargin

maxmargin_structured_options maxmargin_structured_defaults(void) {
  return {1, 1e-3, 0, 0, 0, nullptr, 0, 0};
}

int maxmargin_structured_train(const maxmargin_oracle* oracle,
                               const maxmargin_structured_options* options, double* w,
                               maxmargin_structured_result* result, char* message,
                               size_t message_room) {
  return maxmargin::guarded(message, message_room,
                            [&] { maxmargin::train_foreign(oracle, options, w, result); });
}
