#include "maxmargin/online/expansion/expansion.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/error.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/online/expansion/panel_loops.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t lanes = 8;
std::size_t padded(std::size_t size) { return (size + lanes - 1) / lanes * lanes; }
/// Vectors of a panel of bytes have up to 64 lanes.
constexpr std::size_t least_capacity = 64;

/// Most features of a row in a panel of bytes, where a byte counts common features.
constexpr std::size_t most_ones = 255;
bool is_binary(const StreamRow& x) {
  return x.values.size() <= most_ones &&
         std::ranges::all_of(x.values, [](double value) { return value == 1; });
}

/// The sum over the features of x and a row of zeros.
double sum_alone(Pairing pairing, const StreamRow& x) {
  double sum = 0;
  for (const double value : x.values) sum += pair_term(pairing, value, 0);
  return sum;
}

double value_at(const StreamRow& x, std::uint64_t feature) {
  const auto found = std::ranges::lower_bound(x.features, feature);
  if (found == x.features.end() || *found != feature) return 0;
  return x.values[static_cast<std::size_t>(found - x.features.begin())];
}

/// The sum over the features of both rows, in their order; symmetric to the last bit.
double pair_sum(Pairing pairing, const StreamRow& x, const StreamRow& z) {
  double sum = 0;
  for_each_feature(x, z,
                   [&](Index, double of_x, double of_z) { sum += pair_term(pairing, of_x, of_z); });
  return sum;
}

/// A row in the form that the user's own kernel takes.
struct OneRow {
  std::uint64_t start[2];
  Rows view(const StreamRow& x) {
    start[0] = 0;
    start[1] = x.features.size();
    Rows rows;
    rows.count = 1;
    rows.columns = x.features.empty() ? 0 : std::size_t{x.features.back()} + 1;
    rows.doubles = x.values.data();
    rows.index = x.features.data();
    rows.start = start;
    return rows;
  }
};

double custom_value(const Custom& kernel, const StreamRow& x, const StreamRow& z) {
  OneRow left, right;
  const Index first = 0;
  double value = 0;
  kernel.function(left.view(x), {&first, 1}, right.view(z), 0, 1, &value);
  return value;
}

/// |x|^2 + |z|^2 - 2 x'z cancels for close points: a squared distance below this share of
/// |x|^2 + |z|^2 is computed again from differences.
constexpr double small_share = 1e-3;

}  // namespace

Expansion::Expansion(Kernel kernel) : kernel_(std::move(kernel)), form_(form_of(kernel_)) {
  if (const auto* own = std::get_if<Custom>(&kernel_); own != nullptr && !own->function)
    throw Error(Fault::usage, "the kernel is the user's own function, and there is none",
                "give it again");
  if (form_)
    linear_sum_ = form_->pairing == Pairing::dot || form_->pairing == Pairing::squared_euclidean;
  if (linear_sum_) layout_ = Layout::bytes;
}

void Expansion::limit_panel(std::size_t bytes) {
  panel_bytes_ = bytes;
  if (layout_ != Layout::rows) make_panel(padded(out_.size()));
}

void Expansion::check(const StreamRow& x) const {
  if (!form_ || !form_->needs_non_negative()) return;
  for (std::size_t k = 0; k < x.values.size(); ++k)
    if (x.values[k] < 0)
      throw Error(Fault::data,
                  "feature " + std::to_string(x.features[k] + 1) +
                      " is negative, which this kernel does not take",
                  "shift the feature, or choose another kernel");
}

double Expansion::self(const StreamRow& x) const {
  if (const auto* own = std::get_if<Custom>(&kernel_)) return custom_value(*own, x, x);
  if (is_given(kernel_)) return value_at(x, x.number);
  double sum = 0;
  if (form_->pairing == Pairing::dot)
    for (const double value : x.values) sum += value * value;
  return map_of(sum);
}

