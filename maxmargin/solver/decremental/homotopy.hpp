#pragma once

#include <map>
#include <mutex>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/solver/decremental/tableau.hpp"

namespace maxmargin {

/// A variable is free, between its bounds, where g = 0; at the lower one, where g >= 0; at the
/// upper one, where g <= 0; or fixed at a value, whatever g is.
enum class BoundState : unsigned char { free, lower, upper, fixed };

/// Columns of a tableau that several threads ask for, each computed once. Those of neighbouring
/// positions are computed together where a product of matrices is what they cost.
class ColumnStore {
 public:
  ColumnStore(const Tableau& tableau, SignedRows& rows) : tableau_(tableau), rows_(rows) {}

  /// Those of some variables, at once.
  void prepare(std::span<const Index> variables, const Threads& threads);
  const double* of(Index v);

 private:
  void compute(std::span<const Index> variables, const Threads& threads);

  const Tableau& tableau_;
  SignedRows& rows_;
  std::mutex busy_;
  std::vector<std::vector<double>> computed_;
  std::map<Index, const double*> columns_;
};

/// A solution, and the tableau of its free variables. All by positions.
struct PivotedSolution {
  PivotedSolution(Tableau made, SignedRows& rows, const UnlearnChoice& choice)
      : tableau(std::move(made)), columns(tableau, rows), most_exchanged(choice.most_exchanged) {}

  Tableau tableau;
  mutable ColumnStore columns;
  std::size_t most_exchanged;  ///< from here on a tableau of its own is worth it
  std::vector<double> a, g, lower, upper;
  std::vector<BoundState> standing;
  double lambda = 0;
};

/// Follows the solution of a problem whose data change along a line: a, g and lambda move along
/// lines too until a free variable meets a bound or the g of another one becomes 0; then the two
/// change sides and it goes on. Each turn costs O(positions) for each variable that stands on
/// another side than in the tableau.
class Homotopy {
 public:
  explicit Homotopy(const PivotedSolution& from);

  /// `done`, or why it went no further: `crowded`: too many variables have changed sides, which a
  /// tableau of its own could go on from; `stuck`: what moves is not determined.
  enum class Outcome { done, crowded, stuck };

  /// Holds a variable where it is.
  void fix(Index v);
  /// Takes a variable that is fixed from where it is to `target`.
  Outcome move(Index v, double before, double target);
  /// Takes away what g misses: `violation` by positions, which is 0 afterwards.
  Outcome mend(std::span<const double> violation);

  double lambda() const { return lambda_; }
  double a(std::size_t position) const { return a_[position]; }
  BoundState standing(std::size_t position) const { return standing_[position]; }
  /// Places that stand on another side than in the tableau.
  std::span<const std::size_t> exchanged() const { return exchanged_; }
  std::size_t turns() const { return turns_; }

 private:
  /// What changes per unit of the way: inputs of the tableau summed up in a column, and what the
  /// one free variable that is moved has to do.
  struct Along {
    std::vector<double> column;
    std::size_t moved;
    double rate;
  };
  struct Event {
    double length;
    std::size_t position;
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  Outcome follow(const Along& along, double length);
  bool find_rates(const Along& along);
  Event next_event(double length) const;
  void exchange(std::size_t position);

  const PivotedSolution& from_;
  std::vector<double> a_, g_;
  std::vector<BoundState> standing_;
  double lambda_;
  std::vector<std::size_t> exchanged_;
  std::vector<const double*> columns_;  ///< of those exchanged
  std::vector<double> rate_;
  std::size_t turns_ = 0;
};

}  // namespace maxmargin
