#include "maxmargin/model/verify/textbook.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace maxmargin {
namespace {

[[noreturn]] void throw_option(const std::string& what) {
  throw Error(Fault::data, "the options in this model " + what,
              "verify models that `maxmargin train` wrote");
}

double number_option(const std::string& name, const std::string& value) {
  double number = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (fault != std::errc{} || end != value.data() + value.size() || !std::isfinite(number) ||
      number < 0)
    throw_option("give no number for " + name.substr(0, 40));
  return number;
}

/// The rows of one point, and what its coefficient says about their dual variables.
///
/// In terms of a row's own coefficient b (svc: y a; svr: a+ - a-; one-class: a) the dual is
/// sum psi(b) - 1/2 |w|^2, with psi concave, linear on [low, 0] and on [0, high]. Several rows at
/// one point share a coefficient; the best dual variables that give it fill the pieces of all
/// their psi in order of falling slope.
class Point {
 public:
  explicit Point(double coefficient) : coefficient_(coefficient) {}

  void add_interval(double low, double slope_below, double high, double slope_above) {
    base_ += low;
    if (low < 0) {
      value_ += slope_below * low;
      pieces_.push_back({slope_below, -low});
    }
    if (high > 0) pieces_.push_back({slope_above, high});
    length_ += high - low;
  }

  void settle() {
    std::ranges::sort(pieces_, std::ranges::greater{}, &Piece::slope);
    double left = coefficient_ - base_;
    excess_ = std::max({0.0, -left, left - length_});
    left = std::clamp(left, 0.0, length_);
    const double tiny = at_bound * length_;
    for (const Piece& piece : pieces_) {
      const double filled = std::min(left, piece.length);
      value_ += piece.slope * filled;
      if (filled > tiny) {
        can_fall_ = true;
        slope_down_ = piece.slope;
      }
      if (filled < piece.length - tiny && !can_rise_) {
        can_rise_ = true;
        slope_up_ = piece.slope;
      }
      left -= filled;
    }
  }

  double value() const { return value_; }    ///< sum of psi
  double excess() const { return excess_; }  ///< beyond the bounds
  double length() const { return length_; }
  bool can_rise() const { return can_rise_; }
  bool can_fall() const { return can_fall_; }
  double slope_up() const { return slope_up_; }
  double slope_down() const { return slope_down_; }

 private:
  struct Piece {
    double slope, length;
  };
  double coefficient_;
  std::vector<Piece> pieces_;
  double base_ = 0, value_ = 0, length_ = 0, excess_ = 0;
  bool can_rise_ = false, can_fall_ = false;
  double slope_up_ = 0, slope_down_ = 0;
};

class Examiner {
 public:
  Examiner(const Formulation& formulation, const Claimed& claimed, double largest_kernel)
      : formulation_(formulation),
        claimed_(claimed),
        beta_(claimed.beta),
        largest_kernel_(largest_kernel),
        has_bias_(claimed.bias != nullptr),
        bias_(has_bias_ ? *claimed.bias : 0) {}

  Examined run(std::vector<SeenRow> rows) {
    std::ranges::stable_sort(rows, {}, &SeenRow::point);
    for (const auto& [point, coefficient] : beta_) {
      const auto found = std::ranges::lower_bound(rows, point, {}, &SeenRow::point);
      if (found == rows.end() || found->point != point) {
        result_.foreign = true;
        return result_;
      }
      squared_norm_ += coefficient * found->g;
      sum_beta_ += coefficient;
      sum_size_ += std::abs(coefficient);
      sum_squares_ += coefficient * coefficient;
      largest_beta_ = std::max(largest_beta_, std::abs(coefficient));
    }
    result_.blur = float_error * std::sqrt(sum_squares_) * largest_kernel_;
    for (auto begin = rows.begin(); begin != rows.end();) {
      auto end = begin;
      while (end != rows.end() && end->point == begin->point) ++end;
      const std::span<const SeenRow> same(begin, end);
      for (const SeenRow& row : same) add_loss(row);
      formulation_.hard_margin ? add_hard_point(same) : add_point(same);
      begin = end;
    }
    finish();
    return result_;
  }

 private:
  double coefficient_of(Index point) const {
    const auto found = beta_.find(point);
    return found == beta_.end() ? 0 : found->second;
  }

  /// price * max(0, excess)
  void add_hinge(double price, double excess) {
    loss_ += price * std::max(0.0, excess);
    if (excess > -result_.blur) price_at_stake_ += price;
  }

