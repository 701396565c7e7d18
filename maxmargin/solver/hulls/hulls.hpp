#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "maxmargin/problem/matrix/cache/value_cache.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// Why a problem does not ask for the widest margin of separated classes, or nothing.
std::optional<std::string> refuses_separation(const DualQp& qp);

/// One point in each convex hull of a separation problem: that of the points s_v x_v of one class,
/// of the other, or of all where there is no equality row. `alpha` are the weights of the vertices,
/// which sum to 1 in each hull; w = sum over v of alpha_v s_v x_v, and x_v has a coordinate of its
/// own, of length sqrt(c_v).
class Hulls {
 public:
  /// At the variables `start`, or at the first vertices where it is empty.
  Hulls(const DualQp& qp, std::span<const double> start, CachePolicy cache, std::size_t cache_bytes,
        Precision precision, const Threads& threads);

  std::size_t count() const { return part_.size(); }
  const std::vector<double>& alpha() const { return alpha_; }
  /// K s alpha at the points.
  const std::vector<double>& f() const { return f_; }

  /// What a hull looks like from w: of its vertices, w's_v x_v is `least` at `near`, and `most` at
  /// `far` of those that have weight.
  struct View {
    std::size_t near = 0, far = 0;
    double least = 0, mean = 0, most = 0;
  };
  /// Of each hull.
  std::vector<View> views() const;

  /// The best step that moves weight from one vertex of a hull to another of it.
  void exchange(std::size_t from, std::size_t to);
  /// The best step of a hull's point towards a vertex, or away from it.
  void go_toward(std::size_t vertex);
  void go_away(std::size_t vertex);

  /// The variables that are best along alpha, and how many times alpha they are.
  double scale() const;
  std::vector<double> variables() const;

  /// Computes f anew, against drift.
  void refresh();
  const CacheUse& use() const { return cache_.use(); }

 private:
  double along(std::size_t v, std::span<const double> f) const;  ///< s_v x_v times what f is of
  void move(std::size_t hull, double keep, std::size_t vertex, double weight);
  void toward(std::size_t vertex, double sign, double most);

  const DualQp& qp_;
  Precision precision_;
  const Threads& threads_;
  ValueCache cache_;
  std::vector<std::size_t> hull_;  // of each variable
  std::vector<double> alpha_;
  std::vector<std::vector<double>> part_;  // of f, by the hull
  std::vector<double> f_;
};

}  // namespace maxmargin
