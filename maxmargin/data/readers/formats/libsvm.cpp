#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/data/readers/formats/piece_parsers.hpp"
#include "maxmargin/data/readers/row_reader.hpp"
#include "maxmargin/data/serials.hpp"

// LIBSVM and SVMlight text: one row a line,
//
//   label [qid:number] feature:value feature:value ... [# comment]

namespace maxmargin {
namespace {

constexpr std::uint64_t largest_index = 0xfffffffe;

bool blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a token may end in front of this.
bool ends_token(const char* at) {
  return blank(*at) || *at == '\n' || *at == '#' || (*at == '\r' && at[1] == '\n');
}

const char* skip_blanks(const char* at) {
  while (blank(*at)) ++at;
  return at;
}

std::string_view token_at(const char* at) {
  const char* end = at;
  while (!ends_token(end)) ++end;
  return {at, static_cast<std::size_t>(end - at)};
}

/// The texts "0:" to "999:". Where rows have no gaps the next index is predicted: a comparison is
/// quicker than scanning digits, whose number everything behind them has to wait for.
class ExpectedIndex {
 public:
  constexpr ExpectedIndex() {
    for (std::uint32_t number = 0; number < texts_.size(); ++number) {
      Text& text = texts_[number];
      for (const std::uint32_t unit : {100u, 10u, 1u})
        if (number >= unit || unit == 1) text.append('0' + number / unit % 10);
      text.append(':');
    }
  }

  /// Whether the number and a colon stand at `at`, which then moves behind them.
  bool passes(std::uint64_t number, const char*& at) const {
    if (number >= texts_.size()) return false;
    const Text& text = texts_[number];
    std::uint32_t word;
    std::memcpy(&word, at, sizeof word);
    if ((word & text.mask) != text.bytes) return false;
    at += text.length;
    return true;
  }

 private:
  struct Text {
    std::uint32_t bytes = 0, mask = 0, length = 0;

    constexpr void append(std::uint32_t byte) {
      bytes |= byte << (8 * length);
      mask |= 0xffu << (8 * length);
      ++length;
    }
  };
  std::array<Text, 1000> texts_;
};
constexpr ExpectedIndex expected_index;

/// The value that was read last. Many are repeated: those of binary features, the background of
/// pictures.
class LastValue {
 public:
  /// Whether the same text stands at `at`, which then moves behind it.
  bool passes(const char*& at, double& value) const {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    if ((word & mask_) != text_) return false;
    at += length_;
    value = value_;
    return true;
  }

  /// Short ones are kept, with the blank behind them.
  void keep(const char* begin, const char* end, double value) {
    length_ = static_cast<std::size_t>(end - begin);
    if (length_ >= sizeof text_ || *end != ' ') return forget();
    std::memcpy(&text_, begin, sizeof text_);
    mask_ = ~std::uint64_t{0} >> (8 * (sizeof text_ - 1 - length_));
    text_ &= mask_;
    value_ = value;
  }

 private:
  void forget() {
    mask_ = 0;
    text_ = 1;
  }

