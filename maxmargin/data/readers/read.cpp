#include "maxmargin/data/readers/read.hpp"

#include <algorithm>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/data/readers/row_reader.hpp"
#include "maxmargin/data/readers/weights.hpp"

namespace maxmargin {
namespace {

// A format shows within its first line; comments in front of that are rarely longer.
constexpr std::size_t sniffed_bytes = std::size_t{1} << 16;

/// "index:value", or "qid:number".
bool is_feature(std::string_view token) {
  const std::size_t colon = token.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  if (token.find_first_of(":,;\"", colon + 1) != std::string_view::npos) return false;
  const std::string_view index = token.substr(0, colon);
  return index == "qid" || index.find_first_not_of("0123456789") == std::string_view::npos;
}

bool has_feature(std::string_view line) {
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    if (is_feature(line.substr(0, end))) return true;
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return false;
}

/// The format of text by its first line that is not blank or a comment. Where a separator stands
/// behind a '#', it may be part of a comment: then later lines decide.
Format format_of_lines(std::string_view head) {
  Format guess = Format::libsvm;
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = trimmed(head.substr(0, end));
    head.remove_prefix(std::min(end + 1, head.size()));
    if (line.empty() || line == "\r" || line[0] == '#') continue;
    const std::string_view bare = trimmed(line.substr(0, line.find('#')));
    if (has_feature(bare)) return Format::libsvm;
    if (bare.find(',') != std::string_view::npos) return Format::csv;
    if (bare.find('\t') != std::string_view::npos) return Format::tsv;
    if (line.find_first_of(",\t", bare.size()) == std::string_view::npos) return Format::libsvm;
    guess = line.find(',') != std::string_view::npos ? Format::csv : Format::tsv;
  }
  return guess;
}

Format format_of(Source& source, std::string name) {
  const std::string_view head = source.peek(sniffed_bytes);
  if (head.size() >= 4 && head[0] == 0 && head[1] == 0 && head[2] >= 8 && head[2] <= 14 &&
      head[3] >= 1 && head[3] <= 8)
    return Format::idx;
  return format_of_text(head, std::move(name));
}

/// Drops the mark that some editors put in front of UTF-8, and refuses UTF-16 and UTF-32.
void pass_byte_order_mark(Source& source) {
  using namespace std::string_view_literals;
  std::string_view head = source.peek(4);
  if (head.starts_with("\xff\xfe\0\0"sv) || head.starts_with("\0\0\xfe\xff"sv))
    throw Error(Fault::data, {source.name(), 1, 1}, "this is UTF-32 text", "save it as UTF-8");
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff"))
    throw Error(Fault::data, {source.name(), 1, 1}, "this is UTF-16 text", "save it as UTF-8");
  char mark[3];
  if (head.starts_with("\xef\xbb\xbf")) source.read_all(mark, 3);
}

std::unique_ptr<RowReader> open_rows(std::unique_ptr<Source> source, const std::string& path,
                                     const ReadOptions& options, const Threads& threads) {
  Format format = options.format;
  if (format == Format::automatic) format = format_of(*source, source->name());
  if (format == Format::idx) return idx_reader(std::move(source), options, path);
  pass_byte_order_mark(*source);
  if (format == Format::libsvm) return libsvm_reader(std::move(source), options, threads);
  return csv_reader(std::move(source), options, format == Format::csv ? ',' : '\t', threads);
}

[[noreturn]] void no_rows(const std::string& file) {
  throw Error(Fault::data, {file, 0, 0}, "has no rows", "check that this is the right file");
}

void check_options(const ReadOptions& options) {
  if (options.labels == LabelKind::optional)
    throw Error(Fault::usage, "rows of a data set have labels, all of them or none",
                "read rows whose labels may be missing as a stream");
  if (!options.weight_column.empty() && !options.weight_file.empty())
    throw Error(Fault::usage, "weights are given both by a column and by a file",
                "choose one of the two");
  if (!options.over_column.empty() && options.weight_column.empty())
    throw Error(Fault::usage, "a weight of predicting too much is given, and none of too little",
                "name the column of that too");
}

Dataset read_source(std::unique_ptr<Source> source, const std::string& path,
                    const ReadOptions& options, const Threads& threads) {
  check_options(options);
  const std::string name = source->name();
  const auto rows = open_rows(std::move(source), path, options, threads);
  rows->expect_all();
  while (rows->advance()) {
  }
  if (rows->ready() == 0) no_rows(name);
  Dataset data = rows->take();
  sort_words(data);
  if (!options.weight_file.empty()) {
    WeightFile weights(options.weight_file);
    weights.give(data);
    weights.end();
  }
  return data;
}

/// Appends rows [begin, end) of one data set to another.
void append_rows(Dataset& to, const Dataset& from, std::size_t begin, std::size_t end) {
  to.x.append(from.x.view().slice(begin, end));
  const auto copy = [&](auto& target, const auto& values) {
    if (!values.empty())
      target.insert(target.end(), values.begin() + static_cast<std::ptrdiff_t>(begin),
                    values.begin() + static_cast<std::ptrdiff_t>(end));
  };
  copy(to.y, from.y);
  copy(to.weight, from.weight);
  copy(to.weight_over, from.weight_over);
  copy(to.query, from.query);
}

}  // namespace

