#include "maxmargin/libsvm/folds.hpp"

#include <numeric>
#include <utility>

namespace maxmargin {
namespace {

void shuffle(std::span<Index> rows, const std::function<int()>& random) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::swap(rows[i], rows[i + static_cast<std::size_t>(random()) % (rows.size() - i)]);
}

/// Where part `k` of `parts` begins.
std::size_t cut(std::size_t size, std::size_t k, std::size_t parts) { return k * size / parts; }

}  // namespace

std::vector<Index> LibsvmFolds::rest(std::size_t fold) const {
  std::vector<Index> rows(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(start[fold]));
  rows.insert(rows.end(), order.begin() + static_cast<std::ptrdiff_t>(start[fold + 1]),
              order.end());
  return rows;
}

LibsvmFolds shuffled_folds(std::vector<Index> rows, std::size_t folds,
                           const std::function<int()>& random) {
  shuffle(rows, random);
  LibsvmFolds result;
  for (std::size_t k = 0; k <= folds; ++k) result.start.push_back(cut(rows.size(), k, folds));
  result.order = std::move(rows);
  return result;
}

LibsvmFolds stratified_folds(std::vector<std::vector<Index>> classes, std::size_t folds,
                             const std::function<int()>& random) {
  LibsvmFolds result;
  for (std::vector<Index>& members : classes) shuffle(members, random);
  result.start = {0};
  for (std::size_t k = 0; k < folds; ++k) {
    for (const std::vector<Index>& members : classes)
      for (std::size_t i = cut(members.size(), k, folds); i < cut(members.size(), k + 1, folds);
           ++i)
        result.order.push_back(members[i]);
    result.start.push_back(result.order.size());
  }
  return result;
}

}  // namespace maxmargin
