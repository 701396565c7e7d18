#pragma once

#include <memory>
#include <mutex>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"
#include "maxmargin/structured/tasks/sequence/chain.hpp"

namespace maxmargin {

/// The tokens of sequences as rows over their attributes.
Features token_rows(const SequenceExamples& examples);
/// The same sequences with one attribute for each token, its own number: weights of attributes are
/// then coefficients of tokens and labels.
SequenceExamples numbered_tokens(SequenceExamples examples);

/// A token as a line of text, and back. Throws Error for a line that is damaged.
std::string token_text(const Rows& tokens, std::size_t token);
void append_token(std::string_view text, Features& tokens);

/// The inner product of chains whose attributes come through a kernel: planes collapse to
/// coefficients per token and label, <(t,l), (s,m)> = K(x_t, x_s) where l = m; transitions and ends
/// stay linear. Kernel rows are made many at a time and not kept. Values are those of the engine,
/// fast or in double, or for verify those of the plain definition.
class TokenKernel : public Metric {
 public:
  enum class Values { engine, plain };
  /// `tokens` outlive it. What a visit costs while solving grows with the surrogate's rank, and so
  /// does what it knows of other examples.
  TokenKernel(const Kernel& kernel, const Rows& tokens, std::size_t labels, Values values,
              const Threads& threads, std::size_t surrogate_rank = 512);

  void add_product(const JointFeatures& delta, double scale, Precision precision,
                   std::span<double> scores) const override;
  double inner(const JointFeatures& a, const JointFeatures& b) const override;
  std::unique_ptr<Surrogate> surrogate(std::span<const JointFeatures> examples) const override;

  /// The scores of these tokens by coefficients of others, which come with their transitions.
  std::vector<double> scores(const Rows& others, std::span<const double> coefficients) const;

 private:
  /// Coefficients of some tokens that are not zero.
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
  /// sums[label * count + c] += what these tokens of `left` say of a label to the token begin + c.
  void add_fast(const Rows& left, const Coefficients& coefficients, std::size_t begin,
                std::size_t count, std::span<double> sums) const;
  void add_exact(const Rows& left, const Coefficients& coefficients, std::size_t begin,
                 std::size_t count, std::span<double> sums) const;
  /// Adds what these tokens of `left` say to the scores of all tokens.
  void add_rows(const Rows& left, const Coefficients& coefficients, Precision precision,
                std::span<double> scores) const;
  /// An approximation of the kernel matrix, made when it is first asked for.
  const LowRank& low_rank() const;
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
};

}  // namespace maxmargin
