#include <algorithm>
#include <vector>

#include "maxmargin/kernel/engine/engine.hpp"

namespace maxmargin {

double naive_value(const Kernel& kernel, const Rows& left, std::size_t i, const Rows& right,
                   std::size_t j) {
  return std::visit(
      [&](const auto& chosen) -> double {
        if constexpr (requires { chosen.form(); }) {
          const Form form = chosen.form();
          std::vector<double> x(std::max(left.columns, right.columns), 0.0), z = x;
          left.for_each(i, [&](Index feature, double value) { x[feature] = value; });
          right.for_each(j, [&](Index feature, double value) { z[feature] = value; });
          double sum = 0;
          for (std::size_t k = 0; k < x.size(); ++k) sum += pair_term(form.pairing, x[k], z[k]);
          return std::visit([&](const auto& map) { return map(sum); }, form.map);
        } else {
          double value = 0;
          const Index row = static_cast<Index>(i);
          make_engine(kernel, right)->exact_block(left, {&row, 1}, j, 1, &value, 1);
          return value;
        }
      },
      kernel);
}

}  // namespace maxmargin
