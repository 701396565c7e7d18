#include "maxmargin/structured/tasks/sequence/token_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/text.hpp"
#include "maxmargin/data/readers/number.hpp"
#include "maxmargin/structured/tasks/text_lines.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t grain = 2048;  // tokens that one thread adds to
constexpr std::size_t batch = 64;    // kernel rows at a time

}  // namespace

Features token_rows(const SequenceExamples& examples) {
  Features rows = Features::sparse(examples.attributes);
  std::map<Index, double> row;
  std::vector<Index> index;
  std::vector<double> values;
  for (std::size_t t = 0; t + 1 < examples.token.size(); ++t) {
    row.clear();
    for (std::uint64_t k = examples.token[t]; k < examples.token[t + 1]; ++k)
      row[examples.attribute[k]] += examples.value_of(k);
    index.clear();
    values.clear();
    for (const auto& [feature, value] : row) {
      index.push_back(feature);
      values.push_back(value);
    }
    rows.append(index, values);
  }
  return rows;
}

SequenceExamples numbered_tokens(SequenceExamples examples) {
  const std::size_t count = examples.label.size();
  examples.attributes = count;
  examples.attribute.resize(count);
  std::iota(examples.attribute.begin(), examples.attribute.end(), Index{0});
  examples.token.resize(count + 1);
  std::iota(examples.token.begin(), examples.token.end(), std::uint64_t{0});
  examples.value.clear();
  return examples;
}

std::string token_text(const Rows& tokens, std::size_t token) {
  std::string text = "x";
  tokens.for_each(token, [&](Index feature, double value) {
    text += " " + std::to_string(feature) + ":" + shortest(value);
  });
  return text;
}

void append_token(std::string_view text, Features& tokens) {
  std::vector<Index> index;
  std::vector<double> values;
  const auto words = TextLines::words_of_line(text);
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::size_t colon = std::min(words[k].find(':'), words[k].size() - 1);
    const double feature = number_in(words[k].substr(0, colon)).value_or(-1);
    const auto value = number_in(words[k].substr(colon + 1));
    if (!value || !(feature >= 0) || feature >= 4294967295.0)
      throw Error(Fault::data, "a token of the model is damaged", "train it again");
    index.push_back(static_cast<Index>(feature));
    values.push_back(value.value_or(0));
  }
  tokens.append(index, values);
}

TokenKernel::TokenKernel(const Kernel& kernel, const Rows& tokens, std::size_t labels,
                         Values values, std::size_t room, const Threads& threads)
    : kernel_(kernel),
      tokens_(tokens),
      labels_(labels),
      values_(values),
      most_rows_(batch + room / (8 * std::max<std::size_t>(1, tokens.count))),
      threads_(threads.count()),
      engine_(make_engine(kernel, tokens, threads)) {}

TokenKernel::Row TokenKernel::computed(const Rows& left, Index token) const {
  std::vector<double> row(tokens_.count);
  const std::array which{token};
  threads_.split(tokens_.count, grain, [&](std::size_t begin, std::size_t end) {
    if (values_ == Values::engine)
      engine_->exact_block(left, which, begin, end - begin, row.data() + begin, tokens_.count);
    else
      for (std::size_t s = begin; s < end; ++s)
        row[s] = naive_value(kernel_, left, token, tokens_, s);
  });
  return std::make_shared<const std::vector<double>>(std::move(row));
}

TokenKernel::Row TokenKernel::row(Index token) const {
  if (const auto found = rows_.find(token); found != rows_.end()) return found->second;
  if (oldest_.size() >= most_rows_) {
    rows_.erase(oldest_.front());
    oldest_.pop_front();
  }
  Row made = computed(tokens_, token);
  rows_.emplace(token, made);
  oldest_.push_back(token);
  return made;
}

void TokenKernel::add_rows(std::span<const Row> rows, std::span<const Entry> entries,
                           std::span<double> scores) const {
  threads_.split(tokens_.count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) {
      double* of_token = scores.data() + s * labels_;
      for (const Entry& entry : entries)
        of_token[entry.label] += entry.coefficient * (*rows[entry.row])[s];
    }
  });
}

