#include "maxmargin/data/readers/feed.hpp"

#include <algorithm>

#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/data/readers/formats/piece_parsers.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t bytes_at_once = std::size_t{1} << 16;

/// The end of the record that begins at `from`; npos if it is not complete.
std::size_t record_end(std::string_view text, std::size_t from, bool quoted) {
  if (!quoted) {
    const std::size_t end = text.find('\n', from);
    return end == std::string_view::npos ? end : end + 1;
  }
  bool inside = false;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\n' && !inside) return i + 1;
    inside ^= text[i] == '"';
  }
  return std::string_view::npos;
}

/// A line that is no row: blank, or a comment.
bool is_empty_line(std::string_view line, bool quoted) {
  if (quoted) return line == "\n" || line == "\r\n";
  const std::size_t first = line.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || line[first] == '#';
}

std::uint64_t line_feeds(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

}  // namespace

Feed::Feed(std::string name, FeedOptions options)
    : name_(std::move(name)), options_(std::move(options)), format_(options_.read.format) {
  options_.read.labels =
      options_.read.labels == LabelKind::none ? LabelKind::none : LabelKind::optional;
  // A stream cannot wait to see whether index 0 occurs: it counts from 1.
  if (options_.read.base == ReadOptions::Base::automatic)
    options_.read.base = ReadOptions::Base::one;
  text_.assign(text_padding, '\0');
}

void Feed::append(std::string_view bytes) {
  text_.resize(used_);
  text_.erase(0, at_);
  at_ = 0;
  text_.append(bytes);
  used_ = text_.size();
  text_.append(text_padding, '\0');
}

void Feed::finish() {
  finished_ = true;
  if (used_ > at_ && text_[used_ - 1] != '\n') append("\n");
}

void Feed::pass(std::size_t bytes, std::uint64_t lines) {
  at_ += bytes;
  offset_ += bytes;
  line_ += lines;
}

bool Feed::skip_rest_of_record() {
  const std::size_t end = record_end(waiting(), 0, false);
  if (end == std::string_view::npos) {
    pass(waiting().size(), 0);
    return false;
  }
  pass(end, 1);
  skipping_ = false;
  return true;
}

/// The first bytes of all, which may say that this is no text; false if more are needed to tell.
bool Feed::look_at_first_bytes() {
  constexpr std::string_view gzip = "\x1f\x8b", zstd = "\x28\xb5\x2f\xfd", utf8 = "\xef\xbb\xbf",
                             little = "\xff\xfe", big = "\xfe\xff";
  const std::string_view text = waiting();
  for (const std::string_view mark : {gzip, zstd, utf8, little, big})
    if (text.size() < mark.size() && mark.starts_with(text) && !finished_) return false;
  if (text.starts_with(gzip) || text.starts_with(zstd))
    throw Error(Fault::data, Place{name_}, "this is packed",
                "unpack it in front of the stream: zcat or zstdcat");
  if (text.starts_with(little) || text.starts_with(big))
    throw Error(Fault::data, Place{name_, 1, 1}, "this is UTF-16 text", "save it as UTF-8");
  if (text.starts_with(utf8)) pass(utf8.size(), 0);
  looked_ = true;
  return true;
}

/// Once there is a line that tells it.
bool Feed::learn_format() {
  if (!looked_ && !look_at_first_bytes()) return false;
  while (true) {
    const std::size_t end = record_end(waiting(), 0, format_ != Format::libsvm);
    if (end == std::string_view::npos) return false;
    const std::string_view line = waiting().substr(0, end);
    if (!is_empty_line(line, format_ == Format::csv || format_ == Format::tsv)) break;
    pass(end, line_feeds(line));
  }
  // The first line decides, however much of the text is there.
  if (format_ == Format::automatic)
    format_ = format_of_text(waiting().substr(0, waiting().find('\n') + 1), name_);
  if (quoted()) {
    const std::string_view first = waiting().substr(0, record_end(waiting(), 0, true));
    layout_ = csv_layout(first, {name_, static_cast<std::size_t>(line_), 1},
                         format_ == Format::csv ? ',' : '\t', options_.read);
    pass(layout_.header_bytes, layout_.header_lines);
  }
  started_ = true;
  return true;
}

/// The bytes of complete records, at most so many lines of them.
std::size_t Feed::whole_records(std::size_t most_lines) const {
  const std::string_view text = waiting();
  std::size_t end = 0;
  for (std::size_t lines = 0; lines < most_lines && end < bytes_at_once; ++lines) {
    const std::size_t next = record_end(text, end, quoted());
    if (next == std::string_view::npos) break;
    end = next;
  }
  return end;
}

std::optional<Error> Feed::too_long() {
  if (waiting().size() <= options_.most_bytes) return {};
  Error error(Fault::data, {name_, static_cast<std::size_t>(line_), 1},
              "this line has more than " + std::to_string(options_.most_bytes) + " bytes",
              "end it, or allow longer ones with --most-bytes");
  skipping_ = true;
  fault_offset_ = offset_;
  return error;
}

