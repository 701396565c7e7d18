#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/oracle.hpp"

namespace maxmargin {

enum class Rescaling { margin, slack };
/// The cost of a violated margin: linear, squared, or infinite (no slack).
enum class Slack { linear, squared, none };

inline constexpr std::array all_rescalings{Rescaling::margin, Rescaling::slack};
inline constexpr std::array all_slacks{Slack::linear, Slack::squared, Slack::none};
std::string_view to_string(Rescaling rescaling);
std::string_view to_string(Slack slack);

/// The structural SVM (Taskar, Guestrin and Koller 2004; Tsochantaridis, Joachims, Hofmann and
/// Altun 2005), with m_i = max over y of s_i(y):
///
///   linear    min 1/2 |w|^2 + (C/n) sum_i m_i
///   squared   min 1/2 |w|^2 + (C/n) sum_i m_i^2
///   none      min 1/2 |w|^2   subject to   m_i <= 0
///
/// s_i(y) = Delta_i(y) - w.psi_i(y), psi_i(y) = Psi(x_i,y_i) - Psi(x_i,y); slack rescaling has
/// Delta psi in place of psi. The truth gives s = 0, so m_i >= 0. Its dual, over a_iy >= 0 with
/// w = sum a psi and A_i = sum_y a_iy:
///
///   max sum a Delta - 1/2 |w|^2 - c/2 sum_i A_i^2,    A_i <= U
///
/// with U = C/n, c = 0 (linear), or U = infinity and c = n/2C (squared) or 0 (none).
struct Structured {
  const Oracle& oracle;
  double C = 1;
  Rescaling rescaling = Rescaling::margin;
  Slack slack = Slack::linear;

  double share() const { return C / static_cast<double>(oracle.examples()); }
  double capacity() const { return slack == Slack::linear ? share() : infinity; }
  double curvature() const { return slack == Slack::squared ? 1 / (2 * share()) : 0; }
  Ask ask() const { return rescaling == Rescaling::slack ? Ask::slack : Ask::margin; }
  /// The factor of psi in the plane of a structure with this loss: 1, or Delta.
  double plane_scale(double loss) const { return rescaling == Rescaling::slack ? loss : 1; }
  /// An example's term of P - D; over its planes A = sum alpha and sum_as = sum alpha s.
  double gap_term(double most_violated, double A, double sum_as) const {
    switch (slack) {
      case Slack::linear:
        return share() * most_violated - sum_as;
      case Slack::squared:
        return share() * most_violated * most_violated + curvature() / 2 * A * A - sum_as;
      case Slack::none:
        return A * most_violated - sum_as;
    }
    return 0;
  }
  /// An example's term of the primal.
  double cost(double most_violated) const {
    switch (slack) {
      case Slack::linear:
        return share() * most_violated;
      case Slack::squared:
        return share() * most_violated * most_violated;
      case Slack::none:
        return 0;
    }
    return 0;
  }
};

/// Throws Error unless C > 0, there are examples, and the oracle solves the inference problem.
void check(const Structured& problem);

/// A cutting plane of one example, stored as its structure.
struct Plane {
  Structure y;
  double loss = 0;
  double alpha = 0;
  std::uint32_t idle = 0;  ///< the last so many calls of the oracle left alpha at 0
};
/// The planes of each example, without that of the truth.
using Planes = std::vector<std::vector<Plane>>;

/// sum a psi, in the order of examples and planes: w, or with a metric its coefficients.
std::vector<double> plane_coefficients(const Structured& problem, const Planes& planes);

/// w, or with a metric its coefficients c and the scores M c that oracles are asked with.
class StructuredWeights {
 public:
  explicit StructuredWeights(const Oracle& oracle, Precision precision = Precision::exact)
      : StructuredWeights(oracle, std::vector<double>(oracle.dimensions(), 0.0), precision) {}
  StructuredWeights(const Oracle& oracle, std::vector<double> coefficients,
                    Precision precision = Precision::exact);
  /// w = sum a psi
  StructuredWeights(const Structured& problem, const Planes& planes)
      : StructuredWeights(problem.oracle, plane_coefficients(problem, planes)) {}

  std::span<const double> scores() const { return metric_ == nullptr ? coefficients_ : scores_; }
  const std::vector<double>& coefficients() const { return coefficients_; }
  void add(const JointFeatures& delta, double scale) {
    for (std::size_t k = 0; k < delta.size(); ++k)
      coefficients_[delta.index[k]] += scale * delta.value[k];
    if (stepping_)
      surrogate_->add(delta, scale, scores_);
    else if (metric_ != nullptr)
      metric_->add_product(delta, scale, precision_, scores_);
  }
  double squared_norm() const;
  /// w <- t w
  void scale(double t);

  /// With a metric, the surrogate replaces it until end_steps(), and the scores of an example are
  /// valid after update(). Without a metric this does nothing.
  void begin_steps(const Oracle& oracle);
  void update(std::size_t example) {
    if (stepping_) surrogate_->update(example, scores_);
  }
  /// The sum d of all steps since begin_steps(): <d, w before> and |d|^2, by the metric.
  struct Step {
    double at_w = 0, square = 0;
  };
  Step sum_of_steps();
  /// Makes the step t d in their place.
  void end_steps(double t);
  /// Of two planes of one example, with a metric.
  double inner(const JointFeatures& a, const JointFeatures& b) const {
    return surrogate_ != nullptr ? surrogate_->inner(a, b) : metric_->inner(a, b);
  }
  /// Computes the scores again with exact values, and uses these from now on.
  void use_exact_values();

 private:
  void compute_scores();

  const Metric* metric_;
  Precision precision_;
  std::vector<double> coefficients_, scores_;
  std::unique_ptr<Metric::Surrogate> surrogate_;
  bool stepping_ = false;
  std::vector<double> coefficients_before_, scores_before_, product_;
};

}  // namespace maxmargin
