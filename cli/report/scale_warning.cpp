#include "cli/report/scale_warning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/terminal/units.hpp"
#include "maxmargin/data/columns.hpp"
#include "maxmargin/data/like.hpp"

namespace maxmargin::cli {

std::string scale_warning(const Dataset& data) {
  constexpr std::size_t most_rows = 1000;
  constexpr double harmless = 1000;
  const Rows rows = data.x;
  std::vector<Index> some;
  const std::size_t step = std::max<std::size_t>(1, rows.count / most_rows);
  for (std::size_t i = 0; i < rows.count; i += step) some.push_back(static_cast<Index>(i));
  Features sample = none_like(rows);
  sample.append(rows, some);
  const Columns columns = describe_columns(sample);
  const auto size = [&](std::size_t k) {
    return std::max(std::abs(columns.low[k]), std::abs(columns.high[k]));
  };
  std::optional<std::size_t> largest, smallest;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (size(k) == 0) continue;
    if (!largest || size(k) > size(*largest)) largest = k;
    if (!smallest || size(k) < size(*smallest)) smallest = k;
  }
  if (!largest || size(*largest) < harmless * size(*smallest)) return {};
  const auto name = [&](std::size_t k) {
    const std::size_t feature = columns.feature[k];
    return feature < data.feature_names.size() ? "'" + data.feature_names[feature] + "'"
                                               : std::to_string(feature + 1);
  };
  return fmt::format(
      "the features differ much in size: feature {} reaches {}, feature {} only {}; --scale often "
      "makes training faster and the model better",
      name(*largest), show_number(size(*largest)), name(*smallest), show_number(size(*smallest)));
}

}  // namespace maxmargin::cli
