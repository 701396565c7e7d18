#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "maxmargin/solver/smo/set/set_values.hpp"
#include "maxmargin/solver/smo/state.hpp"

namespace maxmargin {

/// A way to decrease the objective: which states it takes, and one step from there.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual bool takes(const SmoState& state) = 0;
  /// Moves variables, carries f along; returns the decrease of the objective.
  virtual double improve(SmoState& state, const Active::Gradient& gradient) = 0;
  /// Variables were moved otherwise; the active problem was shrunk or restored.
  virtual void moved() {}
  virtual void resized() {}
};

/// Working sets of the most violating variables, solved by pairs in cache memory; then f is updated
/// by the kernel rows of the points that changed. Takes every problem.
class WorkingSets final : public Strategy {
 public:
  bool takes(const SmoState&) override { return true; }
  double improve(SmoState& state, const Active::Gradient& gradient) override;
  void moved() override { chooser_.forget(); }
  void resized() override { chooser_.forget(); }

  /// Kernel rows that sets took so far.
  std::size_t rows_taken() const { return rows_taken_; }

 private:
  std::vector<Index> choose(SmoState& state, const Active::Gradient& gradient);

  SetChooser chooser_;
  SetSolver solver_;
  SetValues values_;
  std::vector<double> change_;  ///< of each point's coefficient, zero between calls
  std::size_t rows_taken_ = 0;
};

/// The strategies in the order of preference; the last one takes everything.
std::vector<std::unique_ptr<Strategy>> smo_strategies();

}  // namespace maxmargin
