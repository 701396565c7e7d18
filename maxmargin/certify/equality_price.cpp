#include "maxmargin/certify/equality_price.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "maxmargin/base/stack_memory.hpp"
#include "maxmargin/linalg/enclosed.hpp"

namespace maxmargin {
namespace {

/// A a - d of each row, without rounding but for the last.
std::pmr::vector<double> residuals(const DualQp& qp, std::span<const double> a,
                                   StackMemory& memory) {
  std::pmr::vector<double> result(memory);
  result.reserve(qp.A.size());
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    ExactSum sum;
    for (std::size_t v = 0; v < qp.size(); ++v)
      if (qp.A[r][v] != 0 && a[v] != 0) sum.add_product(qp.A[r][v], a[v]);
    sum.add(-qp.d[r]);
    result.push_back(sum.value());
  }
  return result;
}

/// Moves of single variables, and a bound of what they take from the dual: the derivative along
/// them and their quadratic term in Q.
class Moves {
 public:
  Moves(const DualQp& qp, std::span<const double> a, std::span<const double> q,
        std::span<const double> error)
      : qp_(qp), a_(a), q_(q), error_(error) {}

  /// Variable v goes up or down by `by` at most.
  void add(std::size_t v, double by) {
    const Block& block = qp_.block[v];
    double slope = std::abs(q_[v] + block.slope(a_[v]));
    double size = std::abs(q_[v]) + std::abs(block.linear) + std::abs(block.curvature * a_[v]);
    if (block.entropy != Entropy::none) {
      slope = std::abs(q_[v]) +
              std::max(std::abs(block.slope(a_[v] - by)), std::abs(block.slope(a_[v] + by)));
      size += slope;
    }
    price_ += by * (slope + error_[v] + 8 * unit_roundoff * size) + block.curvature * by * by / 2;
    // Kernels that are not positive semi-definite have a price, too, which bounds nothing.
    length_ += by * std::abs(block.sign) * std::sqrt(std::abs(qp_.K->diagonal()[qp_.row[v]]));
  }
  /// For all of them at once. The few roundings of this sum are within its last factor.
  double price() const {
    const double price = (price_ + length_ * length_ / 2) * (1 + 1e-9);
    return std::isnan(price) ? infinity : price;
  }

  double room_up(std::size_t v) const { return room(v, qp_.block[v].upper - a_[v]); }
  double room_down(std::size_t v) const { return room(v, a_[v] - qp_.block[v].lower); }

 private:
  /// Entropies have infinite slopes at their bounds: they move half of the way at most.
  double room(std::size_t v, double distance) const {
    return (qp_.block[v].entropy != Entropy::none ? 0.5 : 1 - 4 * unit_roundoff) *
           std::max(0.0, distance);
  }

  const DualQp& qp_;
  std::span<const double> a_, q_, error_;
  double price_ = 0, length_ = 0;
};

/// Moves one row's residual onto variables that stand in no other row, free ones with the most room
/// first. False where the room does not suffice.
bool absorb(const DualQp& qp, std::size_t r, double residual, Moves& moves) {
  struct Movable {
    std::size_t v;
    double room;
    bool is_free;
  };
  std::vector<Movable> movable;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const double weight = qp.A[r][v];
    if (weight == 0) continue;
    const auto stands = [&](const std::vector<double>& row) { return row[v] != 0; };
    if (std::count_if(qp.A.begin(), qp.A.end(), stands) > 1) return false;
    const double up = moves.room_up(v), down = moves.room_down(v);
    const double room = (residual > 0) == (weight > 0) ? down : up;
    if (room > 0) movable.push_back({v, room, up > 0 && down > 0});
  }
  std::stable_sort(movable.begin(), movable.end(), [](const Movable& x, const Movable& y) {
    return x.is_free != y.is_free ? x.is_free : x.room > y.room;
  });
  double left = std::abs(residual) * (1 + 8 * unit_roundoff);
  for (const Movable& each : movable) {
    if (left <= 0) break;
    const double weight = std::abs(qp.A[r][each.v]);
    const double need = left / weight;
    moves.add(each.v, std::min(need, each.room) * (1 + 8 * unit_roundoff));
    left = need <= each.room ? 0 : (left - each.room * weight) * (1 + 8 * unit_roundoff);
  }
  return left <= 0;
}

bool have_equal_products(double a, double b, double c, double d) {
  const HighLowPair first = two_product(a, b), second = two_product(c, d);
  return first.high == second.high && first.low == second.low;
}

/// Whether a row of A a = d is a multiple of another, exactly: whatever fulfils one fulfils both.
bool are_proportional(const DualQp& qp, std::size_t r, std::size_t s) {
  const std::vector<double>&one = qp.A[r], &other = qp.A[s];
  const auto first = std::ranges::find_if(one, [](double each) { return each != 0; });
  if (first == one.end()) return false;
  const double x = *first, z = other[static_cast<std::size_t>(first - one.begin())];
  if (z == 0 || !have_equal_products(qp.d[r], z, qp.d[s], x)) return false;
  for (std::size_t v = 0; v < one.size(); ++v)
    if (!have_equal_products(one[v], z, other[v], x)) return false;
  return true;
}