bool Feed::next(FeedBatch& batch, std::size_t most_lines) {
  batch = FeedBatch{};
  if (skipping_ && !skip_rest_of_record()) return false;
  const bool ready = started_ || learn_format();
  const std::size_t bytes = ready ? whole_records(options_.ids ? 1 : most_lines) : 0;
  if (bytes == 0) {
    batch.fault = too_long();
    if (batch.fault) skip_rest_of_record();
    return batch.fault.has_value();
  }
  batch_at_ = at_;
  batch_line_ = line_;
  batch_offset_ = offset_;
  piece_.begin(waiting().substr(0, bytes));
  if (options_.ids && take_late_label(batch)) {
    pass(bytes, line_feeds(piece_.text));
    return true;
  }
  parse();
  std::size_t given = bytes;
  std::uint64_t lines = line_feeds(piece_.text);
  if (piece_.fault) {
    const TextFault& fault = *piece_.fault;
    batch.fault.emplace(
        Fault::data, Place{name_, static_cast<std::size_t>(batch_line_) + fault.line, fault.column},
        fault.what, fault.mend);
    given = 0;
    for (std::size_t k = 0; k <= fault.line; ++k) {
      fault_offset_ = batch_offset_ + given;
      given = piece_.text.find('\n', given) + 1;
    }
    lines = fault.line + 1;
  }
  batch.rows = quoted() ? piece_.dense_view(layout_.features) : piece_.sparse_view();
  batch.labels = {piece_.label.data(), piece_.rows};
  batch.words = piece_.words.words();
  if (options_.ids && piece_.rows > 0) name_row(batch);
  pass(given, lines);
  return true;
}

void Feed::parse() {
  if (!quoted()) {
    // Whether rows have a qid does not depend on how the text is cut.
    piece_.queries = queries_;
    parse_libsvm(piece_, options_.read);
    queries_ = piece_.queries;
    return;
  }
  parse_csv(piece_, layout_, options_.read.labels);
  if (layout_.label) return;
  for (std::size_t i = 0; i < piece_.rows; ++i) piece_.label[i] = {0, no_label};
}

/// The text of the id column, or behind the '#' of the one row of the piece.
void Feed::name_row(FeedBatch& batch) {
  std::string id;
  if (!quoted()) {
    const std::size_t mark = piece_.text.find('#');
    if (mark != std::string_view::npos) {
      const std::size_t end = piece_.text.find_first_of("\r\n", mark);
      id = trimmed(piece_.text.substr(mark + 1, end - mark - 1));
    }
  } else if (layout_.id) {
    const char* at = piece_.text.data();
    for (std::size_t field = 0;; ++field) {
      const CsvField parts = csv_field(at, at + piece_.text.size(), layout_.separator);
      if (field == *layout_.id) id = parts.text;
      if (field == *layout_.id || parts.end == nullptr || ends_record(parts.end)) break;
      at = parts.end + 1;
    }
  }
  batch.ids.assign(1, std::move(id));
}

/// A record with a label but no features.
bool Feed::take_late_label(FeedBatch& batch) {
  const std::string_view text = piece_.text;
  std::string label;
  if (quoted()) {
    const char *at = text.data(), *const end = at + text.size();
    for (std::size_t field = 0;; ++field) {
      const CsvField parts = csv_field(at, end, layout_.separator);
      if (parts.end == nullptr) return false;
      if (layout_.label == field) label = parts.text;
      if (layout_.is_feature(field) && !parts.text.empty()) return false;
      if (ends_record(parts.end)) {
        if (field + 1 != layout_.fields) return false;
        break;
      }
      at = parts.end + 1;
    }
  } else {
    const std::string_view bare = text.substr(0, text.find('#'));
    if (bare.find(':') != std::string_view::npos || bare.size() == text.size()) return false;
    label = trimmed(bare);
    if (label.find_first_of(" \t") != std::string::npos) return false;
  }
  if (label.empty() || says_missing(label)) return false;
  if (read_label(label, LabelKind::any, piece_.words, late_label_)) return false;
  name_row(batch);
  batch.labels = {&late_label_, 1};
  batch.words = piece_.words.words();
  batch.is_late_label = true;
  return true;
}

Feed::RowPosition Feed::position_of(std::size_t row) const {
  const std::string_view text(text_.data() + batch_at_, used_ - batch_at_);
  RowPosition position{batch_line_, batch_offset_, batch_offset_, batch_line_};
  std::size_t at = 0;
  for (std::size_t seen = 0;;) {
    const std::size_t end = record_end(text, at, quoted());
    if (end == std::string_view::npos) return position;
    const std::string_view record = text.substr(at, end - at);
    position.begin = batch_offset_ + at;
    position.end = batch_offset_ + end;
    position.end_line = position.line + line_feeds(record);
    if (!is_empty_line(record, quoted()) && seen++ == row) return position;
    position.line = position.end_line;
    at = end;
  }
}

void Feed::start_at(std::string_view head, std::uint64_t line, std::uint64_t offset) {
  append(head);
  if (!head.empty()) learn_format();
  text_.assign(text_padding, '\0');
  used_ = at_ = 0;
  line_ = line;
  offset_ = offset;
}

}  // namespace maxmargin
