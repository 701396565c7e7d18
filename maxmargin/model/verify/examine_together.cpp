#include <algorithm>

#include "maxmargin/model/verify/one_problem.hpp"

// max -1/2 sum_k |w_k|^2 - sum over rows and k != y of a_k, with sum_k a_k = 0 and a_k <= C [k = y]
// for every row; the primal is 1/2 sum_k |w_k|^2 + sum C max(0, max over k != y of 1 + f_k - f_y).

namespace maxmargin {
namespace {

class TogetherExaminer {
 public:
  TogetherExaminer(const Formulation& stated, const std::vector<std::vector<SeenRow>>& rows,
                   const std::vector<std::vector<double>>& a, const std::vector<Claimed>& claimed,
                   const std::function<Extended(std::size_t)>& diagonal)
      : rows_(rows),
        a_(a),
        diagonal_(diagonal),
        classes_(rows.size()),
        penalised_(stated.bias == Bias::penalised),
        results_(classes_),
        of_class_(classes_) {
    for (std::size_t k = 0; k < classes_; ++k)
      if (claimed[k].bias != nullptr) of_class_[k].bias = *claimed[k].bias;
    for (const SeenRow& row : rows[0]) ++rows_of_point_[row.point];
  }

  std::vector<Examined> run() {
    for (std::size_t k = 0; k < classes_; ++k) take_sizes(k);
    for (std::size_t i = 0; i < rows_[0].size(); ++i) add(i);
    for (std::size_t k = 0; k < classes_; ++k) finish(k);
    return std::move(results_);
  }

 private:
  struct Of {
    Enclosed bias = 0, sum = 0;
    Extended sizes = 0, rounded_root = 0, squares = 0, largest_size = 0;
    Extended roots = 0;  ///< sum of |moved| sqrt(K)
  };

  Extended root(std::size_t row) const { return std::sqrt(diagonal_(row) + (penalised_ ? 1 : 0)); }
  std::size_t equal_rows(const SeenRow& row) const { return rows_of_point_.at(row.point); }

  void take_sizes(std::size_t k) {
    Of& mine = of_class_[k];
    std::size_t seen = 0;
    for (const SeenRow& row : rows_[k]) {
      const Extended a = a_[k][row.row];
      mine.largest_size = std::max(mine.largest_size, row.sum.size);
      largest_ = std::max(largest_, diagonal_(row.row));
      if (a == 0) continue;
      ++seen;
      mine.sum += Enclosed(a);
      mine.sizes += std::abs(a);
      mine.squares += a * a * diagonal_(row.row);
      // Equal rows have shares of one variable, rounded.
      if (equal_rows(row) > 1) mine.rounded_root += std::abs(a) * root(row.row);
    }
    const auto all = static_cast<std::size_t>(
        std::ranges::count_if(a_[k], [](double each) { return each != 0; }));
    if (seen != all) results_[k].foreign = true;
  }

  Extended float_blur(const Of& mine) const {
    const auto count = static_cast<Extended>(rows_[0].size() + 1);
    return float_share *
           std::max(std::sqrt(mine.squares * largest_), 4 * mine.largest_size / std::sqrt(count));
  }
  /// What the rounding of stored numbers may have changed in f_k.
  Extended storage_of_f(std::size_t k, std::size_t row) const {
    const Of& mine = of_class_[k];
    return stored_rounding *
           (mine.rounded_root * root(row) + (penalised_ ? mine.bias.size() + mine.sizes : 0));
  }

  void add(std::size_t i) {
    std::size_t label = classes_;
    std::vector<Enclosed> f(classes_);
    for (std::size_t k = 0; k < classes_; ++k) {
      f[k] = rows_[k][i].sum.g + of_class_[k].bias;
      if (rows_[k][i].target > 0) label = k;
    }
    if (label == classes_) return;
    const SeenRow& row = rows_[label][i];
    add_primal(row, label, f);
    add_dual(row, label, f);
    add_violation(row, label, f);
  }

  void add_primal(const SeenRow& row, std::size_t label, const std::vector<Enclosed>& f) {
    Examined& mine = results_[label];
    const Extended C = row.price;
    Extended least = 0, most = 0, blur = 0, floats = 0;
    Enclosed half = 0;
    for (std::size_t k = 0; k < classes_; ++k) {
      const Enclosed a = a_[k][row.row];
      if (a.middle != 0) half += a * f[k] * Enclosed(0.5L);
      blur = std::max(blur, storage_of_f(k, row.row));
      floats = std::max(floats, float_blur(of_class_[k]));
      if (k == label) continue;
      const Enclosed excess = Enclosed(1) + f[k] - f[label];
      least = std::max(least, excess.low());
      most = std::max(most, excess.high());
    }
    const Enclosed loss((least + most) / 2, (most - least) / 2 + 2 * extended_rounding * most);
    const Enclosed cost = Enclosed(C) * loss;
    mine.primal += half + cost;
    mine.dual -= half;
    const Extended stored = stored_rounding * static_cast<Extended>(equal_rows(row) + 1);
    mine.primal_slack += 2 * C * blur + stored * (half.size() + cost.size());
    mine.dual_slack += stored * half.size();
    mine.primal_float += 2 * C * floats;
    for (std::size_t k = 0; k < classes_; ++k)
      mine.dual_float += std::abs(a_[k][row.row]) * float_blur(of_class_[k]);
  }

