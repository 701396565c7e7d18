#pragma once

#include <memory>
#include <utility>

#include "maxmargin/problem/matrix/low_rank.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// Another matrix under its own name: what a class that keeps some of its rows starts from.
class SameQuadratic : public Quadratic {
 public:
  explicit SameQuadratic(std::shared_ptr<const Quadratic> K) : K_(std::move(K)) {}

  std::size_t size() const override { return K_->size(); }
  std::span<const double> diagonal() const override { return K_->diagonal(); }
  Definite definite() const override { return K_->definite(); }
  std::size_t bytes() const override { return K_->bytes(); }
  double value_cost() const override { return K_->value_cost(); }
  double deviation() const override { return K_->deviation(); }
  double value_error(Precision precision) const override { return K_->value_error(precision); }
  std::size_t columns() const override { return K_->columns(); }

  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads& threads) const override {
    K_->rows(which, begin, count, out, threads);
  }
  void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count, double* out,
                   std::size_t stride) const override {
    K_->exact_block(which, begin, count, out, stride);
  }
  void multiply(std::span<const double> x, std::span<double> y, Precision precision,
                const Threads& threads) const override {
    K_->multiply(x, y, precision, threads);
  }
  std::shared_ptr<const LowRank> low_rank(std::size_t most_columns) const override {
    return K_->low_rank(most_columns);
  }
  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    return K_->restrict_to(points);
  }

 protected:
  const Quadratic& same() const { return *K_; }

 private:
  std::shared_ptr<const Quadratic> K_;
};

}  // namespace maxmargin
