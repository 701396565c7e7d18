#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace maxmargin {

/// A name that is copied as numbers are. One component of a list that is not, and every source that
/// copies the list compiles a function for each component and each kind of copy.
class ShortName {
 public:
  static constexpr std::size_t most_letters = 31;

  /// What is longer is cut.
  template <class Text>
  constexpr ShortName(const Text& text) {  // NOLINT: a name is a text
    const std::string_view all(text);
    length_ = std::min(all.size(), most_letters);
    std::copy_n(all.data(), length_, letters_.data());
  }
  constexpr std::string_view text() const { return {letters_.data(), length_}; }

 private:
  std::array<char, most_letters> letters_{};
  std::size_t length_ = 0;
};

}  // namespace maxmargin
