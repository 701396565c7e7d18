#include "maxmargin/model/verify/examine.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "maxmargin/model/verify/balance.hpp"
#include "maxmargin/model/verify/dual_pieces.hpp"

// The dual of every machine is max sum psi(b) - 1/2 |w|^2 over pieces b of the rows' coefficients.
// The sums of b over the groups are given: 0 for a free bias, nu times all prices for one-class.
// The two sides of nu machines, b >= 0 and b <= 0, are groups of their own with half of that each,
// and have thresholds of their own, b + t and b - t; t is the epsilon of nu-SVR, and -rho of
// nu-SVC. Where their bias is penalised or none, only the sum of |b| over both sides is given.

namespace maxmargin {
namespace {

struct Point {
  Index row = 0;
  Enclosed product{};  ///< K beta, without functions and bias
  Enclosed g{};        ///< with the functions, without the bias
  Extended size = 0;   ///< of the sum that makes g
  Enclosed beta{};
  bool is_rounded = false;  ///< beta has been rounded since the certificate was made
  std::size_t rows = 0;
  const double* functions = nullptr;
  std::vector<DualPiece> pieces{};
};

class Examiner {
 public:
  Examiner(const Formulation& formulation, const Claimed& claimed,
           const std::function<Extended(std::size_t)>& diagonal)
      : stated_(formulation), claimed_(claimed), diagonal_(diagonal), loss_(formulation.loss) {
    // Coefficients and bias of nu-SVC have been divided by rho.
    const bool margin = stated_.is<NuSvc>();
    if (margin && claimed.width > std::numeric_limits<double>::min()) scale_ = claimed.width;
    if (claimed.bias != nullptr) bias_ = Enclosed(*claimed.bias) * scale_;
    tube_ = margin ? -claimed.width : claimed.width;
    penalised_ = stated_.bias == Bias::penalised;
    is_joint_ = stated_.is_nu() && stated_.bias != Bias::unpenalised;
    groups_ = is_joint_ ? 1 : stated_.is_nu() ? 2 : stated_.bias == Bias::unpenalised ? 1 : 0;
  }

  Examined run(std::vector<SeenRow> rows) {
    std::ranges::stable_sort(rows, {}, &SeenRow::point);
    if (!take_norm(rows)) return result_;
    take_rounded(rows);
    std::erase_if(rows, [](const SeenRow& row) { return row.is_basis; });
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      while (end < rows.size() && rows[end].point == rows[begin].point) ++end;
      add_point(std::span(rows).subspan(begin, end - begin));
    }
    finish_primal();
    if (stated_.approximated) return result_;
    if (stated_.is_nu()) share_out();
    take_kkt();
    if (!claimed_.function_sum.empty())
      meet_with_functions();
    else if (groups_ > 0)
      meet_constraints();
    if (groups_ == 0 || is_joint_) {
      // A penalised bias is the sum of the coefficients; no bias is 0.
      const Enclosed missed = (penalised_ ? sum_ : Enclosed(0)) - bias_;
      result_.equality = std::max(result_.equality, std::abs(missed.middle) - missed.radius);
      result_.constraint_slack +=
          stored_rounding * static_cast<Extended>(points_.size() + 4) * sizes_;
    }
    finish_dual();
    return result_;
  }

 private:
  /// |w|^2; false where a coefficient stands on no row of the machine.
  bool take_norm(const std::vector<SeenRow>& rows) {
    for (const auto& [point, coefficient] : claimed_.beta) {
      const auto found = std::ranges::lower_bound(rows, point, {}, &SeenRow::point);
      if (found == rows.end() || found->point != point) {
        result_.foreign = true;
        return false;
      }
      const Enclosed beta = coefficient.value * scale_;
      norm_ += beta * (found->sum.g * scale_);
      sum_ += beta;
      sizes_ += coefficient.size * scale_.size();
      norm_size_ += beta.size() * found->sum.size * scale_.size();
      squares_ += beta.size() * beta.size() * diagonal_(found->row);
      largest_size_ = std::max(largest_size_, found->sum.size * scale_.size());
      largest_ = std::max(largest_, diagonal_(found->row));
    }
    return true;
  }

