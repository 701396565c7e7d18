#include "maxmargin/data/readers/formats/piece.hpp"

#include <cmath>

#include "maxmargin/data/readers/formats/number.hpp"

namespace maxmargin {

Index WordList::number_of(std::string_view word) {
  if (const auto found = number_.find(word); found != number_.end()) return found->second;
  const auto number = static_cast<Index>(words_.size());
  words_.emplace_back(word);
  number_.emplace(words_.back(), number);
  return number;
}

void WordList::clear() {
  words_.clear();
  number_.clear();
}

void Piece::begin(std::string_view next) {
  text = next;
  rows = lines = columns = first_line = 0;
  zero_index = false;
  zero_line = zero_column = 0;
  queries.reset();
  words.clear();
  fault.reset();
}

Rows Piece::sparse_view() const {
  Rows view;
  view.count = rows;
  view.columns = columns;
  view.doubles = values.data();
  view.start = start.data();
  view.index = index.data();
  return view;
}

Rows Piece::dense_view(std::size_t stride) const {
  Rows view;
  view.count = rows;
  view.columns = stride;
  view.doubles = values.data();
  return view;
}

std::size_t first_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f) return i;
  }
  return std::string_view::npos;
}

std::optional<LabelProblem> read_label(std::string_view text, LabelKind kind, WordList& words,
                                       Label& label) {
  if (const auto number = number_in(text)) {
    if (!std::isfinite(*number))
      return LabelProblem{"label " + shown(text) + " is too large for a number",
                          "use a label below 1.8e308"};
    label = {*number + 0.0, no_word};  // + 0.0 turns -0 into 0
    return {};
  }
  if (first_control(text) != std::string_view::npos)
    return LabelProblem{"label " + shown(text) + " has control bytes: this is not text",
                        "check that the file is LIBSVM or CSV text"};
  if (says_missing(text) && kind == LabelKind::optional) {
    label = {0, no_label};
    return {};
  }
  if (says_missing(text))
    return LabelProblem{"label " + shown(text) + " is missing or not finite",
                        "give the row a label or remove it"};
  if (kind == LabelKind::number)
    return LabelProblem{"label " + shown(text) + " is not a number", "write a number as the label"};
  label = {0, words.number_of(text)};
  return {};
}

}  // namespace maxmargin
