#include "maxmargin/structured/tasks/sequence/token_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/text.hpp"
#include "maxmargin/base/visit.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/kernel/engine/error_bound.hpp"
#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/problem/matrix/low_rank/approximate.hpp"
#include "maxmargin/structured/tasks/sequence/token_surrogate.hpp"
#include "maxmargin/structured/tasks/text_lines.hpp"

namespace maxmargin {
namespace {

// Rows and columns of a block of kernel values: with the sums of 26 labels it stays in L2.
constexpr std::size_t batch = 64;
constexpr std::size_t grain = 1024;

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
                         Values values, const Threads& threads, std::size_t surrogate_rank)
    : kernel_(kernel),
      tokens_(tokens),
      labels_(labels),
      values_(values),
      surrogate_rank_(surrogate_rank),
      threads_(threads.count()),
      engine_(values == Values::engine ? make_engine(kernel, tokens, threads) : nullptr) {}

void TokenKernel::Coefficients::add(std::size_t of_token, std::size_t label, double value) {
  if (value == 0) return;
  if (token.empty() || token.back() != of_token) token.push_back(static_cast<Index>(of_token));
  entries.push_back({token.size() - 1, label, value});
}

namespace {

/// Values by the kernel's definition. Terms of the left row alone are summed once for all columns.
void plain_block(const Form& form, const Rows& left, std::span<const Index> which,
                 const Rows& columns, double* out) {
  std::vector<double> x(std::max(left.columns, columns.columns), 0.0);
  for (const Index row : which) {
    double alone = 0;
    left.for_each(row, [&](Index feature, double value) {
      x[feature] = value;
      alone += pair_term(form.pairing, value, 0);
    });
    for (std::size_t c = 0; c < columns.count; ++c) {
      double sum = alone;
      columns.for_each(c, [&](Index feature, double z) {
        sum += pair_term(form.pairing, x[feature], z) - pair_term(form.pairing, x[feature], 0);
      });
      *out++ = visit_list([&](const auto& map) { return map(sum); }, form.map);
    }
    left.for_each(row, [&](Index feature, double) { x[feature] = 0; });
  }
}

}  // namespace

void TokenKernel::exact_block(const Rows& left, std::span<const Index> which, std::size_t begin,
                              std::size_t count, double* out) const {
  const Rows columns = tokens_.slice(begin, begin + count);
  if (engine_ != nullptr)
    engine_->exact_block(left, which, begin, count, out, count);
  else if (const auto form = form_of(kernel_))
    plain_block(*form, left, which, columns, out);
  else
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t c = 0; c < count; ++c)
        out[r * count + c] = naive_value(kernel_, left, which[r], columns, c);
}

namespace {

/// The coefficients of one label, and their rows.
struct LabelRows {
  std::vector<const float*> row;
  std::vector<Index> token;
  std::vector<double> coefficient;

  void clear() {
    row.clear();
    token.clear();
    coefficient.clear();
  }
};

}  // namespace

void TokenKernel::add_fast(const Rows& left, const Coefficients& coefficients, std::size_t begin,
                           std::size_t count, std::span<double> sums) const {
  std::vector<float> values(batch * count);
  std::vector<LabelRows> of_label(labels_);
  auto entry = coefficients.entries.begin();
  for (std::size_t first = 0; first < coefficients.token.size(); first += batch) {
    const std::size_t rows = std::min(batch, coefficients.token.size() - first);
    const auto which = std::span(coefficients.token).subspan(first, rows);
    engine_->block(left, which, begin, count, values.data(), count);
    for (; entry != coefficients.entries.end() && entry->row < first + rows; ++entry) {
      of_label[entry->label].row.push_back(values.data() + (entry->row - first) * count);
      of_label[entry->label].coefficient.push_back(entry->value);
    }
    for (std::size_t l = 0; l < labels_; ++l) {
      add_scaled_rows(of_label[l].row, of_label[l].coefficient, count, sums.data() + l * count);
      of_label[l].clear();
    }
  }
}

void TokenKernel::add_exact(const Rows& left, const Coefficients& coefficients, std::size_t begin,
                            std::size_t count, std::span<double> sums) const {
  if (engine_ != nullptr) {
    std::vector<LabelRows> of_label(labels_);
    for (const auto& [row, label, value] : coefficients.entries) {
      of_label[label].token.push_back(coefficients.token[row]);
      of_label[label].coefficient.push_back(value);
    }
    for (std::size_t l = 0; l < labels_; ++l)
      if (!of_label[l].token.empty())
        engine_->add_exact_product(left, of_label[l].token, of_label[l].coefficient, begin, count,
                                   sums.data() + l * count);
    return;
  }
  std::vector<double> values(count);
  std::size_t last = coefficients.token.size();
  for (const auto& [row, label, value] : coefficients.entries) {
    if (row != last) exact_block(left, {&coefficients.token[row], 1}, begin, count, values.data());
    last = row;
    for (std::size_t c = 0; c < count; ++c) sums[label * count + c] += value * values[c];
  }
}

void TokenKernel::add_rows(const Rows& left, const Coefficients& coefficients, Precision precision,
                           std::span<double> scores) const {
  if (coefficients.entries.empty()) return;
  threads_.split(tokens_.count, grain, [&](std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    std::vector<double> sums(labels_ * count, 0.0);
    if (precision == Precision::fast)
      add_fast(left, coefficients, begin, count, sums);
    else
      add_exact(left, coefficients, begin, count, sums);
    for (std::size_t c = 0; c < count; ++c)
      for (std::size_t l = 0; l < labels_; ++l)
        scores[(begin + c) * labels_ + l] += sums[l * count + c];
  });
}

