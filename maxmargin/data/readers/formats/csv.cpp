#include <cmath>

#include "maxmargin/data/readers/formats/csv_layout.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/data/readers/formats/piece_parsers.hpp"
#include "maxmargin/data/readers/row_reader.hpp"

// Comma- or tab-separated text with quotes as in RFC 4180, one row a record.

namespace maxmargin {
namespace {

class RecordParser : PieceParser {
 public:
  RecordParser(Piece& piece, const CsvLayout& layout, LabelKind kind)
      : PieceParser(piece),
        layout_(layout),
        kind_(kind),
        end_(piece.text.data() + piece.text.size()) {
    // A field takes a byte for its end, and that of a feature one more for its value.
    const std::size_t most_rows = piece.text.size() / (layout.fields + layout.features) + 2;
    Piece::make_room(piece.values, most_rows * layout.features);
    Piece::make_room(piece.label, most_rows);
    Piece::make_room(piece.weight, most_rows);
    if (layout.weight_over) Piece::make_room(piece.weight_over, most_rows);
  }

  void run() {
    const char* at = piece_.text.data();
    while (at < end_) {
      line_ = at;
      if (!ends_record(at)) {
        at = record(at);
        if (at == nullptr) return;
        ++piece_.rows;
      }
      at += *at == '\r' ? 2 : 1;
      ++piece_.lines;
    }
  }

 private:
  // Each of these returns the end of what it read, or null after fail().

  const char* record(const char* at) {
    double* value = piece_.values.data() + piece_.rows * layout_.features;
    for (std::size_t field = 0;; ++field, ++at) {
      if (field == layout_.fields)
        return fail(at, {0, 0, "more than " + std::to_string(field) + " fields in this row",
                         "give every row the same number of fields"});
      at = layout_.is_feature(field) ? number(at, field, *value++) : other(at, field);
      if (at == nullptr) return nullptr;
      if (*at == layout_.separator) continue;
      if (field + 1 < layout_.fields)
        return fail(at, {0, 0,
                         std::to_string(field + 1) + " fields in this row where " +
                             std::to_string(layout_.fields) + " are expected",
                         "give every row the same number of fields"});
      return at;
    }
  }

  const char* number(const char* at, std::size_t field, double& value) {
    const char* begin = at;
    while (*begin == ' ') ++begin;
    const char* end = scan_number(begin, value);
    if (end != nullptr) {
      while (*end == ' ') ++end;
      if ((*end == layout_.separator || ends_record(end)) && std::isfinite(value)) return end;
    }
    return odd_number(at, field, value);
  }

  /// A number in quotes, or none.
  const char* odd_number(const char* at, std::size_t field, double& value) {
    const CsvField parts = csv_field(at, end_, layout_.separator);
    if (parts.end == nullptr) return fail(parts.wrong_at, parts.fault);
    const std::string where = " in " + layout_.column(field);
    const auto number = number_in(parts.text);
    if (says_missing(parts.text))
      return fail(
          at, {0, 0,
               (trimmed(parts.text).empty() ? std::string("an empty field") : shown(parts.text)) +
                   where + " is not a finite number",
               "fill in a number or remove the row"});
    if (!number)
      return fail(at, {0, 0, shown(parts.text) + where + " is not a number",
                       "code it as numbers, or name the column as the label if it is the label"});
    if (!std::isfinite(*number))
      return fail(at, {0, 0, shown(parts.text) + where + " is too large for a number",
                       "scale the column or remove the row"});
    value = *number;
    return parts.end;
  }

  const char* other(const char* at, std::size_t field) {
    const CsvField parts = csv_field(at, end_, layout_.separator);
    if (parts.end == nullptr) return fail(parts.wrong_at, parts.fault);
    if (layout_.label == field) {
      const auto problem = read_label(parts.text, kind_, piece_.words, piece_.label[piece_.rows]);
      if (problem) return fail(at, {0, 0, problem->what, problem->mend});
    } else if (layout_.weight == field || layout_.weight_over == field) {
      const auto weight = number_in(parts.text);
      if (!weight || !std::isfinite(*weight) || *weight < 0)
        return fail(at, {0, 0, shown(parts.text) + " is not a weight",
                         "weights are finite numbers of 0 or more"});
      (layout_.weight == field ? piece_.weight : piece_.weight_over)[piece_.rows] = *weight;
    }
    if (parts.line_feeds > 0) {
      piece_.lines += parts.line_feeds;
      line_ = parts.line_start;
    }
    return parts.end;
  }

  const CsvLayout& layout_;
  LabelKind kind_;
  const char* end_;
};

class CsvReader final : public TextReader {
 public:
  CsvReader(std::unique_ptr<Source> source, const ReadOptions& options, char separator,
            const Threads& threads)
      : TextReader(std::move(source), Records::quoted, options, threads), separator_(separator) {}

  std::size_t ready() const override { return builder_ ? builder_->rows() : 0; }

  Dataset take() override {
    if (!builder_) return {};
    Dataset data = builder_->take();
    data.feature_names = layout_.feature_names();
    return data;
  }

 private:
  void parse() override {
    if (!builder_) {
      const std::string_view text = text_.text();
      if (skip_blank_lines(text) == text.data() + text.size()) return text_.pass();
      layout_ = csv_layout(text, text_.place(), separator_, options_);
      builder_.emplace(text_.name(), false, layout_.features);
      text_.skip(layout_.header_bytes, layout_.header_lines);
    }
    text_.run(
        [&](Piece& piece) { parse_csv(piece, layout_, options_.labels); }, *builder_,
        {layout_.label.has_value(), layout_.weight.has_value(), layout_.weight_over.has_value()});
  }

  char separator_;
  CsvLayout layout_;
  std::optional<DatasetBuilder> builder_;
};

}  // namespace

void parse_csv(Piece& piece, const CsvLayout& layout, LabelKind kind) {
  RecordParser(piece, layout, kind).run();
}

std::unique_ptr<RowReader> csv_reader(std::unique_ptr<Source> source, const ReadOptions& options,
                                      char separator, const Threads& threads) {
  return std::make_unique<CsvReader>(std::move(source), options, separator, threads);
}

}  // namespace maxmargin
