#pragma once

#include "maxmargin/structured/same_examples.hpp"

namespace maxmargin {

/// Sequences of tokens: attributes of each token, and its label.
struct SequenceExamples {
  std::size_t labels = 0, attributes = 0;
  std::vector<std::size_t> sentence{0};    ///< first token of each, and the end
  std::vector<std::uint64_t> token{0};     ///< first attribute of each token, and the end
  std::vector<Index> attribute;            ///< numbers
  std::vector<float> value;                ///< empty: all 1
  std::vector<std::int32_t> label;         ///< of each token
  std::vector<std::size_t> line;           ///< where each sentence begins in its file
  std::vector<std::vector<char>> allowed;  ///< [a][b]: b may follow a; empty: everything may
  std::vector<char> allowed_first;         ///< with `allowed`

  std::size_t size() const { return sentence.size() - 1; }
  std::size_t length(std::size_t i) const { return sentence[i + 1] - sentence[i]; }
  double value_of(std::uint64_t k) const {
    return value.empty() ? 1 : static_cast<double>(value[k]);
  }
};

struct ChainOptions {
  int order = 1;            ///< labels before it that a label depends on, 1 or 2
  bool ends = true;         ///< weights for the first and the last label
  bool normalised = false;  ///< the loss is the share of wrong labels, not their number
};

/// SVM-HMM (Altun, Tsochantaridis and Hofmann 2003): linear chains by Viterbi's algorithm. There is
/// a weight for each attribute and label, for each two (order 2: three) consecutive labels, and for
/// the first and last label. The loss counts wrong labels. Inference takes O(L^2) per token, O(L^3)
/// with order 2, and O(T L^2) with slack rescaling, where the state includes the number of wrong
/// labels.
class ChainOracle : public Oracle {
 public:
  /// `data` and `metric` outlive it. A metric has the tokens themselves as attributes:
  /// token_kernel.hpp.
  ChainOracle(const SequenceExamples& data, const ChainOptions& options,
              const Metric* metric = nullptr);

  std::size_t examples() const override { return data_.size(); }
  std::size_t dimensions() const override { return dimensions_; }
  Structure truth(std::size_t i) const override;
  double loss(std::size_t i, StructureView y) const override;
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  void difference(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  void margins(std::size_t i, std::span<const StructureView> ys, std::span<const double> w,
               std::span<double> out) const override;
  void combine(std::size_t i, std::span<const StructureView> ys, std::span<const double> scale,
               JointFeatures& out) const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  bool answers(Ask ask) const override { return ask != Ask::slack || options_.order == 1; }
  const Metric* metric() const override { return metric_; }
  bool is_structure(std::size_t i, StructureView y) const override;
  std::string example_name(std::size_t i) const override;

  const SequenceExamples& data() const { return data_; }
  const ChainOptions& options() const { return options_; }
  /// The first weights of pairs of labels, of triples and of the ends.
  std::size_t first_pair() const { return data_.attributes * data_.labels; }
  std::size_t first_triple() const { return first_pair() + data_.labels * data_.labels; }
  std::size_t first_end() const;
  /// Delta of one wrong label.
  double unit(std::size_t i) const {
    return options_.normalised ? 1 / static_cast<double>(data_.length(i)) : 1;
  }
  /// scores[t * labels + l]: the score of a label by the attributes of a token.
  void table(std::size_t i, std::span<const double> w, std::vector<double>& scores) const;

 private:
  /// The features of a token's attributes with a label; and w of them for `right` minus `other`.
  void attribute_features(std::size_t token, std::int32_t label, double scale,
                          JointFeatures& out) const;
  double label_margin(std::size_t token, std::int32_t right, std::int32_t other,
                      std::span<const double> w) const;
  void pair_features(StructureView y, std::size_t t, double scale, JointFeatures& out) const;
  /// w.pair_features()
  double pair_score(StructureView y, std::size_t t, std::span<const double> w) const;

  const SequenceExamples& data_;
  ChainOptions options_;
  const Metric* metric_;
  std::size_t dimensions_;
};

/// The same maxima by other algorithms: enumeration of short sequences, for longer ones memoised
/// recursion from their end, with scores summed label by label.
class ChainWitness : public SameExamples {
 public:
  /// `metric`: the chain's metric by another algorithm.
  explicit ChainWitness(const ChainOracle& chain, const Metric* metric = nullptr)
      : SameExamples(chain), chain_(chain), metric_(metric) {}

  double loss(std::size_t i, StructureView y) const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  bool answers(Ask ask) const override { return chain_.answers(ask); }
  const Metric* metric() const override { return metric_; }

 private:
  const ChainOracle& chain_;
  const Metric* metric_;
};

}  // namespace maxmargin