  /// Coefficients of several rows are shares of one variable, those of nu-SVC are divided by rho.
  bool is_rounded(std::size_t rows, const Claimed::Coefficient& beta) const {
    return stated_.is<NuSvc>() || rows > 1 || beta.parts > 1;
  }
  /// Of several rows of a regression, coefficients are differences of what both sides have.
  Extended rounded_size(const Claimed::Coefficient& beta, std::span<const SeenRow> same) const {
    Extended size = beta.size * scale_.size();
    if (stated_.is<Svr>() || stated_.is<NuSvr>())
      for (const SeenRow& row : same)
        size += std::max(row.price, row.price_over.value_or(0)) * loss_.largest_factor();
    return size;
  }
  void take_rounded(const std::vector<SeenRow>& rows) {
    for (const auto& [point, coefficient] : claimed_.beta) {
      const auto first = std::ranges::lower_bound(rows, point, {}, &SeenRow::point);
      const auto last = std::ranges::upper_bound(rows, point, {}, &SeenRow::point);
      const std::span<const SeenRow> same(first, last);
      if (!is_rounded(same.size(), coefficient)) continue;
      const Extended size = rounded_size(coefficient, same);
      rounded_root_ += size * root_of(same.front().row);
      result_.constraint_slack += stored_rounding * static_cast<Extended>(same.size() + 1) * size;
    }
  }
  Extended root_of(Index row) const { return std::sqrt(diagonal_(row) + (penalised_ ? 1 : 0)); }

  Extended threshold_size() const { return bias_.size() + std::abs(tube_); }

  void add_point(std::span<const SeenRow> rows) {
    Point& point = points_.emplace_back();
    const SeenRow& first = rows[0];
    point.row = first.row;
    point.rows = rows.size();
    point.functions = first.functions;
    point.product = first.sum.g * scale_;
    point.g = point.product + first.offset * scale_;
    point.size = (first.sum.size + first.offset.size()) * scale_.size();
    const auto found = claimed_.beta.find(first.point);
    if (found != claimed_.beta.end()) point.beta = found->second.value * scale_;
    point.is_rounded = is_rounded(
        rows.size(), found == claimed_.beta.end() ? Claimed::Coefficient{} : found->second);
    for (const SeenRow& row : rows) {
      add_loss(row, point);
      // No coefficient reaches the bound that stands for the one a hard margin does not have.
      const Extended price = stated_.hard_margin ? 1 + 2 * sizes_ : row.price;
      for (const DualPiece& piece : row.price_over ? loss_.dual(row.target, price, *row.price_over)
                                                   : loss_.dual(row.target, price))
        point.pieces.push_back(piece);
      prices_ += Enclosed(row.price);
    }
    Extended excess = 0;
    if (stated_.is_nu())
      excess = fill_side(point);
    else
      excess = distribute(point.beta.middle, point.rows, point.pieces);
    if (excess > point.beta.radius) result_.bound = std::max(result_.bound, excess);
    result_.constraint_slack =
        std::max(result_.constraint_slack,
                 stored_rounding * static_cast<Extended>(point.rows + 1) * point.beta.size());
  }

  /// A loss is convex in f: on [f - r, f + r] it is at most the larger of its values at the ends,
  /// and falls short of that in the middle by no more than these exceed it.
  Enclosed loss_at(const SeenRow& row, Extended f, Extended radius) const {
    const Extended width = stated_.is<NuSvc>() ? -tube_ : tube_;
    const auto at = [&](Extended where) {
      return loss_.value(row.target, where, row.price_at(where), width);
    };
    const Extended middle = at(f);
    const Extended most = std::max(at(f - radius), at(f + radius));
    if (!std::isfinite(most)) return {most, extended_infinity};
    return {middle, most - middle + 16 * extended_rounding * most};
  }

