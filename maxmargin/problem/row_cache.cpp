#include "maxmargin/problem/row_cache.hpp"

#include <algorithm>
#include <utility>

namespace maxmargin {
namespace {

// Touching fresh memory costs about a nanosecond for the four bytes of a value.
constexpr double cheap_value = 1.5;

std::size_t padded(std::size_t columns) { return (columns + 15) / 16 * 16; }

}  // namespace

RowCache::RowCache(std::shared_ptr<const Quadratic> K, std::size_t bytes, std::size_t least_rows)
    : K_(std::move(K)),
      bytes_(bytes),
      least_rows_(least_rows),
      length_(padded(K_->size())),
      capacity_(std::min(K_->size(), std::max(bytes / (length_ * sizeof(float)), least_rows))),
      slot_of_(K_->size(), none),
      asked_before_(K_->size(), false) {
  arena_.resize(capacity_ * length_);
}

std::vector<const float*> RowCache::rows(std::span<const Index> points,
                                         const std::vector<bool>& precious,
                                         const Threads& threads) {
  ++now_;
  std::vector<Index> missing;
  for (const Index point : points) {
    if (holds(point))
      used_at_[slot_of_[point]] = now_;
    else
      missing.push_back(point);
  }
  if (!missing.empty()) {
    make_room(missing.size(), precious);
    compute(missing, threads);
  }
  std::vector<const float*> result(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) result[i] = slot(slot_of_[points[i]]);
  return result;
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
  std::vector<float*> out(points.size());
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
  K_->rows(points, 0, K_->size(), out, threads);
  computed_ += points.size();
}

void RowCache::release(std::span<const Index> points) {
  const bool cheap = K_->value_cost() < cheap_value;
  for (const Index point : points) {
    if (cheap && !asked_before_[point] && holds(point)) {
      free_.push_back(slot_of_[point]);
      slot_of_[point] = none;
    }
    asked_before_[point] = true;
  }
}

void RowCache::restrict_to(std::shared_ptr<const Quadratic> K, std::span<const Index> points) {
  const std::size_t new_length = padded(K->size());
  std::vector<std::uint32_t> new_slot_of(points.size(), none);
  std::vector<std::pair<std::uint32_t, Index>> kept;  // slot, new number
  for (std::size_t i = 0; i < points.size(); ++i)
    if (holds(points[i])) kept.emplace_back(slot_of_[points[i]], static_cast<Index>(i));
  std::sort(kept.begin(), kept.end());
  std::vector<Index> new_point_of;
  std::vector<std::uint64_t> new_used_at;
  for (const auto& [from, number] : kept) {
    // Rows move towards the front and get shorter: nothing unread is overwritten.
    const float* old_row = arena_.data() + static_cast<std::size_t>(from) * length_;
    float* new_row = arena_.data() + new_point_of.size() * new_length;
    for (std::size_t c = 0; c < points.size(); ++c) new_row[c] = old_row[points[c]];
    new_slot_of[number] = static_cast<std::uint32_t>(new_point_of.size());
    new_point_of.push_back(number);
    new_used_at.push_back(used_at_[from]);
  }
  K_ = std::move(K);
  length_ = new_length;
  capacity_ = std::min(K_->size(), std::max(bytes_ / (length_ * sizeof(float)), least_rows_));
  arena_.resize(std::max(capacity_ * length_, new_point_of.size() * length_));
  slot_of_ = std::move(new_slot_of);
  point_of_ = std::move(new_point_of);
  used_at_ = std::move(new_used_at);
  free_.clear();
  std::vector<bool> asked(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) asked[i] = asked_before_[points[i]];
  asked_before_ = std::move(asked);
}

}  // namespace maxmargin
