#include "maxmargin/model/segmented_coefficients.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/model/verify/tile_product.hpp"

namespace maxmargin {
namespace {

// A segment is kept as a matrix while no more than 7 of 8 of its entries are zeros.
constexpr std::size_t most_filling = 8;

// Decision values nearer to zero than this are not trusted ...
constexpr double near_zero = 1e-4;
// ... nor are those whose sign the error of float kernel values, about 1e-7 of their size, may have
// changed.
constexpr double float_error = 2e-7;

constexpr int undecided = -1;
constexpr int mixed = -2;

/// For one-vs-one: the class each support vector belongs to. A positive coefficient speaks for the
/// positive class of its machine. Equal rows of several classes may share a support vector; such
/// ones are `mixed`.
std::vector<int> classes_served(const Model& model, std::size_t vectors) {
  std::vector<int> served(vectors, undecided);
  if (model.machines.size() < 2 || model.outcome != Outcome::classes ||
      !compares_pairs(model.multiclass))
    return served;
  for (const Machine& machine : model.machines) {
    for (std::size_t k = 0; k < machine.support.size(); ++k) {
      int& known = served[machine.support[k]];
      const int now = machine.coefficient[k] > 0 ? machine.positive : machine.negative;
      known = known == undecided || known == now ? now : mixed;
    }
  }
  return served;
}

}  // namespace

SegmentedCoefficients::SegmentedCoefficients(const Model& model, std::size_t vectors)
    : order_(vectors) {
  for (const Machine& machine : model.machines) {
    double squares = 0;
    for (const double coefficient : machine.coefficient) squares += coefficient * coefficient;
    norm_.push_back(std::sqrt(squares));
  }
  const std::vector<int> served = classes_served(model, vectors);
  std::iota(order_.begin(), order_.end(), Index{0});
  std::ranges::stable_sort(order_, {}, [&](Index vector) { return served[vector]; });

  std::vector<Index> position(order_.size());
  for (std::size_t p = 0; p < order_.size(); ++p) position[order_[p]] = static_cast<Index>(p);
  std::vector<Use> uses;
  for (std::size_t m = 0; m < model.machines.size(); ++m) {
    const Machine& machine = model.machines[m];
    for (std::size_t k = 0; k < machine.support.size(); ++k)
      uses.push_back({position[machine.support[k]], static_cast<Index>(m), machine.coefficient[k]});
  }
  std::ranges::stable_sort(uses, {}, &Use::position);

  auto use = uses.begin();
  for (std::size_t begin = 0; begin < order_.size();) {
    Segment segment{begin, begin, {}, {}, {}, {}, {}};
    while (segment.end < order_.size() && served[order_[segment.end]] == served[order_[begin]])
      ++segment.end;
    const auto behind = std::ranges::lower_bound(use, uses.end(), segment.end, {}, &Use::position);
    fill(segment, {use, behind});
    use = behind;
    begin = segment.end;
    segments_.push_back(std::move(segment));
  }
}

void SegmentedCoefficients::fill(Segment& segment, std::span<const Use> uses) const {
  for (const Use& use : uses) segment.machines.push_back(use.machine);
  std::ranges::sort(segment.machines);
  segment.machines.erase(std::unique(segment.machines.begin(), segment.machines.end()),
                         segment.machines.end());

  const std::size_t size = segment.end - segment.begin;
  if (size * segment.machines.size() <= most_filling * uses.size()) {
    segment.matrix.resize(size * segment.machines.size());
    for (const Use& use : uses) {
      const auto found = std::ranges::lower_bound(segment.machines, use.machine);
      const auto row = static_cast<std::size_t>(found - segment.machines.begin());
      segment.matrix[row * size + use.position - segment.begin] = use.coefficient;
    }
    return;
  }
  segment.start.assign(size + 1, 0);
  for (const Use& use : uses) {
    ++segment.start[use.position - segment.begin + 1];
    segment.machine.push_back(use.machine);
    segment.coefficient.push_back(use.coefficient);
  }
  std::partial_sum(segment.start.begin(), segment.start.end(), segment.start.begin());
}

double SegmentedCoefficients::error(std::size_t machine, double reach) const {
  return std::max(near_zero, float_error * norm_[machine] * reach);
}

bool SegmentedCoefficients::in_given_order() const { return std::ranges::is_sorted(order_); }

template <class Value>
void SegmentedCoefficients::add_tile(const Value* tile, std::size_t stride, std::size_t rows,
                                     std::size_t begin, std::size_t count, double* sums) const {
  const std::size_t end = begin + count;
  std::vector<double> product;
  for (const Segment& segment : segments_) {
    const std::size_t from = std::max(begin, segment.begin);
    const std::size_t to = std::min(end, segment.end);
    if (from >= to) continue;
    const Value* part = tile + (from - begin);
    const std::size_t inside = from - segment.begin;
    if (segment.start.empty()) {
      const std::size_t many = segment.machines.size();
      product.resize(rows * many);
      tile_product(part, stride, rows, segment.matrix.data() + inside, segment.end - segment.begin,
                   many, to - from, product.data());
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t s = 0; s < many; ++s)
          sums[r * machines() + segment.machines[s]] += product[r * many + s];
      continue;
    }
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < to - from; ++c)
        for (std::size_t k = segment.start[inside + c]; k < segment.start[inside + c + 1]; ++k)
          sums[r * machines() + segment.machine[k]] +=
              static_cast<double>(part[r * stride + c]) * segment.coefficient[k];
  }
}

void SegmentedCoefficients::add(const float* tile, std::size_t stride, std::size_t rows,
                                std::size_t begin, std::size_t count, double* sums) const {
  add_tile(tile, stride, rows, begin, count, sums);
}

void SegmentedCoefficients::add(const double* tile, std::size_t stride, std::size_t rows,
                                std::size_t begin, std::size_t count, double* sums) const {
  add_tile(tile, stride, rows, begin, count, sums);
}

}  // namespace maxmargin
