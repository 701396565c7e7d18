#include <algorithm>

#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/tasks/alignment/alignment.hpp"

namespace maxmargin {
namespace {

constexpr std::array steps{AlignmentStep::pair, AlignmentStep::first, AlignmentStep::second};

bool takes_first(AlignmentStep step) { return step != AlignmentStep::second; }
bool takes_second(AlignmentStep step) { return step != AlignmentStep::first; }

/// Calls visit(step before, step, i, j) for each step, i and j being the positions before it.
template <class Visit>
void for_each_step(StructureView y, Visit&& visit) {
  std::size_t i = static_cast<std::size_t>(y[0]), j = static_cast<std::size_t>(y[1]);
  AlignmentStep before = AlignmentStep::pair;
  for (std::size_t k = 2; k < y.size(); ++k) {
    const AlignmentStep step{y[k]};
    visit(before, step, i, j);
    i += takes_first(step) ? 1 : 0;
    j += takes_second(step) ? 1 : 0;
    before = step;
  }
}

/// The table of the dynamic program: values and back pointers by positions and last (or next) step.
struct Table {
  Table(std::size_t rows, std::size_t width)
      : columns(width + 1), cells((rows + 1) * (width + 1) * 3) {}
  struct Cell {
    double value = -infinity;
    std::int32_t step = -1;  ///< -1: it begins or ends here
  };
  Cell& at(std::size_t i, std::size_t j, AlignmentStep s) {
    return cells[(i * columns + j) * 3 + static_cast<std::size_t>(s)];
  }
  std::size_t columns;
  std::vector<Cell> cells;
};

/// at(i, j, s): the best alignment of the first i and j symbols whose last step is s.
Structure align_forwards(const AlignmentScores& scores) {
  Table table(scores.rows, scores.columns);
  const bool local = scores.local;
  std::size_t end_i = 0, end_j = 0;
  AlignmentStep end_step = AlignmentStep::pair;
  double most = local ? 0 : -infinity;
  for (std::size_t i = 0; i <= scores.rows; ++i)
    for (std::size_t j = 0; j <= scores.columns; ++j)
      for (const AlignmentStep s : steps) {
        Table::Cell& cell = table.at(i, j, s);
        // An empty alignment is taken to end with a pair.
        if (s == AlignmentStep::pair && (local || (i == 0 && j == 0))) cell.value = 0;
        if ((takes_first(s) && i == 0) || (takes_second(s) && j == 0)) continue;
        const std::size_t p = i - (takes_first(s) ? 1 : 0), q = j - (takes_second(s) ? 1 : 0);
        for (const AlignmentStep before : steps) {
          const double value = table.at(p, q, before).value + scores.step(before, s, p, q);
          if (value > cell.value) cell = {value, static_cast<std::int32_t>(before)};
        }
        const bool may_end = local || (i == scores.rows && j == scores.columns);
        if (may_end && cell.value > most) {
          most = cell.value;
          end_i = i;
          end_j = j;
          end_step = s;
        }
      }
  Structure path;
  std::size_t i = end_i, j = end_j;
  for (AlignmentStep s = end_step;;) {
    const std::int32_t before = table.at(i, j, s).step;
    if (before < 0) break;
    path.push_back(static_cast<std::int32_t>(s));
    i -= takes_first(s) ? 1 : 0;
    j -= takes_second(s) ? 1 : 0;
    s = AlignmentStep{before};
  }
  path.push_back(static_cast<std::int32_t>(j));
  path.push_back(static_cast<std::int32_t>(i));
  std::ranges::reverse(path);
  return path;
}

/// at(i, j, s): the best continuation at i and j after the step s.
Structure align_backwards(const AlignmentScores& scores) {
  Table table(scores.rows, scores.columns);
  for (std::size_t i = scores.rows + 1; i-- > 0;)
    for (std::size_t j = scores.columns + 1; j-- > 0;)
      for (const AlignmentStep before : steps) {
        Table::Cell& cell = table.at(i, j, before);
        if (scores.local || (i == scores.rows && j == scores.columns)) cell.value = 0;
        for (const AlignmentStep s : steps) {
          if ((takes_first(s) && i == scores.rows) || (takes_second(s) && j == scores.columns))
            continue;
          const double value =
              scores.step(before, s, i, j) +
              table.at(i + (takes_first(s) ? 1 : 0), j + (takes_second(s) ? 1 : 0), s).value;
          if (value > cell.value) cell = {value, static_cast<std::int32_t>(s)};
        }
      }
  std::size_t i = 0, j = 0;
  if (scores.local)
    for (std::size_t p = 0; p <= scores.rows; ++p)
      for (std::size_t q = 0; q <= scores.columns; ++q)
        if (table.at(p, q, AlignmentStep::pair).value > table.at(i, j, AlignmentStep::pair).value) {
          i = p;
          j = q;
        }
  Structure path{static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)};
  for (AlignmentStep before = AlignmentStep::pair; table.at(i, j, before).step >= 0;) {
    before = AlignmentStep{table.at(i, j, before).step};
    path.push_back(static_cast<std::int32_t>(before));
    i += takes_first(before) ? 1 : 0;
    j += takes_second(before) ? 1 : 0;
  }
  return path;
}

}  // namespace

