#include "maxmargin/solver/smo/coupled_rows.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/linalg/small.hpp"

namespace maxmargin {
namespace {

// The penalty relative to the mean kernel value of a point with itself: its terms are then no
// harder to minimise than the objective.
constexpr double first_penalty = 1;
constexpr double most_growth = 1e4;
constexpr std::size_t most_idle_updates = 100;
// A row whose part orthogonal to the others is below this share of it depends on them.
constexpr double least_share = 1e-9;

/// The entries of an equality row are the signs of its variables times this; 0: they are not, or
/// the row is empty.
double entry_scale(const DualQp& qp, std::size_t row) {
  double scale = 0;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const double here = qp.A[row][v] * qp.block[v].sign;
    if (here == 0) continue;
    if (scale != 0 && here != scale) return 0;
    scale = here;
  }
  return scale;
}

void subtract(double factor, std::span<const double> x, std::span<double> from) {
  for (std::size_t i = 0; i < x.size(); ++i) from[i] -= factor * x[i];
}

/// Rows in beta, one after another made orthogonal to those before.
struct Orthogonal {
  std::vector<std::vector<double>> row;
  std::vector<std::vector<double>> made_of;  // each in terms of the rows of the problem
  std::vector<std::size_t> dependent;        // rows of the problem that add nothing

  Orthogonal(const DualQp& qp, const RowKinds& kinds) {
    for (const auto* list : {&kinds.pair, &kinds.coupled})
      for (const std::size_t r : *list) add(qp, r);
  }

 private:
  void add(const DualQp& qp, std::size_t r) {
    std::vector<double> now(qp.size()), parts(qp.A.size(), 0.0);
    for (std::size_t v = 0; v < qp.size(); ++v) now[v] = qp.A[r][v] * qp.block[v].sign;
    parts[r] = 1;
    const double size = std::sqrt(dot(now, now));
    // Gram-Schmidt twice: the second pass removes rounding errors of the first.
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t k = 0; k < row.size(); ++k) {
        const double share = dot(now, row[k]) / dot(row[k], row[k]);
        subtract(share, row[k], now);
        subtract(share, made_of[k], parts);
      }
    const double left = std::sqrt(dot(now, now));
    if (!(left > least_share * size)) {
      dependent.push_back(r);
      return;
    }
    const double scale = std::sqrt(static_cast<double>(qp.size())) / left;
    for (double& value : now) value *= scale;
    for (double& value : parts) value *= scale;
    row.push_back(std::move(now));
    made_of.push_back(std::move(parts));
  }
};

}  // namespace

RowKinds sort_rows(const DualQp& qp) {
  RowKinds kinds;
  std::vector<bool>& taken = kinds.in_pair_row;
  taken.assign(qp.size(), false);
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    const double scale = entry_scale(qp, r);
    bool apart = scale != 0;
    for (std::size_t v = 0; v < qp.size() && apart; ++v) apart = qp.A[r][v] == 0 || !taken[v];
    if (!apart) {
      kinds.coupled.push_back(r);
      continue;
    }
    for (std::size_t v = 0; v < qp.size(); ++v)
      if (qp.A[r][v] != 0) taken[v] = true;
    kinds.pair.push_back(r);
    kinds.scale.push_back(scale);
  }
  const auto unbounded = [](const Block& b) { return std::isinf(b.lower) || std::isinf(b.upper); };
  if (!covers_all(kinds) && std::any_of(qp.block.begin(), qp.block.end(), unbounded))
    kinds.refusal = "without a bias every variable must have bounds";
  else if (!kinds.coupled.empty() && !Orthogonal(qp, kinds).dependent.empty())
    kinds.refusal = "its equality rows depend on each other";
  return kinds;
}

bool covers_all(const RowKinds& kinds) {
  return std::find(kinds.in_pair_row.begin(), kinds.in_pair_row.end(), false) ==
         kinds.in_pair_row.end();
}

