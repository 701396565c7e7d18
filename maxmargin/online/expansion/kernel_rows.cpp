#include "maxmargin/online/expansion/kernel_rows.hpp"

#include <utility>

namespace maxmargin {
namespace {

constexpr std::size_t most_changes = 256;

}  // namespace

void KernelRows::add(std::size_t slot, std::span<const double> k) {
  if (slot >= cached_.size()) cached_.resize(slot + 1);
  record(slot, k);
}

void KernelRows::remove(std::size_t slot) {
  Cached& own = cached_[slot];
  if (!own.k.empty()) {
    spare_.push_back(std::exchange(own.k, {}));
    --count_;
  }
  record(slot, {});
}

void KernelRows::record(std::size_t slot, std::span<const double> k) {
  if (recorded_ == most_changes) apply_all_changes();
  if (recorded_ == changes_.size()) changes_.emplace_back();
  changes_[recorded_].slot = slot;
  changes_[recorded_].k.assign(k.begin(), k.end());
  ++recorded_;
}

void KernelRows::apply_changes(std::size_t slot, std::size_t slots) {
  Cached& row = cached_[slot];
  row.k.resize(slots, 0.0);
  for (; row.applied < recorded_; ++row.applied) {
    const Change& change = changes_[row.applied];
    row.k[change.slot] = change.k.empty() ? 0 : change.k[slot];
  }
}

void KernelRows::apply_all_changes() {
  for (std::size_t slot = 0; slot < cached_.size(); ++slot) {
    if (!cached_[slot].k.empty()) apply_changes(slot, cached_.size());
    cached_[slot].applied = 0;
  }
  recorded_ = 0;
}

std::span<const double> KernelRows::of(std::size_t slot, Expansion& rows) {
  Cached& own = cached_[slot];
  if (!own.k.empty()) {
    apply_changes(slot, rows.slots());
    return own.k;
  }
  const auto values = rows.values(slot);
  if ((count_ + 1) * values.size_bytes() > bytes_) {
    std::vector<double>& scratch = scratch_[next_scratch_++ % valid_answers];
    scratch.assign(values.begin(), values.end());
    return scratch;
  }
  if (!spare_.empty()) {
    own.k = std::move(spare_.back());
    spare_.pop_back();
  }
  own.k.assign(values.begin(), values.end());
  own.applied = recorded_;
  ++count_;
  return own.k;
}

}  // namespace maxmargin
