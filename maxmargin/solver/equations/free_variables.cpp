#include "maxmargin/solver/equations/free_variables.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace maxmargin {

void FreeVariables::List::reserve(std::size_t count) {
  BoundedPoint::reserve(count);
  for (std::vector<double>* each : {&descent, &curvature}) each->reserve(count);
}

FreeVariables::FreeVariables(List list, const Threads& threads)
    : list_(std::move(list)), threads_(threads), moving_(list_.size()) {
  std::iota(moving_.begin(), moving_.end(), std::size_t{0});
}

double FreeVariables::largest() const {
  double largest = 0;
  for (const std::size_t each : moving_) largest = std::max(largest, M(each, each));
  return largest;
}

double FreeVariables::bend(std::span<const double> direction) const {
  double bend = 0;
  for (std::size_t k = 0; k < size(); ++k) {
    double product = list_.curvature[moving_[k]] * direction[k];
    for (std::size_t other = 0; other < size(); ++other)
      product += M(moving_[k], moving_[other]) * direction[other];
    bend += direction[k] * product;
  }
  return bend;
}

double FreeVariables::reach(std::span<const double> direction, double length,
                            const std::vector<bool>& held) const {
  for (std::size_t k = 0; k < size(); ++k)
    if (held.empty() || !held[k]) length = list_.reach(moving_[k], direction[k], length);
  return length;
}

void FreeVariables::move(std::span<const double> direction, double length,
                         std::span<const std::vector<double>> beside) {
  threads_.split(list_.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < size(); ++k) sum += M(i, moving_[k]) * direction[k];
      for (const std::vector<double>& row : beside) sum += row[i];
      list_.descent[i] -= length * sum;
    }
  });
  for (std::size_t k = 0; k < size(); ++k) {
    const std::size_t i = moving_[k];
    list_.descent[i] -= length * direction[k] * list_.curvature[i];
    list_.move(i, length * direction[k]);
  }
}

void FreeVariables::fix_at_bounds() {
  std::erase_if(moving_, [&](std::size_t i) {
    const double width = list_.upper[i] - list_.lower[i];
    return list_.room(i) <= (std::isinf(width) ? 0 : 1e-12 * width);
  });
}

}  // namespace maxmargin
