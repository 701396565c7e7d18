#pragma once

#include <memory>
#include <span>
#include <vector>

#include "maxmargin/structured/oracle.hpp"

namespace maxmargin {

/// a'Mb, where a feature below `first_linear` is a token and a label; K(position(t), position(s))
/// is the kernel of two tokens.
template <class Position, class Values>
double token_inner_product(const JointFeatures& a, const JointFeatures& b, std::size_t labels,
                           std::size_t first_linear, const Position& position, const Values& K) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool linear = a.index[i] >= first_linear;
    const std::size_t token = linear ? 0 : position(a.index[i] / labels),
                      label = a.index[i] % labels;
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (linear)
        sum += a.index[i] == b.index[j] ? a.value[i] * b.value[j] : 0;
      else if (b.index[j] < first_linear && label == b.index[j] % labels)
        sum += a.value[i] * b.value[j] * K(token, position(b.index[j] / labels));
    }
  }
  return sum;
}

/// The tokens of examples, one after the other, and the kernel values within each example.
struct TokenGroups {
  std::size_t labels, first_linear;
  std::vector<Index> tokens;
  std::vector<std::size_t> first{0};   ///< of each example in `tokens`, and the end
  std::vector<std::size_t> square{0};  ///< of each example in `within`, and the end
  std::vector<double> within;
  std::vector<Index> position, example;  ///< of each token: its position in `tokens`, its example

  TokenGroups(std::span<const JointFeatures> examples, std::size_t labels_,
              std::size_t first_linear_);
  std::span<const Index> of(std::size_t i) const {
    return std::span(tokens).subspan(first[i], first[i + 1] - first[i]);
  }
};

/// A low-rank surrogate: Z Z' between examples and K itself within one. Z has the long-range part
/// of K, by which a step of one example affects all others; what it lacks is nearly local. A visit
/// costs O(rank) per token instead of O(all tokens).
class TokenSurrogate : public Metric::Surrogate {
 public:
  /// Z has a row for each of the tokens of the groups, in their order.
  TokenSurrogate(TokenGroups groups, std::vector<float> Z);

  void begin(std::span<const double> scores) override;
  void add(const JointFeatures& delta, double scale, std::span<double> scores) override;
  void update(std::size_t example, std::span<double> scores) const override;
  double inner(const JointFeatures& a, const JointFeatures& b) const override;

 private:
  TokenGroups groups_;
  std::size_t rank_, stride_;
  std::vector<float> Z_;
  std::vector<float> rest_;               ///< K - K~ within each example
  std::vector<double> scores_, changes_;  ///< [token][label]: where it began, of coefficients
  std::vector<float> w_;                  ///< Z'changes, [rank][label]
  std::vector<float> change_;             ///< room for add()
  std::vector<const float*> rows_;        ///< as well
};

}  // namespace maxmargin
