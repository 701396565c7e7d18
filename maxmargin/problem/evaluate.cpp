#include "maxmargin/problem/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "maxmargin/base/stack_memory.hpp"
#include "maxmargin/problem/multipliers.hpp"

namespace maxmargin {
namespace {

bool is_hard(const Block& block) { return block.is_hard(); }

bool has_entropy(const Block& block) { return block.entropy != Entropy::none; }

/// Where the derivative of the primal in lambda jumps, or its slope changes.
struct Event {
  double at;
  double jump;
  double slope;
};

/// The events of one variable: as lambda grows, A argmax(-h) goes from its largest to its smallest.
void add_events(const Block& block, double rest, double weight, std::pmr::vector<Event>& events) {
  if (weight == 0 || block.lower == block.upper) return;
  if (block.curvature == 0) {
    events.push_back(
        {(-block.linear - rest) / weight, std::abs(weight) * (block.upper - block.lower), 0});
    return;
  }
  const double slope = weight * weight / block.curvature;
  for (const double bound : {block.lower, block.upper}) {
    if (std::isinf(bound)) continue;
    const double at = (-block.linear - block.curvature * bound - rest) / weight;
    // A growing lambda lowers the variable if its weight is positive: it leaves `upper` first.
    const bool begins = (bound == block.upper) == (weight > 0);
    events.push_back({at, 0, begins ? slope : -slope});
  }
}

/// Whether a derivative is zero but for the rounding of the sums it came from.
bool is_flat(double derivative, double size) { return std::abs(derivative) <= 1e-14 * size; }

/// The lambda of one row where blocks may have an entropy: the derivative of the primal grows, so
/// its zero is found by halving.
double smooth_multiplier(std::span<const Block> blocks, std::span<const double> rest,
                         std::span<const double> weight, double d) {
  const auto derivative = [&](double lambda) {
    double sum = d;
    for (std::size_t v = 0; v < blocks.size(); ++v)
      if (weight[v] != 0) sum -= weight[v] * blocks[v].argmax(-(rest[v] + weight[v] * lambda));
    return sum;
  };
  double low = -1, high = 1;
  while (low > -1e300 && derivative(low) > 0) low *= 4;
  while (high < 1e300 && derivative(high) < 0) high *= 4;
  for (int n = 0; n < 200; ++n) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (derivative(middle) < 0 ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

/// Events on one side of a point in the order of their distance, sorted lazily.
class NearestFirst {
 public:
  NearestFirst(std::pmr::vector<Event> events, bool falls)
      : events_(std::move(events)), falls_(falls) {}

  bool empty() const { return next_ == events_.size(); }
  const Event& front() {
    if (next_ == sorted_) sort_more();
    return events_[next_];
  }
  Event take() {
    const Event event = front();
    ++next_;
    return event;
  }

 private:
  void sort_more() {
    constexpr std::size_t first = 64, growth = 8;
    const auto by_place = [&](const Event& x, const Event& y) {
      return falls_ ? x.at > y.at : x.at < y.at;
    };
    const auto begin = events_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    sorted_ = std::min(events_.size(), std::max(first, growth * sorted_));
    const auto end = events_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    if (end != events_.end()) std::nth_element(begin, end, events_.end(), by_place);
    std::sort(begin, end, by_place);
  }

  std::pmr::vector<Event> events_;
  bool falls_;
  std::size_t next_ = 0, sorted_ = 0;
};

/// The same where the derivative only jumps: a search from a guess outwards, which is mostly close,
/// so that most events need not be sorted. `derivative` is that far to the left, `size` the size of
/// the terms it was summed from.
double multiplier_near(double guess, const std::pmr::vector<Event>& events, double derivative,
                       double size) {
  if (events.empty()) return 0;
  StackMemory memory;
  std::pmr::vector<Event> below(memory), above(memory);
  below.reserve(events.size());
  above.reserve(events.size());
  for (const Event& event : events) {
    if (event.at < guess) derivative += event.jump;
    (event.at < guess ? below : above).push_back(event);
  }
  NearestFirst left(std::move(below), true), right(std::move(above), false);
  // The zero is where the derivative passes from the left events to the right ones.
  const bool to_the_left = derivative > 0;
  NearestFirst& ahead = to_the_left ? left : right;
  NearestFirst& behind = to_the_left ? right : left;
  std::optional<double> last;  // the last event passed
  while (!is_flat(derivative, size) && !ahead.empty()) {
    const Event event = ahead.take();
    derivative += to_the_left ? -event.jump : event.jump;
    last = event.at;
    if (!is_flat(derivative, size) && (derivative > 0) != to_the_left) return event.at;
  }
  if (!last && !behind.empty()) last = behind.front().at;
  if (ahead.empty()) return *last;
  return last ? (*last + ahead.front().at) / 2 : ahead.front().at;
}

}  // namespace

double best_multiplier(std::span<const Block> blocks, std::span<const double> rest,
                       std::span<const double> weight, double d, double guess) {
  StackMemory memory;
  std::pmr::vector<Event> events(memory);
  events.reserve(blocks.size());
  bool only_jumps = true;
  for (std::size_t v = 0; v < blocks.size(); ++v) {
    if (has_entropy(blocks[v])) return smooth_multiplier(blocks, rest, weight, d);
    add_events(blocks[v], rest[v], weight[v], events);
    only_jumps = only_jumps && (events.empty() || events.back().slope == 0);
  }
  // Jumps at the same point in a fixed order, so that sums have the same bits.
  if (!only_jumps)
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& x, const Event& y) { return x.at < y.at; });