/// The rows without those that repeat an earlier one. Other linear dependences are not known:
/// rounded rows are never exactly dependent.
std::vector<std::size_t> rows_that_count(const DualQp& qp) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < qp.A.size(); ++r)
    if (std::ranges::none_of(rows, [&](std::size_t s) { return are_proportional(qp, r, s); }))
      rows.push_back(r);
  return rows;
}

/// Rows that share variables: as many variables as rows, found by elimination, move together.
class Corner {
 public:
  Corner(const DualQp& qp, const Moves& moves) : row_(rows_that_count(qp)), rows_(row_.size()) {
    double largest = 0;
    for (std::size_t v = 0; v < qp.size(); ++v) largest = std::max(largest, room(moves, v));
    std::vector<std::vector<double>> left;
    for (const std::size_t r : row_) left.push_back(qp.A[r]);
    std::vector<bool> is_done(rows_, false);
    for (std::size_t step = 0; step < rows_; ++step) {
      std::size_t row = 0, at = 0;
      double pivot = 0;
      for (std::size_t r = 0; r < rows_; ++r)
        for (std::size_t v = 0; v < qp.size() && !is_done[r]; ++v)
          if (std::abs(left[r][v]) > pivot && room(moves, v) > 1e-3 * largest) {
            pivot = std::abs(left[r][v]);
            row = r;
            at = v;
          }
      if (pivot == 0) return;
      is_done[row] = true;
      variable_.push_back(at);
      for (std::size_t r = 0; r < rows_; ++r) {
        if (is_done[r]) continue;
        const double share = left[r][at] / left[row][at];
        for (std::size_t v = 0; v < qp.size(); ++v) left[r][v] -= share * left[row][v];
        left[r][at] = 0;
      }
    }
  }

  /// The largest move that any of its variables makes; infinite where that is not known.
  double longest(const DualQp& qp, std::span<const double> residual) const {
    if (variable_.size() < rows_) return infinity;
    const std::vector<double> R = inverse(qp);
    double defect = 0, move = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
      double line = 0, along = 0;
      for (std::size_t j = 0; j < rows_; ++j) {
        double product = i == j ? -1 : 0, size = std::abs(product);
        for (std::size_t k = 0; k < rows_; ++k) {
          const double term = R[i * rows_ + k] * qp.A[row_[k]][variable_[j]];
          product += term;
          size += std::abs(term);
        }
        line += std::abs(product) + 2 * static_cast<double>(rows_ + 1) * unit_roundoff * size;
        along += std::abs(R[i * rows_ + j] * residual[row_[j]]) * (1 + 1e-9);
      }
      defect = std::max(defect, line);
      move = std::max(move, along);
    }
    return defect < 0.5 ? move / (1 - defect) * (1 + 1e-9) : infinity;
  }

  std::span<const std::size_t> variables() const { return variable_; }
  static double room(const Moves& moves, std::size_t v) {
    constexpr double plenty = 1e9;  // variables without bounds are not better than others
    return std::min({plenty, moves.room_up(v), moves.room_down(v)});
  }

 private:
  /// The inverse of the chosen columns of A, by Gauss-Jordan elimination in doubles.
  std::vector<double> inverse(const DualQp& qp) const {
    const std::size_t n = rows_, width = 2 * n;
    std::vector<double> M(n * width, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) M[i * width + j] = qp.A[row_[i]][variable_[j]];
      M[i * width + n + i] = 1;
    }
    for (std::size_t c = 0; c < n; ++c) {
      std::size_t best = c;
      for (std::size_t i = c; i < n; ++i)
        if (std::abs(M[i * width + c]) > std::abs(M[best * width + c])) best = i;
      std::swap_ranges(M.begin() + static_cast<std::ptrdiff_t>(c * width),
                       M.begin() + static_cast<std::ptrdiff_t>((c + 1) * width),
                       M.begin() + static_cast<std::ptrdiff_t>(best * width));
      const double pivot = M[c * width + c];
      for (std::size_t j = 0; j < width; ++j) M[c * width + j] /= pivot;
      for (std::size_t i = 0; i < n; ++i) {
        if (i == c) continue;
        const double share = M[i * width + c];
        for (std::size_t j = 0; j < width; ++j) M[i * width + j] -= share * M[c * width + j];
      }
    }
    std::vector<double> R(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) R[i * n + j] = M[i * width + n + j];
    return R;
  }

  std::vector<std::size_t> row_;
  std::size_t rows_;
  std::vector<std::size_t> variable_;
};

}  // namespace

double equality_price(const DualQp& qp, std::span<const double> a, std::span<const double> q,
                      std::span<const double> error) {
  StackMemory memory;
  const std::pmr::vector<double> residual = residuals(qp, a, memory);
  Moves moves(qp, a, q, error);
  bool is_absorbed = true;
  for (std::size_t r = 0; r < qp.A.size() && is_absorbed; ++r)
    if (residual[r] != 0) is_absorbed = absorb(qp, r, residual[r], moves);
  if (is_absorbed) return moves.price();

  Moves together(qp, a, q, error);
  const Corner corner(qp, together);
  const double move = corner.longest(qp, residual);
  for (const std::size_t v : corner.variables()) {
    if (!(move <= Corner::room(together, v))) return infinity;
    together.add(v, move);
  }
  return std::isfinite(move) ? together.price() : infinity;
}

}  // namespace maxmargin
