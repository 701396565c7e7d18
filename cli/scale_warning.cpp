#include "cli/scale_warning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/units.hpp"

namespace maxmargin::cli {

std::string scale_warning(const Dataset& data) {
  constexpr std::size_t most_rows = 1000;
  constexpr double harmless = 1000;
  const Rows rows = data.x;
  std::vector<double> size(rows.columns, 0);
  const std::size_t step = std::max<std::size_t>(1, rows.count / most_rows);
  for (std::size_t i = 0; i < rows.count; i += step)
    rows.for_each(i, [&](Index feature, double value) {
      size[feature] = std::max(size[feature], std::abs(value));
    });
  const auto largest = std::ranges::max_element(size);
  auto smallest = size.end();
  for (auto each = size.begin(); each != size.end(); ++each)
    if (*each > 0 && (smallest == size.end() || *each < *smallest)) smallest = each;
  if (smallest == size.end() || *largest < harmless * *smallest) return {};
  const auto name = [&](auto each) {
    const auto feature = static_cast<std::size_t>(each - size.begin());
    return feature < data.feature_names.size() ? "'" + data.feature_names[feature] + "'"
                                               : std::to_string(feature + 1);
  };
  return fmt::format(
      "the features differ much in size: feature {} reaches {}, feature {} only {}; --scale often "
      "makes training faster and the model better",
      name(largest), show_number(*largest), name(smallest), show_number(*smallest));
}

}  // namespace maxmargin::cli
