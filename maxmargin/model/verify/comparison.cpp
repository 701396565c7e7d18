#include "maxmargin/model/verify/comparison.hpp"

#include <cfloat>
#include <cmath>

namespace maxmargin {
namespace {

// The primal of an approximated kernel is computed with ill-conditioned factors.
constexpr Extended approximate_tolerance = 1e-6L;
constexpr Extended streamed_tolerance = 1e-11L;
// An objective below this counts as 0 for relative gaps.
constexpr Extended smallest_objective = 1e-30L;
// gap = primal - dual and 2 gap / (|primal| + |dual|), computed in double.
constexpr Extended identity_tolerance = 1e-12L;

class Comparison {
 public:
  /// `whole`: of all machines that are one problem, the sums of their certificates.
  Comparison(const Formulation& stated, const Machine& machine, const Examined& found,
             const Certificate& whole)
      : stated_(stated),
        machine_(machine),
        stored_(machine.certificate),
        whole_(whole),
        found_(found) {}

  std::optional<Objection> run() {
    if (found_.foreign)
      return Objection{"machine support",
                       "a coefficient stands on a row that was not there in training"};
    numbers();
    primal();
    if (!stated_.primal_only()) {
      constraints();
      dual();
      kkt();
    }
    gaps();
    best();
    ended();
    return wrong_;
  }

 private:
  void refuse(const std::string& field, const std::string& reason) {
    if (!wrong_) wrong_ = Objection{field, reason};
  }
  static std::string told(const std::string& name, Extended found, double claimed) {
    return "the " + name + " is " + shortest(static_cast<double>(found)) + ", not " +
           shortest(claimed);
  }