AlignmentOracle::AlignmentOracle(const AlignmentExamples& data) : data_(data) {
  for (const AlignmentExample& example : data.examples) {
    partner_.emplace_back(example.symbols[0].size(), -1);
    if (example.path.empty()) continue;
    for_each_step(example.path,
                  [&](AlignmentStep, AlignmentStep step, std::size_t i, std::size_t j) {
                    if (step == AlignmentStep::pair)
                      partner_.back()[i] = static_cast<std::int32_t>(j);
                  });
  }
}

std::size_t AlignmentOracle::feature(std::int32_t a, std::int32_t b) const {
  const std::size_t low = static_cast<std::size_t>(std::min(a, b));
  const std::size_t high = static_cast<std::size_t>(std::max(a, b));
  return high * (high + 1) / 2 + low;
}

double AlignmentOracle::loss(std::size_t i, StructureView y) const {
  double both = 0, in_y = 0;
  for_each_step(y, [&](AlignmentStep, AlignmentStep step, std::size_t a, std::size_t b) {
    if (step != AlignmentStep::pair) return;
    ++in_y;
    both += partner_[i][a] == static_cast<std::int32_t>(b) ? 1 : 0;
  });
  const double in_truth =
      static_cast<double>(std::ranges::count_if(partner_[i], [](auto each) { return each >= 0; }));
  return in_truth + in_y - 2 * both;
}

void AlignmentOracle::features(std::size_t i, StructureView y, double scale,
                               JointFeatures& out) const {
  const AlignmentExample& example = data_.examples[i];
  for_each_step(y, [&](AlignmentStep before, AlignmentStep step, std::size_t a, std::size_t b) {
    if (step != AlignmentStep::pair) {
      out.add(dimensions() - (step == before ? 1 : 2), scale);
      return;
    }
    const std::int32_t p = example.symbols[0][a], q = example.symbols[1][b];
    if (p >= 0 && q >= 0) out.add(feature(p, q), scale);
  });
}

bool AlignmentOracle::is_structure(std::size_t i, StructureView y) const {
  const std::size_t rows = data_.examples[i].symbols[0].size();
  const std::size_t columns = data_.examples[i].symbols[1].size();
  if (y.size() < 2 || y.size() > 2 + rows + columns || y[0] < 0 || y[1] < 0) return false;
  std::size_t a = static_cast<std::size_t>(y[0]), b = static_cast<std::size_t>(y[1]);
  for (const std::int32_t each : y.subspan(2)) {
    if (each < 0 || each > 2) return false;
    a += takes_first(AlignmentStep{each}) ? 1 : 0;
    b += takes_second(AlignmentStep{each}) ? 1 : 0;
  }
  if (a > rows || b > columns) return false;
  return data_.local || (y[0] == 0 && y[1] == 0 && a == rows && b == columns);
}

AlignmentScores AlignmentOracle::scores(std::size_t i, std::span<const double> w, Ask ask) const {
  const AlignmentExample& example = data_.examples[i];
  AlignmentScores scores;
  scores.rows = example.symbols[0].size();
  scores.columns = example.symbols[1].size();
  scores.local = data_.local;
  scores.open = w[dimensions() - 2];
  scores.extend = w[dimensions() - 1];
  for (std::size_t a = 0; a < scores.rows; ++a)
    for (std::size_t b = 0; b < scores.columns; ++b) {
      const std::int32_t p = example.symbols[0][a], q = example.symbols[1][b];
      double value = p >= 0 && q >= 0 ? w[feature(p, q)] : 0;
      if (ask == Ask::margin) value += partner_[i][a] == static_cast<std::int32_t>(b) ? -1 : 1;
      scores.pair.push_back(value);
    }
  return scores;
}

Structure AlignmentOracle::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  return align_forwards(scores(i, w, ask));
}

Structure AlignmentWitness::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  return align_backwards(scores(i, w, ask));
}

}  // namespace maxmargin