void TokenKernel::add_product(const JointFeatures& delta, double scale,
                              std::span<double> scores) const {
  const std::lock_guard lock(mutex_);
  std::map<std::size_t, double> sum;  // what occurs twice often cancels
  for (std::size_t k = 0; k < delta.size(); ++k) {
    if (delta.index[k] < first_linear())
      sum[delta.index[k]] += scale * delta.value[k];
    else
      scores[delta.index[k]] += scale * delta.value[k];
  }
  std::vector<Row> rows;
  std::vector<Entry> entries;
  std::size_t last = tokens_.count;
  const auto flush = [&] {
    if (!entries.empty()) add_rows(rows, entries, scores);
    rows.clear();
    entries.clear();
  };
  for (const auto& [index, coefficient] : sum) {
    if (coefficient == 0) continue;
    if (const std::size_t token = index / labels_; token != last) {
      if (rows.size() == batch) flush();
      rows.push_back(row(static_cast<Index>(token)));
      last = token;
    }
    entries.push_back({rows.size() - 1, index % labels_, coefficient});
  }
  flush();
}

const std::vector<double>& TokenKernel::square(std::size_t begin, std::size_t count) const {
  if (begin == square_begin_ && count == square_count_) return square_;
  square_.resize(count * count);
  std::vector<Index> which(count);
  std::iota(which.begin(), which.end(), static_cast<Index>(begin));
  if (values_ == Values::engine && count > 0)
    engine_->exact_block(tokens_, which, begin, count, square_.data(), count);
  if (values_ == Values::plain)
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < count; ++b)
        square_[a * count + b] = naive_value(kernel_, tokens_, begin + a, tokens_, begin + b);
  square_begin_ = begin;
  square_count_ = count;
  return square_;
}

double TokenKernel::inner(const JointFeatures& a, const JointFeatures& b) const {
  const std::lock_guard lock(mutex_);
  std::size_t begin = tokens_.count, end = 0;
  for (const JointFeatures* each : {&a, &b})
    for (const Index index : each->index)
      if (index < first_linear()) {
        begin = std::min<std::size_t>(begin, index / labels_);
        end = std::max<std::size_t>(end, index / labels_ + 1);
      }
  const std::size_t count = end > begin ? end - begin : 0;
  const std::vector<double>& K = square(begin, count);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (a.index[i] >= first_linear()) {
        if (a.index[i] == b.index[j]) sum += a.value[i] * b.value[j];
      } else if (b.index[j] < first_linear() && a.index[i] % labels_ == b.index[j] % labels_) {
        sum += a.value[i] * b.value[j] *
               K[(a.index[i] / labels_ - begin) * count + b.index[j] / labels_ - begin];
      }
    }
  return sum;
}

std::vector<double> TokenKernel::scores(const Rows& others,
                                        std::span<const double> coefficients) const {
  const std::size_t theirs = others.count * labels_;
  std::vector<double> result(first_linear(), 0.0);
  std::vector<Row> rows;
  std::vector<Entry> entries;
  for (std::size_t t = 0; t < others.count; ++t) {
    const auto of_token = coefficients.subspan(t * labels_, labels_);
    if (std::ranges::any_of(of_token, [](double each) { return each != 0; })) {
      rows.push_back(computed(others, static_cast<Index>(t)));
      for (std::size_t l = 0; l < labels_; ++l)
        if (of_token[l] != 0) entries.push_back({rows.size() - 1, l, of_token[l]});
    }
    if (rows.size() < batch && t + 1 < others.count) continue;
    add_rows(rows, entries, result);
    rows.clear();
    entries.clear();
  }
  result.insert(result.end(), coefficients.begin() + static_cast<std::ptrdiff_t>(theirs),
                coefficients.end());
  return result;
}

}  // namespace maxmargin
