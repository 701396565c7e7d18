#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// The dense kernel matrix of one machine, in memory that the next one reuses.
class MachineMatrix final : public Quadratic {
 public:
  explicit MachineMatrix(const MatrixTraits& traits) : traits_(traits) {}

  /// Copies the values among some points of a larger matrix.
  void assign(std::span<const double> all, std::size_t stride, std::span<const Index> points) {
    n_ = points.size();
    values_.resize(n_ * n_);
    diagonal_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      const double* row = all.data() + points[i] * stride;
      for (std::size_t j = 0; j < n_; ++j) values_[i * n_ + j] = row[points[j]];
      diagonal_[i] = values_[i * n_ + i];
    }
  }
  const double* row(std::size_t i) const { return values_.data() + i * n_; }

  std::size_t size() const override { return n_; }
  std::span<const double> diagonal() const override { return diagonal_; }
  MatrixTraits traits() const override {
    MatrixTraits own = traits_;
    own.fast_error = own.exact_error;
    own.bytes = values_.size() * sizeof(double);
    own.columns = n_;
    return own;
  }
  MatrixCapabilities can() const override { return {}; }
  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads&) const override {
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t c = 0; c < count; ++c)
        out[r][c] = static_cast<float>(row(which[r])[begin + c]);
  }
  void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count, double* out,
                   std::size_t stride) const override {
    for (std::size_t r = 0; r < which.size(); ++r)
      std::copy_n(row(which[r]) + begin, count, out + r * stride);
  }
  void multiply(std::span<const double> x, std::span<double> y, Precision,
                const Threads&) const override {
    std::ranges::fill(y, 0.0);
    for (std::size_t i = 0; i < n_; ++i)
      if (x[i] != 0)
        for (std::size_t j = 0; j < n_; ++j) y[j] += x[i] * row(i)[j];
  }
  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    auto part = std::make_shared<MachineMatrix>(traits_);
    part->assign(values_, n_, points);
    return part;
  }

 private:
  MatrixTraits traits_;
  std::size_t n_ = 0;
  std::vector<double> values_, diagonal_;
};

}  // namespace maxmargin
