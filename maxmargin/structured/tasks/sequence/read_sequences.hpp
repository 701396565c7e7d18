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

/// Sequences, and the names of their labels and attributes.
struct ReadSequences {
  SequenceExamples examples;
  std::vector<std::string> labels, attributes;  ///< attributes of svmhmm files are their numbers
  std::vector<std::string> pattern;             ///< the lines that were used
  SequenceFormat format = SequenceFormat::automatic;
  /// The first unknown label, with its line; unknown labels have numbers from examples.labels on.
  std::string unknown;
};

/// Reads columns (CoNLL, the last is the label), CRFsuite's attributes (`label<TAB>name[:value]`)
/// or SVM-hmm's rows (`TAG qid:n f:v # comment`). With `known`, its labels and attributes are used;
/// other attributes are left out, other labels are ReadSequences::unknown.
ReadSequences read_sequences(const std::string& path, const SequenceReading& reading,
                             const ReadSequences* known);

}  // namespace maxmargin