  std::uint64_t text_ = 1, mask_ = 0;  // nothing is the same
  std::size_t length_ = 0;
  double value_ = 0;
};

/// Scans a faulty feature again to say what is wrong with it.
TextFault explain_feature(const char* at, std::int64_t previous, bool from_one) {
  const std::string_view token = token_at(at);
  const std::string name = shown(token);
  const std::size_t colon = token.find(':');
  if (const std::size_t odd = first_control(token); odd != std::string_view::npos)
    return {0, 0, "unexpected byte in " + name + ": this is not text",
            "check that the file is LIBSVM text"};
  if (colon == std::string_view::npos)
    return {0, 0, name + " has no colon", "write features as index:value"};
  const std::string_view index = token.substr(0, colon), value = token.substr(colon + 1);
  if (index == "qid")
    return {0, 0, name + " is not in front of the features", "write it once, behind the label"};
  std::uint64_t raw = 0;
  const auto read = std::from_chars(index.data(), index.data() + index.size(), raw);
  const bool digits = !index.empty() && std::all_of(index.begin(), index.end(), is_digit);
  if (index.size() > 1 && index[0] == '-')
    return {0, 0, "index " + shown(index) + " is negative", "number features from 0 or 1"};
  if (!digits)
    return {0, 0, "index " + shown(index) + " is not a whole number",
            "number features from 0 or 1"};
  if (read.ec != std::errc() || raw > largest_index)
    return {0, 0, "index " + shown(index) + " is too large", "use indices up to 4294967294"};
  if (from_one && raw == 0)
    return {0, 0, "index 0 where features are numbered from 1",
            "number features from 1, or state that the file counts from 0"};
  if (previous == static_cast<std::int64_t>(raw))
    return {0, 0, "index " + shown(index) + " is repeated", "keep one value per feature"};
  if (previous > static_cast<std::int64_t>(raw))
    return {0, 0, "index " + shown(index) + " comes after " + std::to_string(previous),
            "sort the features of each row by index"};
  if (value.empty()) return {0, 0, name + " has no value", "write features as index:value"};
  if (number_in(value))
    return {0, 0, "value " + shown(value) + " is too large for a number",
            "scale the feature or remove the row"};
  if (says_missing(value))
    return {0, 0, "value " + shown(value) + " is not a finite number",
            "remove the row or the value"};
  return {0, 0, "value " + shown(value) + " is not a number", "write features as index:value"};
}

class LineParser : PieceParser {
 public:
  LineParser(Piece& piece, const ReadOptions& options)
      : PieceParser(piece),
        kind_(options.labels),
        first_index_(options.base == ReadOptions::Base::one ? 1 : 0),
        offset_(options.base == ReadOptions::Base::zero ? 0 : 1) {
    const std::size_t size = piece.text.size();
    Piece::make_room(piece.index, size / 4 + 2);
    Piece::make_room(piece.values, size / 4 + 2);
    Piece::make_room(piece.start, size / 2 + 2);
    Piece::make_room(piece.label, size / 2 + 2);
    piece.start[0] = 0;
  }

  void run() {
    const char* at = piece_.text.data();
    const char* const end = at + piece_.text.size();
    while (at < end && at != nullptr) {
      line_ = at;
      at = skip_blanks(at);
      if (!(*at == '\n' || *at == '#' || (*at == '\r' && at[1] == '\n'))) at = row(at);
      if (at == nullptr) return;
      if (*at != '\n') at = static_cast<const char*>(std::memchr(at, '\n', end - at));
      ++at;
      ++piece_.lines;
    }
  }

 private:
  // Each of these returns the end of what it read, or null after fail().

  const char* row(const char* at) {
    if (piece_.rows == 0) piece_.first_line = piece_.lines;
    at = label(at);
    if (at != nullptr) at = query(skip_blanks(at));
    if (at != nullptr) at = features(at);
    if (at != nullptr) ++piece_.rows;
    return at;
  }

  const char* label(const char* at) {
    Label& label = piece_.label[piece_.rows];
    const char* end = scan_number(at, label.number);
    if (end != nullptr && ends_token(end) && std::isfinite(label.number)) {
      label.number += 0.0;
      label.word = no_word;
      return end;
    }
    const std::string_view token = token_at(at);
    if (token.find(':') != std::string_view::npos) {
      if (kind_ == LabelKind::optional) label = {0, no_label};
      if (kind_ == LabelKind::none || kind_ == LabelKind::optional) return at;
      return fail(at, {0, 0, "a label is missing in front of " + shown(token),
                       "begin each row with its label"});
    }
    if (token.find(';') != std::string_view::npos)
      return fail(at, {0, 0, "a semicolon in the label " + shown(token),
                       "separate fields by commas and write numbers with a point (CSV), or blanks "
                       "and index:value (LIBSVM)"});
    if (const auto problem = read_label(token, kind_, piece_.words, label))
      return fail(at, {0, 0, problem->what, problem->mend});
    return at + token.size();
  }

  const char* query(const char* at) {
    const bool present = std::memcmp(at, "qid:", 4) == 0;
    const std::string_view token = present ? token_at(at) : std::string_view();
    std::int64_t number = 0;
    if (present) {
      // Checked before it is compared with earlier rows, which may stand in another piece.
      const auto read = std::from_chars(token.data() + 4, token.data() + token.size(), number);
      if (read.ec != std::errc() || read.ptr != token.data() + token.size() || number < 0)
        return fail(at, {0, 0, shown(token) + " is not a whole number", "write qid:1, qid:2, ..."});
    }
    if (present != piece_.queries.value_or(present))
      return fail(line_, {0, 0,
                          present ? "this row has a qid but earlier rows have none"
                                  : "this row has no qid but earlier rows have one",
                          "give every row a qid, or none"});
    piece_.queries = present;
    if (!present) return at;
    if (piece_.rows == 0) Piece::make_room(piece_.query, piece_.text.size() / 2 + 2);
    piece_.query[piece_.rows] = number;
    return at + token.size();
  }

