#include "maxmargin/model/file/header_json.hpp"

namespace maxmargin {
namespace {

bool is_utf8(const std::string& text) {
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

constexpr std::string_view digits = "0123456789abcdef";

std::string to_hex(const std::string& bytes) {
  std::string hex;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

}  // namespace

Json number_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json text_json(const std::string& text) {
  if (is_utf8(text)) return text;
  return Json{{"hex", to_hex(text)}};
}

CheckedJson CheckedJson::operator[](const char* key) const {
  if (!value_.is_object()) refuse("its header is not made of named members");
  const auto found = value_.find(key);
  if (found == value_.end()) refuse("its header lacks '" + std::string(key) + "'");
  return {*found, file_};
}

std::size_t CheckedJson::array_size() const {
  if (!value_.is_array()) refuse("its header has something else where a list belongs");
  return value_.size();
}

double CheckedJson::number() const {
  if (value_.is_number()) return value_.get<double>();
  if (value_ == "inf") return std::numeric_limits<double>::infinity();
  if (value_ == "-inf") return -std::numeric_limits<double>::infinity();
  if (value_ == "nan") return std::numeric_limits<double>::quiet_NaN();
  refuse("its header has something else where a number belongs");
}

std::uint64_t CheckedJson::count() const {
  if (!value_.is_number_unsigned()) refuse("its header has something else where a count belongs");
  return value_.get<std::uint64_t>();
}

int CheckedJson::whole() const {
  const bool fits = value_.is_number_unsigned()
                        ? value_.get<std::uint64_t>() <= std::numeric_limits<int>::max()
                        : value_.is_number_integer() &&
                              value_.get<std::int64_t>() >= std::numeric_limits<int>::min();
  if (!fits) refuse("its header has something else where a whole number belongs");
  return value_.get<int>();
}

bool CheckedJson::yes() const {
  if (!value_.is_boolean()) refuse("its header has something else where true or false belongs");
  return value_.get<bool>();
}

std::string CheckedJson::text() const {
  if (value_.is_string()) return value_.get<std::string>();
  const std::string hex = (*this)["hex"].value_.is_string()
                              ? (*this)["hex"].value_.get<std::string>()
                              : std::string("?");
  if (hex.size() % 2 != 0) refuse("its header has a broken text");
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const auto high = digits.find(hex[i]);
    const auto low = digits.find(hex[i + 1]);
    if (high == digits.npos || low == digits.npos) refuse("its header has a broken text");
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace maxmargin
