#include "maxmargin/data/readers/formats/csv_layout.hpp"

#include <algorithm>
#include <cstring>

#include "maxmargin/data/readers/formats/number.hpp"

namespace maxmargin {
namespace {

struct Record {
  std::vector<std::string> fields;
  std::size_t begin = 0, end = 0;  ///< bytes in the text; end is behind the line feed
  std::size_t line = 1, lines = 0;
};

/// The first record that is not a blank line; the text has one.
Record first_record(std::string_view text, const Place& start, char separator) {
  Record record;
  record.line = start.line;
  const char* at = skip_blank_lines(text);
  const char* const end = text.data() + text.size();
  record.line += static_cast<std::size_t>(std::count(text.data(), at, '\n'));
  record.begin = static_cast<std::size_t>(at - text.data());
  const char* line = at;
  while (at < end) {
    CsvField field = csv_field(at, end, separator);
    if (field.end == nullptr)
      throw Error(Fault::data,
                  {start.file, record.line + record.lines,
                   static_cast<std::size_t>(field.wrong_at - line) + 1},
                  field.fault.what, field.fault.mend);
    if (first_control(field.text) != std::string_view::npos)
      throw Error(Fault::data,
                  {start.file, record.line + record.lines, static_cast<std::size_t>(at - line) + 1},
                  "unexpected byte in " + shown(field.text) + ": this is not text",
                  "check that the file is CSV text");
    if (*at != '"' && field.text.find(';') != std::string::npos)
      throw Error(Fault::data,
                  {start.file, record.line + record.lines, static_cast<std::size_t>(at - line) + 1},
                  "a semicolon in " + shown(field.text) + ": are fields separated by semicolons?",
                  "separate them by commas and write numbers with a point, or quote the field");
    record.fields.push_back(std::move(field.text));
    record.lines += field.line_feeds;
    if (field.line_feeds > 0) line = field.line_start;
    at = field.end;
    if (ends_record(at)) break;
    ++at;
  }
  if (at < end) at += *at == '\r' ? 2 : 1;
  ++record.lines;
  record.end = static_cast<std::size_t>(at - text.data());
  return record;
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return text;
}

std::optional<std::size_t> usual_label(const std::vector<std::string>& names) {
  for (const std::string_view usual : {"label", "class", "target", "y"})
    for (std::size_t i = 0; i < names.size(); ++i)
      if (lower(names[i]) == usual) return i;
  return {};
}

std::optional<std::size_t> column_number(const std::string& text, std::size_t fields) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != text.npos)
    return {};
  const std::size_t number = std::stoul(text);
  if (number < 1 || number > fields) return {};
  return number - 1;
}

/// Whether the first record must be a header, before it is known which field is the label.
bool looks_like_header(const std::vector<std::string>& fields, const ReadOptions& options) {
  for (const std::string& name :
       {options.label_column, options.weight_column, options.over_column, options.id_column})
    if (!name.empty() && !number_in(name) &&
        std::find(fields.begin(), fields.end(), name) != fields.end())
      return true;
  const bool labelled = options.labels != LabelKind::none;
  if (labelled && options.label_column.empty() && usual_label(fields)) return true;
  std::optional<std::size_t> label = column_number(options.label_column, fields.size());
  if (labelled && options.label_column.empty()) label = 0;
  const auto weight = column_number(options.weight_column, fields.size());
  const auto over = column_number(options.over_column, fields.size());
  const auto id = column_number(options.id_column, fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (label != i && weight != i && over != i && id != i && !number_in(fields[i]) &&
        !says_missing(fields[i]))
      return true;
  return false;
}

/// The column that an option names.
std::size_t find_column(const std::string& wanted, const CsvLayout& layout, const std::string& file,
                        std::string_view role) {
  const auto named = std::find(layout.names.begin(), layout.names.end(), wanted);
  if (named != layout.names.end()) return static_cast<std::size_t>(named - layout.names.begin());
  if (const auto number = column_number(wanted, layout.fields)) return *number;
  std::string columns;
  for (std::size_t i = 0; i < std::min<std::size_t>(layout.names.size(), 20); ++i)
    columns += (i == 0 ? " (" : ", ") + shown(layout.names[i]);
  if (!columns.empty()) columns += layout.names.size() > 20 ? ", ...)" : ")";
  throw Error(Fault::usage, {file, 0, 0},
              "there is no " + std::string(role) + " column " + shown(wanted),
              "give a name from the header" + columns + " or a number from 1 to " +
                  std::to_string(layout.fields));
}

void choose_columns(CsvLayout& layout, const std::string& file, const ReadOptions& options) {
  const bool labelled = options.labels != LabelKind::none;
  if (!options.label_column.empty()) {
    const std::size_t column = find_column(options.label_column, layout, file, "label");
    (labelled ? layout.label : layout.ignored) = column;
  } else if (labelled) {
    layout.label = usual_label(layout.names).value_or(0);
  }
  if (!options.weight_column.empty())
    layout.weight = find_column(options.weight_column, layout, file, "weight");
  if (!options.over_column.empty())
    layout.weight_over = find_column(options.over_column, layout, file, "weight");
  if (!options.id_column.empty()) layout.id = find_column(options.id_column, layout, file, "id");
  if (layout.id && (layout.id == layout.label || layout.id == layout.weight))
    throw Error(Fault::usage, {file, 0, 0}, "the id is the label or the weight, too",
                "name different columns");
  if (layout.weight && (layout.weight == layout.label || layout.weight == layout.ignored))
    throw Error(Fault::usage, {file, 0, 0}, "label and weight are the same column",
                "name two different columns");
  if (layout.weight_over &&
      (layout.weight_over == layout.label || layout.weight_over == layout.ignored ||
       layout.weight_over == layout.weight || layout.weight_over == layout.id))
    throw Error(Fault::usage, {file, 0, 0},
                "the weight of predicting too much is another column, too",
                "name different columns");
  for (std::size_t i = 0; i < layout.fields; ++i) layout.features += layout.is_feature(i);
}

}  // namespace

