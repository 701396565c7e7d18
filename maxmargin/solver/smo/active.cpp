#include "maxmargin/solver/smo/active.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>

#include "maxmargin/solver/scan.hpp"
#include "maxmargin/solver/smo/candidate.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t variables_per_task = 8192;

// To find the worst few of many without sorting them all, a threshold comes from every 17th of
// them.
constexpr std::size_t sample_stride = 17;  // odd: variables come in pairs, too

// With several pair rows, the share of a working set that makes pairs is no less than one in this.
constexpr std::size_t least_pairs = 16;

/// The values of one side, and how far each of them is beyond the other side's end.
struct Side {
  const std::vector<double>& negative_gradient;
  double end;
  double sign;  ///< +1: above the end, -1: below it
  double violation(std::size_t v) const { return sign * (negative_gradient[v] - end); }
};

/// The `count` variables of the largest violations above zero, in any order.
std::vector<Candidate> worst_of(const Side& side, std::span<const Index> id, std::size_t count,
                                const Threads& threads) {
  if (count == 0) return {};
  const std::size_t size = id.size();
  std::vector<double> sample;
  for (std::size_t v = 0; v < size; v += sample_stride)
    if (const double by = side.violation(v); by > 0) sample.push_back(by);
  // With half as many again as are wanted, the threshold is hardly ever too high.
  const std::size_t position = count / sample_stride + count / (2 * sample_stride) + 8;
  double from = 0;
  if (position < sample.size()) {
    const auto at = sample.begin() + static_cast<std::ptrdiff_t>(position);
    std::nth_element(sample.begin(), at, sample.end(), std::greater<>());
    from = *at;
  }
  const std::size_t tasks = (size + variables_per_task - 1) / variables_per_task;
  std::vector<Candidate> all;
  while (true) {
    std::vector<std::vector<Index>> found(tasks);
    threads.split(size, variables_per_task, [&](std::size_t begin, std::size_t end) {
      const auto find = side.sign > 0 ? find_at_least : find_at_most;
      find(side.negative_gradient.data(), begin, end - begin, side.end + side.sign * from,
           found[begin / variables_per_task]);
    });
    for (const auto& part : found)
      for (const Index v : part)
        if (const double by = side.violation(v); by > 0) all.push_back({by, id[v], v});
    if (all.size() >= count || from == 0) break;
    all.clear();
    from = 0;
  }
  keep_worst(all, count);
  return all;
}

/// Variables that want to grow and that want to fall.
struct Ends {
  std::vector<Candidate> up, down;

  /// Keeps half of each; where one side has fewer, more of the other.
  void halve(std::size_t count) {
    const std::size_t most_up = std::max(count / 2, count - std::min(count, down.size()));
    keep_worst(up, most_up);
    keep_worst(down, count - up.size());
  }
  /// The worst first.
  void sort() {
    std::sort(up.begin(), up.end());
    std::sort(down.begin(), down.end());
  }

  /// How many pairs of one row they make.
  std::size_t pairs(std::span<const Index> row, std::size_t rows) const {
    std::vector<std::size_t> ups(rows, 0), downs(rows, 0);
    for (const Candidate& each : up) ++ups[row[each.v]];
    for (const Candidate& each : down) ++downs[row[each.v]];
    std::size_t sum = 0;
    for (std::size_t r = 0; r < rows; ++r) sum += std::min(ups[r], downs[r]);
    return sum;
  }
};

/// The worst of every row on its own, where the worst of all are growing ones of one row and
/// falling ones of another, which make no pair.
Ends ends_by_row(const Active& active, std::span<const double> growing,
                 std::span<const double> falling, std::size_t count, const Threads& threads) {
  const std::vector<Index>& row = active.row;
  const std::size_t rows = active.rows();
  Ends all;
  std::vector<double> up(row.size()), down(row.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t v = 0; v < row.size(); ++v) {
      up[v] = row[v] == r ? growing[v] : -infinity;
      down[v] = row[v] == r ? falling[v] : infinity;
    }
    const std::size_t share = std::max<std::size_t>(2, count / rows);
    Ends mine{worst_of({up, 0, 1}, active.id, share, threads),
              worst_of({down, 0, -1}, active.id, share, threads)};
    mine.halve(share);
    all.up.insert(all.up.end(), mine.up.begin(), mine.up.end());
    all.down.insert(all.down.end(), mine.down.begin(), mine.down.end());
  }
  return all;
}

}  // namespace

