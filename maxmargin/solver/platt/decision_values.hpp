#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/matrix/cache/value_cache.hpp"

namespace maxmargin {

/// f = K beta at the points, while beta changes two at a time (10.26), by one of the cache
/// policies: at all points (`function`), or at those of Platt's error cache, and at others when
/// asked.
class DecisionValues {
 public:
  struct Cache {
    std::size_t bytes;
    CachePolicy policy;
  };
  /// `f` is K beta where it is known, and empty otherwise.
  DecisionValues(std::shared_ptr<const Quadratic> K, Cache cache, std::vector<double> beta,
                 std::vector<double> f, Precision precision, const Threads& threads);

  double at(Index point);
  double kernel(Index i, Index j) { return cache_.value(i, j); }
  /// beta_i += t, beta_j -= t.
  void move(Index i, Index j, double t);
  /// From now on f is carried along at this point, or no longer.
  void keep(Index point, bool wanted);
  /// Computes f anew: from now on it has no rounding of steps.
  void refresh();
  bool is_fresh() const { return moved_.empty(); }
  /// f at all points; only when fresh.
  const std::vector<double>& all() const { return base_; }
  const std::vector<double>& beta() const { return beta_; }
  const CacheUse& use() const { return cache_.use(); }

 private:
  void change(Index point, double t);

  std::shared_ptr<const Quadratic> K_;
  ValueCache cache_;
  CachePolicy policy_;
  Precision precision_;
  const Threads& threads_;
  std::vector<double> beta_;
  std::vector<double> base_;   // f when it was last fresh
  std::vector<double> f_;      // now: at all points, or at those of the error cache
  std::vector<double> delta_;  // what beta has gained since f was fresh
  std::vector<Index> moved_;   // points with a delta
  std::vector<bool> has_moved_;
  std::vector<Index> cached_points_;
  std::vector<std::uint32_t> position_;  // of a point in cached_points_
  std::vector<int> users_;               // sites that keep a point
  std::vector<float> one_, other_;
};

}  // namespace maxmargin