  void numbers() {
    const auto check = [&](const char* name, double value, bool signless) {
      if (std::isnan(value)) refuse(name, "it is not a number");
      if (signless && value < 0) refuse(name, "it is negative");
    };
    check("primal", stored_.primal, false);
    check("dual", stored_.dual, false);
    check("gap", stored_.gap, true);
    check("relative_gap", stored_.relative_gap, true);
    check("kkt", stored_.kkt, true);
    check("equality_residual", stored_.equality_residual, true);
    check("bound_residual", stored_.bound_residual, true);
    check("rounding", stored_.rounding, true);
    check("best_primal", stored_.best_primal, false);
    check("best_dual", stored_.best_dual, false);
  }
  void constraints() {
    if (!(found_.bound <= stored_.bound_residual + found_.constraint_slack))
      refuse("bound_residual", "a dual variable is outside its bounds by " +
                                   shortest(static_cast<double>(found_.bound)));
    if (!(found_.equality <= stored_.equality_residual + found_.constraint_slack))
      refuse("equality_residual", "the equality constraint is missed by " +
                                      shortest(static_cast<double>(found_.equality)));
  }
  void primal() {
    Extended slack = found_.primal_slack;
    if (stated_.approximated) slack += approximate_tolerance * found_.primal.size();
    if (!stored_.mercer) slack += found_.primal_float;
    if (stored_.primal != infinity && !(found_.primal.low() - slack <= stored_.primal + DBL_MIN))
      refuse("primal", told("primal", found_.primal.middle, stored_.primal));
  }
  void dual() {
    const Extended slack = found_.dual_slack + (stored_.mercer ? 0 : found_.dual_float);
    if (stored_.dual != -infinity && !(stored_.dual <= found_.dual.high() + slack + DBL_MIN))
      refuse("dual", told("dual", found_.dual.middle, stored_.dual));
  }
  void kkt() {
    if (!(found_.kkt_low <= stored_.kkt + found_.kkt_slack))
      refuse("kkt", told("KKT violation", found_.kkt_low, stored_.kkt));
  }
  void gaps() {
    const Extended difference = static_cast<Extended>(stored_.primal) - stored_.dual;
    const Extended sizes = std::abs(stored_.primal) + static_cast<Extended>(std::abs(stored_.dual));
    const Extended rounding = gap_rounding(sizes);
    const bool is_endless = !std::isfinite(static_cast<double>(sizes));
    if (is_endless
            ? stored_.gap != infinity
            : !(std::abs(stored_.gap - difference) <= identity_tolerance * stored_.gap + rounding))
      refuse("gap", told("gap", difference, stored_.gap));
    relative_gap();
    if (stated_.primal_only() || !stored_.mercer) return;
    const Extended least =
        found_.primal.low() - found_.dual.high() - found_.primal_slack - found_.dual_slack;
    if (stored_.gap != infinity && !(least <= stored_.gap + rounding))
      refuse("gap", told("gap", least, stored_.gap));
  }
  void relative_gap() {
    const Extended sizes = std::abs(whole_.primal) + static_cast<Extended>(std::abs(whole_.dual));
    const bool is_endless = !std::isfinite(static_cast<double>(sizes));
    const Extended relative = whole_.gap == 0 ? 0 : is_endless ? infinity : 2 * whole_.gap / sizes;
    const Extended rounding = sizes > 0 ? 2 * gap_rounding(sizes) / sizes : 0;
    if (is_endless ? stored_.relative_gap != infinity && whole_.gap != 0
                   : !(std::abs(stored_.relative_gap - relative) <=
                       identity_tolerance * relative + rounding))
      refuse("relative_gap", told("relative gap", relative, stored_.relative_gap));
  }
  /// By how much a stored gap may differ from that of objectives of these sizes. The gap of
  /// streamed rows is a sum of its own; sums over a thousand classes are rounded a thousand times.
  /// Below the normal numbers a rounding is a step of 5e-324, whatever the size.
  Extended gap_rounding(Extended sizes) const {
    constexpr Extended smallest_steps = 4 * static_cast<Extended>(DBL_TRUE_MIN);
    const Extended share =
        stated_.approximated ? streamed_tolerance : (stated_.together ? 4096 : 4) * double_rounding;
    return share * sizes + smallest_steps;
  }
  /// Nothing in the file could prove better bounds than those of its coefficients.
  void best() {
    if (stored_.best_primal != stored_.primal)
      refuse("best_primal",
             told("best primal that the model can prove", stored_.primal, stored_.best_primal));
    if (stored_.best_dual != stored_.dual)
      refuse("best_dual",
             told("best dual that the model can prove", stored_.dual, stored_.best_dual));
  }
  void ended() {
    if (machine_.ended != Ended::converged) return;
    const auto early = [&](const std::string& name, double is, double asked) {
      refuse("ended", "it says converged, with a " + name + " of " + shortest(is) + " where " +
                          shortest(asked) + " was asked for");
    };
    if (!(stored_.kkt <= stated_.tolerance)) early("KKT violation", stored_.kkt, stated_.tolerance);
    if (stored_.mercer && !(stored_.relative_gap <= stated_.gap))
      early("relative gap", stored_.relative_gap, stated_.gap);
  }

  const Formulation& stated_;
  const Machine& machine_;
  const Certificate& stored_;
  const Certificate& whole_;
  const Examined& found_;
  std::optional<Objection> wrong_;
};

}  // namespace

std::optional<Objection> refutation(const Formulation& stated, const Machine& machine,
                                    const Examined& found, const Certificate& whole) {
  return Comparison(stated, machine, found, whole).run();
}

std::optional<Objection> vagueness(const Formulation& stated, const Certificate& stored,
                                   const Examined& found, Extended share) {
  if (found.foreign) return {};
  const Extended vague = 2 * (found.primal.radius + (stated.primal_only() ? 0 : found.dual.radius));
  const Extended size = std::abs(found.primal.middle) + std::abs(found.dual.middle);
  const Extended asked = std::isfinite(stated.gap) ? stated.gap * size / 2 : 1e-3L * size / 2;
  const Extended claimed = std::max<Extended>(stored.gap, asked);
  if (stored.gap == infinity) return {};  // nothing is claimed
  // Where the optimum is 0, the rounding of its terms is infinitely large relative to it.
  const Extended terms = found.primal_slack + found.dual_slack;
  if (vague <= std::max(share * claimed, terms) + smallest_objective) return {};
  return Objection{"primal",
                   "rounding leaves " + shortest(static_cast<double>(vague)) +
                       " between the bounds that can be proved, more than the gap that is claimed"};
}

}  // namespace maxmargin
