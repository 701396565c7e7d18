#include "maxmargin/solver/smo/state.hpp"

#include <algorithm>

#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/solver/smo/first_point.hpp"

namespace maxmargin {

SmoState::SmoState(const DualQp& problem, const Smo& with, const Run& context, const Start& start)
    : qp(problem),
      options(with),
      run(context),
      kinds(sort_rows(qp)),
      coupling(qp, kinds),
      active(qp, kinds, first_point(qp, kinds, start.a)),
      set_size(qp, options.cache_bytes, static_cast<std::size_t>(options.working_set)),
      cache(qp.K, options.cache_bytes, set_size.largest),
      beta(active.beta),
      goal(options.stop.kkt) {}

void SmoState::collect() {
  for (std::size_t v = 0; v < active.size(); ++v) beta[active.id[v]] = active.beta[v];
}

std::vector<double> SmoState::variables() const {
  std::vector<double> a(qp.size());
  for (std::size_t v = 0; v < qp.size(); ++v) a[v] = qp.block[v].sign * beta[v];
  return a;
}

std::vector<double> SmoState::point_coefficients() const {
  std::vector<double> sum(qp.K->size(), 0.0);
  for (std::size_t v = 0; v < qp.size(); ++v) sum[qp.row[v]] += beta[v];
  return sum;
}

double SmoState::largest_diagonal() const { return std::ranges::max(qp.K->diagonal()); }

std::vector<double> SmoState::multipliers(const Active::Gradient& gradient) const {
  std::vector<double> pair;
  for (const Active::Range& range : gradient.row) pair.push_back(range.middle());
  return coupling.multipliers(kinds, pair);
}

void SmoState::apply_multipliers() {
  if (coupling.empty()) return;
  constexpr std::size_t variables_per_task = 8192;
  run.threads.split(active.size(), variables_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const Block& block = qp.block[active.id[v]];
      active.linear[v] = block.sign * block.linear + coupling.slope(active.id[v]);
    }
  });
}

bool SmoState::keeps_all_rows() {
  collect();
  return equality_defect(qp, variables()) <= equality_rounding;
}

}  // namespace maxmargin