  void add_loss(const SeenRow& row, const Point& point) {
    const Enclosed f = point.g + bias_;
    const Extended target = row.target;
    if (stated_.hard_margin) {
      const Extended margin = target * f.middle - f.radius;
      margin_low_ = std::min(margin_low_, margin);
      margin_high_ = std::min(margin_high_, target * f.middle + f.radius);
      margin_blur_ = std::max(margin_blur_, storage_of_f(point));
      return;
    }
    const bool has_target = stated_.is<Svc>() || stated_.is<Svr>() || stated_.is<NuSvr>();
    const Extended own =
        4 * extended_rounding *
        (f.size() + std::abs(tube_) + (has_target ? std::abs(target) + loss_.tube() : 0));
    const Enclosed loss = loss_at(row, f.middle, f.radius + own);
    costs_ += loss;
    cost_size_ += loss.size();
    const Extended storage = storage_of_f(point);
    result_.primal_slack += loss_at(row, f.middle, storage).radius;
    result_.primal_float += loss_at(row, f.middle, float_blur()).radius;
  }

  /// From the diagonal of K; of an indefinite K that says little, and the sizes of the sums of f
  /// do.
  Extended float_blur() const {
    const auto count = static_cast<Extended>(claimed_.beta.size() + 1);
    return float_share *
           std::max(std::sqrt(squares_ * largest_), 4 * largest_size_ / std::sqrt(count));
  }
  /// What the rounding of stored numbers may have changed in f.
  Extended storage_of_f(const Point& point) const {
    Extended blur = 0;
    if (rounded_root_ > 0) blur = stored_rounding * rounded_root_ * root_of(point.row);
    if (!claimed_.function_sum.empty()) blur += 64 * stored_rounding * point.size;
    if (stated_.is_nu() || penalised_) blur += stored_rounding * (threshold_size() + sizes_);
    return blur;
  }

  void finish_primal() {
    Enclosed norm = norm_;
    if (penalised_) norm += bias_ * bias_;
    Enclosed thresholds = 0;
    if (stated_.is<OneClass>()) thresholds = bias_ * right_side(0);
    if (stated_.is_nu())
      thresholds = Enclosed(tube_) * (is_joint_ ? right_side(0) : right_side(0) - right_side(1));
    result_.primal = norm * Enclosed(0.5L) + costs_ + thresholds;
    if (stated_.hard_margin) {
      const Extended low = margin_low_, high = margin_high_;
      const Extended most = low > 0 ? norm.high() / (2 * low * low) : extended_infinity;
      const Extended least = high > 0 ? norm.low() / (2 * high * high) : extended_infinity;
      result_.primal =
          most < extended_infinity
              ? Enclosed((most + least) / 2, (most - least) / 2 + 8 * extended_rounding * most)
              : Enclosed(least, extended_infinity);
      if (low > 0) result_.primal_slack += 4 * margin_blur_ / low * most;
    }
    result_.dual_float = float_blur() * sizes_;
    result_.primal_float += result_.dual_float;
    result_.primal_slack += stored_rounding * (norm.size() + cost_size_ + thresholds.size());
    if (rounded_root_ > 0) result_.primal_slack += stored_rounding * norm_size_;
  }

  /// Of the equality constraint of a group.
  Enclosed right_side(int group) const {
    if (stated_.is<OneClass>()) return Enclosed(stated_.nu) * prices_;
    if (!stated_.is_nu()) return 0;
    if (is_joint_) return Enclosed(stated_.nu) * prices_;
    const Enclosed half = Enclosed(stated_.nu) * Enclosed(0.5L) * prices_;
    return group == 0 ? half : -half;
  }

  // ---- nu machines: what coefficients say is only what both sides differ by ----

