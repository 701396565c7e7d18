#include "maxmargin/data/readers/builder.hpp"

#include <algorithm>
#include <numeric>

#include "maxmargin/data/like.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t most_rows = 0xfffffffe;

template <class T>
std::vector<T> taken(Buffer<T>& buffer) {
  std::vector<T> values(buffer.begin(), buffer.end());
  buffer.resize(0);
  buffer.fit();
  return values;
}

}  // namespace

double LabelBook::word_of_number(double number) {
  return static_cast<double>(words_.number_of(shortest(number)));
}

void LabelBook::append(std::span<const Label> labels, const WordList& piece_words,
                       Buffer<double>& y) {
  const bool has_words = !piece_words.words().empty();
  if (has_words && !wordy_) {
    for (double& label : y) label = word_of_number(label);
    wordy_ = true;
  }
  std::vector<double> global(piece_words.words().size(), -1);
  const std::size_t before = y.size();
  y.resize(before + labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Label& label = labels[i];
    if (label.word == no_word) {
      y[before + i] = wordy_ ? word_of_number(label.number) : label.number;
    } else {
      double& word = global[label.word];
      if (word < 0) word = static_cast<double>(words_.number_of(piece_words.words()[label.word]));
      y[before + i] = word;
    }
  }
}

DatasetBuilder::DatasetBuilder(std::string file, bool sparse, std::size_t columns)
    : file_(std::move(file)), x_(no_rows(sparse, columns)) {}

void DatasetBuilder::check(const Piece& piece, std::size_t line) const {
  if (queries_ && piece.queries && *piece.queries != *queries_)
    throw Error(Fault::data, {file_, line + piece.first_line, 1},
                *queries_ ? "this row has no qid but earlier rows have one"
                          : "this row has a qid but earlier rows have none",
                "give every row a qid, or none");
  if (piece.fault)
    throw Error(Fault::data, {file_, line + piece.fault->line, piece.fault->column},
                piece.fault->what, piece.fault->mend);
}

void DatasetBuilder::append(std::span<const Piece> pieces, std::size_t first_line,
                            const Parts& parts, const Threads& threads) {
  std::size_t line = first_line;
  std::vector<Rows> views;
  for (const Piece& piece : pieces) {
    check(piece, line);
    if (!queries_) queries_ = piece.queries;
    if (piece.zero_index && !zero_place_)
      zero_place_ = Place{file_, line + piece.zero_line, piece.zero_column};
    views.push_back(x_.is_sparse() ? piece.sparse_view() : piece.dense_view(x_.columns()));
    if (parts.labels) book_.append({piece.label.data(), piece.rows}, piece.words, y_);
    if (parts.weights) weight_.append({piece.weight.data(), piece.rows});
    if (parts.weights_over) weight_over_.append({piece.weight_over.data(), piece.rows});
    if (queries_.value_or(false)) query_.append({piece.query.data(), piece.rows});
    line += piece.lines;
  }
  x_.append(views, threads, parts.times);
  if (x_.count() > most_rows)
    throw Error(Fault::data, {file_, 0, 0}, "has more than 4294967294 rows", "split the file");
}

Dataset DatasetBuilder::take() {
  const std::size_t columns = x_.columns();
  const bool sparse = x_.is_sparse();
  Dataset data;
  data.x = std::move(x_);
  data.x.fit();
  x_ = no_rows(sparse, columns);
  data.y = taken(y_);
  if (book_.wordy()) data.words = book_.words();
  data.weight = taken(weight_);
  data.weight_over = taken(weight_over_);
  data.query = taken(query_);
  return data;
}

void sort_words(Dataset& data) {
  const std::size_t size = data.words.size();
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return data.words[a] < data.words[b]; });
  std::vector<double> rank(size);
  std::vector<std::string> sorted(size);
  for (std::size_t k = 0; k < size; ++k) {
    rank[order[k]] = static_cast<double>(k);
    sorted[k] = std::move(data.words[order[k]]);
  }
  for (double& label : data.y)
    if (size > 0) label = rank[static_cast<std::size_t>(label)];
  data.words = std::move(sorted);
}

}  // namespace maxmargin