CoupledRows::CoupledRows(const DualQp& qp, const RowKinds& kinds) : rows_(kinds.coupled.size()) {
  if (rows_ == 0) return;
  const Orthogonal all(qp, kinds);
  const std::size_t first = kinds.pair.size();
  entries_.resize(qp.size() * rows_);
  for (std::size_t r = 0; r < rows_; ++r) {
    for (std::size_t v = 0; v < qp.size(); ++v) entries_[v * rows_ + r] = all.row[first + r][v];
    const std::vector<double>& parts = all.made_of[first + r];
    right_side_.push_back(dot(parts, qp.d));
    made_of_.insert(made_of_.end(), parts.begin(), parts.end());
  }
  mu_.assign(rows_, 0.0);
  residual_.assign(rows_, 0.0);
  double sum = 0;
  for (const double value : qp.K->diagonal()) sum += value;
  const double mean = sum / static_cast<double>(qp.K->size());
  least_penalty_ = penalty_ = first_penalty * (mean > 0 ? mean : 1);
}

void CoupledRows::measure(std::span<const double> beta) {
  for (std::size_t r = 0; r < rows_; ++r) residual_[r] = -right_side_[r];
  for (std::size_t v = 0; v < beta.size(); ++v) move(v, beta[v]);
}

void CoupledRows::move(std::size_t variable, double change) {
  for (std::size_t r = 0; r < rows_; ++r) residual_[r] += entries(variable)[r] * change;
}

double CoupledRows::largest_residual() const {
  double largest = 0;
  for (const double value : residual_) largest = std::max(largest, std::abs(value));
  return largest;
}

double CoupledRows::kernel(std::size_t v, std::size_t w) const {
  double sum = 0;
  for (std::size_t r = 0; r < rows_; ++r) sum += entries(v)[r] * entries(w)[r];
  return penalty_ * sum;
}

double CoupledRows::slope(std::size_t variable) const {
  double sum = 0;
  for (std::size_t r = 0; r < rows_; ++r)
    sum += (mu_[r] + penalty_ * residual_[r]) * entries(variable)[r];
  return sum;
}

void CoupledRows::update() {
  for (std::size_t r = 0; r < rows_; ++r) mu_[r] += penalty_ * residual_[r];
  const double size = largest_residual();
  watch(size);
  if (size > 0.25 * last_size_ && penalty_ < most_growth * least_penalty_) penalty_ *= 4;
  last_size_ = size;
}

void CoupledRows::shift(std::span<const double> step) {
  watch(largest_residual());
  for (std::size_t r = 0; r < rows_; ++r) mu_[r] += penalty_ * residual_[r] + step[r];
}

void CoupledRows::start_from(const RowKinds& kinds, std::span<const double> lambda) {
  // A row of B is made of its own row of the problem and of rows before it.
  const std::size_t all = kinds.pair.size() + kinds.coupled.size();
  for (std::size_t r = rows_; r-- > 0;) {
    const std::size_t own = kinds.coupled[r];
    double rest = lambda[own];
    for (std::size_t later = r + 1; later < rows_; ++later)
      rest -= mu_[later] * made_of_[later * all + own];
    mu_[r] = rest / made_of_[r * all + own];
  }
}

void CoupledRows::watch(double size) {
  idle_ = size < 0.9 * least_size_ ? 0 : idle_ + 1;
  least_size_ = std::min(least_size_, size);
}

bool CoupledRows::is_stuck() const { return idle_ > most_idle_updates; }

std::vector<double> CoupledRows::multipliers(const RowKinds& kinds,
                                             std::span<const double> pair) const {
  const std::size_t all = kinds.pair.size() + kinds.coupled.size();
  std::vector<double> lambda(all, 0.0);
  for (std::size_t g = 0; g < kinds.pair.size(); ++g)
    lambda[kinds.pair[g]] = pair[g] / kinds.scale[g];
  for (std::size_t r = 0; r < rows_; ++r) {
    const double mine = mu_[r] + penalty_ * residual_[r];
    for (std::size_t row = 0; row < all; ++row) lambda[row] += mine * made_of_[r * all + row];
  }
  return lambda;
}

}  // namespace maxmargin
