#include "maxmargin/structured/tasks/sequence/conlleval.hpp"

#include <algorithm>
#include <string_view>

namespace maxmargin {
namespace {

struct Tag {
  char letter = 'O';
  std::string_view type;
  explicit Tag(std::string_view text) {
    if (text.size() > 1 && text[1] == '-') {
      letter = text[0];
      type = text.substr(2);
    }
  }
};

/// Whether a chunk ends between two tokens.
bool ends(const Tag& before, const Tag& now) {
  if (before.letter == 'O') return false;
  if (before.letter == 'E' || before.letter == 'S') return true;
  return now.letter == 'O' || now.letter == 'B' || now.letter == 'S' || before.type != now.type;
}

bool starts(const Tag& before, const Tag& now) {
  if (now.letter == 'O') return false;
  if (now.letter == 'B' || now.letter == 'S') return true;
  return before.letter == 'O' || before.letter == 'E' || before.letter == 'S' ||
         before.type != now.type;
}

struct Chunk {
  std::size_t begin, end;
  std::string_view type;
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

std::vector<Chunk> chunks_of(std::span<const std::string* const> labels) {
  std::vector<Chunk> chunks;
  Tag before("O");
  std::size_t begin = 0;
  for (std::size_t t = 0; t <= labels.size(); ++t) {
    const Tag now(t < labels.size() ? std::string_view(*labels[t]) : "O");
    if (ends(before, now)) chunks.push_back({begin, t, before.type});
    if (starts(before, now)) begin = t;
    before = now;
  }
  return chunks;
}

}  // namespace

bool are_chunks(std::span<const std::string> labels) {
  return std::ranges::any_of(labels, [](const std::string& label) { return label != "O"; }) &&
         std::ranges::all_of(labels, [](const std::string& label) {
           return label == "O" ||
                  (label.size() > 2 && label[1] == '-' &&
                   std::string_view("BIES").find(label[0]) != std::string_view::npos);
         });
}

void count_chunks(std::span<const std::string* const> right,
                  std::span<const std::string* const> predicted, ChunkScores& scores) {
  const std::vector<Chunk> wanted = chunks_of(right), found = chunks_of(predicted);
  scores.wanted += wanted.size();
  scores.found += found.size();
  std::size_t at = 0;
  for (const Chunk& chunk : found) {
    while (at < wanted.size() && wanted[at].begin < chunk.begin) ++at;
    if (at < wanted.size() && wanted[at] == chunk) ++scores.right;
  }
}

}  // namespace maxmargin
