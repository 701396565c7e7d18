#include <algorithm>
#include <cmath>
#include <limits>

#include "maxmargin/model/verify/textbook.hpp"

// nu-SVC and nu-SVR as one problem. Every row has a variable a on the upper side (nu-SVC: the rows
// of +1; nu-SVR: all), a* on the lower side (the rows of -1; all), or both, with
//
//   max  sum_i y_i (a_i - a_i*) - 1/2 |w|^2     (y_i = 0 for nu-SVC),    0 <= a, a* <= price
//   sum a = sum a* = nu / 2 times all prices,   the coefficient of a point is sum a - sum a*
//
// What moves a is y - g against the threshold b + t of the upper side, what moves a* the same
// against b - t of the lower one; t = epsilon of nu-SVR, and -rho of nu-SVC.

namespace maxmargin {
namespace {

/// The variables of one side of a point, in the order in which they are best filled.
struct Side {
  struct Variable {
    double y, price, value;
  };
  std::vector<Variable> variables;
  std::size_t next = 0;
  double capacity = 0;

  void add(double y, double price) {
    variables.push_back({y, price, 0});
    capacity += price;
  }
  /// Fills `amount` more, or what there is room for; returns what could not be filled.
  double fill(double amount) {
    for (; next < variables.size(); ++next) {
      Variable& variable = variables[next];
      const double part = std::min(amount, variable.price - variable.value);
      variable.value += part;
      amount -= part;
      if (variable.value < variable.price) break;
    }
    return amount;
  }
  double room() const {
    return next < variables.size() ? variables[next].price - variables[next].value : 0;
  }
  double filled() const {
    double sum = 0;
    for (const Variable& variable : variables) sum += variable.value;
    return sum;
  }
};

struct NuPoint {
  double g = 0;  ///< with the functions, without the bias
  Side upper, lower;
};

/// Room to raise a and a* of a point together, which changes no coefficient.
struct Exchange {
  double gain;
  double length;
  std::size_t point;
};

class NuExaminer {
 public:
  NuExaminer(const Formulation& formulation, const Claimed& claimed, double largest_kernel)
      : formulation_(formulation), claimed_(claimed), largest_kernel_(largest_kernel) {
    const bool margin = formulation.kind == Formulation::Kind::nu_svc;
    // Coefficients and bias of nu-SVC have been divided by rho.
    scale_ = margin && claimed.width > std::numeric_limits<double>::min() ? claimed.width : 1;
    bias_ = claimed.bias == nullptr ? 0 : *claimed.bias * scale_;
    tube_ = margin ? -claimed.width : claimed.width;
    for (const auto& [point, coefficient] : claimed.beta) beta_[point] = coefficient * scale_;
  }

  Examined run(std::vector<SeenRow> rows) {
    std::ranges::stable_sort(rows, {}, &SeenRow::point);
    for (SeenRow& row : rows) {
      row.g *= scale_;
      row.offset *= scale_;
    }
    for (const auto& [point, coefficient] : beta_) {
      const auto found = std::ranges::lower_bound(rows, point, {}, &SeenRow::point);
      if (found == rows.end() || found->point != point) {
        result_.foreign = true;
        return result_;
      }
      squared_norm_ += coefficient * found->g;
      sum_squares_ += coefficient * coefficient;
    }
    result_.blur = float_error * std::sqrt(sum_squares_) * largest_kernel_;
    for (auto begin = rows.begin(); begin != rows.end();) {
      auto end = begin;
      while (end != rows.end() && end->point == begin->point) ++end;
      add_point({begin, end});
      begin = end;
    }
    share_out();
    finish();
    return result_;
  }

 private:
  bool is_margin() const { return formulation_.kind == Formulation::Kind::nu_svc; }

  void add_hinge(double price, double excess) {
    loss_ += price * std::max(0.0, excess);
    if (excess > -result_.blur) price_at_stake_ += price;
  }

  void add_point(std::span<const SeenRow> rows) {
    NuPoint& point = points_.emplace_back();
    point.g = rows[0].g + rows[0].offset;
    std::vector<std::pair<double, double>> upper, lower;  // y, price
    for (const SeenRow& row : rows) {
      const double price = is_margin() ? row.weight : formulation_.cost * row.weight;
      const double y = is_margin() ? 0 : row.target, f = row.g + row.offset + bias_;
      prices_ += price;
      result_.largest_f = std::max(result_.largest_f, std::abs(f));
      if (!is_margin() || row.target > 0) {
        upper.emplace_back(y, price);
        add_hinge(price, y - f - tube_);
      }
      if (!is_margin() || row.target < 0) {
        lower.emplace_back(y, price);
        add_hinge(price, f - y - tube_);
      }
    }
    std::ranges::sort(upper, std::ranges::greater{});
    std::ranges::sort(lower);
    for (const auto& [y, price] : upper) point.upper.add(y, price);
    for (const auto& [y, price] : lower) point.lower.add(y, price);
    const auto found = beta_.find(rows[0].point);
    const double coefficient = found == beta_.end() ? 0 : found->second;
    const double excess =
        coefficient > 0 ? point.upper.fill(coefficient) : point.lower.fill(-coefficient);
    if (excess > result_.certificate.bound_residual) {
      result_.certificate.bound_residual = excess;
      result_.bound_scale = std::max(point.upper.capacity, point.lower.capacity);
    }
  }

