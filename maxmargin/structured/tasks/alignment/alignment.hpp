#pragma once

#include <array>

#include "maxmargin/structured/oracle.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

/// Steps of an alignment: a pair of positions, or a gap beside one string.
enum class AlignmentStep : std::int32_t { pair = 0, first = 1, second = 2 };

/// Two strings, as numbers of their symbols; -1: an unknown symbol, which has no weights.
struct AlignmentExample {
  std::array<std::vector<std::int32_t>, 2> symbols;
  std::array<std::string, 2> text;
  Structure path;  ///< its first position in either string, then its steps; empty: unknown
  std::size_t line = 0;
};

struct AlignmentExamples {
  std::vector<AlignmentExample> examples;
  std::size_t symbols = 0;
  bool local = false;  ///< alignments of substrings
};

/// The scores of an alignment's steps: of pairs of positions, and of opening and extending a gap.
struct AlignmentScores {
  std::size_t rows = 0, columns = 0;
  std::vector<double> pair;
  double open = 0, extend = 0;
  bool local = false;

  double step(AlignmentStep before, AlignmentStep step, std::size_t i, std::size_t j) const {
    if (step == AlignmentStep::pair) return pair[i * columns + j];
    return step == before ? extend : open;
  }
};

/// Pairwise sequence alignment with affine gap costs by Gotoh's dynamic programming, global
/// (Needleman and Wunsch) or local (Smith and Waterman), exact in time proportional to the product
/// of the lengths. There is a weight for each unordered pair of symbols, for opening and for
/// extending a gap. Delta is the number of pairs of positions that are in only one of the
/// alignments.
class AlignmentOracle : public Oracle {
 public:
  /// `data` outlives it.
  explicit AlignmentOracle(const AlignmentExamples& data);

  std::size_t examples() const override { return data_.examples.size(); }
  std::size_t dimensions() const override { return data_.symbols * (data_.symbols + 1) / 2 + 2; }
  Structure truth(std::size_t i) const override { return data_.examples[i].path; }
  double loss(std::size_t i, StructureView y) const override;
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  bool is_structure(std::size_t i, StructureView y) const override;
  std::string example_name(std::size_t i) const override {
    return "alignment " + std::to_string(i + 1) + " (line " +
           std::to_string(data_.examples[i].line) + ")";
  }
  AlignmentScores scores(std::size_t i, std::span<const double> w, Ask ask) const;
  const AlignmentExamples& data() const { return data_; }

 private:
  std::size_t feature(std::int32_t a, std::int32_t b) const;
  /// For each position of the first string its partner in the truth; -1: none.
  std::vector<std::vector<std::int32_t>> partner_;
  const AlignmentExamples& data_;
};

/// The same dynamic program from the end of the strings to their beginnings.
class AlignmentWitness : public AlignmentOracle {
 public:
  explicit AlignmentWitness(const AlignmentOracle& other) : AlignmentOracle(other.data()) {}
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
};

StructuredTask alignment_task();

}  // namespace maxmargin
