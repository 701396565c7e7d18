#include "maxmargin/train/disk/spill.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/base/memory_budget.hpp"
#include "maxmargin/data/content_hash.hpp"
#include "maxmargin/problem/streamed.hpp"
#include "maxmargin/solver/interior_point/streamed.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t most_columns = 200000;
constexpr std::size_t out_of_reach = std::numeric_limits<std::size_t>::max();
constexpr std::size_t least_chunk = std::size_t{64} << 10, most_chunk = std::size_t{1} << 20;
constexpr std::size_t least_block = std::size_t{256} << 10, most_block = std::size_t{8} << 20;
constexpr std::size_t batch_rows = 4096;
constexpr std::size_t most_classes = 10'000;

/// The classes of a file in order of appearance; labels turn from numbers to words at the first
/// word.
class LabelList {
 public:
  double number_of(const Dataset& batch, std::size_t row) {
    const double label = batch.y[row];
    wordy_ = wordy_ || !batch.words.empty();
    if (batch.words.empty() && label == last_ && !names_.empty()) return last_number_;
    const std::string name =
        batch.words.empty() ? shortest(label) : batch.words.at(static_cast<std::size_t>(label));
    const auto [at, is_new] = numbers_.try_emplace(name, names_.size());
    if (is_new) {
      names_.push_back(name);
      values_.push_back(batch.words.empty() ? label + 0.0 : 0);
      if (names_.size() > most_classes)
        throw Error(Fault::data, "there are more than 10000 different labels",
                    "for labels that are numbers to predict use --task svr");
    }
    last_ = batch.words.empty() ? label : std::nan("");
    last_number_ = static_cast<double>(at->second);
    return last_number_;
  }

  bool wordy() const { return wordy_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<double>& values() const { return values_; }

  /// Positions in order of the classes: by number, or bytewise by word.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order(names_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return wordy_ ? names_[a] < names_[b] : values_[a] < values_[b];
    });
    return order;
  }

 private:
  bool wordy_ = false;
  double last_ = std::nan(""), last_number_ = 0;
  std::vector<std::string> names_;
  std::vector<double> values_;
  std::map<std::string, std::size_t, std::less<>> numbers_;
};

void check_batch(const Dataset& batch, std::size_t before) {
  if (!batch.labelled())
    throw Error(Fault::data, "the data has no labels",
                "give a file with labels, or name the label column (--label)");
  if (!batch.weight_over.empty())
    throw Error(Fault::data, "rows on disk have one weight each", "train in memory");
  for (std::size_t i = 0; i < batch.weight.size(); ++i)
    if (!(batch.weight[i] >= 0) || std::isinf(batch.weight[i]))
      throw Error(
          Fault::data,
          "row " + std::to_string(before + i + 1) + " has the weight " + shortest(batch.weight[i]),
          "weights are 0 or more");
}

/// Rounded up, so that giving as much is enough.
std::string in_mebibytes(std::size_t bytes) { return std::to_string((bytes >> 20) + 1) + "M"; }

std::string hash_of(const RowFile& rows, const LabelList& labels, bool classes) {
  ContentHash hash(rows.rows());
  rows.read(stream_parts, [&](std::span<const RowChunk> chunks) {
    for (const RowChunk& chunk : chunks)
      hash.add(Rows{chunk.rows, chunk.columns, chunk.floats, chunk.doubles});
    return true;
  });
  using Labels = ContentHash::Labels;
  const bool words = classes && labels.wordy();
  hash.begin_labels(words ? Labels::words : Labels::numbers);
  bool weighted = false;
  rows.read_labels([&](std::span<const double> label, const double* weight) {
    for (std::size_t i = 0; i < label.size(); ++i) {
      const auto number = static_cast<std::size_t>(classes ? label[i] : 0);
      if (words)
        hash.add_word(labels.names()[number]);
      else
        hash.add_number(classes ? labels.values()[number] : label[i]);
      weighted = weighted || (weight != nullptr && weight[i] != 1);
    }
  });
  hash.begin_weights(weighted);
  if (weighted)
    rows.read_labels([&](std::span<const double> label, const double* weight) {
      for (std::size_t i = 0; i < label.size(); ++i) hash.add_number(weight[i]);
    });
  return hash.text();
}

/// The classes as a data set of one row each, `sums` their weights in order of appearance.
void outline_classes(const LabelList& labels, std::span<const double> sums, Dataset& outline) {
  const std::vector<std::size_t> order = labels.order();
  for (std::size_t k = 0; k < order.size(); ++k) {
    outline.x.append(std::span<const Index>{}, std::span<const double>{});
    outline.weight.push_back(sums[order[k]]);
    outline.y.push_back(labels.wordy() ? static_cast<double>(k) : labels.values()[order[k]]);
    if (labels.wordy()) outline.words.push_back(labels.names()[order[k]]);
  }
}

}  // namespace