  /// Coefficients say only what a and a* differ by. What both sums lack is raised on both sides at
  /// once, where it gains most.
  void share_out() {
    double missing = formulation_.nu / 2 * prices_;
    for (const NuPoint& point : points_) missing -= point.upper.filled();
    if (!(missing > at_bound * prices_)) return;
    has_choice_ = true;
    std::vector<Exchange> exchanges;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      Side upper = points_[p].upper, lower = points_[p].lower;
      for (double length; (length = std::min(upper.room(), lower.room())) > 0;) {
        const double y = upper.variables[upper.next].y, other = lower.variables[lower.next].y;
        exchanges.push_back({y - other, length, p});
        upper.fill(length);
        lower.fill(length);
      }
    }
    std::ranges::stable_sort(exchanges, std::ranges::greater{}, &Exchange::gain);
    for (const Exchange& exchange : exchanges) {
      const double length = std::min(exchange.length, missing);
      if (length <= 0) break;
      points_[exchange.point].upper.fill(length);
      points_[exchange.point].lower.fill(length);
      missing -= length;
    }
    result_.shared = true;
  }

  /// Whether some choice of a and a* with these coefficients violates the thresholds b + t and b -
  /// t by no more than so much. Within each side, variables that are beyond its threshold by more
  /// must be full or empty; the others may be anything.
  bool violates_at_most(double violation) const {
    const double half = formulation_.nu / 2 * prices_, tiny = at_bound * prices_;
    double least = 0, most = 0;
    const auto bounds = [&](const Side& side, double g, double threshold, double direction) {
      std::pair<double, double> range{0, 0};
      for (const auto& [y, price, value] : side.variables) {
        const double excess = direction * (y - g - threshold);
        if (excess > violation) range.first += price;
        if (excess >= -violation) range.second += price;
      }
      return range;
    };
    for (const NuPoint& point : points_) {
      const double coefficient = point.upper.filled() - point.lower.filled();
      const auto upper = bounds(point.upper, point.g, bias_ + tube_, 1);
      const auto lower = bounds(point.lower, point.g, bias_ - tube_, -1);
      const double low = std::max(upper.first, lower.first + coefficient);
      const double high = std::min(upper.second, lower.second + coefficient);
      if (low > high + at_bound * (point.upper.capacity + point.lower.capacity)) return false;
      least += low;
      most += high;
    }
    return least <= half + tiny && half <= most + tiny;
  }

  /// The smallest violation that violates_at_most() allows.
  double least_violation() const {
    std::vector<double> candidates{0};
    for (const NuPoint& point : points_) {
      for (const auto& variable : point.upper.variables)
        candidates.push_back(std::abs(variable.y - point.g - (bias_ + tube_)));
      for (const auto& variable : point.lower.variables)
        candidates.push_back(std::abs(variable.y - point.g - (bias_ - tube_)));
    }
    std::ranges::sort(candidates);
    const auto enough = std::ranges::partition_point(
        candidates, [&](double violation) { return !violates_at_most(violation); });
    return enough == candidates.end() ? infinity : *enough;
  }

  void finish() {
    Certificate& c = result_.certificate;
    double psi = 0, sum_upper = 0, sum_lower = 0;
    double rise[2] = {-infinity, -infinity}, fall[2] = {infinity, infinity};
    for (const NuPoint& point : points_) {
      for (const auto& [y, price, value] : point.upper.variables) {
        psi += y * value;
        sum_upper += value;
        if (value < price * (1 - at_bound)) rise[0] = std::max(rise[0], y - point.g);
        if (value > price * at_bound) fall[0] = std::min(fall[0], y - point.g);
      }
      for (const auto& [y, price, value] : point.lower.variables) {
        psi -= y * value;
        sum_lower += value;
        if (value > price * at_bound) rise[1] = std::max(rise[1], y - point.g);
        if (value < price * (1 - at_bound)) fall[1] = std::min(fall[1], y - point.g);
      }
    }
    const double half = formulation_.nu / 2 * prices_;
    c.primal = squared_norm_ / 2 + loss_ + 2 * half * tube_;
    c.dual = psi - squared_norm_ / 2;
    c.gap = c.primal - c.dual;
    const double sizes = std::abs(c.primal) + std::abs(c.dual);
    c.relative_gap = c.gap == 0 ? 0 : std::isfinite(sizes) ? 2 * c.gap / sizes : infinity;
    c.kkt = has_choice_ ? least_violation() : std::max({0.0, rise[0] - fall[0], rise[1] - fall[1]});
    c.equality_residual = std::max({std::abs(sum_upper - half), std::abs(sum_lower - half),
                                    claimed_.function_defect() * half});
    c.best_primal = c.primal;
    c.best_dual = c.dual;
    result_.equality_scale = half;
    result_.dual_blur = result_.blur * std::sqrt(sum_squares_);
    result_.primal_blur = result_.dual_blur + result_.blur * price_at_stake_;
    if (!is_margin()) result_.shared = true;
  }

  const Formulation& formulation_;
  const Claimed& claimed_;
  double largest_kernel_;
  double scale_ = 1, bias_ = 0, tube_ = 0;
  std::map<Index, double> beta_;
  std::vector<NuPoint> points_;
  Examined result_;
  bool has_choice_ = false;  ///< coefficients do not determine a and a*
  double squared_norm_ = 0, sum_squares_ = 0, prices_ = 0, loss_ = 0, price_at_stake_ = 0;
};

}  // namespace

Examined examine_nu(const Formulation& formulation, std::vector<SeenRow> rows,
                    const Claimed& claimed, double largest_kernel) {
  return NuExaminer(formulation, claimed, largest_kernel).run(std::move(rows));
}

}  // namespace maxmargin