void TokenKernel::add_product(const JointFeatures& delta, double scale, Precision precision,
                              std::span<double> scores) const {
  std::map<std::size_t, double> sum;  // what occurs twice often cancels
  for (std::size_t k = 0; k < delta.size(); ++k) {
    if (delta.index[k] < first_linear())
      sum[delta.index[k]] += scale * delta.value[k];
    else
      scores[delta.index[k]] += scale * delta.value[k];
  }
  Coefficients coefficients;
  for (const auto& [index, value] : sum) coefficients.add(index / labels_, index % labels_, value);
  add_rows(tokens_, coefficients, possible(precision), scores);
}

const std::vector<double>& TokenKernel::square(std::size_t begin, std::size_t count) const {
  if (begin == square_begin_ && count == square_count_) return square_;
  square_.resize(count * count);
  std::vector<Index> which(count);
  std::iota(which.begin(), which.end(), static_cast<Index>(begin));
  if (count > 0) exact_block(tokens_, which, begin, count, square_.data());
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
  return token_inner_product(
      a, b, labels_, first_linear(), [&](std::size_t token) { return token - begin; },
      [&](std::size_t s, std::size_t t) { return K[s * count + t]; });
}

double TokenKernel::largest_value() const {
  const std::lock_guard lock(mutex_);
  if (largest_value_ < 0) {
    largest_value_ = 0;
    for (std::size_t t = 0; t < tokens_.count; ++t)
      largest_value_ =
          std::max(largest_value_, std::abs(naive_value(kernel_, tokens_, t, tokens_, t)));
  }
  return largest_value_;
}

double TokenKernel::value_error() const {
  if (engine_ != nullptr) return engine_->errors().in_double;
  const auto form = form_of(kernel_);
  if (!form) return 0;  // the function's values are the kernel
  // As plain_block sums: the terms of one row alone, and what each value of the other changes.
  std::size_t longest = 0;
  double alone = 0;
  for (std::size_t t = 0; t < tokens_.count; ++t) {
    std::size_t terms = 0;
    double sum = 0;
    tokens_.for_each(t, [&](Index, double value) {
      ++terms;
      sum += pair_term(form->pairing, value, 0);
    });
    longest = std::max(longest, terms);
    alone = std::max(alone, sum);
  }
  const SumError sums = form->pairing == Pairing::dot
                            ? product_sums(*form, unit_roundoff, 2 * longest, 0)
                            : list_sums_error(unit_roundoff, 2 * longest, 2 * alone);
  return maxmargin::value_error(*form, sums, unit_roundoff);
}

double TokenKernel::score_error(std::span<const double> coefficients) const {
  // A score is a sum over the tokens with one label.
  std::vector<double> size(labels_, 0.0);
  std::size_t terms = 0;
  for (std::size_t k = 0; k < first_linear(); ++k) {
    if (coefficients[k] != 0) ++terms;
    size[k % labels_] += std::abs(coefficients[k]);
  }
  if (terms == 0) return 0;
  const double of_sums = (static_cast<double>(terms) + 4) * unit_roundoff;
  return std::ranges::max(size) * largest_value() * (value_error() + of_sums);
}

const LowRank& TokenKernel::low_rank() const {
  const std::lock_guard lock(mutex_);
  if (low_rank_ == nullptr) {
    Approximate how;
    how.selection = Selection::random;
    how.rank = surrogate_rank_;
    const auto K =
        make_kernel_quadratic(kernel_, std::make_shared<const Features>(Features::borrow(tokens_)),
                              {}, Definite::yes, threads_);
    low_rank_ = approximate(*K, how, threads_).Z;
  }
  return *low_rank_;
}

std::unique_ptr<Metric::Surrogate> TokenKernel::surrogate(
    std::span<const JointFeatures> examples) const {
  TokenGroups groups(examples, labels_, first_linear());
  for (std::size_t i = 0; i + 1 < groups.first.size(); ++i)
    for (const Index s : groups.of(i))
      for (const Index t : groups.of(i))
        groups.within.push_back(naive_value(kernel_, tokens_, s, tokens_, t));
  const LowRank& low = low_rank();
  std::vector<float> Z;
  Z.reserve(groups.tokens.size() * low.rank());
  for (const Index token : groups.tokens)
    for (std::size_t k = 0; k < low.rank(); ++k) Z.push_back(static_cast<float>(low.row(token)[k]));
  return std::make_unique<TokenSurrogate>(std::move(groups), std::move(Z));
}

std::vector<double> TokenKernel::scores(const Rows& others,
                                        std::span<const double> coefficients) const {
  const std::size_t theirs = others.count * labels_;
  std::vector<double> result(first_linear(), 0.0);
  Coefficients used;
  for (std::size_t k = 0; k < theirs; ++k) used.add(k / labels_, k % labels_, coefficients[k]);
  add_rows(others, used, possible(Precision::exact), result);
  result.insert(result.end(), coefficients.begin() + static_cast<std::ptrdiff_t>(theirs),
                coefficients.end());
  return result;
}

}  // namespace maxmargin
