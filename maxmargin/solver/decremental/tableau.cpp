#include "maxmargin/solver/decremental/tableau.hpp"

#include <algorithm>

#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/linalg/symmetric.hpp"

namespace maxmargin {
namespace {

// Rows that are computed or multiplied at a time: what a thread does, whatever their number.
constexpr std::size_t rows_at_once = 32;

// Of the largest diagonal value, added to that of the free variables: points may depend on each
// other. It changes f by no more than itself times a variable.
constexpr double ridge_share = 1e-11;

}  // namespace

void add_product(const ProductShape& shape, double factor, MatrixView A, MatrixView B, double* C,
                 std::size_t stride) {
  const auto& [rows, inner, columns] = shape;
  if (rows == 0 || inner == 0 || columns == 0) return;
  blas().cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, as_int(rows), as_int(columns),
                     as_int(inner), factor, A.values, as_int(A.stride), B.values, as_int(B.stride),
                     1.0, C, as_int(stride));
}

std::vector<std::vector<double>> SignedRows::computed(std::span<const Index> variables) const {
  const std::size_t points = qp_.K->size();
  std::vector<Index> which;
  for (const Index v : variables) which.push_back(qp_.row[v]);
  std::vector<double> values(which.size() * points);
  qp_.K->exact_block(which, 0, points, values.data(), points);
  std::vector<std::vector<double>> result;
  for (std::size_t r = 0; r < variables.size(); ++r) {
    const double sign = qp_.block[variables[r]].sign;
    std::vector<double>& row = result.emplace_back(qp_.size());
    for (std::size_t w = 0; w < row.size(); ++w)
      row[w] = sign * qp_.block[w].sign * values[r * points + qp_.row[w]];
  }
  return result;
}

void SignedRows::compute(std::span<const Index> variables, const Threads& threads) {
  std::vector<Index> missing;
  for (const Index v : variables)
    if (!rows_.contains(v)) missing.push_back(v);
  std::vector<std::vector<double>*> target;
  for (const Index v : missing) target.push_back(&rows_[v]);
  threads.split(missing.size(), rows_at_once, [&](std::size_t begin, std::size_t end) {
    auto some = computed(std::span(missing).subspan(begin, end - begin));
    for (std::size_t r = begin; r < end; ++r) *target[r] = std::move(some[r - begin]);
  });
}

const std::vector<double>& SignedRows::of(Index v) {
  const std::lock_guard lock(busy_);
  std::vector<double>& row = rows_[v];
  if (row.empty()) row = std::move(computed(std::span(&v, 1)).front());
  return row;
}

Tableau::Tableau(const DualQp& qp, std::vector<Index> order, std::size_t free)
    : qp_(&qp), variables_(std::move(order)), free_(free), order_(free + qp.A.size()) {
  position_of_.assign(qp.size(), none);
  for (std::size_t i = 0; i < variables_.size(); ++i)
    position_of_[variables_[i]] = static_cast<Index>(i);
}

std::optional<Tableau> Tableau::make(const DualQp& qp, std::vector<Index> order, std::size_t free,
                                     SignedRows& rows, const Threads& threads) {
  Tableau tableau(qp, std::move(order), free);
  const SerialBlas serial;
  if (free == 0 || !tableau.invert(rows, threads)) return std::nullopt;
  tableau.fill_free_columns(threads);
  return tableau;
}

bool Tableau::invert(SignedRows& rows, const Threads& threads) {
  rows.compute(std::span(variables_).first(free_), threads);
  pivot_.resize(order_ * positions());
  double largest = 0;
  for (std::size_t f = 0; f < free_; ++f) {
    const std::vector<double>& row = rows.of(variables_[f]);
    for (std::size_t i = 0; i < positions(); ++i) pivot_[f * positions() + i] = row[variables_[i]];
    largest = std::max(largest, row[variables_[f]]);
  }
  if (order_ > free_)
    for (std::size_t i = 0; i < positions(); ++i)
      pivot_[free_ * positions() + i] = border(variables_[i]);
  ridge_ = ridge_share * largest;
  Factor factor(free_);
  for (std::size_t f = 0; f < free_; ++f) {
    std::copy_n(&pivot_[f * positions()], f + 1, factor.matrix().row(f));
    factor.matrix().row(f)[f] += qp_->block[variables_[f]].curvature + ridge_;
  }
  if (factor.cholesky(threads) != Factor::Outcome::done) return false;
  std::vector<double> inverse(free_ * free_, 0.0), along;
  for (std::size_t f = 0; f < free_; ++f) inverse[f * free_ + f] = 1;
  factor.solve(inverse.data(), free_, threads);
  G_.assign(order_ * order_, 0.0);
  for (std::size_t f = 0; f < free_; ++f) std::copy_n(&inverse[f * free_], free_, &G_[f * order_]);
  if (order_ == free_) return true;
  for (std::size_t f = 0; f < free_; ++f) along.push_back(border(variables_[f]));
  factor.solve(along.data(), 1, threads);
  double sum = 0;
  for (std::size_t f = 0; f < free_; ++f) sum += along[f] * border(variables_[f]);
  if (!(sum > 0)) return false;
  for (std::size_t f = 0; f < free_; ++f) {
    for (std::size_t h = 0; h < free_; ++h) G_[f * order_ + h] -= along[f] * along[h] / sum;
    G_[f * order_ + free_] = G_[free_ * order_ + f] = along[f] / sum;
  }
  G_[free_ * order_ + free_] = -1 / sum;
  return true;
}

void Tableau::fill_free_columns(const Threads& threads) {
  free_columns_.assign(free_ * stride(), 0.0);
  threads.split(free_, rows_at_once, [&](std::size_t begin, std::size_t end) {
    add_product({end - begin, order_, positions() - free_}, 1, {&G_[begin * order_], order_},
                {&pivot_[free_], positions()}, &free_columns_[begin * stride() + free_], stride());
    for (std::size_t f = begin; f < end; ++f) {
      double* column = &free_columns_[f * stride()];
      std::copy_n(&G_[f * order_], free_, column);
      if (order_ > free_) column[positions()] = G_[f * order_ + free_];
    }
  });
}

std::vector<double> Tableau::columns(std::span<const Index> variables, SignedRows& rows,
                                     const Threads& threads) const {
  std::vector<double> result(variables.size() * stride());
  const SerialBlas serial;
  threads.split(variables.size(), rows_at_once, [&](std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    std::vector<double> given(count * order_), answer(count * order_, 0.0);
    for (std::size_t r = 0; r < count; ++r) {
      const Index v = variables[begin + r];
      const std::vector<double>& row = rows.of(v);
      double* column = &result[(begin + r) * stride()];
      for (std::size_t i = 0; i < positions(); ++i) column[i] = row[variables_[i]];
      std::copy_n(column, free_, &given[r * order_]);
      if (order_ > free_) given[r * order_ + free_] = border(v);
    }
    add_product({count, order_, order_}, -1, {given.data(), order_}, {G_.data(), order_},
                answer.data(), order_);
    add_product({count, order_, positions() - free_}, 1, {answer.data(), order_},
                {&pivot_[free_], positions()}, &result[begin * stride() + free_], stride());
    for (std::size_t r = 0; r < count; ++r) {
      double* column = &result[(begin + r) * stride()];
      std::copy_n(&answer[r * order_], free_, column);
      column[positions()] = order_ > free_ ? answer[r * order_ + free_] : 0;
      const Index v = variables[begin + r];
      if (position_of_[v] != none) column[position_of_[v]] += qp_->block[v].curvature + ridge_;
    }
  });
  return result;
}

}  // namespace maxmargin
