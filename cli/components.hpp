#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cli/suggest.hpp"
#include "cli/units.hpp"
#include "maxmargin/base/field.hpp"
#include "maxmargin/base/named.hpp"
#include "maxmargin/kernel/form.hpp"
#include "maxmargin/solver/primal_dual/primal_dual.hpp"

namespace maxmargin::cli {

/// A component that needs a C++ function cannot come from a command line.
template <class Component>
inline constexpr bool nameable = !requires(Component component) {
  component.function;
};

/// Calls `visit(T{})` for every component of a list that a command line can name.
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
inline void parse_field(std::string_view option, std::string_view text, const Range& range,
                        double& value) {
  value = parse_number(option, text, range);
}
inline void parse_field(std::string_view option, std::string_view text, const Range& range,
                        int& value) {
  const double number = parse_number(option, text, range);
  if (std::abs(number) > 1e9 || number != static_cast<int>(number))
    throw Error(Fault::usage, fmt::format("{}: {} is not a whole number", option, text),
                "give a whole number");
  value = static_cast<int>(number);
}
inline void parse_field(std::string_view, std::string_view text, const Range&, bool& value) {
  value = text == "true";
}
inline void parse_field(std::string_view option, std::string_view text, const Range&,
                        Distance& value) {
  if (const auto distance = distance_named(text)) {
    value = *distance;
    return;
  }
  std::vector<std::string> known;
  for (int i = 0; distance_named(to_string(static_cast<Distance>(i))); ++i)
    known.emplace_back(to_string(static_cast<Distance>(i)));
  throw Error(Fault::usage, fmt::format("{}: unknown distance '{}'", option, text),
              suggestion(text, known));
}

inline void parse_field(std::string_view option, std::string_view text, const Range&,
                        Safeguard& value) {
  const auto safeguard = safeguard_named(text);
  if (!safeguard)
    throw Error(Fault::usage, fmt::format("{}: unknown safeguard '{}'", option, text),
                suggestion(text, {"augmented", "bounded", "none"}));
  value = *safeguard;
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
    throw Error(Fault::usage, fmt::format("{}: '{}' is not allowed", option, text),
                fmt::format("give {}", T::accepts));
  value = *parsed;
}

template <HasNames E>
void parse_field(std::string_view option, std::string_view text, const Range&, E& value) {
  if (const auto named = value_named<E>(text)) {
    value = *named;
    return;
  }
  std::vector<std::string> known;
  for (const auto& [each, name] : Named<E>::values) known.emplace_back(name);
  throw Error(Fault::usage, fmt::format("{}: unknown choice '{}'", option, text),
              suggestion(text, known));
}

inline std::string show_field(double value) { return fmt::format("{}", value); }
inline std::string show_field(int value) { return fmt::format("{}", value); }
inline std::string show_field(bool value) { return value ? "yes" : "no"; }
inline std::string show_field(Distance value) { return std::string(to_string(value)); }
inline std::string show_field(Safeguard value) { return std::string(to_string(value)); }
template <ReadsText T>
std::string show_field(const T& value) {
  return value.text();
}
template <HasNames E>
std::string show_field(E value) {
  return std::string(to_string(value));
}

/// How a field is written on a command line: a number or a name behind it, or a flag that turns
/// what it stands for on, or off where it is on by itself.
template <class Field, class Value>
std::string option_name(const Field& field, const Value& value) {
  if constexpr (std::is_same_v<Value, bool>)
    if (value) return "--no-" + std::string(field.name);
  return "--" + std::string(field.name);
}

/// An option of one component, for lists.
struct ShownOption {
  std::string option, preset, help;
  bool is_flag = false;

  std::string text() const { return is_flag ? option : fmt::format("{} [{}]", option, preset); }
};

template <class Component>
std::vector<ShownOption> shown_options(const Component& component) {
  std::vector<ShownOption> shown;
  for_each_field(component, [&](const auto& declared, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    shown.push_back({option_name(declared, value), show_field(value), std::string(declared.help),
                     std::is_same_v<Value, bool>});
  });
  return shown;
}

/// The options `--gamma`, `--degree`, ... derived from the declared fields of a list of components.
/// A new component, or a new field of one, is an option by itself.
template <class List>
class ComponentOptions {
 public:
  /// `noun`: what the components are, "kernel".
  explicit ComponentOptions(std::string noun) : noun_(std::move(noun)) {
    for_each_nameable<List>([&](auto component) {
      for_each_field(component, [&](const auto& declared, const auto& value) {
        declare(component.name, declared, value);
      });
    });
  }

