#include "maxmargin/certify/simplex.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/certify/extended.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"

namespace maxmargin {
namespace {

/// The error of f_k from rounding the coefficients of points that several examples share, in units
/// of sqrt(K_pp) at the point of f.
double shared_point_error(const SimplexQp& qp, std::span<const double> a, std::size_t k) {
  std::vector<double> examples(qp.K->size(), 0.0);
  for (const Index point : qp.row) ++examples[point];
  double sum = 0;
  for (std::size_t i = 0; i < qp.size(); ++i)
    if (examples[qp.row[i]] > 1)
      sum += examples[qp.row[i]] * std::abs(a[i * qp.classes + k]) * scale_of(*qp.K, qp.row[i]);
  return rounded_up(1.01 * unit_roundoff * sum);
}

/// What the examples of a class add up to.
struct ClassSums {
  EnclosedSum primal, minus_dual;
  double kkt = 0, equality = 0;
};

class Judge {
 public:
  Judge(const SimplexQp& qp, std::span<const double> a, const std::vector<std::vector<double>>& f,
        std::span<const double> error)
      : qp_(qp), a_(a), f_(f), error_(error), sums_(qp.classes), moved_(qp.classes, 0.0) {}

  std::vector<Certificate> run() {
    for (std::size_t i = 0; i < qp_.size(); ++i) add(i);
    std::vector<Certificate> result(qp_.classes);
    for (std::size_t k = 0; k < qp_.classes; ++k) {
      ClassSums& mine = sums_[k];
      // The quadratic term of the moves onto the equality constraints: (sum |t| s)^2 / 2.
      if (moved_[k] > 0) mine.minus_dual.add(rounded_up(rounded_up(moved_[k]) * moved_[k]));
      Certificate& found = result[k];
      found.primal = found.best_primal = mine.primal.upper();
      found.dual = found.best_dual = -mine.minus_dual.upper();
      found.gap = rounded_up(std::max(0.0, found.primal - found.dual));
      found.kkt = std::isnan(mine.kkt) ? infinity : mine.kkt;
      found.equality_residual = mine.equality;
    }
    return result;
  }

 private:
  double f(std::size_t i, std::size_t k) const { return f_[k][qp_.row[i]]; }
  double a(std::size_t i, std::size_t k) const { return a_[i * qp_.classes + k]; }

  void add(std::size_t i) {
    const std::size_t label = qp_.label[i];
    const double scale = scale_of(*qp_.K, qp_.row[i]), own = f(i, label);
    ClassSums& mine = sums_[label];
    double excess = 0;  // of the others' values over that of the label, at most
    double largest = -infinity, lowest = infinity;
    for (std::size_t k = 0; k < qp_.classes; ++k) {
      const double value = f(i, k), g = qp_.error(i, k) + value;
      const double half = a(i, k) * value / 2;
      const double error = std::abs(a(i, k)) / 2 * error_[k] * scale * (1 + 8 * unit_roundoff) +
                           2 * unit_roundoff * std::abs(half);
      mine.primal.add(half, error);
      mine.minus_dual.add(half, error);
      largest = std::max(largest, g);
      if (qp_.upper(i, k) > a(i, k)) lowest = std::min(lowest, g);
      if (k == label) continue;
      mine.minus_dual.add(a(i, k));
      excess =
          std::max(excess, rounded_up(1 + (value - own) + (error_[k] + error_[label]) * scale +
                                      4 * unit_roundoff * (1 + std::abs(value) + std::abs(own))));
    }
    mine.primal.add(rounded_up(qp_.cost[i] * excess));
    mine.kkt = std::max(mine.kkt, largest - lowest);
    add_price(i, scale, mine);
  }

  /// The dual is a bound only where sum_k a_ik = 0 exactly: the residual is moved onto the class
  /// with the most room, which makes the dual a little smaller.
  void add_price(std::size_t i, double scale, ClassSums& mine) {
    ExactSum exact;
    double room = -1;
    std::size_t roomiest = 0;
    for (std::size_t k = 0; k < qp_.classes; ++k) {
      exact.add(a(i, k));
      if (const double own = qp_.upper(i, k) - a(i, k); own > room) room = own, roomiest = k;
    }
    const double residual = exact.value(), size = rounded_up(std::abs(residual));
    mine.equality = std::max(mine.equality, std::abs(residual));
    if (residual == 0) return;
    if (residual < 0 && !(size <= rounded_down(room))) return mine.minus_dual.add(infinity);
    const double g = std::abs(f(i, roomiest)) + 1 + error_[roomiest] * scale;
    mine.minus_dual.add(rounded_up(size * rounded_up(g)));
    moved_[roomiest] += rounded_up(size * scale);
  }

