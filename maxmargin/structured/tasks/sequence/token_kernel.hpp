#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
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
/// stay linear. Kernel rows are kept while there is room. Values are those of the engine in double,
/// or for verify those of the plain definition.
class TokenKernel : public Metric {
 public:
  enum class Values { engine, plain };
  /// `tokens` outlive it; `room` is in bytes.
  TokenKernel(const Kernel& kernel, const Rows& tokens, std::size_t labels, Values values,
              std::size_t room, const Threads& threads);

  void add_product(const JointFeatures& delta, double scale,
                   std::span<double> scores) const override;
  double inner(const JointFeatures& a, const JointFeatures& b) const override;

  /// The scores of these tokens by coefficients of others, which come with their transitions.
  std::vector<double> scores(const Rows& others, std::span<const double> coefficients) const;

 private:
  using Row = std::shared_ptr<const std::vector<double>>;
  struct Entry {
    std::size_t row, label;
    double coefficient;
  };
  std::size_t first_linear() const { return tokens_.count * labels_; }
  Row computed(const Rows& left, Index token) const;
  Row row(Index token) const;
  void add_rows(std::span<const Row> rows, std::span<const Entry> entries,
                std::span<double> scores) const;
  /// K between the tokens from `begin` on, `count` by `count`.
  const std::vector<double>& square(std::size_t begin, std::size_t count) const;

  Kernel kernel_;
  Rows tokens_;
  std::size_t labels_;
  Values values_;
  std::size_t most_rows_;
  Threads threads_;
  std::unique_ptr<Engine> engine_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<Index, Row> rows_;
  mutable std::deque<Index> oldest_;
  mutable std::vector<double> square_;
  mutable std::size_t square_begin_ = 0, square_count_ = 0;
};

}  // namespace maxmargin