double Expansion::map_of(double sum) const {
  return visit_list([&](const auto& map) { return map(sum); }, form_->map);
}

StreamRow Expansion::row(std::size_t slot) const {
  const Term& term = terms_[slot];
  return {term.features, term.values, term.number};
}

std::span<const double> Expansion::values(const StreamRow& x) {
  switch_to_doubles_for(x);
  if (layout_ == Layout::bytes) {
    values_by_counts(x);
  } else if (std::holds_alternative<Custom>(kernel_)) {
    custom_values(x);
  } else if (is_given(kernel_)) {
    gather(x);
  } else {
    const Form& form = *form_;
    const bool distance = form.pairing == Pairing::squared_euclidean;
    const double base = distance ? sum_alone(form.pairing, x) : 0;
    if (layout_ == Layout::doubles)
      sums_by_panel(x);
    else if (linear_sum_)
      sums_by_terms(x);
    else
      for (std::size_t i = 0; i < terms_.size(); ++i) out_[i] = pair_sum(form.pairing, x, row(i));
    if (distance && distances(base, base_.data(), out_.size(), small_share, out_.data()))
      recompute_small_distances(x, base);
    map_sums(out_);
  }
  for (const Index slot : free_) out_[slot] = 0;
  return {out_.data(), slots()};
}

void Expansion::map_sums(std::span<double> sums) const {
  const Form& form = *form_;
  if (const auto* decaying = std::get_if<Decay>(&form.map))
    decay(decaying->rate, sums.size(), sums.data());
  else if (const auto* rooted = std::get_if<RootDecay>(&form.map))
    root_decay(rooted->rate, sums.size(), sums.data());
  else if (!std::holds_alternative<Identity>(form.map))
    visit_list([&](const auto& map) { std::ranges::transform(sums, sums.begin(), map); }, form.map);
}

/// The sum is a whole number: common features, or |x|^2 + |z|^2 - 2 common features.
void Expansion::values_by_counts(const StreamRow& x) {
  const bool distance = form_->pairing == Pairing::squared_euclidean;
  if (table_.empty()) {
    table_.resize(padded(2 * most_ones + 1));
    std::iota(table_.begin(), table_.end(), 0.0);
    map_sums(table_);
  }
  bits_.find(x.features, x.values, bit_rows_, times_);
  const auto own = static_cast<std::int32_t>(x.features.size());
  values_of_counts(bit_rows_,
                   {table_.data(), lengths_.data(), distance ? own : 0, distance ? -2 : 1},
                   out_.size(), out_.data());
}

void Expansion::sums_by_panel(const StreamRow& x) {
  panel_.find(x.features, x.values, panel_rows_, times_);
  panel_sums(panel_rows_, times_, out_.size(), out_.data());
}

void Expansion::scatter(const StreamRow& x) {
  dense_x_.resize(std::max(dense_x_.size(), columns_));
  for (std::size_t k = 0; k < x.features.size() && x.features[k] < columns_; ++k)
    dense_x_[x.features[k]] = x.values[k];
}

void Expansion::sums_by_terms(const StreamRow& x) {
  scatter(x);
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const Term& term = terms_[i];
    double sum = 0;
    for (std::size_t k = 0; k < term.features.size(); ++k)
      sum += dense_x_[term.features[k]] * term.values[k];
    out_[i] = sum;
  }
  for (std::size_t k = 0; k < x.features.size() && x.features[k] < columns_; ++k)
    dense_x_[x.features[k]] = 0;
}

void Expansion::gather(const StreamRow& x) {
  for (std::size_t i = 0; i < terms_.size(); ++i) out_[i] = value_at(x, terms_[i].number);
}

void Expansion::custom_values(const StreamRow& x) {
  const auto& own = std::get<Custom>(kernel_);
  for (std::size_t i = 0; i < terms_.size(); ++i)
    out_[i] = terms_[i].used ? custom_value(own, x, row(i)) : 0;
}