  const char* features(const char* at) {
    Index* const index = piece_.index.data();
    double* const values = piece_.values.data();
    std::uint64_t size = piece_.start[piece_.rows];
    std::size_t gaps = 0;
    std::int64_t previous = first_index_ - 1;
    while (true) {
      at = skip_blanks(at);
      const char* const token = at;
      auto raw = static_cast<std::uint64_t>(previous + 1);
      if (!without_gaps_ || !expected_index.passes(raw, at)) {
        if (!is_digit(*at) && ends_token(at)) break;
        at = scan_index(at, raw);
        gaps += static_cast<std::int64_t>(raw) != previous + 1;
      }
      double value = 0;
      if (at == nullptr || static_cast<std::int64_t>(raw) <= previous ||
          (at = scan_value(at, value)) == nullptr)
        return fail(token, explain_feature(token, previous, first_index_ == 1));
      if (raw == 0) note_zero(token);
      previous = static_cast<std::int64_t>(raw);
      index[size] = static_cast<Index>(raw) - offset_;
      values[size] = value;
      size += value != 0;  // an explicit zero is as good as an absent one
    }
    piece_.start[piece_.rows + 1] = size;
    without_gaps_ = gaps <= 1;  // rows may begin with 0 or 1
    if (previous >= first_index_)
      piece_.columns = std::max(piece_.columns, static_cast<std::size_t>(previous) + 1 - offset_);
    return at;
  }

  /// An index and its colon.
  static const char* scan_index(const char* at, std::uint64_t& raw) {
    const Digits digits = scan_8_digits(at);
    raw = digits.value;
    at += digits.count;
    if (digits.count == 8)
      for (; is_digit(*at) && raw <= largest_index; ++at)
        raw = raw * 10 + static_cast<std::uint64_t>(*at - '0');
    return digits.count > 0 && *at == ':' && raw <= largest_index ? at + 1 : nullptr;
  }

  [[gnu::always_inline]] const char* scan_value(const char* at, double& value) {
    if (last_value_.passes(at, value)) return at;
    const char* const end = scan_number(at, value);
    if (end == nullptr || !ends_token(end) || !std::isfinite(value)) return nullptr;
    last_value_.keep(at, end, value);
    return end;
  }

  void note_zero(const char* token) {
    if (piece_.zero_index) return;
    piece_.zero_index = true;
    piece_.zero_line = piece_.lines;
    piece_.zero_column = static_cast<std::size_t>(token - line_) + 1;
  }

  LabelKind kind_;
  std::int64_t first_index_;
  Index offset_;  ///< 1 unless features are known to count from 0; feature 0 wraps around
  bool without_gaps_ = false;  ///< the last row
  LastValue last_value_;
};

class LibsvmReader final : public TextReader {
 public:
  LibsvmReader(std::unique_ptr<Source> source, const ReadOptions& options, const Threads& threads)
      : TextReader(std::move(source), Records::lines, options, threads),
        builder_(text_.name(), true, 0) {}

  std::size_t ready() const override { return builder_.rows(); }

  Dataset take() override {
    using Base = ReadOptions::Base;
    const bool wraps = (options_.base == Base::automatic || options_.base == Base::serial) &&
                       builder_.zero_place().has_value();
    const bool from_zero = wraps && options_.base == Base::automatic;
    if (from_zero && taken_from_one_)
      throw Error(Fault::data, *builder_.zero_place(),
                  "index 0, but earlier rows were taken to count from 1",
                  "state that the file counts from 0");
    Dataset data = builder_.take();
    if (wraps) {
      data.x.shift_features(threads_);
      data.x.widen(data.x.columns() + 1);
    }
    if (wraps && !from_zero) data.x = without_serials(data.x);
    taken_from_one_ = !from_zero;
    data.counts_from_zero = from_zero || options_.base == Base::zero;
    data.x.widen(options_.columns);
    return data;
  }

 private:
  void parse() override {
    text_.run([&](Piece& piece) { parse_libsvm(piece, options_); }, builder_,
              {options_.labels != LabelKind::none, false});
  }

  DatasetBuilder builder_;
  bool taken_from_one_ = false;
};

}  // namespace

void parse_libsvm(Piece& piece, const ReadOptions& options) { LineParser(piece, options).run(); }

std::unique_ptr<RowReader> libsvm_reader(std::unique_ptr<Source> source, const ReadOptions& options,
                                         const Threads& threads) {
  return std::make_unique<LibsvmReader>(std::move(source), options, threads);
}

}  // namespace maxmargin
