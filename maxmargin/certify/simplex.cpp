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

/// Examples that share their points with others: what they add to the rounding of the coefficient
/// of a point in f_k.
class SharedPoints {
 public:
  explicit SharedPoints(const SimplexQp& qp) : qp_(qp), examples_(qp.K->size(), 0) {
    for (const Index point : qp.row) ++examples_[point];
    for (std::size_t i = 0; i < qp.size(); ++i)
      if (examples_[qp.row[i]] > 1) shared_.push_back(static_cast<Index>(i));
  }
  /// In units of sqrt(K_pp) of where f is asked.
  double error(std::span<const double> a, std::size_t k) const {
    double sum = 0;
    for (const Index i : shared_)
      sum +=
          examples_[qp_.row[i]] * std::abs(a[i * qp_.classes + k]) * scale_of(*qp_.K, qp_.row[i]);
    return rounded_up(1.01 * unit_roundoff * sum);
  }

 private:
  const SimplexQp& qp_;
  std::vector<std::uint32_t> examples_;  ///< of each point
  std::vector<Index> shared_;
};

// Classes whose coefficients are there at a time, and those of them that a thread sums up.
constexpr std::size_t classes_at_a_time = 256, classes_of_task = 16;
// Examples whose values of all classes are gathered at a time, and those of a thread.
constexpr std::size_t examples_at_a_time = 4096, examples_of_task = 64;

using Vectors = std::vector<std::vector<double>>;

/// Calls body(first, beta) with the coefficients of the points in f of some classes, from `first`
/// on, until it has had those of all.
template <class Body>
void for_some_classes(const SimplexQp& qp, std::span<const double> a, const Threads& threads,
                      Body&& body) {
  Vectors beta;
  for (std::size_t first = 0; first < qp.classes; first += classes_at_a_time) {
    const std::size_t count = std::min(classes_at_a_time, qp.classes - first);
    beta.resize(count);
    threads.split(count, classes_of_task, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) beta[k].assign(qp.K->size(), 0.0);
      for (std::size_t i = 0; i < qp.size(); ++i) {
        const double* own = &a[i * qp.classes + first];
        for (std::size_t k = begin; k < end; ++k)
          if (own[k] != 0) beta[k][qp.row[i]] += own[k];
      }
    });
    body(first, std::span(beta));
  }
}

/// What the examples of a class add up to.
struct ClassSums {
  EnclosedSum primal, minus_dual;
  double kkt = 0, equality = 0;
};

/// What one example adds to its class, and to the class with most room.
struct ExampleSums : ClassSums {
  std::size_t roomiest = 0;
  double moved = 0;
};

class Judge {
 public:
  Judge(const SimplexQp& qp, std::span<const double> a, const Vectors& f,
        std::span<const double> error)
      : qp_(qp), a_(a), f_(f), error_(error), sums_(qp.classes), moved_(qp.classes, 0.0) {}

