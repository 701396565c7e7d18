// Values of a kernel by its plain definition, without an engine where it has a form.
#include <algorithm>

#include "maxmargin/kernel/engine/engine.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t rows_a_task = 256;

}  // namespace

double naive_value(const Kernel& kernel, const Rows& left, std::size_t i, const Rows& right,
                   std::size_t j) {
  return visit_list(
      [&](const auto& chosen) -> double {
        if constexpr (requires { chosen.form(); }) {
          const Form form = chosen.form();
          std::vector<double> x(std::max(left.columns, right.columns), 0.0), z = x;
          left.for_each(i, [&](Index feature, double value) { x[feature] = value; });
          right.for_each(j, [&](Index feature, double value) { z[feature] = value; });
          double sum = 0;
          for (std::size_t k = 0; k < x.size(); ++k) sum += pair_term(form.pairing, x[k], z[k]);
          return visit_list([&](const auto& map) { return map(sum); }, form.map);
        } else {
          double value = 0;
          const Index row = static_cast<Index>(i);
          make_engine(kernel, right)->exact_block(left, {&row, 1}, j, 1, &value, 1);
          return value;
        }
      },
      kernel);
}

std::vector<double> self_values(const Kernel& kernel, const Rows& rows, const Threads& threads) {
  std::vector<double> values(rows.count);
  visit_list(
      [&](const auto& chosen) {
        if constexpr (requires { chosen.form(); }) {
          const Form form = chosen.form();
          if (form.pairing != Pairing::dot) {  // no distance from itself
            const double value = visit_list([](const auto& map) { return map(0.0); }, form.map);
            std::fill(values.begin(), values.end(), value);
            return;
          }
          threads.split(rows.count, rows_a_task, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
              double sum = 0;
              rows.for_each(i, [&](Index, double x) { sum += x * x; });
              values[i] = visit_list([&](const auto& map) { return map(sum); }, form.map);
            }
          });
        } else {
          const auto engine = make_engine(kernel, rows);
          for (std::size_t i = 0; i < rows.count; ++i) {
            const Index row = static_cast<Index>(i);
            engine->exact_block(rows, {&row, 1}, i, 1, &values[i], 1);
          }
        }
      },
      kernel);
  return values;
}

Definite definite(const Kernel& kernel) {
  return visit_list([](const auto& chosen) { return chosen.definite(); }, kernel);
}

std::optional<Form> form_of(const Kernel& kernel) {
  return visit_list(
      [](const auto& chosen) -> std::optional<Form> {
        if constexpr (requires { chosen.form(); }) return chosen.form();
        return std::nullopt;
      },
      kernel);
}

}  // namespace maxmargin
