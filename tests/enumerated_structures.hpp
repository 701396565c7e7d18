#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/structured/structured.hpp"
#include "tests/dense_optimum.hpp"
#include "tests/dense_quadratic.hpp"

// Structural machines on problems so small that every structure can be written down.
namespace maxmargin::enumerated {

/// Examples whose structures, features and losses are written down in a table; structure 0 is the
/// truth of each.
class TableOracle : public Oracle {
 public:
  TableOracle(std::size_t examples, std::size_t structures, std::size_t dimensions, double apart,
              std::uint64_t seed)
      : dimensions_(dimensions) {
    Rng rng(seed);
    for (std::size_t i = 0; i < examples; ++i) {
      features_.emplace_back();
      losses_.emplace_back();
      for (std::size_t y = 0; y < structures; ++y) {
        std::vector<double> f(dimensions);
        for (double& each : f) each = rng.normal();
        if (y == 0) f[0] += apart;
        features_[i].push_back(std::move(f));
        losses_[i].push_back(y == 0 ? 0 : 0.5 + rng.uniform());
      }
    }
  }
  std::size_t examples() const override { return features_.size(); }
  std::size_t dimensions() const override { return dimensions_; }
  Structure truth(std::size_t) const override { return {0}; }
  double loss(std::size_t i, StructureView y) const override {
    return losses_[i][static_cast<std::size_t>(y[0])];
  }
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override {
    const auto& f = features_[i][static_cast<std::size_t>(y[0])];
    for (std::size_t j = 0; j < f.size(); ++j) out.add(j, scale * f[j]);
  }
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  bool answers(Ask) const override { return true; }

  std::vector<std::vector<std::vector<double>>> features_;
  std::vector<std::vector<double>> losses_;

 private:
  std::size_t dimensions_;
};

/// What an oracle is asked to maximise, at one structure.
inline double asked(const Oracle& oracle, std::size_t i, StructureView y, std::span<const double> w,
                    Ask ask) {
  JointFeatures psi;
  oracle.features(i, oracle.truth(i), 1, psi);
  oracle.features(i, y, -1, psi);
  const double margin = psi.dot(w), loss = oracle.loss(i, y);
  if (ask == Ask::best) return -margin;
  return ask == Ask::margin ? loss - margin : loss * (1 - margin);
}

/// The best of some structures; the first of equal ones.
inline Structure best_of(const Oracle& oracle, std::size_t i,
                         const std::vector<Structure>& structures, std::span<const double> w,
                         Ask ask) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < structures.size(); ++k)
    if (asked(oracle, i, structures[k], w, ask) > asked(oracle, i, structures[best], w, ask))
      best = k;
  return structures[best];
}

inline Structure TableOracle::most_violated(std::size_t i, std::span<const double> w,
                                            Ask ask) const {
  std::vector<Structure> all;
  for (std::size_t y = 0; y < losses_[i].size(); ++y) all.push_back({static_cast<std::int32_t>(y)});
  return best_of(*this, i, all, w, ask);
}

/// All strings of `length` labels below `labels`.
inline std::vector<Structure> all_strings(std::size_t length, std::int32_t labels) {
  std::vector<Structure> all{{}};
  for (std::size_t t = 0; t < length; ++t) {
    std::vector<Structure> longer;
    for (const Structure& prefix : all)
      for (std::int32_t label = 0; label < labels; ++label) {
        longer.push_back(prefix);
        longer.back().push_back(label);
      }
    all = std::move(longer);
  }
  return all;
}

struct Optimum {
  double objective;
  std::vector<double> w;
};

/// The optimum over all structures by a dense interior point method.
inline Optimum optimum(const Structured& problem,
                       const std::vector<std::vector<Structure>>& structures) {
  const std::size_t n = problem.oracle.examples(), d = problem.oracle.dimensions();
  std::vector<std::vector<double>> psi;
  std::vector<std::size_t> example;
  DualQp qp;
  const double U = problem.capacity();
  const auto add = [&](std::size_t i, std::vector<double> features, double loss) {
    qp.row.push_back(static_cast<Index>(psi.size()));
    qp.block.push_back({1, -loss, 0, infinity, 0});
    psi.push_back(std::move(features));
    example.push_back(i);
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (const Structure& y : structures[i]) {
      if (y == problem.oracle.truth(i)) continue;
      JointFeatures features;
      const double loss = problem.oracle.loss(i, y), scale = problem.plane_scale(loss);
      problem.oracle.features(i, problem.oracle.truth(i), scale, features);
      problem.oracle.features(i, y, -scale, features);
      // One more coordinate for each example: what squared slacks add to psi.
      std::vector<double> dense(d + n, 0.0);
      for (std::size_t k = 0; k < features.size(); ++k)
        dense[features.index[k]] += features.value[k];
      dense[d + i] = std::sqrt(problem.curvature());
      add(i, std::move(dense), loss);
    }
    if (U < infinity) add(i, std::vector<double>(d + n, 0.0), 0);  // the truth's plane
  }
  std::vector<double> K;
  for (const auto& a : psi)
    for (const auto& b : psi) {
      double sum = 0;
      for (std::size_t j = 0; j < d + n; ++j) sum += a[j] * b[j];
      K.push_back(sum);
    }
  qp.K = std::make_shared<DenseQuadratic>(psi.size(), std::move(K));
  if (U < infinity)
    for (std::size_t i = 0; i < n; ++i) {
      qp.A.emplace_back();
      for (const std::size_t of : example) qp.A.back().push_back(of == i ? 1 : 0);
      qp.d.push_back(U);
    }
  // In long double: |w - w*|^2 is at most twice the gap that it leaves.
  const auto solution = reference::dense_optimum<long double>(qp, 1e-18L);
  Optimum result{static_cast<double>(solution.dual), std::vector<double>(d, 0.0)};
  for (std::size_t v = 0; v < psi.size(); ++v)
    for (std::size_t j = 0; j < d; ++j)
      result.w[j] += static_cast<double>(solution.a[v]) * psi[v][j];
  return result;
}

}  // namespace maxmargin::enumerated
