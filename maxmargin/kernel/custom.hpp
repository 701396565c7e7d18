#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "maxmargin/data/rows.hpp"
#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

/// The user's own kernel, called by blocks, perhaps from several threads at once:
/// `out[r * right_count + c] = K(left row left_rows[r], right row right_begin + c)`.
/// A model keeps its label; whoever loads the model gives the function again.
struct Custom {
  using Function =
      std::function<void(const Rows& left, std::span<const Index> left_rows, const Rows& right,
                         std::size_t right_begin, std::size_t right_count, double* out)>;
  std::string label = "custom";
  Function function;
  bool mercer = true;  ///< the user's word that K is positive semi-definite

  static constexpr std::string_view name = "custom";
  static constexpr std::string_view formula = "the user's function";
  static constexpr std::tuple<> fields{};
  Definite definite() const { return mercer ? Definite::yes : Definite::no; }
};

}  // namespace maxmargin
