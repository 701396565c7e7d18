// The examination of losses other than the hinge and the tube, and of biases that are penalised or
// absent, from their definitions.
#include <algorithm>
#include <cmath>
#include <vector>

#include "maxmargin/model/verify/textbook.hpp"

namespace maxmargin {
namespace {

using Lost = Formulation::Loss;

/// A share of a row's dual: psi as a function of its coefficient b, concave on [begin, end]. For
/// straight and curved ones psi = slope b - curvature b^2 / 2. For entropies of class y, a = y b:
/// logistic -(a log a + (C - a) log(C - a) - C log C), exponential a - a log(a / C).
struct Piece {
  enum class Kind { plain, logistic, exponential } kind = Kind::plain;
  double begin = 0, end = 0, slope = 0, curvature = 0;
  double label = 1, price = 0;

  /// The b that makes psi(b) - level b largest.
  double at(double level) const {
    if (kind == Kind::logistic) return label * price / (1 + std::exp(label * level));
    if (kind == Kind::exponential) return label * price * std::exp(-label * level);
    if (curvature > 0) return std::clamp((slope - level) / curvature, begin, end);
    return level < slope ? end : begin;
  }
  double value(double b) const {
    const double a = label * b;
    const auto t_log = [](double t, double ratio) { return t > 0 ? t * std::log(ratio) : 0.0; };
    if (kind == Kind::logistic) return -t_log(a, a / price) - t_log(price - a, (price - a) / price);
    if (kind == Kind::exponential) return a - t_log(a, a / price);
    return slope * b - curvature * b * b / 2;
  }
  double derivative(double b) const {
    const double a = label * b;
    if (kind == Kind::logistic) return -label * std::log(a / (price - a));
    if (kind == Kind::exponential) return -label * std::log(a / price);
    return slope - curvature * b;
  }
};

/// The definition of each loss twice: what an error costs, and the dual that belongs to it.
class LossOf {
 public:
  explicit LossOf(const Formulation& formulation) : stated_(formulation) {}

  double value(double y, double f, double price) const {
    const double margin = std::max(0.0, 1 - y * f);
    const double low = std::max(0.0, y - f - stated_.epsilon);
    const double high = std::max(0.0, f - y - stated_.epsilon);
    switch (stated_.loss) {
      case Lost::hinge:
        return price * margin;
      case Lost::squared_hinge:
        return price * margin * margin;
      case Lost::huberised_hinge:
        return price * rounded(margin);
      case Lost::logistic:
        return price *
               (y * f > 0 ? std::log1p(std::exp(-y * f)) : std::log1p(std::exp(y * f)) - y * f);
      case Lost::exponential:
        return price * std::exp(-y * f);
      case Lost::tube:
        return price * (stated_.under * low + stated_.over * high);
      case Lost::squared_tube:
        return price * (stated_.under * low * low + stated_.over * high * high);
      case Lost::huber:
        return price * rounded(std::abs(y - f));
      case Lost::squared:
        return price * (y - f) * (y - f) / 2;
      case Lost::pinball:
        return price * (y > f ? stated_.tau * (y - f) : (1 - stated_.tau) * (f - y));
    }
    return 0;
  }

  std::vector<Piece> dual(double y, double price) const {
    const double without = infinity, eps = stated_.epsilon;
    const auto side = [&](double length, double curvature) {
      return y > 0 ? piece(0, length, 1, curvature) : piece(-length, 0, -1, curvature);
    };
    Piece smooth;
    smooth.label = y;
    smooth.price = price;
    switch (stated_.loss) {
      case Lost::hinge:
        return {side(price, 0)};
      case Lost::squared_hinge:
        return {side(without, 1 / (2 * price))};
      case Lost::huberised_hinge:
        return {side(price, stated_.sigma / price)};
      case Lost::logistic:
        smooth.kind = Piece::Kind::logistic;
        smooth.end = price;
        break;
      case Lost::exponential:
        smooth.kind = Piece::Kind::exponential;
        smooth.end = without;
        break;
      case Lost::tube:
        return {piece(-price * stated_.over, 0, y + eps, 0),
                piece(0, price * stated_.under, y - eps, 0)};
      case Lost::squared_tube:
        return {piece(-without, 0, y + eps, 1 / (2 * price * stated_.over)),
                piece(0, without, y - eps, 1 / (2 * price * stated_.under))};
      case Lost::huber:
        return {piece(-price, price, y, stated_.sigma / price)};
      case Lost::squared:
        return {piece(-without, without, y, 1 / price)};
      case Lost::pinball:
        return {piece(-(1 - stated_.tau) * price, stated_.tau * price, y, 0)};
    }
    if (y < 0) std::swap(smooth.begin, smooth.end), smooth.begin = -smooth.begin;
    return {smooth};
  }

 private:
  double rounded(double error) const {
    const double sigma = stated_.sigma;
    return error < sigma ? error * error / (2 * sigma) : error - sigma / 2;
  }
  static Piece piece(double begin, double end, double slope, double curvature) {
    Piece result;
    result.begin = begin;
    result.end = end;
    result.slope = slope;
    result.curvature = curvature;
    return result;
  }

  const Formulation& stated_;
};

/// The best dual variables of a point's rows that add up to its coefficient.
class SharedPoint {
 public:
  SharedPoint(std::vector<Piece> pieces, double coefficient) : pieces_(std::move(pieces)) {
    double least = 0, most = 0;
    for (const Piece& piece : pieces_) {
      least += piece.begin;
      most += piece.end;
    }
    length_ = most - least;
    excess_ = std::max({0.0, least - coefficient, coefficient - most});
    distribute(std::clamp(coefficient, least, most));
  }

