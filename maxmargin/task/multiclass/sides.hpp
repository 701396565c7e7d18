#pragma once

namespace maxmargin {

/// The classes that a decision function tells apart, by their numbers: f > 0 speaks for `positive`,
/// otherwise for `negative`; one of a class against the rest has no `negative`, and where there are
/// no classes it has neither.
struct Sides {
  static constexpr int nobody = -1;
  int positive = nobody;
  int negative = nobody;

  bool operator==(const Sides&) const = default;
};

}  // namespace maxmargin