  void add_to(CLI::App& app, const std::string& group) {
    for (Declared& each : declared_) {
      const std::string help = each.help_text();
      if (each.is_flag) {
        app.add_flag_callback(
               each.option, [&each] { each.given = each.flag_means; }, help)
            ->group(group);
      } else {
        app.add_option_function<std::string>(
               each.option, [&each](const std::string& text) { each.given = text; }, help)
            ->type_name(each.value_name)
            ->take_last()
            ->group(group);
      }
    }
  }

  /// Whether the named component has such a field.
  bool has(std::string_view component, std::string_view field) const {
    return std::ranges::any_of(declared_, [&](const Declared& each) {
      return each.name == field && std::ranges::count(each.users, component) > 0;
    });
  }
  std::optional<std::string> given(std::string_view field) const {
    for (const Declared& each : declared_)
      if (each.name == field) return each.given;
    return std::nullopt;
  }
  /// The first option that was given, as "--gamma"; empty: none.
  std::string first_given() const {
    for (const Declared& each : declared_)
      if (each.given) return each.option;
    return {};
  }
  void give(std::string_view field, std::string text) {
    for (Declared& each : declared_)
      if (each.name == field) each.given = text;
  }
  /// Another default than the field's own, for the help.
  void describe_default(std::string_view field, std::string text) {
    for (Declared& each : declared_)
      if (each.name == field) each.preset = text;
  }

  /// The named component with the values given. Throws a usage Error for an unknown name, a value
  /// that does not fit, and an option that would have no effect.
  List make(std::string_view name) const {
    std::optional<List> made;
    for_each_nameable<List>([&](auto component) {
      if (component.name != name) return;
      for_each_field(component, [&](const auto& declared, auto& value) {
        for (const Declared& each : declared_)
          if (each.name == declared.name && each.given)
            parse_field(each.option, *each.given, declared.range, value);
      });
      made = component;
    });
    if (!made)
      throw Error(Fault::usage, fmt::format("unknown {} '{}'", noun_, name),
                  suggestion(name, names<List>()));
    for (const Declared& each : declared_)
      if (each.given && std::ranges::count(each.users, name) == 0)
        throw Error(
            Fault::usage, fmt::format("{} has no effect with {} {}", each.option, noun_, name),
            fmt::format("leave it out, or use {} {}", noun_, fmt::join(each.users, " or ")));
    std::visit([](const auto& component) { validate(component); }, *made);
    return *made;
  }

 private:
  struct Declared {
    std::string name, option, value_name;
    bool is_flag = false;
    std::string flag_means;
    std::string preset;                                        ///< default, as shown in the help
    std::vector<std::string> users;                            ///< components that have the field
    std::vector<std::pair<std::string, std::string>> meaning;  ///< help text, its components
    std::optional<std::string> given;

    std::string help_text() const {
      std::string text;
      for (const auto& [help, of] : meaning)
        text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", help, of);
      return is_flag ? text : fmt::format("{} [{}]", text, preset);
    }
  };

  template <class Field, class Value>
  void declare(std::string_view component, const Field& field, const Value& value) {
    auto known = std::ranges::find(declared_, field.name, &Declared::name);
    if (known == declared_.end()) {
      Declared fresh;
      fresh.name = fresh.value_name = std::string(field.name);
      std::ranges::transform(fresh.value_name, fresh.value_name.begin(),
                             [](unsigned char letter) { return std::toupper(letter); });
      fresh.option = option_name(field, value);
      fresh.preset = show_field(value);
      if constexpr (std::is_same_v<Value, bool>) {
        fresh.is_flag = true;
        fresh.flag_means = value ? "false" : "true";
      }
      declared_.push_back(std::move(fresh));
      known = std::prev(declared_.end());
    }
    known->users.emplace_back(component);
    const std::string help =
        std::string(known->is_flag && value_of(value) ? "do not " : "") + std::string(field.help);
    for (auto& [text, of] : known->meaning)
      if (text == help) {
        of += fmt::format(", {}", component);
        return;
      }
    known->meaning.emplace_back(help, component);
  }
  template <class Value>
  static bool value_of(const Value& value) {
    if constexpr (std::is_same_v<Value, bool>) return value;
    return false;
  }

  std::string noun_;
  std::deque<Declared> declared_;  // a deque: options keep references to its elements
};

/// The fields of the component a list holds, as (name, value) texts for people.
template <class List>
std::vector<std::pair<std::string, std::string>> shown_fields(const List& chosen) {
  std::vector<std::pair<std::string, std::string>> shown;
  std::visit(
      [&](const auto& component) {
        for_each_field(component, [&](const auto& declared, const auto& value) {
          shown.emplace_back(declared.name, show_field(value));
        });
      },
      chosen);
  return shown;
}

}  // namespace maxmargin::cli
