#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "maxmargin/base/field.hpp"
#include "maxmargin/base/named.hpp"
#include "maxmargin/base/text.hpp"

// The declared fields of a list of components as text: what a command line, a model's options or a
// caller in another language gives, and what help texts show. A new component, or a new field of
// one, is a setting by itself.

namespace maxmargin {

/// A component that needs a C++ function cannot be made from text.
template <class Component>
inline constexpr bool nameable = !requires(Component component) {
  component.function;
};

/// Calls `visit(T{})` for every component of a list that text can name.
template <class List, class Visit>
void for_each_nameable(Visit&& visit) {
  for_each_component<List>([&](auto component) {
    if constexpr (nameable<decltype(component)>) visit(component);
  });
}

template <class List>
std::vector<std::string> names() {
  std::vector<std::string> all;
  for_each_nameable<List>([&](const auto& component) { all.emplace_back(component.name); });
  return all;
}

// How a field's value is read from text and shown, by its type.
void parse_field(std::string_view option, std::string_view text, const Range& range, double& value);
void parse_field(std::string_view option, std::string_view text, const Range& range, int& value);
void parse_field(std::string_view option, std::string_view text, const Range& range, bool& value);
[[noreturn]] void refuse_choice(std::string_view option, std::string_view text,
                                const std::vector<std::string>& known);
template <HasNames E>
void parse_field(std::string_view option, std::string_view text, const Range&, E& value) {
  if (const auto named = value_named<E>(text)) {
    value = *named;
    return;
  }
  std::vector<std::string> known;
  for (const auto& [each, name] : Named<E>::values) known.emplace_back(name);
  refuse_choice(option, text, known);
}

template <class... Components>
void parse_field(std::string_view option, std::string_view text, const Range&,
                 std::variant<Components...>& value) {
  using List = std::variant<Components...>;
  bool found = false;
  for_each_nameable<List>([&](const auto& component) {
    if (component.name != text) return;
    value = component;
    found = true;
  });
  if (!found) refuse_choice(option, text, names<List>());
}

/// A field that reads its own text: T::parse, and T::accepts says what it takes.
template <class T>
concept ReadsText = requires(std::string_view text, const T& value) {
  T::parse(text);
  T::accepts;
  value.text();
};
template <ReadsText T>
void parse_field(std::string_view option, std::string_view text, const Range&, T& value) {
  const auto parsed = T::parse(text);
  if (!parsed)
    throw Error(Fault::usage, std::string(option) + ": '" + std::string(text) + "' is not allowed",
                "give " + std::string(T::accepts));
  value = *parsed;
}
template <ReadsText T>
std::string show_field(const T& value) {
  return value.text();
}

std::string show_field(double value);
std::string show_field(int value);
std::string show_field(bool value);
template <HasNames E>
std::string show_field(E value) {
  return std::string(to_string(value));
}
template <class... Components>
std::string show_field(const std::variant<Components...>& value) {
  return std::string(name_of(value));
}

/// The text that parse_field() reads back.
template <class Value>
std::string field_text(const Value& value) {
  if constexpr (std::is_same_v<Value, bool>)
    return value ? "true" : "false";
  else if constexpr (std::is_arithmetic_v<Value>)
    return shortest(static_cast<double>(value));
  else
    return show_field(value);
}

/// Names and texts of the fields of a component, and of those within it.
using Texts = std::vector<std::pair<std::string, std::string>>;
template <class Component>
void add_field_texts(const Component& component, Texts& list) {
  for_each_field_within(component, [&](const auto& declared, const auto& value) {
    list.emplace_back(declared.name, field_text(value));
  });
}

/// A field that one or several components have, as text.
struct Setting {
  std::string name;
  /// How it is written: "--gamma", or "--no-newton" for what is on by itself; "gamma" where there
  /// is no command line.
  std::string option;
  bool is_flag = false;
  std::string flag_means;                                    ///< what a flag sets: "true", "false"
  std::string preset;                                        ///< default, as shown in the help
  std::vector<std::string> users;                            ///< components that have the field
  std::vector<std::pair<std::string, std::string>> meaning;  ///< help text, its components
  std::optional<std::string> given;

  bool used_by(std::string_view component) const;
  std::string help_text() const;
};

/// All settings of a list of components.
class FieldSettings {
 public:
  /// `noun`: what the components are, "kernel". `prefix`: what stands before a name, "--".
  FieldSettings(std::string noun, std::string prefix)
      : noun_(std::move(noun)), prefix_(std::move(prefix)) {}

  void declare(std::string_view component, std::string_view field, std::string_view help,
               std::string preset, std::optional<bool> flag);

