#include "maxmargin/solver/decremental/homotopy.hpp"

#include <algorithm>
#include <cmath>

namespace maxmargin {
namespace {

constexpr std::size_t most_turns = 1000;
// Rates below this move nothing that counts.
constexpr double negligible = 1e-13;
// Multiplications that a column takes, beyond which several are computed together.
constexpr std::size_t worth_a_product = std::size_t{1} << 16;

/// Solves T x = b in place by elimination with pivots; false where T is singular. T by rows.
bool solve_dense(std::vector<double> T, std::span<double> b) {
  const std::size_t n = b.size();
  double largest = 0;
  for (const double value : T) largest = std::max(largest, std::abs(value));
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::abs(T[r * n + c]) > std::abs(T[pivot * n + c])) pivot = r;
    if (!(std::abs(T[pivot * n + c]) > 1e-14 * largest)) return false;
    if (pivot != c) {
      std::swap_ranges(&T[c * n + c], &T[c * n] + n, &T[pivot * n + c]);
      std::swap(b[c], b[pivot]);
    }
    for (std::size_t r = c + 1; r < n; ++r) {
      const double by = T[r * n + c] / T[c * n + c];
      if (by == 0) continue;
      for (std::size_t k = c + 1; k < n; ++k) T[r * n + k] -= by * T[c * n + k];
      b[r] -= by * b[c];
    }
  }
  for (std::size_t c = n; c-- > 0;) {
    for (std::size_t k = c + 1; k < n; ++k) b[c] -= T[c * n + k] * b[k];
    b[c] /= T[c * n + c];
  }
  return true;
}

void add_scaled(double by, const double* x, std::span<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += by * x[i];
}

}  // namespace

void ColumnStore::compute(std::span<const Index> variables, const Threads& threads) {
  const double* first = computed_.emplace_back(tableau_.columns(variables, rows_, threads)).data();
  for (std::size_t k = 0; k < variables.size(); ++k)
    columns_[variables[k]] = first + k * tableau_.stride();
}

void ColumnStore::prepare(std::span<const Index> variables, const Threads& threads) {
  const std::lock_guard lock(busy_);
  compute(variables, threads);
}

const double* ColumnStore::of(Index v) {
  const Index position = tableau_.position(v);
  if (position < tableau_.free()) return tableau_.free_column(position);
  const std::lock_guard lock(busy_);
  if (const auto at = columns_.find(v); at != columns_.end()) return at->second;
  std::vector<Index> some{v};
  if (position != Tableau::none) {
    const std::size_t together =
        std::clamp<std::size_t>(tableau_.free() * tableau_.positions() / worth_a_product, 1, 16);
    const std::size_t begin = std::max(tableau_.free(), position / together * together);
    const std::size_t end = std::min(tableau_.positions(), (position / together + 1) * together);
    for (std::size_t i = begin; i < end; ++i)
      if (i != position && !columns_.contains(tableau_.variable(i)))
        some.push_back(tableau_.variable(i));
  }
  compute(some, Threads(1));
  return columns_.at(v);
}

Homotopy::Homotopy(const PivotedSolution& from)
    : from_(from),
      a_(from.a),
      g_(from.g),
      standing_(from.standing),
      lambda_(from.lambda),
      rate_(from.tableau.stride()) {}

void Homotopy::exchange(std::size_t position) {
  const auto at = std::ranges::find(exchanged_, position);
  if (at == exchanged_.end()) {
    exchanged_.push_back(position);
    columns_.push_back(from_.columns.of(from_.tableau.variable(position)));
  } else {
    columns_.erase(columns_.begin() + (at - exchanged_.begin()));
    exchanged_.erase(at);
  }
}

void Homotopy::fix(Index v) {
  const Index position = from_.tableau.position(v);
  if (position == Tableau::none) return;
  if (standing_[position] == BoundState::free) exchange(position);
  standing_[position] = BoundState::fixed;
}

