#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace maxmargin {

/// How many times the best step of a pair is taken: a number, or one that is adapted on the way.
struct Zeta {
  double value = 1;
  bool adaptive = false;

  static constexpr std::string_view accepts =
      "a number greater than 0 and less than 2, or adaptive: the objective, a parabola along the "
      "step, is where it was at 2 and higher beyond";

  bool is_valid() const { return adaptive || (value > 0 && value < 2); }
  static std::optional<Zeta> parse(std::string_view text) {
    if (text == "adaptive") return Zeta{1, true};
    Zeta zeta;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), zeta.value);
    if (code != std::errc{} || end != text.data() + text.size() || !zeta.is_valid())
      return std::nullopt;
    return zeta;
  }
  std::string text() const {
    if (adaptive) return "adaptive";
    char digits[32];
    const auto [end, code] = std::to_chars(digits, digits + sizeof digits, value);
    return std::string(digits, end);
  }
};

}  // namespace maxmargin