  /// Clips the variables of a row and moves their residual onto the class with the most room; for a
  /// change e of a, |w_k|^2 grows by 2 e f_k + e'K e.
  void add_dual(const SeenRow& row, std::size_t label, const std::vector<Enclosed>& f) {
    Examined& mine = results_[label];
    const Extended C = row.price;
    std::vector<Enclosed> moved(classes_);
    Enclosed sum = 0;
    Extended room = -1;
    std::size_t roomiest = 0;
    for (std::size_t k = 0; k < classes_; ++k) {
      const Extended a = a_[k][row.row], upper = k == label ? C : 0;
      if (a > upper) {
        mine.bound = std::max(mine.bound, a - upper);
        moved[k] = Enclosed(upper) - Enclosed(a);
      }
      sum += Enclosed(a);
      if (upper - a > room) room = upper - a, roomiest = k;
    }
    mine.equality = std::max(mine.equality, std::abs(sum.middle) - sum.radius);
    const Extended stored = stored_rounding * static_cast<Extended>(equal_rows(row) + classes_);
    mine.constraint_slack = std::max(mine.constraint_slack, stored * C);
    Enclosed left = sum;
    for (const Enclosed& each : moved) left += each;
    moved[roomiest] -= left;
    if (!(left.low() >= -room)) mine.dual.radius = extended_infinity;
    for (std::size_t k = 0; k < classes_; ++k) {
      const Enclosed a = a_[k][row.row];
      if (k != label) mine.dual -= a + moved[k];
      mine.dual_slack += stored * a.size() * (1 + f[k].size());
      if (moved[k].size() == 0) continue;
      mine.dual -= moved[k] * f[k];
      of_class_[k].roots += moved[k].size() * root(row.row);
    }
  }

  void add_violation(const SeenRow& row, std::size_t label, const std::vector<Enclosed>& f) {
    Examined& mine = results_[label];
    Extended largest_low = -extended_infinity, largest_high = -extended_infinity;
    Extended lowest_low = extended_infinity, lowest_high = extended_infinity;
    for (std::size_t k = 0; k < classes_; ++k) {
      const Enclosed g = f[k] + Enclosed(k == label ? 0 : 1);
      largest_low = std::max(largest_low, g.low());
      largest_high = std::max(largest_high, g.high());
      const Extended t = (k == label ? row.price : 0) - a_[k][row.row];
      if (!(t > at_bound * row.price)) continue;
      lowest_low = std::min(lowest_low, g.low());
      lowest_high = std::min(lowest_high, g.high());
      mine.kkt_slack =
          std::max(mine.kkt_slack, 2 * float_blur(of_class_[k]) + 2 * storage_of_f(k, row.row) +
                                       stored_rounding * g.size());
    }
    mine.kkt_low = std::max(mine.kkt_low, largest_low - lowest_high);
    mine.kkt_high = std::max(mine.kkt_high, largest_high - lowest_low);
  }

  void finish(std::size_t k) {
    Examined& mine = results_[k];
    const Of& own = of_class_[k];
    // f includes the bias of the file, so sum a f includes the share of a penalised bias in |w|^2.
    if (penalised_) {
      const Enclosed half(0.5L), missed = own.bias - own.sum;
      mine.primal += own.bias * missed * half;
      mine.dual += own.sum * missed * half;
      mine.equality = std::max(mine.equality, std::abs(missed.middle) - missed.radius);
      mine.constraint_slack +=
          stored_rounding * static_cast<Extended>(rows_[0].size() + 4) * own.sizes;
      mine.dual_slack += stored_rounding * own.sum.size() * (own.bias.size() + own.sizes);
      // Moved variables met f with the bias of the file.
      mine.dual.radius += own.roots * missed.size();
    } else if (own.bias.size() > 0) {
      mine.equality = std::max(mine.equality, own.bias.size());
    }
    const Extended charge = own.roots * own.roots / 4;
    mine.dual.middle -= charge;
    mine.dual.radius += charge * (1 + 8 * extended_rounding);
  }

  const std::vector<std::vector<SeenRow>>& rows_;
  const std::vector<std::vector<double>>& a_;
  const std::function<Extended(std::size_t)>& diagonal_;
  std::size_t classes_;
  bool penalised_;
  std::vector<Examined> results_;
  std::vector<Of> of_class_;
  std::map<Index, std::size_t> rows_of_point_;
  Extended largest_ = 0;
};

}  // namespace

std::vector<Examined> examine_together(const Formulation& formulation,
                                       const std::vector<std::vector<SeenRow>>& rows,
                                       const std::vector<std::vector<double>>& a,
                                       const std::vector<Claimed>& claimed,
                                       const std::function<Extended(std::size_t)>& diagonal) {
  return TogetherExaminer(formulation, rows, a, claimed, diagonal).run();
}

}  // namespace maxmargin