  // Far to the left every variable is at its largest A a; the slope comes from unbounded ones.
  double derivative = d, slope = 0, origin = events.empty() ? 0 : events.front().at - 1;
  double size = std::abs(d);
  for (std::size_t v = 0; v < blocks.size(); ++v) {
    const double w = weight[v];
    if (w == 0) continue;
    const Block& block = blocks[v];
    const double far = w > 0 ? block.upper : block.lower;
    if (std::isinf(far)) {
      derivative -= w * ((-(rest[v] + w * origin) - block.linear) / block.curvature);
      slope += w * w / block.curvature;
    } else {
      derivative -= w * far;
      size += std::abs(w * far);
    }
  }

  if (only_jumps && slope == 0) return multiplier_near(guess, events, derivative, size);
  // d forces all variables to their largest.
  if (slope == 0 && !events.empty() && (derivative > 0 || is_flat(derivative, size)))
    return events.front().at;
  // Variables without a bound can put the zero to the left of all events.
  if (derivative > 0 && slope > 0) return origin - derivative / slope;
  double at = origin;
  double first_zero = infinity;
  for (const Event& event : events) {
    const double before = derivative + slope * (event.at - at);
    if (before > 0 && derivative <= 0 && slope > 0 && first_zero == infinity)
      return at - derivative / slope;
    if (before > 0) return first_zero == infinity ? at : (first_zero + at) / 2;
    if (before == 0 && first_zero == infinity) first_zero = slope > 0 ? event.at : at;
    derivative = before + event.jump;
    slope += event.slope;
    at = event.at;
    if (derivative > 0) return first_zero == infinity ? at : (first_zero + at) / 2;
    if (derivative == 0 && first_zero == infinity) first_zero = at;
  }
  if (slope > 0 && derivative < 0) return at - derivative / slope;
  return first_zero == infinity ? at : (first_zero + at) / 2;
}

namespace {

/// Hard margins: the lambda that makes the smallest margin largest.
double widest_multiplier(const std::vector<Block>& blocks, std::span<const double> rest,
                         std::span<const double> weight) {
  double rising = infinity, falling = infinity;
  for (std::size_t v = 0; v < blocks.size(); ++v) {
    if (weight[v] > 0) rising = std::min(rising, rest[v]);
    if (weight[v] < 0) falling = std::min(falling, rest[v]);
  }
  if (std::isinf(rising) || std::isinf(falling)) return 0;
  return (falling - rising) / 2;
}

/// The row that each variable stands in; `several` if some variable stands in more than one, `even`
/// if no two entries of a row differ but in sign.
struct RowOf {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  RowOf(const DualQp& qp, StackMemory& memory) : row(qp.size(), none, memory) {
    for (std::size_t r = 0; r < qp.A.size(); ++r) {
      double size = 0;
      for (std::size_t v = 0; v < qp.size(); ++v) {
        if (qp.A[r][v] == 0) continue;
        if (row[v] != none) several = true;
        if (size != 0 && std::abs(qp.A[r][v]) != size) even = false;
        size = std::abs(qp.A[r][v]);
        row[v] = r;
      }
    }
  }
  std::pmr::vector<std::size_t> row;
  bool several = false, even = true;
};

/// m(a) - M(a), the largest of all rows, where these are even and no variable stands in two of
/// them; twice the largest violation at lambda otherwise, and of the variables that stand in none.
double largest_violation(const DualQp& qp, std::span<const double> a, std::span<const double> q,
                         std::span<const double> h, const RowOf& row_of) {
  StackMemory memory;
  std::pmr::vector<double> highest(qp.A.size(), -infinity, memory);
  std::pmr::vector<double> lowest(qp.A.size(), infinity, memory);
  double largest = 0;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    const double slope = block.slope(a[v]);
    const bool can_grow = a[v] < block.upper, can_fall = block.lower < a[v];
    const std::size_t r = row_of.row[v];
    if (row_of.several || !row_of.even || r == RowOf::none) {
      if (can_grow) largest = std::max(largest, -2 * (h[v] + slope));
      if (can_fall) largest = std::max(largest, 2 * (h[v] + slope));
      continue;
    }
    const double weight = qp.A[r][v];
    const double multiplier = -(q[v] + slope) / weight;
    if (weight > 0 ? can_grow : can_fall) highest[r] = std::max(highest[r], multiplier);
    if (weight > 0 ? can_fall : can_grow) lowest[r] = std::min(lowest[r], multiplier);
  }
  for (std::size_t r = 0; r < qp.A.size(); ++r) largest = std::max(largest, highest[r] - lowest[r]);
  return largest;
}

/// Where the unpenalised functions alone satisfy every margin the optimum is 0, and a margin missed
/// by a rounding error would be an infinite relative gap: makes lambda slightly longer, where that
/// costs nothing.
void lengthen(const DualQp& qp, std::vector<double>& lambda) {
  constexpr double longer = 1 + 1e-12;
  const auto losses = [&](double by) {
    double sum = 0;
    for (std::size_t v = 0; v < qp.size(); ++v) {
      double h = 0;
      for (std::size_t r = 0; r < qp.A.size(); ++r) h += qp.A[r][v] * by * lambda[r];
      sum += qp.block[v].conjugate(-h);
    }
    for (std::size_t r = 0; r < qp.A.size(); ++r) sum += qp.d[r] * by * lambda[r];
    return sum;
  };
  if (losses(longer) <= losses(1))
    for (double& each : lambda) each *= longer;
}

/// A term of the gap, or zero if it is within the rounding error of the slope h: where the optimum
/// is zero, any other number would be an infinite relative gap.
double beyond_rounding(const Block& block, double term, double h) {
  constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
  const double width = block.upper - block.lower;
  const double explained =
      std::isinf(width) ? 0 : rounding * width * (std::abs(h) + std::abs(block.linear));
  return term > explained ? term : 0;
}

}  // namespace