  std::vector<Certificate> run(const Threads& threads) {
    std::vector<ExampleSums> some(std::min(examples_at_a_time, qp_.size()));
    for (std::size_t first = 0; first < qp_.size(); first += some.size()) {
      const std::size_t count = std::min(some.size(), qp_.size() - first);
      threads.split(count, examples_of_task,
                    [&](std::size_t begin, std::size_t end) { judge(first, begin, end, some); });
      for (std::size_t at = 0; at < count; ++at) add(first + at, some[at]);
    }
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
  double a(std::size_t i, std::size_t k) const { return a_[i * qp_.classes + k]; }

  /// The examples first + begin to first + end. f, a vector for each class, is turned first: of an
  /// example it would be another page for each class.
  void judge(std::size_t first, std::size_t begin, std::size_t end,
             std::vector<ExampleSums>& some) const {
    const std::size_t classes = qp_.classes;
    std::vector<double> f((end - begin) * classes);
    for (std::size_t k = 0; k < classes; ++k)
      for (std::size_t at = begin; at < end; ++at)
        f[(at - begin) * classes + k] = f_[k][qp_.row[first + at]];
    for (std::size_t at = begin; at < end; ++at)
      some[at] = judge(first + at, std::span(f).subspan((at - begin) * classes, classes));
  }

  ExampleSums judge(std::size_t i, std::span<const double> f) const {
    const std::size_t label = qp_.label[i];
    const double scale = scale_of(*qp_.K, qp_.row[i]), own = f[label];
    ExampleSums mine;
    double excess = 0;  // of the others' values over that of the label, at most
    double largest = -infinity, lowest = infinity;
    for (std::size_t k = 0; k < qp_.classes; ++k) {
      const double value = f[k], g = qp_.error(i, k) + value;
      if (a(i, k) != 0) {
        const double half = a(i, k) * value / 2;
        const double error = std::abs(a(i, k)) / 2 * error_[k] * scale * (1 + 8 * unit_roundoff) +
                             2 * unit_roundoff * std::abs(half);
        mine.primal.add(half, error);
        mine.minus_dual.add(half, error);
        if (k != label) mine.minus_dual.add(a(i, k));
      }
      largest = std::max(largest, g);
      if (qp_.upper(i, k) > a(i, k)) lowest = std::min(lowest, g);
      if (k == label) continue;
      excess =
          std::max(excess, rounded_up(1 + (value - own) + (error_[k] + error_[label]) * scale +
                                      4 * unit_roundoff * (1 + std::abs(value) + std::abs(own))));
    }
    mine.primal.add(rounded_up(qp_.cost[i] * excess));
    mine.kkt = largest - lowest;
    add_price(i, scale, f, mine);
    return mine;
  }

  /// The dual is a bound only where sum_k a_ik = 0 exactly: the residual is moved onto the class
  /// with the most room, which makes the dual a little smaller.
  void add_price(std::size_t i, double scale, std::span<const double> f, ExampleSums& mine) const {
    ExactSum exact;
    double room = -1;
    std::size_t roomiest = 0;
    for (std::size_t k = 0; k < qp_.classes; ++k) {
      if (a(i, k) != 0) exact.add(a(i, k));
      if (const double own = qp_.upper(i, k) - a(i, k); own > room) room = own, roomiest = k;
    }
    const double residual = exact.value(), size = rounded_up(std::abs(residual));
    mine.equality = std::abs(residual);
    if (residual == 0) return;
    if (residual < 0 && !(size <= rounded_down(room))) return mine.minus_dual.add(infinity);
    const double g = std::abs(f[roomiest]) + 1 + error_[roomiest] * scale;
    mine.minus_dual.add(rounded_up(size * rounded_up(g)));
    mine.roomiest = roomiest;
    mine.moved = rounded_up(size * scale);
  }

  void add(std::size_t i, const ExampleSums& example) {
    ClassSums& mine = sums_[qp_.label[i]];
    mine.primal.add(example.primal);
    mine.minus_dual.add(example.minus_dual);
    mine.kkt = std::max(mine.kkt, example.kkt);
    mine.equality = std::max(mine.equality, example.equality);
    moved_[example.roomiest] += example.moved;
  }

  const SimplexQp& qp_;
  std::span<const double> a_;
  const Vectors& f_;
  std::span<const double> error_;  ///< of each class, in units of sqrt(K_pp)
  std::vector<ClassSums> sums_;
  std::vector<double> moved_;  ///< sum of |t| sqrt(K_pp), of each class
};

void put_within_bounds(const SimplexQp& qp, std::vector<double>& a, const Threads& threads) {
  threads.split(qp.size(), examples_of_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t k = 0; k < qp.classes; ++k) {
        double& each = a[i * qp.classes + k];
        each = std::isfinite(each) ? std::min(each, qp.upper(i, k)) : 0;
      }
  });
}

double largest_scale(const Quadratic& K) {
  double scale = 0;
  for (const double value : K.diagonal()) scale = std::max(scale, std::sqrt(std::abs(value)));
  return scale;
}

/// The certificates of the classes, and of all, whose f is wrong by at most so much at any point.
void put_certificates(const SimplexQp& qp, std::vector<Certificate> of_class, double rounding,
                      SimplexCertified& result) {
  result.of_class = std::move(of_class);
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
  whole.relative_gap = std::isfinite(whole.gap) ? relative_gap(whole.primal, whole.dual) : infinity;
  const auto state = [&](Certificate& each) {
    each.relative_gap = whole.relative_gap;
    each.rounding = rounding;
    each.mercer = qp.K->definite() != Definite::no;
    each.sampled = qp.K->definite() == Definite::unknown;
  };
  for (Certificate& each : result.of_class) state(each);
  state(whole);
}

