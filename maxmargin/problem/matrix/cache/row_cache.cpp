#include "maxmargin/problem/matrix/cache/row_cache.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "maxmargin/linalg/accumulate.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t cached_columns_per_task = 4096;

std::size_t row_bytes(const Quadratic& K) {
  const std::size_t cell = K.can().coded != nullptr ? 1 : sizeof(float);
  constexpr std::size_t unit = RowCache::row_unit * sizeof(float);
  return (K.size() * cell + unit - 1) / unit * unit;
}

/// The cells of a row that remain; `columns` increase, so that the row may be its own target.
template <class Cell>
void cut(const std::byte* from, std::span<const Index> columns, std::byte* to) {
  const Cell* old_row = reinterpret_cast<const Cell*>(from);
  Cell* new_row = reinterpret_cast<Cell*>(to);
  for (std::size_t c = 0; c < columns.size(); ++c) new_row[c] = old_row[columns[c]];
}

}  // namespace

RowCache::RowCache(std::shared_ptr<const Quadratic> K, std::size_t bytes, std::size_t least_rows)
    : K_(std::move(K)),
      coded_(K_->can().coded),
      stored_(K_->can().stored),
      bytes_(bytes),
      least_rows_(least_rows),
      length_(row_bytes(*K_)),
      capacity_(room()),
      slot_of_(K_->size(), none) {
  arena_.resize_for_overwrite(capacity_ * length_);
}

std::size_t RowCache::room() const {
  return std::min(K_->size(), std::max(bytes_ / length_, least_rows_));
}

void RowCache::add(std::span<const Index> points, std::span<const double> coefficients,
                   const Wishes& wishes, std::span<double> f, const Threads& threads) {
  ++now_;
  std::vector<Index> held, passing, missing;
  std::vector<double> held_coefficients, passing_coefficients;
  for (std::size_t k = 0; k < points.size(); ++k)
    if (wishes.keep[k] && !holds(points[k])) missing.push_back(points[k]);
  if (stored_ != nullptr) stored_->keep(missing, threads);
  missing.clear();
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Index point = points[k];
    const bool is_held = holds(point);
    if (slot_of_[point] != none) used_at_[slot_of_[point]] = now_;
    if (!is_held && wishes.keep[k]) missing.push_back(point);
    if (is_held || wishes.keep[k]) {
      held.push_back(point);
      held_coefficients.push_back(coefficients[k]);
    } else {
      passing.push_back(point);
      passing_coefficients.push_back(coefficients[k]);
    }
  }
  if (!missing.empty()) {
    make_room(missing.size(), wishes.precious);
    compute(missing, threads);
  }
  if (coded_ != nullptr) {
    add_held<std::uint8_t>(held, held_coefficients, f, threads,
                           [&](auto... all) { coded_->decay().add_scaled_rows(all...); });
    const double sum = std::accumulate(held_coefficients.begin(), held_coefficients.end(), 0.0);
    if (coded_->shift() != 0)
      for (double& value : f) value += coded_->shift() * sum;
  } else {
    add_held<float>(held, held_coefficients, f, threads,
                    [](auto... all) { add_scaled_rows(all...); });
  }
  K_->add_product(passing, passing_coefficients, f, threads);
  computed_ += passing.size();
  for (std::size_t k = 0; k < points.size(); ++k)
    if (!wishes.keep[k] && slot_of_[points[k]] != none)
      free_.push_back(std::exchange(slot_of_[points[k]], none));
}

template <class Cell, class Adding>
void RowCache::add_held(std::span<const Index> points, std::span<const double> coefficients,
                        std::span<double> f, const Threads& threads, Adding&& adding) {
  if (points.empty()) return;
  threads.split(f.size(), cached_columns_per_task, [&](std::size_t begin, std::size_t end) {
    std::vector<const Cell*> rows(points.size());
    for (std::size_t k = 0; k < points.size(); ++k)
      rows[k] = reinterpret_cast<const Cell*>(row(points[k])) + begin;
    adding(std::span<const Cell* const>(rows), coefficients, end - begin, f.data() + begin);
  });
}

void RowCache::pick(Index point, std::span<const Index> columns, float* out) const {
  if (coded_ != nullptr) {
    const ByteDecay& decay = coded_->decay();
    const auto shift = static_cast<float>(coded_->shift());
    const auto* cells = reinterpret_cast<const std::uint8_t*>(row(point));
    for (std::size_t i = 0; i < columns.size(); ++i)
      out[i] = decay.value(cells[columns[i]]) + shift;
  } else {
    const auto* cells = reinterpret_cast<const float*>(row(point));
    for (std::size_t i = 0; i < columns.size(); ++i) out[i] = cells[columns[i]];
  }
}

