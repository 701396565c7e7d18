#include <algorithm>
#include <cmath>

#include "maxmargin/door/inside.hpp"

namespace maxmargin {
inline namespace v0 {
namespace {

[[noreturn]] void refuse(const std::string& what, std::string_view mend) {
  throw Error(Fault::usage, what, mend);
}

template <class Value>
void require_finite(std::span<const Value> values, const std::string& what) {
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]))
      throw Error(Fault::data, what + " " + std::to_string(k) + " is not a finite number",
                  "remove the row or the value");
}

void set_values(Rows& rows, std::span<const double> values) { rows.doubles = values.data(); }
void set_values(Rows& rows, std::span<const float> values) { rows.floats = values.data(); }

template <class Value>
inside::Dataset dense_rows(std::span<const Value> values, std::size_t columns) {
  if (columns == 0 || values.size() % columns != 0)
    refuse(std::to_string(values.size()) + " values do not make rows of " + std::to_string(columns),
           "pass whole rows, one after the other");
  require_finite(values, "value");
  Rows rows;
  rows.count = values.size() / columns;
  rows.columns = columns;
  set_values(rows, values);
  inside::Dataset data;
  data.x = Features::borrow(rows);
  return data;
}

template <class Value>
inside::Dataset csr_rows(std::span<const std::uint64_t> start, std::span<const std::uint32_t> index,
                         std::span<const Value> values, std::size_t columns) {
  static_assert(std::is_same_v<Index, std::uint32_t>);
  if (index.size() != values.size())
    refuse(
        std::to_string(index.size()) + " columns for " + std::to_string(values.size()) + " values",
        "pass one column for each value");
  if (start.empty() || start.front() != 0 || start.back() != values.size())
    refuse("the starts of the rows do not run from 0 to the number of values",
           "pass one start a row, and the number of values behind them");
  for (std::size_t i = 0; i + 1 < start.size(); ++i) {
    const std::string row = "row " + std::to_string(i);
    if (start[i] > start[i + 1] || start[i + 1] > values.size())
      refuse(row + " ends before it starts", "the starts must not fall");
    for (std::uint64_t k = start[i]; k < start[i + 1]; ++k) {
      if (index[k] >= columns)
        refuse(
            row + " has column " + std::to_string(index[k]) + " of only " + std::to_string(columns),
            "number columns from 0, or say that there are more");
      if (k > start[i] && index[k] <= index[k - 1])
        refuse(row + " has columns that do not increase", "sort them and merge repeated ones");
    }
  }
  require_finite(values, "value");
  Rows rows;
  rows.count = start.size() - 1;
  rows.columns = columns;
  rows.start = start.data();
  rows.index = index.data();
  set_values(rows, values);
  inside::Dataset data;
  data.x = Features::borrow(rows);
  return data;
}

void require_one_a_row(std::size_t given, std::size_t rows, std::string_view what) {
  if (given != rows)
    refuse(
        std::to_string(given) + " " + std::string(what) + " for " + std::to_string(rows) + " rows",
        "pass one for each row");
}

}  // namespace

Dataset Inside::dataset(inside::Dataset data) {
  return Dataset(std::make_unique<Dataset::Parts>(std::move(data)));
}

namespace {

/// All but the rows.
inside::Dataset without_rows(const inside::Dataset& from) {
  inside::Dataset copy;
  copy.y = from.y;
  copy.words = from.words;
  copy.weight = from.weight;
  copy.weight_over = from.weight_over;
  copy.query = from.query;
  copy.feature_names = from.feature_names;
  copy.counts_from_zero = from.counts_from_zero;
  return copy;
}

}  // namespace

Dataset::Parts::Parts(inside::Dataset given)
    : x(std::make_shared<const Features>(std::move(given.x))), data(std::move(given)) {}
Dataset::Parts::Parts(const Parts& other)
    : arrays(other.arrays), x(other.x), data(without_rows(other.data)) {}

inside::Dataset Inside::of(const Dataset& data) {
  inside::Dataset lent = without_rows(data.parts_->data);
  lent.x = Features::borrow(*data.parts_->x);
  return lent;
}