  void add_loss(const SeenRow& row) {
    const double f = row.g + row.offset + bias_;
    const double price = formulation_.cost * row.weight;
    result_.largest_f = std::max(result_.largest_f, std::abs(f));
    result_.rounding += price * 2 * std::numeric_limits<double>::epsilon() *
                        (std::abs(row.g) + std::abs(row.offset) + std::abs(bias_) + 1);
    weights_ += row.weight;
    switch (formulation_.kind) {
      case Formulation::Kind::svc:
        add_hinge(price, 1 - row.target * f);
        smallest_margin_ = std::min(smallest_margin_, row.target * f);
        break;
      case Formulation::Kind::svr:
        add_hinge(price * formulation_.under, row.target - f - formulation_.epsilon);
        add_hinge(price * formulation_.over, f - row.target - formulation_.epsilon);
        break;
      case Formulation::Kind::one_class:
        add_hinge(row.weight, -f);  // rho - g, rho = -bias
        break;
      case Formulation::Kind::nu_svc:
      case Formulation::Kind::nu_svr:
        break;  // see examine_nu
    }
  }

  void add_point(std::span<const SeenRow> rows) {
    Point point(coefficient_of(rows[0].point));
    for (const SeenRow& row : rows) {
      const double price = formulation_.cost * row.weight;
      switch (formulation_.kind) {
        case Formulation::Kind::svc:
          point.add_interval(row.target > 0 ? 0 : -price, -1, row.target > 0 ? price : 0, 1);
          break;
        case Formulation::Kind::svr:
          point.add_interval(-price * formulation_.over, row.target + formulation_.epsilon,
                             price * formulation_.under, row.target - formulation_.epsilon);
          break;
        case Formulation::Kind::one_class:
          point.add_interval(0, 0, row.weight, 0);
          break;
        case Formulation::Kind::nu_svc:
        case Formulation::Kind::nu_svr:
          break;  // see examine_nu
      }
      if (row.target != rows[0].target) result_.shared = true;
    }
    point.settle();
    psi_ += point.value();
    if (point.excess() > result_.certificate.bound_residual) {
      result_.certificate.bound_residual = point.excess();
      result_.bound_scale = point.length();
    }
    const double g = rows[0].g + rows[0].offset;
    if (point.can_rise()) rise_ = std::max(rise_, point.slope_up() - g);
    if (point.can_fall()) fall_ = std::min(fall_, point.slope_down() - g);
  }

  /// a >= 0 without an upper bound. Equal rows of both classes have no margin at all: the primal is
  /// infinite, and |beta| is the smallest of the dual variables that give beta.
  void add_hard_point(std::span<const SeenRow> rows) {
    const double coefficient = coefficient_of(rows[0].point);
    bool positive = false, negative = false;
    for (const SeenRow& row : rows) (row.target > 0 ? positive : negative) = true;
    result_.shared |= positive && negative;
    const double excess = std::max({0.0, positive ? 0 : coefficient, negative ? 0 : -coefficient});
    if (excess > result_.certificate.bound_residual) {
      result_.certificate.bound_residual = excess;
      result_.bound_scale = largest_beta_;
    }
    psi_ += std::abs(coefficient);
    const double tiny = at_bound * largest_beta_, g = rows[0].g + rows[0].offset;
    if (positive || coefficient < -tiny) rise_ = std::max(rise_, (positive ? 1 : -1) - g);
    if (negative || coefficient > tiny) fall_ = std::min(fall_, (negative ? -1 : 1) - g);
  }

  void finish() {
    Certificate& c = result_.certificate;
    const bool one_class = formulation_.kind == Formulation::Kind::one_class;
    const double right_side = one_class ? formulation_.nu * weights_ : 0;
    c.primal = squared_norm_ / 2 + loss_ + bias_ * right_side;
    c.dual = psi_ - squared_norm_ / 2;
    result_.dual_blur = result_.blur * std::sqrt(sum_squares_);
    result_.primal_blur = result_.dual_blur + result_.blur * price_at_stake_;
    if (formulation_.hard_margin) {
      const double margin = smallest_margin_;
      const bool separates = margin > 0 && margin < infinity;
      c.primal = separates ? squared_norm_ / (2 * margin * margin) : infinity;
      result_.primal_blur =
          separates ? result_.dual_blur + 2 * c.primal * result_.blur / margin : 0;
    }
    c.gap = c.primal - c.dual;
    const double sizes = std::abs(c.primal) + std::abs(c.dual);
    c.relative_gap = c.gap == 0 ? 0 : std::isfinite(sizes) ? 2 * c.gap / sizes : infinity;
    c.kkt = has_bias_ ? rise_ - fall_ : std::max(rise_, -fall_);
    c.kkt = std::max(0.0, c.kkt);
    result_.equality_scale = std::max(sum_size_, right_side);
    c.equality_residual = std::max(has_bias_ ? std::abs(sum_beta_ - right_side) : 0,
                                   claimed_.function_defect() * result_.equality_scale);
    c.best_primal = c.primal;
    c.best_dual = c.dual;
    if (formulation_.kind == Formulation::Kind::svr) result_.shared = true;
  }

