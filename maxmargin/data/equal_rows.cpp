#include "maxmargin/data/equal_rows.hpp"

#include <xxhash.h>

#include <unordered_map>

namespace maxmargin {
namespace {

/// A row without its zeros.
struct BareRow {
  std::vector<Index> features;
  std::vector<double> values;

  void read(const Rows& rows, std::size_t i) {
    features.clear();
    values.clear();
    rows.for_each(i, [&](Index feature, double value) {
      if (value == 0) return;
      features.push_back(feature);
      values.push_back(value);
    });
  }
  std::uint64_t hash() const {
    return XXH3_64bits_withSeed(values.data(), values.size() * sizeof(double),
                                XXH3_64bits(features.data(), features.size() * sizeof(Index)));
  }
  bool operator==(const BareRow&) const = default;
};

}  // namespace

std::vector<Index> first_equal_rows(const Rows& rows, const Threads& threads) {
  constexpr std::size_t rows_a_task = 512;
  std::vector<std::uint64_t> hashes(rows.count);
  threads.split(rows.count, rows_a_task, [&](std::size_t begin, std::size_t end) {
    BareRow row;
    for (std::size_t i = begin; i < end; ++i) {
      row.read(rows, i);
      hashes[i] = row.hash();
    }
  });
  std::vector<Index> first(rows.count);
  std::unordered_multimap<std::uint64_t, Index> seen;
  seen.reserve(rows.count);
  BareRow row, other;
  for (std::size_t i = 0; i < rows.count; ++i) {
    first[i] = static_cast<Index>(i);
    // Equal hashes are equal rows but for a collision, which the comparison tells.
    const auto [begin, end] = seen.equal_range(hashes[i]);
    for (auto it = begin; it != end; ++it) {
      row.read(rows, i);
      other.read(rows, it->second);
      if (other == row) {
        first[i] = it->second;
        break;
      }
    }
    if (first[i] == i) seen.emplace(hashes[i], static_cast<Index>(i));
  }
  return first;
}

}  // namespace maxmargin
