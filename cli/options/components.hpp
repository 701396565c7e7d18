#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "maxmargin/base/settings.hpp"

namespace maxmargin::cli {

/// An option of one component, for lists.
struct ShownOption {
  std::string option, preset, help;
  bool is_flag = false;

  std::string text() const { return is_flag ? option : option + " [" + preset + "]"; }
};

template <class Component>
std::vector<ShownOption> shown_options(const Component& component) {
  std::vector<ShownOption> shown;
  const FieldSettings settings = settings_of<std::variant<Component>>("component", "--");
  for (const Setting& each : settings.list()) {
    std::string help;
    for_each_field(component, [&](const auto& declared, const auto&) {
      if (declared.name == each.name) help = declared.help;
    });
    shown.push_back({each.option, each.preset, std::move(help), each.is_flag});
  }
  return shown;
}

/// The options `--gamma`, `--degree`, ... of the settings of a list of components.
void add_settings(CLI::App& app, FieldSettings& settings, const std::string& group);

template <class List>
class ComponentOptions {
 public:
  /// `noun`: what the components are, "kernel".
  explicit ComponentOptions(std::string noun)
      : settings_(settings_of<List>(std::move(noun), "--")) {}

  void add_to(CLI::App& app, const std::string& group) { add_settings(app, settings_, group); }
  bool has(std::string_view component, std::string_view field) const {
    return settings_.has(component, field);
  }
  std::optional<std::string> given(std::string_view field) const { return settings_.given(field); }
  std::string first_given() const { return settings_.first_given(); }
  void give(std::string_view field, std::string text) { settings_.give(field, std::move(text)); }
  void describe_default(std::string_view field, std::string text) {
    settings_.describe_default(field, std::move(text));
  }
  const FieldSettings& settings() const { return settings_; }
  List make(std::string_view name) const { return component_named<List>(settings_, name); }

 private:
  FieldSettings settings_;
};

}  // namespace maxmargin::cli