  const SimplexQp& qp_;
  std::span<const double> a_;
  const std::vector<std::vector<double>>& f_;
  std::span<const double> error_;  ///< of each class, in units of sqrt(K_pp)
  std::vector<ClassSums> sums_;
  std::vector<double> moved_;  ///< sum of |t| sqrt(K_pp), of each class
};

void put_within_bounds(const SimplexQp& qp, std::vector<double>& a) {
  for (std::size_t i = 0; i < qp.size(); ++i)
    for (std::size_t k = 0; k < qp.classes; ++k) {
      double& each = a[i * qp.classes + k];
      each = std::isfinite(each) ? std::min(each, qp.upper(i, k)) : 0;
    }
}

double largest_scale(const Quadratic& K) {
  double scale = 0;
  for (const double value : K.diagonal()) scale = std::max(scale, std::sqrt(std::abs(value)));
  return scale;
}

using Vectors = std::vector<std::vector<double>>;

/// `product(beta, f)` fills f of all classes and returns their errors, in units of sqrt(K_pp).
template <class Product>
SimplexCertified certified_by(const SimplexQp& qp, std::vector<double> a, Product&& product) {
  const Stopwatch clock;
  SimplexCertified result;
  put_within_bounds(qp, a);
  result.f.assign(qp.classes, std::vector<double>(qp.K->size()));
  const bool mercer = qp.K->definite() != Definite::no;
  std::vector<double> error(qp.classes, 0.0);
  double largest = 0;
  const double scale = largest_scale(*qp.K);
  Vectors beta;
  for (std::size_t k = 0; k < qp.classes; ++k) beta.push_back(qp.coefficients(a, k));
  const std::vector<double> own = product(beta, result.f);
  for (std::size_t k = 0; k < qp.classes; ++k) {
    // Objectives over a kernel that is not positive semi-definite bound nothing, however rounded.
    if (mercer) error[k] = rounded_up(own[k] + shared_point_error(qp, a, k));
    largest = std::max(largest, rounded_up(error[k] * scale));
  }
  result.of_class = Judge(qp, a, result.f, error).run();
  Certificate& whole = result.certificate;
  whole = result.of_class.front();
  for (std::size_t k = 1; k < qp.classes; ++k) {
    const Certificate& part = result.of_class[k];
    whole.primal = rounded_up(whole.primal + part.primal);
    whole.dual = rounded_down(whole.dual + part.dual);
    whole.kkt = std::max(whole.kkt, part.kkt);
    whole.equality_residual = std::max(whole.equality_residual, part.equality_residual);
  }
  whole.gap = rounded_up(std::max(0.0, whole.primal - whole.dual));
  whole.best_primal = whole.primal;
  whole.best_dual = whole.dual;
  whole.relative_gap = relative_gap(whole.primal, whole.dual);
  const auto state = [&](Certificate& each) {
    each.relative_gap = whole.relative_gap;
    each.rounding = largest;
    each.mercer = mercer;
    each.sampled = qp.K->definite() == Definite::unknown;
  };
  for (Certificate& each : result.of_class) state(each);
  state(whole);
  result.a = std::move(a);
  result.seconds = clock.seconds();
  return result;
}

}  // namespace

SimplexCertified certify(const SimplexQp& qp, std::vector<double> a, Precision precision,
                         const Threads& threads) {
  return certified_by(qp, std::move(a), [&](const Vectors& beta, Vectors& f) {
    const PartialProducts* several = precision == Precision::exact ? qp.K->can().partial : nullptr;
    if (several == nullptr || !several->multiply_several(beta, f, threads))
      for (std::size_t k = 0; k < beta.size(); ++k)
        qp.K->multiply(beta[k], f[k], precision, threads);
    std::vector<double> errors;
    for (const auto& each : beta) errors.push_back(product_error(*qp.K, each, precision));
    return errors;
  });
}

double rounding_of(const SimplexQp& qp, std::span<const double> a, Precision precision) {
  if (qp.K->definite() == Definite::no) return 0;
  double largest = 0;
  for (std::size_t k = 0; k < qp.classes; ++k)
    largest = std::max(largest, product_error(*qp.K, qp.coefficients(a, k), precision) +
                                    shared_point_error(qp, a, k));
  return rounded_up(largest * largest_scale(*qp.K));
}

std::optional<SimplexCertified> certify_extended(const SimplexQp& qp, std::vector<double> a,
                                                 const Context& context) {
  if (!has_extended_product(*qp.K, qp.size() * qp.classes, context.costs.certify))
    return std::nullopt;
  return certified_by(qp, std::move(a), [&](const Vectors& beta, Vectors& f) {
    std::vector<double> errors;
    for (std::size_t k = 0; k < beta.size(); ++k)
      errors.push_back(extended_product(*qp.K, beta[k], f[k], context.threads));
    return errors;
  });
}

}  // namespace maxmargin