/// `product(beta, f)` fills f of some classes and returns their errors, in units of sqrt(K_pp).
template <class Product>
SimplexCertified certified_by(const SimplexQp& qp, std::vector<double>& a, const Threads& threads,
                              Product&& product) {
  const Stopwatch clock;
  SimplexCertified result;
  put_within_bounds(qp, a, threads);
  result.f.resize(qp.classes);
  std::vector<double> error(qp.classes, 0.0);
  double largest = 0;
  const double scale = largest_scale(*qp.K);
  const SharedPoints shared(qp);
  for_some_classes(qp, a, threads,
                   [&](std::size_t first, std::span<const std::vector<double>> beta) {
                     const std::span f = std::span(result.f).subspan(first, beta.size());
                     for (auto& each : f) each.resize(qp.K->size());
                     const std::vector<double> own = product(beta, f);
                     // Objectives over a kernel that is not positive semi-definite bound nothing,
                     // however rounded.
                     if (qp.K->definite() == Definite::no) return;
                     for (std::size_t k = 0; k < own.size(); ++k)
                       error[first + k] = rounded_up(own[k] + shared.error(a, first + k));
                   });
  for (const double each : error) largest = std::max(largest, rounded_up(each * scale));
  put_certificates(qp, Judge(qp, a, result.f, error).run(threads), largest, result);
  result.seconds = clock.seconds();
  return result;
}

}  // namespace

SimplexCertified certify(const SimplexQp& qp, std::vector<double>& a, Precision precision,
                         const Threads& threads) {
  return certified_by(
      qp, a, threads,
      [&](std::span<const std::vector<double>> beta, std::span<std::vector<double>> f) {
        const PartialProducts* several =
            precision == Precision::exact ? qp.K->can().partial : nullptr;
        if (several == nullptr || !several->multiply_several(beta, f, threads))
          for (std::size_t k = 0; k < beta.size(); ++k)
            qp.K->multiply(beta[k], f[k], precision, threads);
        std::vector<double> errors;
        for (const auto& each : beta) errors.push_back(product_error(*qp.K, each, precision));
        return errors;
      });
}

SimplexCertified certify_nothing(const SimplexQp& qp) {
  std::vector<EnclosedSum> primal(qp.classes);
  for (std::size_t i = 0; i < qp.size(); ++i)
    if (qp.classes > 1) primal[qp.label[i]].add(qp.cost[i]);
  std::vector<Certificate> of_class(qp.classes);
  for (std::size_t k = 0; k < qp.classes; ++k) {
    Certificate& found = of_class[k];
    found.primal = found.best_primal = found.gap = primal[k].upper();
    found.dual = found.best_dual = 0;
    found.kkt = qp.classes > 1 ? 1 : 0;
  }
  SimplexCertified result;
  put_certificates(qp, std::move(of_class), 0, result);
  return result;
}

SimplexCertified uncertified(const SimplexQp& qp) {
  SimplexCertified result;
  put_certificates(qp, std::vector<Certificate>(qp.classes), infinity, result);
  return result;
}

double rounding_of(const SimplexQp& qp, std::span<const double> a, Precision precision,
                   const Threads& threads) {
  if (qp.K->definite() == Definite::no) return 0;
  double largest = 0;
  const SharedPoints shared(qp);
  for_some_classes(
      qp, a, threads, [&](std::size_t first, std::span<const std::vector<double>> beta) {
        for (std::size_t k = 0; k < beta.size(); ++k)
          largest = std::max(largest,
                             product_error(*qp.K, beta[k], precision) + shared.error(a, first + k));
      });
  return rounded_up(largest * largest_scale(*qp.K));
}

std::optional<SimplexCertified> certify_extended(const SimplexQp& qp, std::vector<double>& a,
                                                 const Context& context) {
  if (!has_extended_product(*qp.K, qp.size() * qp.classes, context.costs.certify))
    return std::nullopt;
  const Threads& threads = context.threads;
  return certified_by(
      qp, a, threads,
      [&](std::span<const std::vector<double>> beta, std::span<std::vector<double>> f) {
        std::vector<double> errors;
        for (std::size_t k = 0; k < beta.size(); ++k)
          errors.push_back(extended_product(*qp.K, beta[k], f[k], threads));
        return errors;
      });
}

}  // namespace maxmargin
