#include "maxmargin/solver/platt/decision_values.hpp"

#include <utility>

namespace maxmargin {

DecisionValues::DecisionValues(std::shared_ptr<const Quadratic> K, Cache cache,
                               std::vector<double> beta, std::vector<double> f, Precision precision,
                               const Threads& threads)
    : K_(std::move(K)),
      cache_(
          K_, cache.bytes,
          cache.policy == CachePolicy::element ? ValueCache::Unit::element : ValueCache::Unit::row,
          threads),
      policy_(cache.policy),
      precision_(precision),
      threads_(threads),
      beta_(std::move(beta)),
      base_(std::move(f)),
      delta_(K_->size(), 0.0),
      has_moved_(K_->size(), false),
      position_(K_->size(), 0),
      users_(K_->size(), 0) {
  if (base_.empty()) {
    base_.assign(K_->size(), 0.0);
    K_->multiply(beta_, base_, precision_, threads_);
  }
  f_ = base_;
}

void DecisionValues::change(Index point, double t) {
  beta_[point] += t;
  delta_[point] += t;
  if (has_moved_[point]) return;
  has_moved_[point] = true;
  moved_.push_back(point);
}

double DecisionValues::at(Index point) {
  if (policy_ == CachePolicy::function || users_[point] > 0) return f_[point];
  one_.resize(moved_.size());
  if (!moved_.empty()) cache_.values(point, moved_, one_.data());
  double sum = base_[point];
  for (std::size_t k = 0; k < moved_.size(); ++k) sum += delta_[moved_[k]] * one_[k];
  return sum;
}

void DecisionValues::move(Index i, Index j, double t) {
  if (i == j) return;
  change(i, t);
  change(j, -t);
  if (policy_ == CachePolicy::function) {
    const float* grows = cache_.row(i);
    const float* falls = cache_.row(j);
    double* f = f_.data();
    for (std::size_t p = 0; p < f_.size(); ++p)
      f[p] += t * (static_cast<double>(grows[p]) - static_cast<double>(falls[p]));
    return;
  }
  one_.resize(cached_points_.size());
  other_.resize(cached_points_.size());
  cache_.values(i, cached_points_, one_.data());
  cache_.values(j, cached_points_, other_.data());
  for (std::size_t k = 0; k < cached_points_.size(); ++k)
    f_[cached_points_[k]] += t * (static_cast<double>(one_[k]) - static_cast<double>(other_[k]));
}

void DecisionValues::keep(Index point, bool wanted) {
  if (policy_ == CachePolicy::function) return;
  if (wanted) {
    if (users_[point] == 0) {
      f_[point] = at(point);
      position_[point] = static_cast<std::uint32_t>(cached_points_.size());
      cached_points_.push_back(point);
    }
    ++users_[point];
  } else if (--users_[point] == 0) {
    cached_points_[position_[point]] = cached_points_.back();
    position_[cached_points_.back()] = position_[point];
    cached_points_.pop_back();
  }
}

void DecisionValues::refresh() {
  K_->multiply(beta_, base_, precision_, threads_);
  f_ = base_;
  for (const Index point : moved_) {
    delta_[point] = 0;
    has_moved_[point] = false;
  }
  moved_.clear();
}

}  // namespace maxmargin
