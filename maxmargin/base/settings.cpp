#include "maxmargin/base/settings.hpp"

#include <algorithm>

namespace maxmargin {

void parse_field(std::string_view option, std::string_view text, const Range& range,
                 double& value) {
  value = parse_number(option, text, range);
}

void parse_field(std::string_view option, std::string_view text, const Range& range, int& value) {
  const double number = parse_number(option, text, range);
  if (std::abs(number) > 1e9 || number != static_cast<int>(number))
    throw Error(Fault::usage,
                std::string(option) + ": " + std::string(text) + " is not a whole number",
                "give a whole number");
  value = static_cast<int>(number);
}

void parse_field(std::string_view option, std::string_view text, const Range&, bool& value) {
  if (text != "true" && text != "false") refuse_choice(option, text, {"true", "false"});
  value = text == "true";
}

void refuse_choice(std::string_view option, std::string_view text,
                   const std::vector<std::string>& known) {
  throw Error(Fault::usage, std::string(option) + ": unknown choice '" + std::string(text) + "'",
              suggestion(text, known));
}

std::string show_field(double value) { return shortest(value); }
std::string show_field(int value) { return std::to_string(value); }
std::string show_field(bool value) { return value ? "yes" : "no"; }

bool Setting::used_by(std::string_view component) const {
  return std::find(users.begin(), users.end(), component) != users.end();
}

std::string Setting::help_text() const {
  std::string text;
  for (const auto& [help, of] : meaning)
    text += (text.empty() ? "" : "; ") + help + " (" + of + ")";
  return is_flag ? text : text + " [" + preset + "]";
}

void FieldSettings::declare(std::string_view component, std::string_view field,
                            std::string_view help, std::string preset, std::optional<bool> flag) {
  auto known = std::find_if(list_.begin(), list_.end(),
                            [&](const Setting& each) { return each.name == field; });
  const bool turns_off = flag.value_or(false);
  if (known == list_.end()) {
    Setting fresh;
    fresh.name = std::string(field);
    const bool negated = turns_off && !prefix_.empty();
    fresh.option = prefix_ + (negated ? "no-" : "") + fresh.name;
    fresh.preset = std::move(preset);
    fresh.is_flag = flag.has_value();
    if (flag) fresh.flag_means = turns_off ? "false" : "true";
    list_.push_back(std::move(fresh));
    known = std::prev(list_.end());
  }
  const bool is_new = !known->used_by(component);
  if (is_new) known->users.emplace_back(component);
  const std::string text = (known->is_flag && turns_off ? "do not " : "") + std::string(help);
  for (auto& [meant, of] : known->meaning)
    if (meant == text) {
      if (is_new) of += ", " + std::string(component);
      return;
    }
  known->meaning.emplace_back(text, component);
}

bool FieldSettings::has(std::string_view component, std::string_view field) const {
  return std::any_of(list_.begin(), list_.end(), [&](const Setting& each) {
    return each.name == field && (component.empty() || each.used_by(component));
  });
}

std::optional<std::string> FieldSettings::given(std::string_view field) const {
  for (const Setting& each : list_)
    if (each.name == field) return each.given;
  return std::nullopt;
}

std::string FieldSettings::first_given() const {
  for (const Setting& each : list_)
    if (each.given) return each.option;
  return {};
}

void FieldSettings::give(std::string_view field, std::string text) {
  for (Setting& each : list_)
    if (each.name == field) each.given = text;
}

void FieldSettings::describe_default(std::string_view field, std::string text) {
  for (Setting& each : list_)
    if (each.name == field) each.preset = text;
}

void FieldSettings::require_effect(std::string_view component) const {
  for (const Setting& each : list_)
    if (each.given && !each.used_by(component)) {
      std::string users;
      for (const std::string& user : each.users) users += (users.empty() ? "" : " or ") + user;
      throw Error(Fault::usage,
                  each.option + " has no effect with " + noun_ + " " + std::string(component),
                  "leave it out, or use " + noun_ + " " + users);
    }
}

void FieldSettings::require_effect(std::string_view field, std::string_view choice,
                                   const std::vector<std::string_view>& idle) const {
  for (const Setting& each : list_)
    if (each.given && std::find(idle.begin(), idle.end(), each.name) != idle.end())
      throw Error(
          Fault::usage,
          each.option + " has no effect with " + std::string(field) + " " + std::string(choice),
          "leave it out, or choose another " + prefix_ + std::string(field));
}

void FieldSettings::refuse_name(std::string_view name,
                                const std::vector<std::string>& known) const {
  throw Error(Fault::usage, "unknown " + noun_ + " '" + std::string(name) + "'",
              suggestion(name, known));
}

}  // namespace maxmargin
