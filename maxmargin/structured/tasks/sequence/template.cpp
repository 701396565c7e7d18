#include "maxmargin/structured/tasks/sequence/template.hpp"

#include <algorithm>
#include <charconv>

#include "maxmargin/base/error.hpp"

namespace maxmargin {
namespace {

constexpr int farthest = 100;

/// Reads a whole number from the front.
bool take_number(std::string_view& text, int& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

}  // namespace

AttributeTemplate::AttributeTemplate(std::span<const std::string> lines, const std::string& file) {
  std::size_t number = 0;
  for (const std::string& line : lines) {
    ++number;
    const auto refuse = [&](const std::string& what, const std::string& mend) {
      throw Error(Fault::data, Place{file, number}, what, mend);
    };
    std::string_view rest = line;
    while (rest.ends_with(' ') || rest.ends_with('\t') || rest.ends_with('\r'))
      rest.remove_suffix(1);
    if (rest.empty() || rest.starts_with('#')) continue;
    if (rest.starts_with('B')) {
      if (rest.find("%x") != std::string_view::npos)
        refuse("templates of attributes with pairs of labels are not known here",
               "write it with U, and B alone for the pairs of labels");
      continue;
    }
    if (!rest.starts_with('U')) refuse("a template begins with U or B", "look at the line");
    std::vector<Piece> pattern;
    Piece piece;
    while (!rest.empty()) {
      if (!take(rest, "%x[")) {
        piece.text += rest.front();
        rest.remove_prefix(1);
        continue;
      }
      int row = 0, column = 0;
      if (!take_number(rest, row) || !take(rest, ",") || !take_number(rest, column) ||
          !take(rest, "]") || std::abs(row) > farthest || column < 0 || column > farthest)
        refuse("after %x stand a row and a column, as in %x[-1,0]", "look at the line");
      piece.has_column = true;
      piece.row = row;
      piece.column = static_cast<std::size_t>(column);
      columns_ = std::max(columns_, piece.column + 1);
      pattern.push_back(std::move(piece));
      piece = {};
    }
    if (!piece.text.empty()) pattern.push_back(std::move(piece));
    patterns_.push_back(std::move(pattern));
  }
  if (patterns_.empty())
    throw Error(Fault::data, Place{file}, "the template has no line that begins with U",
                "write some, for example U00:%x[0,0]");
}

std::vector<std::string> AttributeTemplate::standard(std::size_t columns) {
  std::vector<std::string> lines;
  const auto macro = [](int row, std::size_t column) {
    return "%x[" + std::to_string(row) + "," + std::to_string(column) + "]";
  };
  for (std::size_t c = 0; c < columns; ++c) {
    const std::string name = "U" + std::to_string(c);
    for (int row = -2; row <= 2; ++row)
      lines.push_back(name + std::to_string(row + 2) + ":" + macro(row, c));
    lines.push_back(name + "5:" + macro(-1, c) + "/" + macro(0, c));
    lines.push_back(name + "6:" + macro(0, c) + "/" + macro(1, c));
  }
  return lines;
}

void AttributeTemplate::expand(std::size_t pattern, std::span<const TokenColumns> sentence,
                               std::size_t t, std::string& out) const {
  out.clear();
  for (const Piece& piece : patterns_[pattern]) {
    out += piece.text;
    if (!piece.has_column) continue;
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(t) + piece.row;
    const std::ptrdiff_t end = static_cast<std::ptrdiff_t>(sentence.size());
    if (at < 0)
      out += "_B" + std::to_string(at);
    else if (at >= end)
      out += "_B+" + std::to_string(at - end + 1);
    else
      out += sentence[static_cast<std::size_t>(at)][piece.column];
  }
}

}  // namespace maxmargin
