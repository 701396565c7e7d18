#pragma once

#include <utility>

namespace maxmargin {

/// A member of a struct that whoever makes one has to give: it has no default.
template <class Value>
class Required {
 public:
  constexpr Required(Value value) : value_(std::move(value)) {}
  constexpr operator const Value&() const { return value_; }

 private:
  Value value_;
};

}  // namespace maxmargin