  double excess() const { return excess_; }
  double length() const { return length_; }
  double value() const { return value_; }
  double up = -infinity, down = infinity;  ///< slopes of psi where it can rise or fall

 private:
  double total(double level) const {
    double sum = 0;
    for (const Piece& piece : pieces_) sum += piece.at(level);
    return sum;
  }

  /// All pieces have the same slope at the best: the level that gives the sum, found by halving.
  void distribute(double coefficient) {
    double low = -1, high = 1;
    while (total(low) < coefficient && low > -1e200) low *= 2;
    while (total(high) > coefficient && high < 1e200) high *= 2;
    for (int n = 0; n < 300; ++n) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      (total(middle) >= coefficient ? low : high) = middle;
    }
    // Between the last two levels lies what straight pieces are free to choose.
    const double most = total(low), least = total(high);
    const double share =
        most > least ? std::clamp((coefficient - least) / (most - least), 0.0, 1.0) : 0;
    for (const Piece& piece : pieces_) {
      const double b = piece.at(high) + share * (piece.at(low) - piece.at(high));
      value_ += piece.value(b);
      const double length = piece.end - piece.begin;
      const double tiny = std::isfinite(length) ? at_bound * length : at_bound * std::abs(b);
      if (b < piece.end - tiny) up = std::max(up, piece.derivative(b));
      if (b > piece.begin + tiny) down = std::min(down, piece.derivative(b));
    }
  }

  std::vector<Piece> pieces_;
  double excess_ = 0, length_ = 0, value_ = 0;
};

}  // namespace

Examined examine_loss(const Formulation& formulation, std::vector<SeenRow> rows,
                      const Claimed& claimed, double largest_kernel) {
  Examined result;
  std::ranges::stable_sort(rows, {}, &SeenRow::point);
  double norm = 0, sum = 0, sizes = 0, squares = 0;
  for (const auto& [point, coefficient] : claimed.beta) {
    const auto found = std::ranges::lower_bound(rows, point, {}, &SeenRow::point);
    if (found == rows.end() || found->point != point) {
      result.foreign = true;
      return result;
    }
    norm += coefficient * found->g;
    sum += coefficient;
    sizes += std::abs(coefficient);
    squares += coefficient * coefficient;
  }
  const bool penalised = formulation.bias == Formulation::Bias::penalised;
  const bool free = formulation.bias == Formulation::Bias::unpenalised;
  const double bias = claimed.bias == nullptr ? 0 : *claimed.bias;
  if (penalised) norm += formulation.approximated ? bias * bias : sum * sum;
  result.blur = float_error * std::sqrt(squares) * (largest_kernel + (penalised ? 1 : 0));
  result.dual_blur = result.blur * std::sqrt(squares);
  result.primal_blur = result.dual_blur;

  const LossOf loss(formulation);
  double lost = 0, psi = 0, rise = -infinity, fall = infinity, margin = infinity;
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    std::vector<Piece> pieces;
    for (; end < rows.size() && rows[end].point == rows[begin].point; ++end) {
      const SeenRow& row = rows[end];
      // No coefficient reaches the bound that stands for the one a hard margin does not have.
      const double f = row.g + row.offset + bias;
      const double price = formulation.hard_margin ? 1 + 2 * sizes : formulation.cost * row.weight;
      lost += loss.value(row.target, f, price);
      margin = std::min(margin, row.target * f);
      result.primal_blur += std::abs(loss.value(row.target, f + result.blur, price) -
                                     loss.value(row.target, f - result.blur, price)) /
                            2;
      result.largest_f = std::max(result.largest_f, std::abs(f));
      for (const Piece& piece : loss.dual(row.target, price)) pieces.push_back(piece);
      result.shared = result.shared || row.target != rows[begin].target;
    }
    const auto beta = claimed.beta.find(rows[begin].point);
    const SharedPoint point(std::move(pieces), beta == claimed.beta.end() ? 0 : beta->second);
    psi += point.value();
    if (point.excess() > result.certificate.bound_residual) {
      result.certificate.bound_residual = point.excess();
      result.bound_scale = std::isfinite(point.length()) ? point.length() : sizes;
    }
    const double g = rows[begin].g + rows[begin].offset + (free ? 0 : bias);
    rise = std::max(rise, point.up - g);
    fall = std::min(fall, point.down - g);
  }

  Certificate& c = result.certificate;
  c.primal = norm / 2 + lost;
  c.dual = psi - norm / 2;
  if (formulation.hard_margin) {
    const bool separates = margin > 0 && margin < infinity;
    c.primal = separates ? norm / (2 * margin * margin) : infinity;
    result.primal_blur = separates ? result.dual_blur + 2 * c.primal * result.blur / margin : 0;
  }
  c.gap = c.primal - c.dual;
  const double size = std::abs(c.primal) + std::abs(c.dual);
  c.relative_gap = c.gap == 0 ? 0 : std::isfinite(size) ? 2 * c.gap / size : infinity;
  c.kkt = std::max(0.0, free ? rise - fall : std::max(rise, -fall));
  // A penalised bias is the sum of the coefficients; otherwise that sum is 0, or there is no bias.
  c.equality_residual = std::max(std::abs(free        ? sum
                                          : penalised ? sum - bias
                                                      : bias),
                                 claimed.function_defect() * sizes);
  result.equality_scale = sizes;
  c.best_primal = c.primal;
  c.best_dual = c.dual;
  if (formulation.kind == Formulation::Kind::svr) result.shared = true;
  return result;
}

}  // namespace maxmargin
