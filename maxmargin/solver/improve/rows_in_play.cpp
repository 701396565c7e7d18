#include "maxmargin/solver/improve/rows_in_play.hpp"

#include <algorithm>

#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t basis_per_task = 8;
constexpr std::size_t points_at_once = 512;

/// T w = v, T the rows of Z at the basis points.
void solve_lower(const Approximated& low, std::vector<double>& v) {
  for (std::size_t j = 0; j < v.size(); ++j) {
    const double* row = low.Z->row(low.basis[j]);
    for (std::size_t i = 0; i < j; ++i) v[j] -= row[i] * v[i];
    v[j] /= row[j];
  }
}

/// The values at the basis points of sum_p beta_p k(x_p, .).
std::vector<double> values_at_basis(const Quadratic& K, std::span<const Index> basis,
                                    std::span<const Index> which, std::span<const double> beta,
                                    const Threads& threads) {
  std::vector<Index> all(basis.begin(), basis.end());
  all.insert(all.end(), which.begin(), which.end());
  const auto part = K.restrict_to(all);
  std::vector<double> values(basis.size(), 0.0);
  threads.split(basis.size(), basis_per_task, [&](std::size_t from, std::size_t to) {
    std::vector<Index> rows;
    for (std::size_t j = from; j < to; ++j) rows.push_back(static_cast<Index>(j));
    std::vector<double> block(rows.size() * points_at_once);
    for (std::size_t begin = 0; begin < which.size(); begin += points_at_once) {
      const std::size_t count = std::min(points_at_once, which.size() - begin);
      part->exact_block(rows, basis.size() + begin, count, block.data(), count);
      for (std::size_t r = 0; r < rows.size(); ++r)
        for (std::size_t c = 0; c < count; ++c)
          values[from + r] += block[r * count + c] * beta[begin + c];
    }
  });
  return values;
}

}  // namespace

RowsInPlay::RowsInPlay(const DualQp& whole, std::span<const Index> play, const Approximated& low,
                       std::span<const double> a, const Context& context)
    : whole_(whole),
      play_(play),
      low_(low),
      threads_(context.threads),
      fixed_(low.basis.size(), 0.0) {
  constexpr Index out = 0xffffffffu;
  std::vector<Index> position(whole.K->size(), out);
  for (std::size_t k = 0; k < play.size(); ++k) position[play[k]] = static_cast<Index>(k);

  problem_.K = make_low_rank_quadratic(low.Z, context.costs);
  problem_.d = whole.d;
  std::vector<double> beta(whole.K->size(), 0.0);
  for (std::size_t v = 0; v < whole.size(); ++v) {
    if (position[whole.row[v]] != out) {
      variables_.push_back(static_cast<Index>(v));
      problem_.row.push_back(position[whole.row[v]]);
      problem_.block.push_back(whole.block[v]);
      continue;
    }
    beta[whole.row[v]] += whole.block[v].sign * a[v];
    for (std::size_t r = 0; r < whole.A.size(); ++r) problem_.d[r] -= whole.A[r][v] * a[v];
  }
  for (const auto& row : whole.A) {
    auto& mine = problem_.A.emplace_back();
    for (const Index v : variables_) mine.push_back(row[v]);
  }

  std::vector<Index> which, basis;
  std::vector<double> coefficients;
  for (std::size_t p = 0; p < beta.size(); ++p) {
    if (beta[p] == 0) continue;
    which.push_back(static_cast<Index>(p));
    coefficients.push_back(beta[p]);
  }
  if (which.empty()) return;
  for (const Index k : low.basis) basis.push_back(play[k]);
  fixed_ = values_at_basis(*whole.K, basis, which, coefficients, threads_);
  solve_lower(low, fixed_);
  std::vector<double> shift(play.size());
  low.Z->spread(fixed_, shift, threads_);
  for (std::size_t k = 0; k < variables_.size(); ++k)
    problem_.block[k].linear += problem_.block[k].sign * shift[problem_.row[k]];
}

std::vector<double> RowsInPlay::coefficients_in_play(std::span<const double> a) const {
  std::vector<double> beta(play_.size(), 0.0);
  for (std::size_t k = 0; k < variables_.size(); ++k)
    beta[problem_.row[k]] += problem_.block[k].sign * a[variables_[k]];
  return beta;
}

Known RowsInPlay::start(std::span<const double> a) const {
  Known known;
  for (const Index v : variables_) known.a.push_back(a[v]);
  known.f.resize(play_.size());
  low_.Z->spread(low_.Z->gather(coefficients_in_play(a), threads_), known.f, threads_);
  return known;
}

void RowsInPlay::put_back(std::span<const double> solution, std::vector<double>& a) const {
  for (std::size_t k = 0; k < variables_.size(); ++k) a[variables_[k]] = solution[k];
}

Projected RowsInPlay::function(std::span<const double> a) const {
  std::vector<double> w = low_.Z->gather(coefficients_in_play(a), threads_);
  for (std::size_t j = 0; j < w.size(); ++j) w[j] += fixed_[j];
  std::vector<double> near(play_.size());
  low_.Z->spread(w, near, threads_);
  Projected result;
  result.f.resize(whole_.K->size());
  result.coefficients = low_.combined(std::move(w));
  if (play_.size() < result.f.size()) {
    std::vector<double> c(whole_.K->size(), 0.0);
    for (std::size_t j = 0; j < low_.basis.size(); ++j)
      c[play_[low_.basis[j]]] = result.coefficients[j];
    whole_.K->multiply(c, result.f, Precision::exact, threads_);
  }
  for (std::size_t k = 0; k < play_.size(); ++k) result.f[play_[k]] = near[k];
  return result;
}

std::vector<double> distances(const DualQp& qp, std::span<const double> a,
                              std::span<const double> f, std::span<const double> lambda) {
  std::vector<double> distance(qp.K->size(), infinity);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    double& mine = distance[qp.row[v]];
    if (block.lower == block.upper) continue;
    if (block.entropy != Entropy::none || (a[v] > block.lower && a[v] < block.upper)) {
      mine = std::min(mine, 0.0);
      continue;
    }
    double slope = block.slope(a[v]) + block.sign * f[qp.row[v]];
    for (std::size_t r = 0; r < qp.A.size(); ++r) slope += qp.A[r][v] * lambda[r];
    mine = std::min(mine, a[v] <= block.lower ? slope : -slope);
  }
  return distance;
}

}  // namespace maxmargin