Active::Active(const DualQp& qp, const RowKinds& kinds, std::span<const double> a)
    : K(qp.K),
      point_id(qp.K->size()),
      id(qp.size()),
      point(qp.row),
      row(qp.size(), 0),
      f(qp.K->size(), 0.0),
      rows_(kinds.pair.size()) {
  std::iota(point_id.begin(), point_id.end(), Index{0});
  std::iota(id.begin(), id.end(), Index{0});
  for (auto* values : {&beta, &lower, &upper, &linear, &curvature}) values->resize(qp.size());
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    beta[v] = block.sign * a[v];
    lower[v] = block.sign > 0 ? block.lower : -block.upper;
    upper[v] = block.sign > 0 ? block.upper : -block.lower;
    linear[v] = block.sign * block.linear;
    curvature[v] = block.curvature;
    for (std::size_t r = 0; r < rows_; ++r)
      if (qp.A[kinds.pair[r]][v] != 0) row[v] = static_cast<Index>(r);
  }
}

Active::Active(const Active& whole, std::span<const Index> set, std::span<const Index> number)
    : id(set.size()), point(number.begin(), number.end()), row(set.size()), rows_(whole.rows_) {
  if (number.empty()) {
    point.resize(set.size());
    std::iota(point.begin(), point.end(), Index{0});
  }
  const std::size_t points = point.empty() ? 0 : *std::max_element(point.begin(), point.end()) + 1;
  point_id.resize(points);
  std::iota(point_id.begin(), point_id.end(), Index{0});
  f.resize(points);
  for (auto* values : {&beta, &lower, &upper, &linear, &curvature}) values->resize(set.size());
  for (std::size_t k = 0; k < set.size(); ++k) {
    const Index v = set[k];
    id[k] = whole.id[v];
    row[k] = whole.row[v];
    f[point[k]] = whole.f[whole.point[v]];
    beta[k] = whole.beta[v];
    lower[k] = whole.lower[v];
    upper[k] = whole.upper[v];
    linear[k] = whole.linear[v];
    curvature[k] = whole.curvature[v];
  }
}

double Active::Gradient::violation() const {
  double largest = -infinity;
  for (const Range& range : row) largest = std::max(largest, range.violation());
  return largest;
}

Active::Gradient Active::gradient(const Threads& threads) {
  const std::size_t tasks = (size() + variables_per_task - 1) / variables_per_task;
  std::vector<Gradient> part(tasks, Gradient{std::vector<Range>(rows_)});
  growing_.resize(size());
  falling_.resize(size());
  const VariableArrays arrays{f.data(),    point.data(), linear.data(), curvature.data(),
                              beta.data(), lower.data(), upper.data()};
  threads.split(size(), variables_per_task, [&](std::size_t begin, std::size_t end) {
    scan_gradient(arrays, begin, end, growing_.data(), falling_.data());
    Gradient& mine = part[begin / variables_per_task];
    if (rows_ == 1) {
      mine.row[0] = {largest(growing_.data() + begin, end - begin),
                     smallest(falling_.data() + begin, end - begin)};
      return;
    }
    for (std::size_t v = begin; v < end; ++v) {
      Range& range = mine.row[row[v]];
      range.highest = std::max(range.highest, growing_[v]);
      range.lowest = std::min(range.lowest, falling_[v]);
    }
  });
  Gradient all{std::vector<Range>(rows_)};
  for (const Gradient& each : part)
    for (std::size_t r = 0; r < rows_; ++r) {
      all.row[r].highest = std::max(all.row[r].highest, each.row[r].highest);
      all.row[r].lowest = std::min(all.row[r].lowest, each.row[r].lowest);
    }
  return all;
}