double relative_gap(double primal, double dual) {
  const double gap = std::max(0.0, primal - dual);
  if (gap == 0) return 0;
  return std::isinf(gap) ? infinity : 2 * gap / (std::abs(primal) + std::abs(dual));
}

Evaluation evaluate(const DualQp& qp, std::span<const double> a, std::span<const double> f,
                    std::vector<double> lambda) {
  const std::size_t m = qp.size();
  StackMemory memory;
  std::pmr::vector<double> q(m, memory), h(m, memory), rest(memory);
  bool hard = false;
  for (std::size_t v = 0; v < m; ++v) {
    q[v] = qp.block[v].sign * f[qp.row[v]];
    hard = hard || is_hard(qp.block[v]);
  }

  const RowOf row_of(qp, memory);
  lambda.resize(qp.A.size(), 0.0);
  const auto refresh = [&] {
    h = q;
    for (std::size_t r = 0; r < qp.A.size(); ++r)
      for (std::size_t v = 0; v < m; ++v) h[v] += qp.A[r][v] * lambda[r];
  };
  const auto best = [&](std::size_t r, std::span<const double> others) {
    return hard ? widest_multiplier(qp.block, others, qp.A[r])
                : best_multiplier(qp.block, others, qp.A[r], qp.d[r], lambda[r]);
  };
  if (!row_of.several) {
    // The primal is a sum of functions of one multiplier each.
    for (std::size_t r = 0; r < qp.A.size(); ++r) lambda[r] = best(r, q);
  } else {
    lambda = hard ? widest_multipliers(qp, q, std::move(lambda))
                  : best_multipliers(qp, q, std::move(lambda));
    // No pass increases the primal.
    for (int pass = 0; pass < (hard ? 0 : 2); ++pass)
      for (std::size_t r = 0; r < qp.A.size(); ++r) {
        refresh();
        rest = h;
        for (std::size_t v = 0; v < m; ++v) rest[v] -= qp.A[r][v] * lambda[r];
        lambda[r] = best(r, rest);
      }
  }
  const auto is_zero = [](double each) { return each == 0; };
  if (!hard && !qp.A.empty() && std::ranges::all_of(a, is_zero) && std::ranges::all_of(q, is_zero))
    lengthen(qp, lambda);
  refresh();

  Evaluation result;
  double quadratic = 0, conjugates = 0, values = 0, gap = 0, margin = infinity;
  for (std::size_t v = 0; v < m; ++v) {
    const Block& block = qp.block[v];
    const double value = block.value(a[v]);
    quadratic += a[v] * q[v];
    values += value;
    if (is_hard(block)) {
      margin = std::min(margin, -h[v] / block.linear);
      continue;
    }
    const double conjugate = block.conjugate(-h[v]);
    conjugates += conjugate;
    gap += beyond_rounding(block, value + conjugate + h[v] * a[v], h[v]);
  }
  double constant = 0;
  for (std::size_t r = 0; r < qp.A.size(); ++r) constant += lambda[r] * qp.d[r];
  result.dual = -(quadratic / 2 + values);
  if (hard) {
    result.primal = margin > 0 ? quadratic / 2 / (margin * margin) : infinity;
    result.gap = std::max(0.0, result.primal - result.dual);
  } else {
    result.primal = quadratic / 2 + conjugates + constant;
    result.gap = gap;
  }
  result.kkt = largest_violation(qp, a, q, h, row_of);
  result.lambda = std::move(lambda);
  return result;
}

OffsetGap offset_gap(const DualQp& qp, std::span<const double> a, std::span<const double> f,
                     std::span<const double> lambda) {
  OffsetGap result{0, 0};
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    const double q = block.sign * f[qp.row[v]];
    double h = q;
    for (std::size_t r = 0; r < qp.A.size(); ++r) h += qp.A[r][v] * lambda[r];
    const double conjugate = block.conjugate(-h);
    result.primal += q * a[v] / 2 + conjugate;
    result.gap += std::max(0.0, block.value(a[v]) + conjugate + h * a[v]);
  }
  for (std::size_t r = 0; r < qp.A.size(); ++r) result.primal += qp.d[r] * lambda[r];
  return result;
}

}  // namespace maxmargin
