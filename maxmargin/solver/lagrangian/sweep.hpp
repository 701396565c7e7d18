#pragma once

#include <memory>
#include <span>
#include <vector>

#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"
#include "maxmargin/solver/equations/reduced_kkt.hpp"

namespace maxmargin {

/// One iteration: given r = Q a of the next a, that a, and from it the r after it.
class Sweep {
 public:
  virtual ~Sweep() = default;

  /// On return `a` solves Q a = r for the r that was given, and r = ((Qa + p) - gamma c a)_+ - p.
  virtual void run(std::vector<double>& r, std::vector<double>& a, double gamma) = 0;

  /// The factors of the equations have been used for something else.
  virtual void refresh() {}

  /// Whether the plus in the last run() kept variable v: then it belongs to the bound.
  bool at_bound(std::size_t v) const { return kept_[v] != 0; }

 protected:
  std::vector<unsigned char> kept_;
};

/// By the factors of the whole matrix.
std::unique_ptr<Sweep> make_dense_sweep(const DualQp& qp, ReducedKkt& kkt);

/// K = Z Z': one pass over Z.
std::unique_ptr<Sweep> make_low_rank_sweep(const DualQp& qp, std::shared_ptr<const LowRank> Z,
                                           const Threads& threads);

}  // namespace maxmargin
