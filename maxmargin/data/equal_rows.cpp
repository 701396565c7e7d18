#include "maxmargin/data/equal_rows.hpp"

#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace maxmargin {
namespace {

/// A row in a form that equal rows have in common, whatever zeros they have stored: sparse ones
/// without them, dense ones without negative ones.
template <class Value>
class BareRow {
 public:
  void read(const Rows& rows, const Value* values, std::size_t i) {
    const std::uint64_t first = rows.first(i);
    const std::size_t size = rows.stored(i);
    values_ = {values + first, size};
    features_ = rows.sparse() ? std::span(rows.index + first, size) : std::span<const Index>();
    if (!rows.sparse())
      add_zero();
    else if (std::find(values_.begin(), values_.end(), Value{0}) != values_.end())
      leave_zeros_out();
  }
  std::uint64_t hash() const {
    return XXH3_64bits_withSeed(values_.data(), values_.size_bytes(),
                                XXH3_64bits(features_.data(), features_.size_bytes()));
  }
  bool operator==(const BareRow& other) const {
    return std::ranges::equal(features_, other.features_) &&
           std::ranges::equal(values_, other.values_);
  }

 private:
  void add_zero() {
    own_values_.resize(values_.size());
    std::transform(values_.begin(), values_.end(), own_values_.begin(),
                   [](Value value) { return value + Value{0}; });
    values_ = own_values_;
  }
  void leave_zeros_out() {
    own_values_.clear();
    own_features_.clear();
    for (std::size_t k = 0; k < values_.size(); ++k)
      if (values_[k] != 0) {
        own_features_.push_back(features_[k]);
        own_values_.push_back(values_[k]);
      }
    values_ = own_values_;
    features_ = own_features_;
  }

  std::span<const Index> features_;
  std::span<const Value> values_;
  std::vector<Index> own_features_;
  std::vector<Value> own_values_;
};

template <class Value>
std::vector<Index> first_equal(const Rows& rows, const Value* values, const Threads& threads) {
  constexpr std::size_t rows_a_task = 512;
  std::vector<std::pair<std::uint64_t, Index>> hashes(rows.count);
  threads.split(rows.count, rows_a_task, [&](std::size_t begin, std::size_t end) {
    BareRow<Value> row;
    for (std::size_t i = begin; i < end; ++i) {
      row.read(rows, values, i);
      hashes[i] = {row.hash(), static_cast<Index>(i)};
    }
  });
  std::sort(hashes.begin(), hashes.end());
  std::vector<Index> first(rows.count);
  std::vector<Index> seen;  // of one hash, no two equal
  BareRow<Value> row, other;
  for (std::size_t k = 0; k < hashes.size(); ++k) {
    const auto [hash, i] = hashes[k];
    if (k == 0 || hashes[k - 1].first != hash) seen.clear();
    first[i] = i;
    if (!seen.empty()) row.read(rows, values, i);
    // Equal hashes are equal rows but for a collision, which the comparison tells.
    for (const Index earlier : seen) {
      other.read(rows, values, earlier);
      if (!(other == row)) continue;
      first[i] = earlier;
      break;
    }
    if (first[i] == i) seen.push_back(i);
  }
  return first;
}

/// The non-zeros of a row as (feature, value), whatever they are stored as.
class PlainRow {
 public:
  void read(const Rows& rows, std::size_t i) {
    values_.clear();
    rows.for_each(i, [&](Index feature, double value) {
      if (value == 0) return;
      values_.push_back(static_cast<double>(feature));
      values_.push_back(value);
    });
  }
  std::uint64_t hash() const {
    return XXH3_64bits(values_.data(), values_.size() * sizeof(double));
  }
  bool operator==(const PlainRow&) const = default;

 private:
  std::vector<double> values_;
};

}  // namespace

std::vector<Index> find_rows(const Rows& wanted, const Rows& rows, const Threads& threads) {
  constexpr std::size_t rows_a_task = 512;
  std::vector<std::pair<std::uint64_t, Index>> hashes(rows.count);
  threads.split(rows.count, rows_a_task, [&](std::size_t begin, std::size_t end) {
    PlainRow row;
    for (std::size_t i = begin; i < end; ++i) {
      row.read(rows, i);
      hashes[i] = {row.hash(), static_cast<Index>(i)};
    }
  });
  std::sort(hashes.begin(), hashes.end());
  std::vector<Index> found(wanted.count, no_such_row);
  threads.split(wanted.count, rows_a_task, [&](std::size_t begin, std::size_t end) {
    PlainRow row, other;
    for (std::size_t k = begin; k < end; ++k) {
      row.read(wanted, k);
      const std::uint64_t hash = row.hash();
      auto at = std::lower_bound(hashes.begin(), hashes.end(), std::pair(hash, Index{0}));
      for (; at != hashes.end() && at->first == hash && found[k] == no_such_row; ++at) {
        other.read(rows, at->second);
        if (other == row) found[k] = at->second;
      }
    }
  });
  return found;
}

std::vector<Index> first_equal_rows(const Rows& rows, const Threads& threads) {
  return rows.floats != nullptr ? first_equal(rows, rows.floats, threads)
                                : first_equal(rows, rows.doubles, threads);
}

}  // namespace maxmargin