std::vector<Index> Active::violators(std::size_t count, const Gradient& gradient,
                                     std::span<const Index> taken, const Threads& threads) {
  for (const Index v : taken) {
    growing_[v] = -infinity;
    falling_[v] = infinity;
  }
  Range range = gradient.row[0];
  if (rows_ > 1) {
    // Every row has an origin of its own: gradient relative to the ends of the row compare.
    range = {0, 0};
    for (std::size_t v = 0; v < size(); ++v) {
      growing_[v] -= gradient.row[row[v]].lowest;
      falling_[v] -= gradient.row[row[v]].highest;
    }
  }
  Ends ends{worst_of({growing_, range.lowest, 1}, id, count, threads),
            worst_of({falling_, range.highest, -1}, id, count, threads)};
  ends.halve(count);
  if (rows_ > 1 && ends.pairs(row, rows_) * least_pairs < count)
    ends = ends_by_row(*this, growing_, falling_, count, threads);
  ends.sort();
  const auto& [up, down] = ends;

  std::vector<Index> chosen;
  for (std::size_t k = 0; k < std::max(up.size(), down.size()); ++k) {
    // A free variable may stand on both sides.
    for (const auto* side : {&up, &down})
      if (k < side->size() && growing_[(*side)[k].v] != infinity) {
        chosen.push_back((*side)[k].v);
        growing_[(*side)[k].v] = infinity;
      }
  }
  return chosen;
}

std::vector<bool> Active::shrinkable(const Gradient& gradient, double margin) const {
  std::vector<bool> marked(size());
  for (std::size_t v = 0; v < size(); ++v) {
    const double here = negative_gradient(v);
    const Range& range = gradient.row[row[v]];
    marked[v] = (!can_grow(v) && here > range.highest + margin) ||
                (!can_fall(v) && here < range.lowest - margin);
  }
  return marked;
}

std::vector<Index> Active::leave_out(const std::vector<bool>& marked) {
  std::vector<bool> needed(point_id.size(), false);
  for (std::size_t v = 0; v < size(); ++v)
    if (!marked[v]) needed[point[v]] = true;
  std::vector<Index> remaining, new_number(point_id.size());
  for (std::size_t p = 0; p < point_id.size(); ++p)
    if (needed[p]) {
      new_number[p] = static_cast<Index>(remaining.size());
      remaining.push_back(static_cast<Index>(p));
    }
  std::size_t to = 0;
  for (std::size_t v = 0; v < size(); ++v) {
    if (marked[v]) continue;
    id[to] = id[v];
    point[to] = new_number[point[v]];
    row[to] = row[v];
    for (auto* values : {&beta, &lower, &upper, &linear, &curvature}) (*values)[to] = (*values)[v];
    ++to;
  }
  for (auto* numbers : {&id, &point, &row}) numbers->resize(to);
  for (auto* values : {&beta, &lower, &upper, &linear, &curvature}) values->resize(to);
  for (std::size_t p = 0; p < remaining.size(); ++p) {
    f[p] = f[remaining[p]];
    point_id[p] = point_id[remaining[p]];
  }
  f.resize(remaining.size());
  point_id.resize(remaining.size());
  K = K->restrict_to(remaining);
  return remaining;
}

double Active::Range::middle() const {
  const double middle = (highest + lowest) / 2;
  return std::isfinite(middle) ? middle : 0;
}

double Active::spread() const {
  double least = infinity, most = -infinity;
  for (std::size_t v = 0; v < size(); ++v) {
    least = std::min(least, negative_gradient(v));
    most = std::max(most, negative_gradient(v));
  }
  return most - least;
}

std::vector<double> Active::slopes(const Gradient& gradient) const {
  std::vector<double> result(size());
  for (std::size_t v = 0; v < size(); ++v)
    result[v] = gradient.row[row[v]].middle() - negative_gradient(v);
  return result;
}

}  // namespace maxmargin
