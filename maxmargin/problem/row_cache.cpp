#include "maxmargin/problem/row_cache.hpp"

#include <algorithm>
#include <utility>

namespace maxmargin {
namespace {

std::size_t padded(std::size_t columns) { return (columns + 15) / 16 * 16; }

}  // namespace

RowCache::RowCache(std::shared_ptr<const Quadratic> K, std::size_t bytes, std::size_t least_rows)
    : K_(std::move(K)),
      bytes_(bytes),
      least_rows_(least_rows),
      length_(padded(K_->size())),
      capacity_(std::min(K_->size(), std::max(bytes / (length_ * sizeof(float)), least_rows))),
      slot_of_(K_->size(), none) {
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
  const std::size_t available = free_.size() + (capacity_ - point_of_.size());
  if (available >= missing) return;
  const std::size_t wanted = missing - available;
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
  std::sort(free_.begin(), free_.end(), std::greater<>());
}

void RowCache::compute(std::span<const Index> points, const Threads& threads) {
  computed_ += points.size();
  std::size_t done = 0;
  // Fresh slots lie side by side: the block is written where it stays.
  const std::size_t fresh =
      std::min(points.size() - std::min(points.size(), free_.size()), capacity_ - point_of_.size());
  if (fresh > 0) {
    const std::size_t first = point_of_.size();
    K_->rows(points.first(fresh), 0, K_->size(), slot(first), length_, threads);
    for (; done < fresh; ++done) {
      slot_of_[points[done]] = static_cast<std::uint32_t>(first + done);
      point_of_.push_back(points[done]);
      used_at_.push_back(now_);
    }
  }
  if (done == points.size()) return;
  const auto rest = points.subspan(done);
  std::vector<std::uint32_t> slots;
  for (std::size_t k = 0; k < rest.size(); ++k) {
    slots.push_back(free_.back());
    free_.pop_back();
  }
  // Slots that were given back lie anywhere: through a small staging block.
  constexpr std::size_t staged = 64;
  std::vector<float> staging(std::min(staged, rest.size()) * length_);
  for (std::size_t k = 0; k < rest.size(); k += staged) {
    const auto some = rest.subspan(k, std::min(staged, rest.size() - k));
    K_->rows(some, 0, K_->size(), staging.data(), length_, threads);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::uint32_t to = slots[k + i];
      std::copy_n(staging.data() + i * length_, K_->size(), slot(to));
      slot_of_[some[i]] = to;
      point_of_[to] = some[i];
      used_at_[to] = now_;
    }
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
}

}  // namespace maxmargin