  std::deque<Setting>& list() { return list_; }
  const std::deque<Setting>& list() const { return list_; }

  /// Whether the named component has such a field; an empty name: whether any has.
  bool has(std::string_view component, std::string_view field) const;
  std::optional<std::string> given(std::string_view field) const;
  /// The first setting that was given, as "--gamma"; empty: none.
  std::string first_given() const;
  void give(std::string_view field, std::string text);
  /// Another default than the field's own, for the help.
  void describe_default(std::string_view field, std::string text);

  /// Throws a usage Error for a setting that was given and that this component does not have.
  void require_effect(std::string_view component) const;
  /// The same for one that another choice of `field` has than the one that was made.
  void require_effect(std::string_view field, std::string_view choice,
                      const std::vector<std::string_view>& idle) const;
  [[noreturn]] void refuse_name(std::string_view name, const std::vector<std::string>& known) const;

 private:
  std::string noun_, prefix_;
  std::deque<Setting> list_;  // a deque: callers keep references to its elements
};

/// The help of a field, with what can be chosen where that is a list.
template <class Value>
std::string help_of(std::string_view help, const Value&) {
  std::string text(help);
  if constexpr (is_list<Value>) {
    const std::vector<std::string> choices = names<Value>();
    for (std::size_t k = 0; k < choices.size(); ++k)
      text += (k == 0 ? ": " : k + 1 == choices.size() ? " or " : ", ") + choices[k];
  } else if constexpr (requires { Named<Value>::summaries; }) {
    for (std::size_t k = 0; k < Named<Value>::values.size(); ++k)
      text += (k == 0 ? ": " : "; ") + std::string(Named<Value>::values[k].second) + ", " +
              std::string(Named<Value>::summaries[k]);
  }
  return text;
}

template <class List>
FieldSettings settings_of(std::string noun, std::string prefix = "") {
  FieldSettings settings(std::move(noun), std::move(prefix));
  for_each_nameable<List>([&](auto component) {
    for_each_field(component, [&](const auto& declared, const auto& value) {
      std::optional<bool> flag;
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, bool>) flag = value;
      settings.declare(component.name, declared.name, help_of(declared.help, value),
                       show_field(value), flag);
      if constexpr (is_list<std::remove_cvref_t<decltype(value)>>)
        for_each_nameable<std::remove_cvref_t<decltype(value)>>([&](const auto& choice) {
          for_each_field(choice, [&](const auto& inner, const auto& preset) {
            settings.declare(component.name, inner.name, inner.help, show_field(preset), {});
          });
        });
    });
  });
  return settings;
}

/// The fields that the choices of a list have and the one that it holds does not.
template <class List>
std::vector<std::string_view> idle_fields(const List& chosen) {
  std::vector<std::string_view> own, idle;
  visit_list(
      [&](const auto& held) {
        for_each_field(held, [&](const auto& each, const auto&) { own.push_back(each.name); });
      },
      chosen);
  for_each_nameable<List>([&](const auto& choice) {
    for_each_field(choice, [&](const auto& each, const auto&) {
      if (std::find(own.begin(), own.end(), each.name) == own.end()) idle.push_back(each.name);
    });
  });
  return idle;
}

/// The named component with the values given. Throws a usage Error for an unknown name, a value
/// that does not fit, and a setting that would have no effect.
template <class List>
List component_named(const FieldSettings& settings, std::string_view name) {
  std::optional<List> result;
  for_each_nameable<List>([&](auto component) {
    if (component.name != name) return;
    for_each_field_within(component, [&](const auto& declared, auto& value) {
      for (const Setting& each : settings.list())
        if (each.name == declared.name && each.given)
          parse_field(each.option, *each.given, declared.range, value);
      if constexpr (is_list<std::remove_cvref_t<decltype(value)>>)
        settings.require_effect(declared.name, name_of(value), idle_fields(value));
    });
    result = component;
  });
  if (!result) settings.refuse_name(name, names<List>());
  settings.require_effect(name);
  visit_list([](const auto& component) { validate(component); }, *result);
  return *result;
}

/// The fields of the component a list holds, as (name, value) texts for people.
template <class List>
std::vector<std::pair<std::string, std::string>> shown_fields(const List& chosen) {
  std::vector<std::pair<std::string, std::string>> shown;
  visit_list(
      [&](const auto& component) {
        for_each_field_within(component, [&](const auto& declared, const auto& value) {
          shown.emplace_back(declared.name, show_field(value));
        });
      },
      chosen);
  return shown;
}

}  // namespace maxmargin
