#include "maxmargin/kernel/form.hpp"

#include <array>
#include <utility>

namespace maxmargin {
namespace {

constexpr std::array<std::pair<Distance, std::string_view>, 5> distances{
    {{Distance::squared_euclidean, "squared-euclidean"},
     {Distance::euclidean, "euclidean"},
     {Distance::manhattan, "manhattan"},
     {Distance::chi_squared, "chi-squared"},
     {Distance::hellinger, "hellinger"}}};

}  // namespace

std::optional<Distance> distance_named(std::string_view name) {
  for (const auto& [distance, text] : distances)
    if (text == name) return distance;
  return std::nullopt;
}

std::string_view to_string(Distance distance) {
  for (const auto& [each, text] : distances)
    if (each == distance) return text;
  return {};
}

}  // namespace maxmargin
