#pragma once

#include <optional>
#include <string_view>
#include <utility>

namespace maxmargin {

/// The values of an enumeration with the names they have in options and model files. An enumeration
/// that is a declared field specialises this: `values` is an array of pairs.
template <class E>
struct Named;

template <class E>
concept HasNames = requires {
  Named<E>::values;
};

template <HasNames E>
constexpr std::string_view to_string(E value) {
  for (const auto& [each, name] : Named<E>::values)
    if (each == value) return name;
  return {};
}

template <HasNames E>
constexpr std::optional<E> value_named(std::string_view name) {
  for (const auto& [each, text] : Named<E>::values)
    if (text == name) return each;
  return std::nullopt;
}

}  // namespace maxmargin
