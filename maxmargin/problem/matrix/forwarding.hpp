#pragma once

#include <memory>
#include <utility>

#include "maxmargin/problem/matrix/capabilities.hpp"

namespace maxmargin {

/// A base for matrices made from another over the same points: forwards everything to that one, and
/// has its capabilities except stored rows. A class with other values overrides each function that
/// returns values; `tests/matrix_test.cpp` checks that all of them agree.
class ForwardingQuadratic : public Quadratic,
                            protected PartialProducts,
                            protected CodedRows,
                            protected TruncatedRows,
                            protected ExtendedProducts,
                            protected Factored {
 public:
  explicit ForwardingQuadratic(std::shared_ptr<const Quadratic> K) : K_(std::move(K)) {}

  std::size_t size() const override { return K_->size(); }
  std::span<const double> diagonal() const override { return K_->diagonal(); }
  MatrixTraits traits() const override { return K_->traits(); }
  MatrixCapabilities can() const override {
    const MatrixCapabilities theirs = K_->can();
    MatrixCapabilities own;
    own.partial = this;
    if (theirs.coded != nullptr) own.coded = this;
    if (theirs.truncated != nullptr) own.truncated = this;
    if (theirs.extended != nullptr) own.extended = this;
    if (theirs.factored != nullptr) own.factored = this;
    return own;
  }

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
  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    return K_->restrict_to(points);
  }

 protected:
  const Quadratic& inner() const { return *K_; }

  void among(std::span<const Index> points, std::span<const Index> which,
             std::span<float* const> out, const Threads& threads) const override {
    K_->among(points, which, out, threads);
  }
  void block(std::span<const Index> which, std::span<const Index> columns,
             std::span<float* const> out, const Threads& threads) const override {
    K_->block(which, columns, out, threads);
  }
  void add_product(std::span<const Index> which, std::span<const double> coefficients,
                   std::span<double> y, const Threads& threads) const override {
    K_->add_product(which, coefficients, y, threads);
  }
  bool multiply_several(std::span<const std::vector<double>> x, std::span<std::vector<double>> y,
                        const Threads& threads) const override {
    const PartialProducts* theirs = K_->can().partial;
    return theirs != nullptr && theirs->multiply_several(x, y, threads);
  }

  const ByteDecay& decay() const override { return K_->can().coded->decay(); }
  void code_rows(std::span<const Index> which, std::size_t begin, std::size_t count,
                 std::span<std::uint8_t* const> out, const Threads& threads) const override {
    K_->can().coded->code_rows(which, begin, count, out, threads);
  }
  double nonzero_share() const override { return K_->can().truncated->nonzero_share(); }
  void nonzero_values(std::span<const Index> which, std::size_t begin, std::size_t count,
                      double least, const NonzeroValues& body) const override {
    K_->can().truncated->nonzero_values(which, begin, count, least, body);
  }
  /// Of coded and of truncated rows.
  double shift() const override {
    const MatrixCapabilities theirs = K_->can();
    return theirs.coded != nullptr       ? theirs.coded->shift()
           : theirs.truncated != nullptr ? theirs.truncated->shift()
                                         : 0;
  }
  void multiply_extended(std::span<const double> x, std::span<long double> y,
                         const Threads& threads) const override {
    K_->can().extended->multiply_extended(x, y, threads);
  }
  double extended_error() const override { return K_->can().extended->extended_error(); }
  double extended_work(std::size_t nonzeros) const override {
    return K_->can().extended->extended_work(nonzeros);
  }
  std::shared_ptr<const LowRank> low_rank(std::size_t most_columns) const override {
    return K_->can().factored->low_rank(most_columns);
  }

 private:
  std::shared_ptr<const Quadratic> K_;
};

}  // namespace maxmargin
