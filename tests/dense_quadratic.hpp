#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// A matrix written out in full: the plainest Quadratic, to state small problems by hand.
class DenseQuadratic : public Quadratic {
 public:
  DenseQuadratic(std::size_t size, std::vector<double> values)
      : size_(size), values_(std::move(values)) {
    for (std::size_t i = 0; i < size; ++i) diagonal_.push_back(at(i, i));
  }

  double at(std::size_t i, std::size_t j) const { return values_[i * size_ + j]; }

  std::size_t size() const override { return size_; }
  std::span<const double> diagonal() const override { return diagonal_; }
  Definite definite() const override { return Definite::yes; }
  std::size_t bytes() const override { return values_.size() * sizeof(double); }
  double value_cost() const override { return 1; }
  double value_error(Precision) const override { return 0; }

  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads&) const override {
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t c = 0; c < count; ++c)
        out[r][c] = static_cast<float>(at(which[r], begin + c));
  }

  void multiply(std::span<const double> x, std::span<double> y, Precision,
                const Threads&) const override {
    for (std::size_t i = 0; i < size_; ++i) {
      y[i] = 0;
      for (std::size_t j = 0; j < size_; ++j) y[i] += at(i, j) * x[j];
    }
  }

  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    std::vector<double> values;
    for (const Index i : points)
      for (const Index j : points) values.push_back(at(i, j));
    return std::make_shared<DenseQuadratic>(points.size(), std::move(values));
  }

 private:
  std::size_t size_;
  std::vector<double> values_;
  std::vector<double> diagonal_;
};

}  // namespace maxmargin