  /// Pieces of a side in the order in which they are best filled, away from 0.
  static std::vector<DualPiece*> side_of(Point& point, int group) {
    std::vector<DualPiece*> side;
    for (DualPiece& piece : point.pieces)
      if (piece.group == group) side.push_back(&piece);
    std::ranges::stable_sort(side, [&](const DualPiece* x, const DualPiece* y) {
      return group == 0 ? x->slope > y->slope : x->slope < y->slope;
    });
    return side;
  }
  static Extended room_of(const DualPiece& piece) {
    return piece.group == 0 ? piece.end - piece.b.middle : piece.b.middle - piece.begin;
  }
  /// Fills `amount` more; returns what there is no room for.
  static Extended fill(const std::vector<DualPiece*>& side, Extended amount) {
    for (DualPiece* piece : side) {
      const Extended room = room_of(*piece), part = std::min(amount, room);
      const Extended bound = piece->group == 0 ? piece->end : piece->begin;
      piece->b = part == room ? bound : piece->b.middle + (piece->group == 0 ? part : -part);
      amount -= part;
      if (amount <= 0) return 0;
    }
    return amount;
  }
  Extended fill_side(Point& point) {
    const Extended beta = point.beta.middle;
    return fill(side_of(point, beta > 0 ? 0 : 1), std::abs(beta));
  }
  static Extended filled(const Point& point, int group) {
    Extended sum = 0;
    for (const DualPiece& piece : point.pieces)
      if (piece.group == group) sum += std::abs(piece.b.middle);
    return sum;
  }

  /// Raises both sides by the same amounts, where that gains most, until their sums are reached.
  void share_out() {
    Extended missing = right_side(0).middle;
    for (const Point& point : points_)
      missing -= filled(point, 0) + (is_joint_ ? filled(point, 1) : 0);
    if (is_joint_) missing /= 2;
    if (!(missing > stored_rounding * static_cast<Extended>(points_.size()) * prices_.middle))
      return;
    struct Exchange {
      Extended gain, length;
      DualPiece *upper, *lower;
    };
    std::vector<Exchange> exchanges;
    for (Point& point : points_) {
      const std::vector<DualPiece*> upper = side_of(point, 0), lower = side_of(point, 1);
      std::size_t i = 0, j = 0;
      Extended first = 0, second = 0;  // used of the two pieces
      while (i < upper.size() && j < lower.size()) {
        const Extended above = room_of(*upper[i]) - first, below = room_of(*lower[j]) - second;
        const Extended length = std::min(above, below);
        if (length > 0)
          exchanges.push_back({upper[i]->slope - lower[j]->slope, length, upper[i], lower[j]});
        first += length, second += length;
        if (above <= below) ++i, first = 0;
        if (below <= above) ++j, second = 0;
      }
    }
    std::ranges::stable_sort(exchanges, std::ranges::greater{}, &Exchange::gain);
    for (const Exchange& exchange : exchanges) {
      const Extended length = std::min(exchange.length, missing);
      if (length <= 0) break;
      exchange.upper->b = std::min(exchange.upper->end, exchange.upper->b.middle + length);
      exchange.lower->b = std::max(exchange.lower->begin, exchange.lower->b.middle - length);
      missing -= length;
      has_choice_ = true;
    }
  }

  /// Whether some choice of both sides with these coefficients violates the thresholds by no more
  /// than so much. Pieces that are beyond their threshold by more must be full or empty, the others
  /// may be anything.
  bool violates_at_most(Extended violation) const {
    const Extended half =
        is_joint_ ? (right_side(0).middle + sum_.middle) / 2 : right_side(0).middle;
    // What both sums differ by is missing on one side.
    const Extended tiny = at_bound * prices_.middle + (is_joint_ ? sum_.radius : sum_.size());
    Extended least = 0, most = 0;
    for (const Point& point : points_) {
      std::array<Extended, 2> full{}, possible{};
      for (const DualPiece& piece : point.pieces) {
        const int side = piece.group;
        const Extended excess =
            (side == 0 ? 1 : -1) * (piece.slope - point.g.middle - threshold(side));
        const Extended length = piece.end - piece.begin, blur = point.g.radius + violation;
        if (excess > blur) full[side] += length;
        if (excess >= -blur) possible[side] += length;
      }
      const Extended beta = filled(point, 0) - filled(point, 1);
      const Extended low = std::max(full[0], full[1] + beta);
      const Extended high = std::min(possible[0], possible[1] + beta);
      if (low > high + tiny) return false;
      least += low;
      most += high;
    }
    return least <= half + tiny && half <= most + tiny;
  }
  Extended threshold(int side) const { return bias_.middle + (side == 0 ? tube_ : -tube_); }