Dataset::Dataset(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Dataset::Dataset(const Dataset& other) : parts_(std::make_unique<Parts>(*other.parts_)) {}
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(const Dataset& other) {
  if (this != &other) parts_ = std::make_unique<Parts>(*other.parts_);
  return *this;
}
Dataset& Dataset::operator=(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

Dataset Dataset::dense(std::span<const double> values, std::size_t columns) {
  return Inside::dataset(dense_rows(values, columns));
}
Dataset Dataset::dense(std::span<const float> values, std::size_t columns) {
  return Inside::dataset(dense_rows(values, columns));
}
Dataset Dataset::csr(std::span<const std::uint64_t> start, std::span<const std::uint32_t> index,
                     std::span<const double> values, std::size_t columns) {
  return Inside::dataset(csr_rows(start, index, values, columns));
}
Dataset Dataset::csr(std::span<const std::uint64_t> start, std::span<const std::uint32_t> index,
                     std::span<const float> values, std::size_t columns) {
  return Inside::dataset(csr_rows(start, index, values, columns));
}

Dataset Inside::owning(std::shared_ptr<const void> arrays, Dataset data) {
  data.parts_->arrays = std::move(arrays);
  return data;
}

namespace {

template <class Value>
Dataset adopted(std::vector<Value>&& values, std::size_t columns) {
  const auto own = std::make_shared<const std::vector<Value>>(std::move(values));
  return Inside::owning(own, Dataset::dense(std::span(*own), columns));
}

template <class Value>
Dataset adopted(std::vector<std::uint64_t>&& start, std::vector<std::uint32_t>&& index,
                std::vector<Value>&& values, std::size_t columns) {
  struct Arrays {
    std::vector<std::uint64_t> start;
    std::vector<std::uint32_t> index;
    std::vector<Value> values;
  };
  const auto own =
      std::make_shared<const Arrays>(Arrays{std::move(start), std::move(index), std::move(values)});
  return Inside::owning(own, Dataset::csr(std::span(own->start), std::span(own->index),
                                          std::span(own->values), columns));
}

}  // namespace

Dataset Dataset::dense(std::vector<double>&& values, std::size_t columns) {
  return adopted(std::move(values), columns);
}
Dataset Dataset::dense(std::vector<float>&& values, std::size_t columns) {
  return adopted(std::move(values), columns);
}
Dataset Dataset::csr(std::vector<std::uint64_t>&& start, std::vector<std::uint32_t>&& index,
                     std::vector<double>&& values, std::size_t columns) {
  return adopted(std::move(start), std::move(index), std::move(values), columns);
}
Dataset Dataset::csr(std::vector<std::uint64_t>&& start, std::vector<std::uint32_t>&& index,
                     std::vector<float>&& values, std::size_t columns) {
  return adopted(std::move(start), std::move(index), std::move(values), columns);
}

Dataset Dataset::from(const std::vector<std::vector<double>>& rows) {
  inside::Dataset data;
  data.x = Features::dense(rows.empty() ? 0 : rows.front().size());
  for (const std::vector<double>& row : rows) data.x.append(row);
  return Inside::dataset(std::move(data));
}

Dataset Dataset::read(const std::string& path, const std::string& label) {
  ReadOptions options;
  options.label_column = label;
  return Inside::dataset(maxmargin::read(path, options, Threads()));
}

Dataset& Dataset::labels(std::span<const double> numbers) & {
  require_one_a_row(numbers.size(), rows(), "labels");
  require_finite(numbers, "label");
  parts_->data.words.clear();
  parts_->data.y.assign(numbers.begin(), numbers.end());
  return *this;
}

Dataset& Dataset::labels(std::span<const std::string> words) & {
  require_one_a_row(words.size(), rows(), "labels");
  std::vector<std::string> known(words.begin(), words.end());
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  std::vector<double> word_numbers;
  for (const std::string& word : words)
    word_numbers.push_back(
        static_cast<double>(std::lower_bound(known.begin(), known.end(), word) - known.begin()));
  parts_->data.words = std::move(known);
  parts_->data.y = std::move(word_numbers);
  return *this;
}

namespace {

std::vector<double> checked_weights(std::span<const double> weights, std::size_t rows) {
  require_one_a_row(weights.size(), rows, "weights");
  require_finite(weights, "weight");
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] < 0)
      throw Error(Fault::data, "weight " + std::to_string(i) + " is negative",
                  "0 leaves a row out");
  return {weights.begin(), weights.end()};
}

}  // namespace

Dataset& Dataset::weights(std::span<const double> weights) & {
  parts_->data.weight = checked_weights(weights, rows());
  parts_->data.weight_over.clear();
  return *this;
}

Dataset& Dataset::weights(std::span<const double> under, std::span<const double> over) & {
  parts_->data.weight = checked_weights(under, rows());
  parts_->data.weight_over = checked_weights(over, rows());
  return *this;
}

Dataset Dataset::weights(std::span<const double> under, std::span<const double> over) && {
  return std::move(weights(under, over));
}

Dataset Dataset::labels(std::span<const double> numbers) && { return std::move(labels(numbers)); }
Dataset Dataset::labels(std::span<const std::string> words) && { return std::move(labels(words)); }
Dataset Dataset::weights(std::span<const double> given) && { return std::move(weights(given)); }

std::size_t Dataset::rows() const { return parts_->x->count(); }
std::size_t Dataset::columns() const { return parts_->x->columns(); }
bool Dataset::labelled() const { return parts_->data.labelled(); }

std::vector<std::string> Dataset::label_texts() const {
  std::vector<std::string> texts;
  if (!labelled()) return texts;
  const Classes classes = classes_of(parts_->data);
  for (const Index each : classes.of_row) texts.push_back(classes.names[each]);
  return texts;
}

}  // namespace v0
}  // namespace maxmargin
