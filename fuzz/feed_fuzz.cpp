// Arbitrary bytes as the text of a stream, whole and in small pieces: both must give the same rows,
// late labels and faults.

#include <cstdlib>

#include "maxmargin/data/readers/feed.hpp"

namespace {

using namespace maxmargin;

void drain(Feed& feed, std::string& seen) {
  FeedBatch batch;
  while (feed.next(batch, 1000)) {
    if (batch.is_late_label) seen += "late " + batch.ids.at(0) + "\n";
    for (std::size_t i = 0; i < batch.rows.count; ++i) {
      const Label& label = batch.labels[i];
      seen += label.word < batch.words.size() ? batch.words[label.word] : shortest(label.number);
      batch.rows.for_each(i, [&](Index feature, double value) {
        if (value != 0) seen += " " + std::to_string(feature) + ":" + shortest(value);
      });
      if (!batch.ids.empty()) seen += " #" + batch.ids[i];
      seen += "\n";
    }
    if (batch.fault) seen += std::string(batch.fault->what()) + "\n";
  }
}

std::string rows_of(std::string_view text, const FeedOptions& options, std::size_t piece) {
  std::string seen;
  try {
    Feed feed("fuzz", options);
    for (std::size_t at = 0; at < text.size(); at += piece) {
      feed.append(text.substr(at, piece));
      drain(feed, seen);
    }
    feed.finish();
    drain(feed, seen);
  } catch (const Error& error) {
    seen += error.what();
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  FeedOptions options;
  constexpr Format formats[] = {Format::automatic, Format::libsvm, Format::csv, Format::tsv};
  options.read.format = formats[data[0] % 4];
  options.ids = data[0] / 4 % 2 == 1;
  if (options.ids && data[0] / 8 % 2 == 1) options.read.id_column = "1";
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t piece = std::size_t{1} + data[0] / 16;
  if (rows_of(text, options, piece) != rows_of(text, options, size)) std::abort();
  return 0;
}