  Extended least_violation() const {
    std::vector<Extended> candidates{0};
    for (const Point& point : points_)
      for (const DualPiece& piece : point.pieces)
        candidates.push_back(std::abs(piece.slope - point.g.middle - threshold(piece.group)));
    std::ranges::sort(candidates);
    const auto enough = std::ranges::partition_point(
        candidates, [&](Extended violation) { return !violates_at_most(violation); });
    return enough == candidates.end() ? extended_infinity : *enough;
  }

  // ---- optimality ----

  /// m(a) is the largest gain of a piece that can rise, M(a) the smallest of one that can fall.
  void take_kkt() {
    // The violation is no bound but measured, through kernel values that may be floats.
    result_.kkt_slack = float_blur();
    std::array<Extended, 2> rise_low{-extended_infinity, -extended_infinity}, rise_high = rise_low;
    std::array<Extended, 2> fall_low{extended_infinity, extended_infinity}, fall_high = fall_low;
    Extended slopes = 0, largest = 0;
    for (const Point& point : points_)
      for (const DualPiece& piece : point.pieces)
        largest = std::max(largest, std::abs(piece.b.middle));
    for (const Point& point : points_) {
      const Enclosed level = groups_ > 0 && !is_joint_ ? point.g : point.g + bias_;
      result_.kkt_slack =
          std::max(result_.kkt_slack, 2 * storage_of_f(point) + stored_rounding * level.size());
      const Extended share =
          point.is_rounded ? stored_rounding * static_cast<Extended>(2 * point.rows + 2) : 0;
      for (const DualPiece& piece : point.pieces) {
        const int group = groups_ == 2 ? piece.group : 0;
        const Extended b = piece.b.middle, length = piece.end - piece.begin;
        const Extended near = at_bound * (std::isfinite(length) ? length : largest);
        const DualPiece::Derivative slope =
            piece.derivative_within(share, share * point.beta.size());
        if (std::isfinite(slope.least)) slopes = std::max(slopes, std::abs(slope.least));
        // A logarithm is rounded when its argument is, however near to 0 it is.
        if (piece.kind != DualPiece::Kind::plain) slopes = std::max<Extended>(slopes, 1);
        bool can_rise = b<piece.end - near, can_fall = b> piece.begin + near;
        struct Gain {
          Extended low, high;
        };
        Gain rise{slope.least_possible - level.high(), slope.most - level.low()},
            fall{slope.least - level.high(), slope.most_possible - level.low()};
        if (turned(piece)) {
          std::swap(can_rise, can_fall);
          std::swap(rise, fall);
          rise = {-rise.high, -rise.low};
          fall = {-fall.high, -fall.low};
        }
        if (can_rise) {
          rise_low[group] = std::max(rise_low[group], rise.low);
          rise_high[group] = std::max(rise_high[group], rise.high);
        }
        if (can_fall) {
          fall_low[group] = std::min(fall_low[group], fall.low);
          fall_high[group] = std::min(fall_high[group], fall.high);
        }
      }
    }
    for (int g = 0; g < 2; ++g) {
      const Extended low =
          groups_ > 0 ? rise_low[g] - fall_high[g] : std::max(rise_low[g], -fall_high[g]);
      const Extended high =
          groups_ > 0 ? rise_high[g] - fall_low[g] : std::max(rise_high[g], -fall_low[g]);
      result_.kkt_low = std::max(result_.kkt_low, low);
      result_.kkt_high = std::max(result_.kkt_high, high);
    }
    result_.kkt_slack += stored_rounding * slopes;
    if (has_choice_) result_.kkt_low = std::min(result_.kkt_low, least_violation());
  }

  /// What a move costs; none costs nothing, however steep it would be (a logarithm at 0).
  static Extended priced(Extended move, Extended slope) { return move == 0 ? 0 : move * slope; }

  /// Whether it is -b that counts in the sum of a piece's group.
  bool turned(const DualPiece& piece) const { return is_joint_ && piece.group == 1; }