  const Formulation& formulation_;
  const Claimed& claimed_;
  const std::map<Index, double>& beta_;
  double largest_kernel_;
  bool has_bias_;
  double bias_;
  Examined result_;
  double squared_norm_ = 0, sum_beta_ = 0, sum_size_ = 0, sum_squares_ = 0, largest_beta_ = 0;
  double weights_ = 0, loss_ = 0, price_at_stake_ = 0, psi_ = 0, smallest_margin_ = infinity;
  // m(a) is the largest gain of a coefficient that can rise, M(a) the smallest of one that can
  // fall.
  double rise_ = -infinity, fall_ = infinity;
};

/// Options that models from before there was a choice do not have.
void read_choices(std::map<std::string, std::string>& options, Formulation& stated) {
  using Lost = Formulation::Loss;
  static const std::map<std::string, Lost> losses = {
      {"hinge", Lost::hinge},
      {"squared-hinge", Lost::squared_hinge},
      {"huberised-hinge", Lost::huberised_hinge},
      {"logistic", Lost::logistic},
      {"exponential", Lost::exponential},
      {"epsilon-insensitive", Lost::tube},
      {"squared-epsilon-insensitive", Lost::squared_tube},
      {"huber", Lost::huber},
      {"squared", Lost::squared},
      {"pinball", Lost::pinball}};
  const bool classes = stated.kind == Formulation::Kind::svc;
  stated.loss = classes ? Lost::hinge : Lost::tube;
  if (const auto named = options.find("loss"); named != options.end()) {
    const auto known = losses.find(named->second);
    if (known == losses.end() || (known->second < Lost::tube) != classes)
      throw_option("name a loss that does not fit the task");
    stated.loss = known->second;
  }
  if (const auto named = options.find("bias"); named != options.end()) {
    if (named->second == "penalised") stated.bias = Formulation::Bias::penalised;
    if (named->second == "none") stated.bias = Formulation::Bias::none;
  }
}

}  // namespace

double Claimed::function_defect() const {
  double largest = 0;
  for (std::size_t r = 0; r < function_sum.size(); ++r)
    if (function_size[r] > 0)
      largest = std::max(largest, std::abs(function_sum[r]) / function_size[r]);
  return largest;
}

Formulation formulation_of(const Model& model) {
  Formulation stated;
  std::map<std::string, std::string> options(model.options.begin(), model.options.end());
  const std::string task = options["task"];
  const auto number = [&](const char* name, double& into) {
    if (options.contains(name)) into = number_option(name, options[name]);
  };
  const auto needed = [&](const char* name, double& into) {
    if (!options.contains(name)) throw_option("do not state " + std::string(name));
    number(name, into);
  };
  stated.only_weights = options.contains("out-of-core");
  stated.approximated = stated.only_weights || options.contains("approximate");
  number("sigma", stated.sigma);
  number("tau", stated.tau);
  if (task == "svc" || task == "nu-svc") {
    if (task == "svc") {
      needed("cost", stated.cost);
    } else {
      stated.kind = Formulation::Kind::nu_svc;
      needed("nu", stated.nu);
    }
    stated.hard_margin = options["hard-margin"] == "true";
    constexpr std::string_view prefix = "class-weight ";
    for (const auto& [name, value] : options)
      if (name.starts_with(prefix))
        stated.class_weight[name.substr(prefix.size())] = number_option(name, value);
  } else if (task == "svr") {
    stated.kind = Formulation::Kind::svr;
    needed("cost", stated.cost);
    needed("epsilon", stated.epsilon);
    number("over", stated.over);
    number("under", stated.under);
  } else if (task == "nu-svr") {
    stated.kind = Formulation::Kind::nu_svr;
    needed("cost", stated.cost);
    needed("nu", stated.nu);
  } else if (task == "one-class") {
    stated.kind = Formulation::Kind::one_class;
    needed("nu", stated.nu);
  } else {
    throw_option("do not state a task");
  }
  if (task == "svc" || task == "svr") read_choices(options, stated);
  return stated;
}

Examined examine(const Formulation& formulation, std::vector<SeenRow> rows, const Claimed& claimed,
                 double largest_kernel) {
  if (formulation.kind == Formulation::Kind::nu_svc ||
      formulation.kind == Formulation::Kind::nu_svr)
    return examine_nu(formulation, std::move(rows), claimed, largest_kernel);
  using Lost = Formulation::Loss;
  const bool plain = formulation.loss == Lost::hinge || formulation.loss == Lost::tube;
  if (!plain || formulation.bias != Formulation::Bias::unpenalised)
    return examine_loss(formulation, std::move(rows), claimed, largest_kernel);
  return Examiner(formulation, claimed, largest_kernel).run(std::move(rows));
}

}  // namespace maxmargin
