#pragma once

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/visit.hpp"

// A component (kernel, loss, task, solver) declares its parameters once:
//
//   struct Rbf {
//     double gamma = 1;
//     static constexpr std::string_view name = "rbf";
//     static constexpr std::string_view formula = "exp(-gamma |x-z|^2)";
//     static constexpr auto fields = std::tuple{field("gamma", &Rbf::gamma, "width", positive)};
//   };
//
// Options, help texts, validation and model files are derived from that declaration.

namespace maxmargin {

/// The values a parameter may take. Every one of them excludes NaN and infinity.
struct Range {
  double low;
  double high;
  bool low_open;
  bool high_open;
  std::string_view text;

  bool contains(double value) const {
    return std::isfinite(value) && (low_open ? value > low : value >= low) &&
           (high_open ? value < high : value <= high);
  }
};

inline constexpr double any_size = 1.7976931348623157e308;
inline constexpr Range positive{0, any_size, true, false, "greater than 0"};
inline constexpr Range non_negative{0, any_size, false, false, "0 or more"};
inline constexpr Range finite{-any_size, any_size, false, false, "a finite number"};
inline constexpr Range fraction{0, 1, true, false, "greater than 0 and at most 1"};
inline constexpr Range open_fraction{0, 1, true, true, "greater than 0 and less than 1"};

template <class Owner, class Value>
struct Field {
  std::string_view name;
  Value Owner::*member;
  std::string_view help;
  Range range;
};

template <class Owner, class Value>
constexpr Field<Owner, Value> field(std::string_view name, Value Owner::*member,
                                    std::string_view help, Range range = finite) {
  return {name, member, help, range};
}

/// A field may be a component itself, one of a list: the loss of a task.
template <class T>
inline constexpr bool is_list = false;
template <class... Components>
inline constexpr bool is_list<std::variant<Components...>> = true;

/// Calls `visit(field, value)` for each declared field of a component, in order.
template <class Component, class Visit>
void for_each_field(Component& component, Visit&& visit) {
  std::apply([&](const auto&... each) { (visit(each, component.*(each.member)), ...); },
             std::remove_cvref_t<Component>::fields);
}

/// The same, where a field that is a component is followed by the fields of that component. What
/// `visit` makes of the one decides which those are.
template <class Component, class Visit>
void for_each_field_within(Component& component, Visit&& visit) {
  for_each_field(component, [&](const auto& declared, auto& value) {
    visit(declared, value);
    if constexpr (is_list<std::remove_cvref_t<decltype(value)>>)
      visit_list([&](auto& held) { for_each_field_within(held, visit); }, value);
  });
}

/// Throws a usage Error for the first numeric field that is outside its declared range.
template <class Component>
void validate(const Component& component) {
  for_each_field(component, [&](const auto& declared, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (is_list<Value>) {
      visit_list([](const auto& held) { validate(held); }, value);
    } else if constexpr (std::is_arithmetic_v<Value> && !std::same_as<Value, bool>) {
      if (!declared.range.contains(static_cast<double>(value)))
        throw Error(Fault::usage,
                    std::string(declared.name) + " = " + std::to_string(value) + " for " +
                        std::string(Component::name) + " is out of range",
                    "choose a value " + std::string(declared.range.text));
    }
  });
}

/// Calls `visit(T{})` for every alternative of a list (a std::variant of components), in order.
template <class List, class Visit>
void for_each_component(Visit&& visit) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (visit(std::variant_alternative_t<i, List>{}), ...);
  }
  (std::make_index_sequence<std::variant_size_v<List>>{});
}

/// The name of the component that a list currently holds.
template <class... Components>
std::string_view name_of(const std::variant<Components...>& chosen) {
  return visit_list([](const auto& component) { return component.name; }, chosen);
}

}  // namespace maxmargin