  /// Moves pieces so that every sum is what it has to be: one that can take all of it and loses
  /// least, else whatever has room.
  void meet_constraints() {
    for (int group = 0; group < groups_; ++group) {
      Enclosed excess = -right_side(group);
      Extended sizes = 0;
      std::vector<std::pair<DualPiece*, const Point*>> members;
      for (Point& point : points_)
        for (DualPiece& piece : point.pieces) {
          if (groups_ == 2 && piece.group != group) continue;
          excess += turned(piece) ? -piece.b : piece.b;
          sizes += piece.b.size();
          members.emplace_back(&piece, &point);
        }
      const Extended count = static_cast<Extended>(members.size()) + 4;
      // The coefficients tell the residual of both sides together, not of each.
      const Extended missed = std::abs(excess.middle) - excess.radius;
      result_.equality = std::max(result_.equality, missed / static_cast<Extended>(groups_));
      const Extended rounding =
          stored_rounding * count * (sizes + sizes_ + right_side(group).size());
      result_.constraint_slack = std::max(result_.constraint_slack, rounding);
      // Whoever meets the constraint by other moves may lose a little less.
      result_.dual_slack +=
          priced(std::min(excess.size(), rounding), threshold_size() + result_.kkt_high);
      const auto level = [&](const DualPiece& piece) {
        return groups_ == 2 || is_joint_ ? threshold(piece.group) : bias_.middle;
      };
      const auto room = [&](const DualPiece& piece) {
        return (excess.middle > 0) != turned(piece) ? piece.room_below() : piece.room_above();
      };
      DualPiece* best = nullptr;
      Extended least = extended_infinity, steepest = 0;
      for (const auto& [piece, point] : members) {
        const Extended slope = piece->derivative(piece->b.middle);
        const Extended loss = std::abs(slope - point->g.middle - level(*piece));
        if (std::isfinite(slope))
          steepest = std::max(steepest, std::abs(slope - point->g.middle) + point->g.radius);
        const Extended needed = piece->kind == DualPiece::Kind::plain ? 1 : 1000;
        if (room(*piece) > needed * excess.size() && loss < least) best = piece, least = loss;
      }
      if (best != nullptr) {
        best->b -= turned(*best) ? -excess : excess;
        continue;
      }
      std::ranges::stable_sort(members, std::ranges::greater{},
                               [&](const auto& each) { return room(*each.first); });
      for (const auto& [piece, point] : members) {
        const Extended part = std::min(room(*piece), std::abs(excess.middle));
        if (!(part > 0)) break;
        const Extended by = excess.middle > 0 ? -part : part;
        piece->b += Enclosed(turned(*piece) ? -by : by);
        excess += Enclosed(by);
      }
      // No room is left only where all are at their bounds but for the rounding of the right side:
      // whatever points are feasible differ by that, and their duals by it times the steepest
      // slope.
      uncovered_ += 2 * excess.size() * steepest;
    }
  }

  /// The same where functions stand beside the bias: several equations share their pieces.
  void meet_with_functions() {
    const std::size_t functions = claimed_.function_sum.size();
    const auto groups = static_cast<std::size_t>(groups_);
    std::vector<Enclosed> residual(groups + functions, Enclosed(0));
    std::vector<Extended> sizes(residual.size(), 0);
    std::vector<Movable> movable;
    std::vector<DualPiece*> pieces;
    for (std::size_t g = 0; g < groups; ++g) residual[g] = -right_side(static_cast<int>(g));
    for (Point& point : points_)
      for (DualPiece& piece : point.pieces) {
        Movable& own = movable.emplace_back();
        pieces.push_back(&piece);
        own.column.assign(residual.size(), 0);
        if (groups > 0) own.column[groups == 2 ? static_cast<std::size_t>(piece.group) : 0] = 1;
        for (std::size_t r = 0; r < functions; ++r) own.column[groups + r] = point.functions[r];
        // The slope of an entropy is bounded only well within its interval.
        const Extended part = piece.kind == DualPiece::Kind::plain ? 1 : 1e-3L;
        own.below = part * piece.room_below();
        own.above = part * piece.room_above();
        if (piece.b.size() == 0) continue;  // so that a sum of nothing is exact
        for (std::size_t r = 0; r < residual.size(); ++r) {
          residual[r] += Enclosed(own.column[r]) * piece.b;
          sizes[r] += std::abs(own.column[r]) * piece.b.size();
        }
      }
    for (std::size_t r = 0; r < residual.size(); ++r) {
      const bool is_function = r >= groups;
      const Extended missed = std::abs(residual[r].middle) - residual[r].radius;
      result_.equality = std::max(result_.equality, missed / (groups == 2 ? 2 : 1));
      const Extended rounding = stored_rounding * (is_function ? 64 : 1) *
                                static_cast<Extended>(pieces.size() + 4) *
                                (sizes[r] + (is_function ? 0 : right_side(0).size()));
      result_.constraint_slack = std::max(result_.constraint_slack, rounding);
      const Extended multiplier =
          is_function ? std::abs(claimed_.function_coefficient[r - groups]) : threshold_size();
      result_.dual_slack +=
          2 * priced(std::min(residual[r].size(), rounding), multiplier + result_.kkt_high);
    }
    const auto moves = balanced(movable, residual);
    if (!moves) uncovered_ = extended_infinity;
    if (moves)
      for (const Moved& move : *moves) {
        pieces[move.which]->b += move.by;
        result_.dual_slack += 2 * priced(move.by.size(), result_.kkt_high);
      }
  }

