#pragma once

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "maxmargin/base/field.hpp"
#include "maxmargin/base/json.hpp"
#include "maxmargin/model/file/consistency.hpp"

// How numbers, texts, names and components stand in the header of a model file. Everything read is
// checked for its kind; whatever does not fit is thrown as damage to the named file.

namespace maxmargin {

using Json = nlohmann::ordered_json;

/// Doubles keep every bit: the shortest decimal that reads back the same, and words where JSON has
/// no number.
Json number_json(double value);
/// Text as it is if it is UTF-8, else {"hex": ...}.
Json text_json(const std::string& text);

/// Reads members of the header.
class CheckedJson {
 public:
  CheckedJson(const Json& value, const std::string& file) : value_(value), file_(file) {}

  CheckedJson operator[](const char* key) const;
  /// Whether an object has a member, one that older files lack.
  bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  CheckedJson operator[](std::size_t position) const { return {value_[position], file_}; }
  std::size_t array_size() const;

  double number() const;
  std::uint64_t count() const;
  int whole() const;
  bool yes() const;
  std::string text() const;
  const Json& json() const { return value_; }
  [[noreturn]] void refuse(const std::string& what) const { throw_damaged(file_, what); }

 private:
  const Json& value_;
  const std::string& file_;
};

// A component is an object with its name and its declared fields. A field that is an enumeration
// stands by its name, found by one overload of named() for its type.

inline bool named(const std::string& name, Distance& distance) {
  const auto found = value_named<Distance>(name);
  if (found) distance = *found;
  return found.has_value();
}

template <class Component>
Json component_json(const Component& component) {
  Json object;
  object["name"] = std::string(Component::name);
  for_each_field(component, [&](const auto& declared, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    Json& member = object[std::string(declared.name)];
    if constexpr (std::is_floating_point_v<Value>)
      member = number_json(value);
    else if constexpr (std::is_arithmetic_v<Value>)
      member = value;
    else if constexpr (std::is_enum_v<Value>)
      member = std::string(to_string(value));
    else
      member = text_json(value);
  });
  // A function cannot be stored; what stands for it can.
  if constexpr (requires { component.label; }) object["label"] = text_json(component.label);
  if constexpr (requires { component.mercer; }) object["mercer"] = component.mercer;
  return object;
}

template <class Component>
void take_component(const CheckedJson& object, Component& component) {
  for_each_field(component, [&](const auto& declared, auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    const CheckedJson member = object[std::string(declared.name).c_str()];
    if constexpr (std::is_same_v<Value, bool>) {
      value = member.yes();
    } else if constexpr (std::is_floating_point_v<Value>) {
      value = member.number();
    } else if constexpr (std::is_integral_v<Value>) {
      if (!std::in_range<Value>(member.whole())) member.refuse("a parameter is out of range");
      value = static_cast<Value>(member.whole());
    } else if constexpr (std::is_enum_v<Value>) {
      if (!named(member.text(), value)) member.refuse("unknown " + std::string(declared.name));
    } else {
      value = member.text();
    }
  });
  if constexpr (requires { component.label; }) component.label = object["label"].text();
  if constexpr (requires { component.mercer; }) component.mercer = object["mercer"].yes();
}

/// The component of a list that the object names.
template <class List>
List take_listed(const CheckedJson& object) {
  const std::string name = object["name"].text();
  List chosen;
  bool found = false;
  for_each_component<List>([&](auto component) {
    if (component.name != name) return;
    take_component(object, component);
    chosen = std::move(component);
    found = true;
  });
  if (!found) object.refuse("unknown name '" + name.substr(0, 40) + "'");
  return chosen;
}

}  // namespace maxmargin