void RowCache::make_room(std::size_t missing, const std::vector<bool>& precious) {
  if (!lacks_room_for(missing)) return;
  const std::size_t wanted = missing - free_.size() - (capacity_ - point_of_.size());
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t s = 0; s < point_of_.size(); ++s)
    if (slot_of_[point_of_[s]] == s && used_at_[s] != now_) candidates.push_back(s);
  const auto goes_first = [&](std::uint32_t x, std::uint32_t y) {
    const bool keep_x = precious[point_of_[x]], keep_y = precious[point_of_[y]];
    if (keep_x != keep_y) return keep_y;
    return std::pair(used_at_[x], x) < std::pair(used_at_[y], y);
  };
  std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(wanted - 1),
                   candidates.end(), goes_first);
  for (std::size_t k = 0; k < wanted; ++k) {
    slot_of_[point_of_[candidates[k]]] = none;
    free_.push_back(candidates[k]);
  }
}

void RowCache::compute(std::span<const Index> points, const Threads& threads) {
  std::vector<std::byte*> out(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    std::size_t to = point_of_.size();
    if (free_.empty()) {
      point_of_.push_back(points[k]);
      used_at_.push_back(now_);
    } else {
      to = free_.back();
      free_.pop_back();
      point_of_[to] = points[k];
      used_at_[to] = now_;
    }
    slot_of_[points[k]] = static_cast<std::uint32_t>(to);
    out[k] = slot(to);
  }
  const auto rows_as = [&]<class Cell>(Cell*) {
    std::vector<Cell*> rows(out.size());
    for (std::size_t k = 0; k < out.size(); ++k) rows[k] = reinterpret_cast<Cell*>(out[k]);
    return rows;
  };
  if (coded_ != nullptr)
    coded_->code_rows(points, 0, K_->size(), rows_as(static_cast<std::uint8_t*>(nullptr)), threads);
  else
    K_->rows(points, 0, K_->size(), rows_as(static_cast<float*>(nullptr)), threads);
  const std::size_t cell = coded_ != nullptr ? 1 : sizeof(float);
  for (std::byte* row : out) std::fill(row + K_->size() * cell, row + length_, std::byte{0});
  computed_ += points.size();
}

bool RowCache::fetch(std::span<const Index> points, const Threads& threads) {
  ++now_;
  std::vector<Index> missing;
  for (const Index point : points)
    if (slot_of_[point] == none) missing.push_back(point);
  if (lacks_room_for(missing.size())) return false;
  if (!missing.empty()) compute(missing, threads);
  return true;
}

void RowCache::restrict_to(std::shared_ptr<const Quadratic> K, std::span<const Index> points,
                           const Threads& threads) {
  const std::size_t new_length = row_bytes(*K);
  std::vector<std::uint32_t> new_slot_of(points.size(), none);
  std::vector<std::pair<std::uint32_t, Index>> kept;  // slot, new number
  for (std::size_t i = 0; i < points.size(); ++i)
    if (slot_of_[points[i]] != none) kept.emplace_back(slot_of_[points[i]], static_cast<Index>(i));
  std::sort(kept.begin(), kept.end());
  const bool is_coded = K->can().coded != nullptr;
  // First every row within its own slot, side by side; then all move to the front.
  threads.split(kept.size(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      std::byte* row = slot(kept[k].first);
      if (is_coded)
        cut<std::uint8_t>(row, points, row);
      else
        cut<float>(row, points, row);
    }
  });
  std::vector<Index> new_point_of;
  std::vector<std::uint64_t> new_used_at;
  for (const auto& [from, number] : kept) {
    const std::byte* row = slot(from);
    std::copy(row, row + new_length, arena_.data() + new_point_of.size() * new_length);
    new_slot_of[number] = static_cast<std::uint32_t>(new_point_of.size());
    new_point_of.push_back(number);
    new_used_at.push_back(used_at_[from]);
  }
  K_ = std::move(K);
  coded_ = K_->can().coded;
  stored_ = K_->can().stored;
  length_ = new_length;
  capacity_ = room();
  arena_.resize_for_overwrite(std::max(capacity_, new_point_of.size()) * length_);
  slot_of_ = std::move(new_slot_of);
  point_of_ = std::move(new_point_of);
  used_at_ = std::move(new_used_at);
  free_.clear();
}

}  // namespace maxmargin
