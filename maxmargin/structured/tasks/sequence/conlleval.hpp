#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace maxmargin {

/// The counts of conlleval, the script of the CoNLL shared tasks: a chunk is right if its type and
/// both ends are.
struct ChunkScores {
  std::size_t right = 0, found = 0, wanted = 0;

  double precision() const { return ratio(right, found); }
  double recall() const { return ratio(right, wanted); }
  double f1() const {
    const double sum = precision() + recall();
    return sum > 0 ? 2 * precision() * recall() / sum : 0;
  }

 private:
  static double ratio(std::size_t part, std::size_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  }
};

/// Whether all labels are `O` or a prefix with a type: B-NP, I-NP, E-, S-, ...
bool are_chunks(std::span<const std::string> labels);

/// Adds the chunks of one sequence.
void count_chunks(std::span<const std::string* const> right,
                  std::span<const std::string* const> predicted, ChunkScores& scores);

}  // namespace maxmargin
