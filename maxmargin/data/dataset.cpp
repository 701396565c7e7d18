#include "maxmargin/data/dataset.hpp"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <new>
#include <numeric>

#include "maxmargin/base/error.hpp"

namespace maxmargin {
namespace {

/// The words of a data set that occur as labels, in bytewise order.
std::vector<double> used_words(const Dataset& data) {
  std::vector<char> used(data.words.size(), 0);
  for (const double label : data.y) {
    if (!(label >= 0 && label < static_cast<double>(data.words.size())))
      throw Error(Fault::usage, "a label is no position in the list of words",
                  "number words from 0");
    used[static_cast<std::size_t>(label)] = 1;
  }
  std::vector<double> values;
  for (std::size_t k = 0; k < used.size(); ++k)
    if (used[k] != 0) values.push_back(static_cast<double>(k));
  std::sort(values.begin(), values.end(), [&](double a, double b) {
    return data.words[static_cast<std::size_t>(a)] < data.words[static_cast<std::size_t>(b)];
  });
  return values;
}

std::vector<double> used_numbers(const Dataset& data) {
  std::vector<double> values;
  const auto merge = [&] {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  };
  // Most data has few classes: merging now and then spares a sort of all rows.
  std::size_t most = 4096;
  for (const double label : data.y) {
    if (!std::isfinite(label))
      throw Error(Fault::data, "a label is not a finite number",
                  "remove the row or mend its label");
    if (values.empty() || values.back() != label) values.push_back(label + 0.0);
    if (values.size() < most) continue;
    merge();
    most = std::max(most, 2 * values.size());
  }
  merge();
  return values;
}

/// A 128-bit hash of whatever is added.
class Hash {
 public:
  Hash() : state_(XXH3_createState()) {
    if (!state_) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }
  template <class T>
  void add(const T* values, std::size_t count) {
    if (count > 0) XXH3_128bits_update(state_.get(), values, count * sizeof(T));
  }
  void add(std::uint64_t value) { add(&value, 1); }
  std::string text() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    std::string digits;
    for (const std::uint64_t half : {hash.high64, hash.low64})
      for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[half >> shift & 15];
    return digits;
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

void hash_rows(const Rows& rows, Hash& hash) {
  std::vector<Index> features;
  std::vector<double> values;
  for (std::size_t i = 0; i < rows.count; ++i) {
    const std::size_t most = rows.sparse() ? rows.start[i + 1] - rows.start[i] : rows.columns;
    if (features.size() < most) {
      features.resize(most);
      values.resize(most);
    }
    std::uint64_t size = 0;
    rows.for_each(i, [&](Index feature, double value) {
      features[size] = feature;
      values[size] = value;
      size += value != 0;
    });
    hash.add(size);
    hash.add(features.data(), size);
    hash.add(values.data(), size);
  }
}

}  // namespace

std::string shortest(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value + 0.0).ptr;
  return {text, end};
}

Classes classes_of(const Dataset& data) {
  Classes classes;
  const bool wordy = !data.words.empty();
  classes.values = wordy ? used_words(data) : used_numbers(data);
  for (const double value : classes.values)
    classes.names.push_back(wordy ? data.words[static_cast<std::size_t>(value)] : shortest(value));
  classes.of_row.resize(data.y.size());
  if (wordy) {
    std::vector<Index> rank(data.words.size(), 0);
    for (std::size_t k = 0; k < classes.values.size(); ++k)
      rank[static_cast<std::size_t>(classes.values[k])] = static_cast<Index>(k);
    for (std::size_t i = 0; i < data.y.size(); ++i)
      classes.of_row[i] = rank[static_cast<std::size_t>(data.y[i])];
  } else {
    for (std::size_t i = 0; i < data.y.size(); ++i)
      classes.of_row[i] = static_cast<Index>(
          std::lower_bound(classes.values.begin(), classes.values.end(), data.y[i]) -
          classes.values.begin());
  }
  return classes;
}

std::string content_hash(const Dataset& data) {
  Hash hash;
  hash.add(data.rows());
  hash_rows(data.x.view(), hash);
  hash.add(data.y.empty() ? 0 : data.words.empty() ? 1 : 2);
  for (const double label : data.y) {
    if (data.words.empty()) {
      const double number = label + 0.0;
      hash.add(&number, 1);
    } else {
      const std::string& word = data.words.at(static_cast<std::size_t>(label));
      hash.add(word.size());
      hash.add(word.data(), word.size());
    }
  }
  const bool weighted = std::any_of(data.weight.begin(), data.weight.end(),
                                    [](double weight) { return weight != 1; });
  hash.add(weighted ? 1 : 0);
  for (const double weight : data.weight) {
    const double number = weight + 0.0;
    if (weighted) hash.add(&number, 1);
  }
  return hash.text();
}

}  // namespace maxmargin
