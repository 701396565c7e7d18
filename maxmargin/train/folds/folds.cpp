#include "maxmargin/train/folds/folds.hpp"

#include <algorithm>
#include <string>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"

namespace maxmargin {
namespace {

template <class Value>
void shuffle(std::span<Value> values, Rng& rng) {
  for (std::size_t left = values.size(); left > 1; --left)
    std::swap(values[left - 1], values[rng.below(left)]);
}

}  // namespace

Folds make_folds(std::size_t rows, std::span<const double> y, std::span<const double> weight,
                 Outcome outcome, int count, std::uint64_t seed) {
  std::vector<Index> order;
  for (std::size_t i = 0; i < rows; ++i)
    if (weight.empty() || weight[i] > 0) order.push_back(static_cast<Index>(i));
  if (count < 2)
    throw Error(Fault::usage, "cross-validation with " + std::to_string(count) + " folds",
                "choose at least 2");
  const auto folds = static_cast<std::size_t>(count);
  if (folds > order.size())
    throw Error(Fault::usage,
                std::to_string(order.size()) + " rows cannot be split into " +
                    std::to_string(count) + " folds",
                "choose at most as many folds as there are rows");

  Rng rng(seed);
  shuffle(std::span(order), rng);
  if (outcome != Outcome::novelty)
    std::ranges::stable_sort(order, {}, [&](Index row) { return y[row]; });
  Folds result;
  result.count = count;
  result.of_row.assign(rows, Folds::none);
  // Dealt round by round; for numbers each round in another random order, or one fold would always
  // get the larger ones.
  std::vector<int> deal(folds);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t position = k % folds;
    if (position == 0) {
      for (std::size_t f = 0; f < folds; ++f) deal[f] = static_cast<int>(f);
      if (outcome == Outcome::number) shuffle(std::span(deal), rng);
    }
    result.of_row[order[k]] = deal[position];
  }
  return result;
}

}  // namespace maxmargin