Homotopy::Outcome Homotopy::move(Index v, double before, double target) {
  const Tableau& tableau = from_.tableau;
  const Index position = tableau.position(v);
  if (before == target) return Outcome::done;
  const double rate = target > before ? 1 : -1;
  Along along{std::vector<double>(tableau.stride(), 0.0), none, rate};
  if (position < tableau.free())
    along.moved = position;
  else
    add_scaled(rate, from_.columns.of(v), along.column);
  const Outcome outcome = follow(along, std::abs(target - before));
  if (position != Tableau::none) a_[position] = target;
  return outcome;
}

Homotopy::Outcome Homotopy::mend(std::span<const double> violation) {
  const Tableau& tableau = from_.tableau;
  Along along{std::vector<double>(tableau.stride(), 0.0), none, 0};
  for (std::size_t f = 0; f < tableau.free(); ++f)
    if (violation[f] != 0) add_scaled(-violation[f], tableau.free_column(f), along.column);
  for (std::size_t i = tableau.free(); i < tableau.positions(); ++i)
    along.column[i] += violation[i];
  for (std::size_t i = 0; i < tableau.positions(); ++i) g_[i] -= violation[i];
  return follow(along, 1);
}

bool Homotopy::find_rates(const Along& along) {
  const std::size_t count = exchanged_.size();
  std::vector<double> T(count * count), x(count);
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t c = 0; c < count; ++c) T[r * count + c] = columns_[c][exchanged_[r]];
    x[r] = (exchanged_[r] == along.moved ? along.rate : 0) - along.column[exchanged_[r]];
  }
  if (!solve_dense(std::move(T), x)) return false;
  rate_ = along.column;
  for (std::size_t c = 0; c < count; ++c) add_scaled(x[c], columns_[c], rate_);
  for (std::size_t c = 0; c < count; ++c) rate_[exchanged_[c]] = x[c];
  return true;
}

Homotopy::Event Homotopy::next_event(double length) const {
  Event event{length, none};
  double steepest = 0;
  const auto meets = [&](std::size_t i, double room, double rate) {
    const double at = std::max(0.0, room) / rate;
    if (at < event.length || (at == event.length && event.position != none && rate > steepest)) {
      event = {at, i};
      steepest = rate;
    }
  };
  for (std::size_t i = 0; i < a_.size(); ++i) {
    const double rate = rate_[i];
    switch (standing_[i]) {
      case BoundState::free:
        if (rate < -negligible) meets(i, a_[i] - from_.lower[i], -rate);
        if (rate > negligible) meets(i, from_.upper[i] - a_[i], rate);
        break;
      case BoundState::lower:
        if (rate < -negligible) meets(i, g_[i], -rate);
        break;
      case BoundState::upper:
        if (rate > negligible) meets(i, -g_[i], rate);
        break;
      case BoundState::fixed:
        break;
    }
  }
  return event;
}

Homotopy::Outcome Homotopy::follow(const Along& along, double length) {
  std::size_t last = none;
  for (std::size_t turn = 0; turn < most_turns; ++turn, ++turns_) {
    if (exchanged_.size() > from_.most_exchanged) return Outcome::crowded;
    if (!find_rates(along)) return Outcome::stuck;
    const auto [way, position] = next_event(length);
    for (std::size_t i = 0; i < a_.size(); ++i)
      (standing_[i] == BoundState::free ? a_ : g_)[i] += way * rate_[i];
    lambda_ += way * rate_.back();
    length -= way;
    if (position == none) return Outcome::done;
    if (position == last && way == 0) return Outcome::stuck;
    last = position;
    if (standing_[position] == BoundState::free) {
      const bool falls = rate_[position] < 0;
      a_[position] = falls ? from_.lower[position] : from_.upper[position];
      g_[position] = 0;
      standing_[position] = falls ? BoundState::lower : BoundState::upper;
    } else {
      g_[position] = 0;
      standing_[position] = BoundState::free;
    }
    exchange(position);
  }
  return Outcome::stuck;
}

}  // namespace maxmargin
