#pragma once

#include <array>

#include "maxmargin/structured/oracle.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

/// Steps of an alignment: both go on, or one of them alone.
enum class AlignmentStep : std::int32_t { pair = 0, first = 1, second = 2 };

/// Two strings, as numbers of their symbols; -1: one without weights.
struct AlignmentExample {
  std::array<std::vector<std::int32_t>, 2> symbols;
  std::array<std::string, 2> text;
  Structure path;  ///< where it begins in either, then steps; empty: not known
  std::size_t line = 0;
};

struct AlignmentExamples {
  std::vector<AlignmentExample> examples;
  std::size_t symbols = 0;
  bool local = false;  ///< of parts of the strings
};

/// What the steps of an alignment gain: pairs of places, and gaps with a first step and others.
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

/// Alignments of two strings, global (Needleman and Wunsch) or local (Smith and Waterman), gaps
/// with affine costs (Gotoh). A weight for each pair of symbols, whichever comes first, for the
/// first step of a gap and for each further one. Delta is the number of pairs of places that are in
/// one alignment only. Found exactly, in time of the product of the lengths.
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
  /// Where in the second string the place of the first is, in the truth; -1: nowhere.
  std::vector<std::vector<std::int32_t>> partner_;
  const AlignmentExamples& data_;
};

/// The same alignments from the end of the strings to their beginnings.
class AlignmentWitness : public AlignmentOracle {
 public:
  explicit AlignmentWitness(const AlignmentOracle& other) : AlignmentOracle(other.data()) {}
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
};

StructuredTask alignment_task();

}  // namespace maxmargin
