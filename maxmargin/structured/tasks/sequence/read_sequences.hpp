#pragma once

#include <string>
#include <vector>

#include "maxmargin/structured/tasks/sequence/chain.hpp"

namespace maxmargin {

enum class SequenceFormat { automatic, conll, crfsuite, svmhmm };

struct SequenceReading {
  SequenceFormat format = SequenceFormat::automatic;
  std::vector<std::string> pattern;  ///< lines of a template; conll only, empty: the usual one
  std::string pattern_file;          ///< its name in messages
  std::uint64_t min_count = 1;       ///< attributes seen less often are left out
  bool bio = false;                  ///< I-X stands only after B-X or I-X
};

/// Sequences and the words their numbers stand for.
struct ReadSequences {
  SequenceExamples examples;
  std::vector<std::string> labels, attributes;  ///< attributes of svmhmm files are their numbers
  std::vector<std::string> pattern;             ///< the lines that were used
  SequenceFormat format = SequenceFormat::automatic;
  /// The first label that is not known, in words; its kind has numbers from examples.labels on.
  std::string unknown;
};

/// Reads columns (CoNLL, the last is the label), CRFsuite's attributes (`label<TAB>name[:value]`)
/// or SVM-hmm's rows (`TAG qid:n f:v # comment`). With `known`, labels and attributes are its;
/// others are left out (attributes) or have numbers of their own (labels, see `unknown`).
ReadSequences read_sequences(const std::string& path, const SequenceReading& reading,
                             const ReadSequences* known);

}  // namespace maxmargin
