#include <algorithm>

#include "maxmargin/model/verify/dual_pieces.hpp"
#include "maxmargin/model/verify/one_problem.hpp"

namespace maxmargin {

Examined examine_expansion(const Formulation& formulation, const std::vector<SeenRow>& rows,
                           const Claimed& claimed) {
  const TextbookLoss loss(formulation.loss);
  Examined found;
  Enclosed bias = claimed.bias == nullptr ? 0 : *claimed.bias;
  Extended sizes = 0;
  std::size_t seen = 0;
  for (const auto& [where, coefficient] : claimed.beta) {
    const Index point = where;  // clang 14 captures no structured binding
    const Enclosed& beta = coefficient.value;
    found.primal += Enclosed(std::abs(beta.middle), beta.radius);
    sizes += coefficient.size;
    seen += std::ranges::any_of(rows, [&](const SeenRow& row) { return row.point == point; });
  }
  found.foreign = seen != claimed.beta.size();
  const bool penalised = formulation.bias == Bias::penalised;
  for (const SeenRow& row : rows) {
    const Enclosed f = row.sum.g + bias;
    const Extended size = f.size() + std::abs(row.target) + loss.tube();
    const Extended radius = f.radius + 4 * extended_rounding * size;
    const auto at = [&](Extended where) {
      return loss.value(row.target, where, row.price_at(where), 0);
    };
    const Extended middle = at(f.middle);
    const Extended most = std::max({at(f.middle - radius), at(f.middle + radius), middle});
    const Enclosed cost(middle, most - middle + 16 * extended_rounding * most);
    found.primal += cost;
    // A penalised bias is the sum of the coefficients, rounded.
    found.primal_slack +=
        stored_rounding *
        (cost.size() + (penalised ? std::max(row.price, row.price_over.value_or(0)) *
                                        loss.largest_factor() * 2 * sizes
                                  : 0));
  }
  return found;
}

}  // namespace maxmargin