CsvField csv_field(const char* at, const char* text_end, char separator) {
  CsvField field;
  const auto fail = [&](const char* where, std::string what, std::string mend) {
    field.wrong_at = where;
    field.fault = {0, 0, std::move(what), std::move(mend)};
    return field;
  };
  const char* const begin = at;
  while (*at == ' ') ++at;
  if (*at != '"') {
    while (*at != separator && *at != '\n' && *at != '"') ++at;
    if (*at == '"')
      return fail(at, "a quote inside a field that does not begin with one",
                  "quote the whole field and double the quotes inside");
    const char* end = *at == '\n' && at > begin && at[-1] == '\r' ? at - 1 : at;
    field.text = trimmed({begin, static_cast<std::size_t>(end - begin)});
    field.end = end;
    return field;
  }
  const char* const quote = at;
  for (++at; at < text_end; ++at) {
    if (*at == '"') {
      if (at[1] != '"') break;
      ++at;
    } else if (*at == '\n') {
      ++field.line_feeds;
      field.line_start = at + 1;
    }
    field.text += *at;
  }
  if (at >= text_end)
    return fail(quote, "this quote is never closed", "close it with another quote");
  for (++at; *at == ' ';) ++at;
  if (*at != separator && !ends_record(at))
    return fail(at, "text behind a closing quote", "double the quotes inside a quoted field");
  field.end = at;
  return field;
}

std::string CsvLayout::column(std::size_t field) const {
  const std::string number = "column " + std::to_string(field + 1);
  return field < names.size() ? number + " (" + shown(names[field]) + ")" : number;
}

std::vector<std::string> CsvLayout::feature_names() const {
  std::vector<std::string> chosen;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (is_feature(i)) chosen.push_back(names[i]);
  return chosen;
}

CsvLayout csv_layout(std::string_view text, const Place& start, char separator,
                     const ReadOptions& options) {
  const std::string& file = start.file;
  Record record = first_record(text, start, separator);
  CsvLayout layout;
  layout.separator = separator;
  layout.fields = record.fields.size();
  layout.header_bytes = record.begin;
  layout.header_lines = record.line - start.line;
  const bool header = options.header == ReadOptions::Header::yes ||
                      (options.header == ReadOptions::Header::automatic &&
                       looks_like_header(record.fields, options));
  if (header) {
    layout.names = std::move(record.fields);
    layout.header_bytes = record.end;
    layout.header_lines += record.lines;
  }
  choose_columns(layout, file, options);
  if (layout.features == 0)
    throw Error(Fault::data, {file, record.line, 1}, "has no feature columns",
                separator == ',' ? "separate the fields by commas" : "separate the fields by tabs");
  if (layout.features < options.columns)
    throw Error(Fault::data, {file, record.line, 1},
                "has " + std::to_string(layout.features) + " features where " +
                    std::to_string(options.columns) + " are needed",
                layout.label ? layout.column(*layout.label) +
                                   " was taken as the label: if it is none, say so"
                             : "use data with the features of the model");
  return layout;
}

}  // namespace maxmargin