std::size_t least_memory_out_of_core(std::size_t features) {
  // Memory grows with the square of the columns: more than these need more than any computer has.
  if (features > most_columns) return out_of_reach;
  const std::size_t numbers = features + 1;
  const std::size_t rows = 64 * (features * sizeof(double) + 2 * sizeof(double)) + 4096;
  const std::size_t at_the_end = 4 * numbers + 256;
  return program_bytes_out_of_core + 2 * stream_parts * std::max(least_chunk, rows) +
         streamed_sum_bytes(numbers) + at_the_end * streamed_row_bytes(numbers);
}

void require_bytes_out_of_core(std::size_t given, std::size_t needed, const std::string& what) {
  if (needed == out_of_reach)
    throw Error(Fault::usage,
                "training out of core on " + what + " needs more memory than there is",
                "keep the rows in memory, with --memory as large as the file, or number the "
                "features without gaps");
  if (given < needed)
    throw Error(Fault::usage,
                "training out of core on " + what + " needs " + in_mebibytes(needed) +
                    " of memory and may use " + std::to_string(given >> 20) + "M",
                "give --memory " + in_mebibytes(needed));
}

void require_memory_out_of_core(std::size_t given, std::size_t features) {
  require_bytes_out_of_core(given, least_memory_out_of_core(features),
                            std::to_string(features) + (features == 1 ? " feature" : " features"));
}

std::size_t spill_chunk_bytes(std::size_t memory) {
  return std::clamp(MemoryBudget{memory}.chunks().divided(2 * stream_parts).bytes, least_chunk,
                    most_chunk);
}

SpilledData spill(const std::string& path, const ReadOptions& reading, Outcome outcome,
                  const SpillOptions& options, const Threads& threads) {
  const Stopwatch clock;
  SpilledData spilled;
  spilled.memory_bytes =
      options.memory_bytes > 0 ? options.memory_bytes : MemoryBudget::of_machine().bytes;
  const std::size_t memory = spilled.memory_bytes;
  ReadOptions blockwise = reading;
  if (blockwise.block_bytes == 0)
    blockwise.block_bytes =
        std::clamp(MemoryBudget{memory}.text_block().bytes, least_block, most_block);
  Reader reader(path, blockwise, threads);
  const bool classes = outcome == Outcome::classes;
  LabelList labels;
  std::vector<double> sums;
  std::uint64_t nonzeros = 0;
  double weight = 0;
  spilled.folder = options.folder;
  spilled.rows = std::make_unique<RowFile>(options.folder, spill_chunk_bytes(memory));
  std::size_t count = 0;
  for (;;) {
    Dataset batch = reader.next(batch_rows);
    if (batch.rows() == 0) break;
    check_batch(batch, count);
    if (batch.x.columns() > spilled.features) require_memory_out_of_core(memory, batch.x.columns());
    spilled.features = std::max(spilled.features, batch.x.columns());
    if (count == 0) {
      spilled.outline.feature_names = batch.feature_names;
      spilled.outline.counts_from_zero = batch.counts_from_zero;
    }
    if (!classes && !batch.words.empty())
      throw Error(Fault::data, "the label '" + batch.words.front() + "' is not a number",
                  "regression needs numbers; for classes use --task svc");
    for (std::size_t i = 0; classes && i < batch.rows(); ++i) {
      batch.y[i] = labels.number_of(batch, i);
      sums.resize(labels.names().size(), 0.0);
      sums[static_cast<std::size_t>(batch.y[i])] += batch.weight.empty() ? 1 : batch.weight[i];
    }
    weight += batch.weight.empty() ? static_cast<double>(batch.rows())
                                   : std::accumulate(batch.weight.begin(), batch.weight.end(), 0.0);
    const Rows rows = batch.x;
    for (std::size_t i = 0; i < rows.count; ++i)
      rows.for_each(i, [&](Index, double value) { nonzeros += value != 0; });
    spilled.rows->append(rows, batch.y, batch.weight);
    count += batch.rows();
  }
  spilled.rows->finish();
  const double cells = static_cast<double>(count) * static_cast<double>(spilled.features);
  spilled.density = cells > 0 ? static_cast<double>(nonzeros) / cells : 0;
  spilled.data_hash = hash_of(*spilled.rows, labels, classes);
  spilled.outline.x = Features::sparse(spilled.features);
  if (classes) {
    outline_classes(labels, sums, spilled.outline);
    for (const std::size_t number : labels.order()) spilled.appearance.push_back(number);
  } else {
    spilled.outline.x.append(std::span<const Index>{}, std::span<const double>{});
    spilled.outline.y = {0};
    spilled.outline.weight = {weight};
  }
  spilled.seconds = clock.seconds();
  return spilled;
}

}  // namespace maxmargin
