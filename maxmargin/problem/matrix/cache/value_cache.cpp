#include "maxmargin/problem/matrix/cache/value_cache.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace maxmargin {
namespace {

constexpr std::size_t least_rows = 3;
constexpr std::size_t least_elements = 1024;

void compute_row(const Quadratic& K, Index point, float* out, const Threads& threads) {
  K.rows(std::span(&point, 1), 0, K.size(), std::span(&out, 1), threads);
}
void compute_row(const Quadratic& K, Index point, double* out, const Threads&) {
  K.exact_block(std::span(&point, 1), 0, K.size(), out, K.size());
}
/// K(point, columns[c]) for each c.
void compute_values(const Quadratic& K, Index point, std::span<const Index> columns, float* out,
                    const Threads& threads) {
  K.block(std::span(&point, 1), columns, std::span(&out, 1), threads);
}
void compute_values(const Quadratic& K, Index point, std::span<const Index> columns, double* out,
                    const Threads&) {
  K.exact_block(columns, point, 1, out, 1);
}

}  // namespace

template <class Real>
BasicValueCache<Real>::BasicValueCache(std::shared_ptr<const Quadratic> K, std::size_t bytes,
                                       Unit unit, const Threads& threads)
    : K_(std::move(K)), unit_(unit), threads_(threads), m_(K_->size()) {
  if (unit_ == Unit::row) {
    capacity_ = std::clamp(bytes / (m_ * sizeof(Real) + 64), least_rows, std::max(m_, least_rows));
    slot_of_.assign(m_, none);
    // The last slot stands for the end of the ring: the latest row follows it.
    before_.push_back(0);
    after_.push_back(0);
    return;
  }
  const std::size_t all = std::max(least_elements, m_ * (m_ + 1));
  capacity_ = std::bit_floor(std::clamp(bytes / sizeof(Element), least_elements, all));
  shift_ = 64 - std::countr_zero(capacity_);
  elements_.resize(capacity_);
}

template <class Real>
std::uint64_t BasicValueCache<Real>::key(Index i, Index j) const {
  return static_cast<std::uint64_t>(std::min(i, j)) * m_ + std::max(i, j);
}

/// Slots are numbered from 1 here; 0 is the end of the ring.
template <class Real>
void BasicValueCache<Real>::touch(std::uint32_t slot) {
  const std::uint32_t node = slot + 1;
  if (after_[0] == node) return;
  after_[before_[node]] = after_[node];
  before_[after_[node]] = before_[node];
  before_[node] = 0;
  after_[node] = after_[0];
  before_[after_[0]] = node;
  after_[0] = node;
}

template <class Real>
const Real* BasicValueCache<Real>::row(Index point) {
  if (unit_ == Unit::element) {
    if (all_.size() < m_) {
      all_.resize(m_);
      std::iota(all_.begin(), all_.end(), Index{0});
      single_.resize(m_);
    }
    values(point, all_, single_.data());
    return single_.data();
  }
  use_.asked += m_;
  if (const std::uint32_t slot = slot_of_[point]; slot != none) {
    use_.found += m_;
    touch(slot);
    return rows_[slot].data();
  }
  std::uint32_t slot = 0;
  if (rows_.size() < capacity_) {
    slot = static_cast<std::uint32_t>(rows_.size());
    rows_.emplace_back(m_);
    point_of_.push_back(point);
    before_.push_back(slot + 1);  // a ring of its own, until it is touched
    after_.push_back(slot + 1);
  } else {
    slot = before_[0] - 1;
    slot_of_[point_of_[slot]] = none;
    point_of_[slot] = point;
  }
  slot_of_[point] = slot;
  Real* out = rows_[slot].data();
  compute_row(*K_, point, out, threads_);
  touch(slot);
  return out;
}

template <class Real>
double BasicValueCache<Real>::value(Index i, Index j) {
  if (i == j) return K_->diagonal()[i];
  if (unit_ == Unit::row) {
    if (slot_of_[i] == none && slot_of_[j] == none) return row(i)[j];
    ++use_.asked;
    ++use_.found;
    return slot_of_[i] != none ? rows_[slot_of_[i]][j] : rows_[slot_of_[j]][i];
  }
  Real value = 0;
  values(i, std::span(&j, 1), &value);
  return value;
}

template <class Real>
void BasicValueCache<Real>::values(Index point, std::span<const Index> columns, Real* out) {
  if (unit_ == Unit::row) {
    const Real* all = row(point);
    for (std::size_t c = 0; c < columns.size(); ++c) out[c] = all[columns[c]];
    return;
  }
  use_.asked += columns.size();
  missing_.clear();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::uint64_t wanted = key(point, columns[c]);
    const Element& held = element(wanted);
    if (held.key == wanted)
      out[c] = held.value;
    else
      missing_.push_back(static_cast<Index>(c));
  }
  use_.found += columns.size() - missing_.size();
  if (missing_.empty()) return;
  std::vector<Index> wanted;
  for (const Index c : missing_) wanted.push_back(columns[c]);
  computed_.resize(wanted.size());
  compute_values(*K_, point, wanted, computed_.data(), threads_);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    out[missing_[k]] = computed_[k];
    const std::uint64_t cell = key(point, wanted[k]);
    element(cell) = {cell, computed_[k]};
  }
}

template class BasicValueCache<float>;
template class BasicValueCache<double>;

}  // namespace maxmargin