Format format_of_text(std::string_view head, std::string name) {
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  for (const std::string_view packed : {".gz", ".zst", ".zstd"})
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  if (name.ends_with(".csv")) return Format::csv;
  if (name.ends_with(".tsv") || name.ends_with(".tab")) return Format::tsv;
  return format_of_lines(head);
}

Dataset read(const std::string& path, const ReadOptions& options, const Threads& threads) {
  return read_source(open_source(path), path, options, threads);
}

Dataset read_bytes(std::span<const std::byte> bytes, const std::string& name,
                   const ReadOptions& options, const Threads& threads) {
  return read_source(memory_source(bytes, name), {}, options, threads);
}

struct Reader::State {
  std::string name;
  std::unique_ptr<RowReader> rows;
  std::optional<WeightFile> weights;
  Dataset block;  ///< rows that were read and not given out yet: those from `given` on
  std::size_t given = 0;
  bool any = false;

  /// Makes sure that there are rows to give out; false at the end.
  bool refill() {
    while (given == block.rows()) {
      if (!rows->advance()) {
        if (!any) no_rows(name);
        if (weights) weights->end();
        return false;
      }
      if (rows->ready() == 0) continue;
      block = rows->take();
      given = 0;
      any = true;
      if (weights) weights->give(block);
    }
    return true;
  }
};

Reader::Reader(const std::string& path, const ReadOptions& options, const Threads& threads)
    : state_(std::make_unique<State>()) {
  check_options(options);
  auto source = open_source(path);
  state_->name = source->name();
  state_->rows = open_rows(std::move(source), path, options, threads);
  if (!options.weight_file.empty()) state_->weights.emplace(options.weight_file);
}

Reader::~Reader() = default;

Dataset Reader::next(std::size_t target_rows) {
  Dataset batch;
  const std::size_t target = std::max<std::size_t>(target_rows, 1);
  while (batch.rows() < target && state_->refill()) {
    const Dataset& block = state_->block;
    if (batch.rows() == 0) {
      batch.x = none_like(block.x);
      batch.feature_names = block.feature_names;
      batch.counts_from_zero = block.counts_from_zero;
    } else if (batch.words.empty() && !block.words.empty()) {
      // Labels turn from numbers to words between two blocks, so the batch ends here.
      break;
    }
    batch.words = block.words;
    const std::size_t end =
        state_->given + std::min(target - batch.rows(), block.rows() - state_->given);
    append_rows(batch, block, state_->given, end);
    state_->given = end;
  }
  return batch;
}

}  // namespace maxmargin
