#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/base/threads.hpp"
#include "maxmargin/loss/block.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// The machine of a few different rows of two classes, hinge loss and bias,
///   min 1/2 a'Qa - sum a,   sum s_v a_v = 0,   0 <= a <= C_v,
/// by SMO with pairs of second order (Fan, Chen, Lin 2005, WSS 2) over all variables; an iteration
/// costs the rows of the machine. It allocates nothing: tens of thousands of machines take their
/// turn in the same one.
class FewRows {
 public:
  /// There is room for; who asks for fewer by a run's costs has fewer.
  static constexpr std::size_t most = CostModel{}.small_machines.most_rows;
  /// Where the rounding of the gradient hides a violation, so often so much less is tried for.
  static constexpr int rounds = 4;
  static constexpr double tighter = 0.1;

  /// No rows; their kernel values will be K, row by row without gaps. These have to stay.
  void begin(const double* K);
  /// One more, with the sign of its class; a_v = 0.
  void add(double sign, double cost);

  /// Until no pair violates more than this. Whether it came so far.
  bool improve(double violation);

  /// What the machine has by its own kernel values, all but their rounding: the bias that makes the
  /// primal smallest, the dual objective, and m(a) - M(a).
  struct Answer {
    double bias, dual, violation;
  };
  Answer answer() const;
  /// Until its answer violates no more than this; nothing where it does not come so far.
  std::optional<Answer> solve(double violation);

  std::size_t size() const { return size_; }
  std::span<const double> a() const { return std::span(a_).first(size_); }
  std::size_t iterations() const { return iterations_; }

 private:
  struct Pair;
  Pair worst_pair() const;
  void step(const Pair& pair);
  const double* row(std::size_t v) const { return K_ + v * size_; }
  double diagonal(std::size_t v) const { return K_[v * size_ + v]; }

  const double* K_ = nullptr;
  std::size_t size_ = 0, iterations_ = 0;
  std::array<double, most> sign_, upper_, a_, gradient_;
  std::array<Block, most> block_;
};

/// All values of a matrix in double, row by row.
std::vector<double> exact_values(const Quadratic& K, const Threads& threads);

}  // namespace maxmargin