  /// sum psi(b) - 1/2 |w|^2, where the coefficients that b add up to differ from those of w by e:
  /// |w|^2 grows by 2 e'K beta + e'K e.
  void finish_dual() {
    Enclosed psi = 0, change = 0;
    Extended psi_size = 0, roots = 0;
    for (const Point& point : points_) {
      Enclosed total = 0;
      for (const DualPiece& piece : point.pieces) {
        const Enclosed value = piece.value(piece.b);
        psi += value;
        psi_size += value.size();
        total += piece.b;
      }
      if (total.middle == point.beta.middle && total.radius == 0) continue;
      const Enclosed moved = total - point.beta;
      if (moved.size() <= 0) continue;
      change += moved * (point.product + (penalised_ ? sum_ : Enclosed(0)));
      roots += moved.size() * root_of(point.row);
    }
    Enclosed norm = norm_;
    if (penalised_) norm += sum_ * sum_;
    result_.dual = psi - norm * Enclosed(0.5L) - change;
    const Extended charge = roots * roots / 4 + uncovered_ / 2;
    if (std::isfinite(charge)) result_.dual.middle -= charge;
    result_.dual.radius += charge * (1 + 8 * extended_rounding);
    result_.dual_slack += stored_rounding * (norm.size() + psi_size);
    for (const Point& point : points_)
      if (point.is_rounded)
        result_.dual_slack += stored_rounding * static_cast<Extended>(point.rows + 1) *
                              point.beta.size() * (point.size + threshold_size() + slope_of(point));
  }
  static Extended slope_of(const Point& point) {
    Extended most = 0;
    for (const DualPiece& piece : point.pieces) most = std::max(most, std::abs(piece.slope));
    return most;
  }

  const Formulation& stated_;
  const Claimed& claimed_;
  const std::function<Extended(std::size_t)>& diagonal_;
  TextbookLoss loss_;
  Enclosed scale_ = 1, bias_ = 0;
  Extended tube_ = 0;
  bool penalised_ = false, is_joint_ = false, has_choice_ = false;
  int groups_ = 0;
  std::vector<Point> points_;
  Examined result_;
  Enclosed norm_ = 0, sum_ = 0, costs_ = 0, prices_ = 0;
  Extended sizes_ = 0, norm_size_ = 0, cost_size_ = 0, uncovered_ = 0;
  Extended largest_size_ = 0;
  Extended squares_ = 0, largest_ = 0;  ///< sum of beta^2 K, and the largest K
  Extended rounded_root_ = 0;           ///< sum of |beta| sqrt(K) over what has been rounded
  Extended margin_low_ = extended_infinity, margin_high_ = extended_infinity, margin_blur_ = 0;
};

}  // namespace

Examined examine(const Formulation& formulation, std::vector<SeenRow> rows, const Claimed& claimed,
                 const std::function<Extended(std::size_t)>& diagonal) {
  return Examiner(formulation, claimed, diagonal).run(std::move(rows));
}

}  // namespace maxmargin
