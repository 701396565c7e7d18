#pragma once

#include <memory>
#include <mutex>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"
#include "maxmargin/structured/tasks/sequence/chain.hpp"

namespace maxmargin {

/// The tokens of all sequences as rows of a data set; features are attributes.
Features token_rows(const SequenceExamples& examples);
/// The same sequences where each token has one attribute, its number, so that the weights of
/// attributes and labels become coefficients of tokens and labels.
SequenceExamples numbered_tokens(SequenceExamples examples);

/// A token as a line of text, and back. Throws Error for a line that is damaged.
std::string token_text(const Rows& tokens, std::size_t token);
void append_token(std::string_view text, Features& tokens);

/// The metric of chains with a kernel between tokens: a plane has coefficients per token and label,
/// <(t,l), (s,m)> = K(x_t, x_s) [l = m]; transitions and ends are linear. Kernel rows are computed
/// in blocks and not cached. Values come from an engine, in float or double, or for verify from the
/// kernel's definition.
class TokenKernel : public Metric {
 public:
  enum class Values { engine, plain };
  /// `tokens` outlive it. The cost of a visit, and the accuracy of the surrogate between examples,
  /// grow with its rank.
  TokenKernel(const Kernel& kernel, const Rows& tokens, std::size_t labels, Values values,
              const Threads& threads, std::size_t surrogate_rank = 512);

  void add_product(const JointFeatures& delta, double scale, Precision precision,
                   std::span<double> scores) const override;
  double inner(const JointFeatures& a, const JointFeatures& b) const override;
  double score_error(std::span<const double> coefficients) const override;
  std::unique_ptr<Surrogate> surrogate(std::span<const JointFeatures> examples) const override;

  /// The scores of these tokens, and the linear weights, for coefficients of other tokens.
  std::vector<double> scores(const Rows& others, std::span<const double> coefficients) const;

 private:
  /// The nonzero coefficients of some tokens.
  struct Coefficients {
    struct Entry {
      std::size_t row, label;  ///< the row is a position in `token`
      double value;
    };
    std::vector<Index> token;
    std::vector<Entry> entries;  ///< in the order of the rows

    void add(std::size_t of_token, std::size_t label, double value);
  };
  std::size_t first_linear() const { return tokens_.count * labels_; }
  Precision possible(Precision precision) const {
    return values_ == Values::plain ? Precision::exact : precision;
  }
  void exact_block(const Rows& left, std::span<const Index> which, std::size_t begin,
                   std::size_t count, double* out) const;
  /// sums[label * count + c] += sum over these tokens of coefficient * K(left token, begin + c).
  void add_fast(const Rows& left, const Coefficients& coefficients, std::size_t begin,
                std::size_t count, std::span<double> sums) const;
  void add_exact(const Rows& left, const Coefficients& coefficients, std::size_t begin,
                 std::size_t count, std::span<double> sums) const;
  /// Adds the same sums to the scores of all tokens.
  void add_rows(const Rows& left, const Coefficients& coefficients, Precision precision,
                std::span<double> scores) const;
  /// An approximation of the kernel matrix, made when it is first asked for.
  const LowRank& low_rank() const;
  /// The largest K(x, x), found when it is first asked for, and a bound of the error of exact
  /// values relative to it.
  double largest_value() const;
  double value_error() const;
  /// K between the tokens from `begin` on, `count` by `count`.
  const std::vector<double>& square(std::size_t begin, std::size_t count) const;

  Kernel kernel_;
  Rows tokens_;
  std::size_t labels_;
  Values values_;
  std::size_t surrogate_rank_;
  Threads threads_;
  std::unique_ptr<Engine> engine_;
  mutable std::mutex mutex_;  ///< of what follows
  mutable std::vector<double> square_;
  mutable std::size_t square_begin_ = 0, square_count_ = 0;
  mutable std::shared_ptr<const LowRank> low_rank_;
  mutable double largest_value_ = -1;  ///< negative: not known yet
};

}  // namespace maxmargin