void Expansion::recompute_small_distances(const StreamRow& x, double base) {
  for (std::size_t i = 0; i < terms_.size(); ++i)
    if (terms_[i].used && out_[i] < small_share * (base + base_[i]))
      out_[i] = pair_sum(Pairing::squared_euclidean, x, row(i));
}

std::size_t Expansion::add(const StreamRow& x) {
  std::size_t slot = terms_.size();
  if (free_.empty()) {
    terms_.emplace_back();
    out_.resize(padded(terms_.size()), 0.0);
    base_.resize(padded(terms_.size()), 0.0);
    if (layout_ != Layout::rows && out_.size() > capacity()) make_panel(2 * out_.size());
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  fill(slot, x);
  return slot;
}

void Expansion::fill(std::size_t slot, const StreamRow& x) {
  switch_to_doubles_for(x);
  Term& term = terms_[slot];
  term.features.assign(x.features.begin(), x.features.end());
  term.values.assign(x.values.begin(), x.values.end());
  term.number = x.number;
  term.used = true;
  term.self = self(x);
  if (form_ && form_->pairing == Pairing::squared_euclidean)
    base_[slot] = sum_alone(form_->pairing, x);
  if (!x.features.empty()) columns_ = std::max(columns_, std::size_t{x.features.back()} + 1);
  put_in_panel(slot);
}

void Expansion::remove(std::size_t slot) {
  Term& term = terms_[slot];
  if (layout_ == Layout::bytes) bits_.erase(slot, term.features);
  if (layout_ == Layout::doubles) panel_.erase(slot, term.features);
  term.features.clear();
  term.values.clear();
  term.number = 0;
  term.self = 0;
  term.used = false;
  base_[slot] = 0;
  if (slot < lengths_.size()) lengths_[slot] = 0;
  free_.push_back(static_cast<Index>(slot));
}

std::size_t Expansion::capacity() const {
  return layout_ == Layout::bytes ? bits_.capacity() : panel_.capacity();
}

/// The first row that is not binary turns the panel of bytes into one of doubles.
void Expansion::switch_to_doubles_for(const StreamRow& x) {
  if (layout_ != Layout::bytes || is_binary(x)) return;
  layout_ = Layout::doubles;
  make_panel(bits_.capacity());
  bits_.clear(0);
}

void Expansion::put_in_panel(std::size_t slot) {
  const Term& term = terms_[slot];
  bool fits = true;
  if (layout_ == Layout::bytes) {
    fits = bits_.put(slot, term.features, term.values, panel_bytes_);
    lengths_[slot] = static_cast<std::int32_t>(base_[slot]);
  } else if (layout_ == Layout::doubles) {
    fits = panel_.put(slot, term.features, term.values, panel_bytes_);
  }
  if (fits) return;
  layout_ = Layout::rows;
  panel_.clear(0);
  bits_.clear(0);
}

void Expansion::make_panel(std::size_t slots) {
  std::size_t capacity = least_capacity;
  while (capacity < slots) capacity *= 2;
  if (layout_ == Layout::bytes) {
    bits_.clear(capacity);
    lengths_.assign(capacity, 0);
  } else {
    panel_.clear(capacity);
  }
  for (std::size_t i = 0; i < terms_.size(); ++i)
    if (terms_[i].used) put_in_panel(i);
}

void Expansion::restore(std::vector<Slot> slots, std::vector<Index> free_slots) {
  terms_.assign(slots.size(), Term{});
  out_.assign(padded(slots.size()), 0.0);
  base_.assign(padded(slots.size()), 0.0);
  free_ = std::move(free_slots);
  columns_ = 0;
  std::vector<bool> is_free(slots.size(), false);
  for (const Index slot : free_) is_free[slot] = true;
  if (layout_ != Layout::rows) make_panel(out_.size());
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (!is_free[i]) fill(i, {slots[i].features, slots[i].values, slots[i].number});
}

}  // namespace maxmargin
