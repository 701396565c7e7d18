#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace maxmargin {

/// std::visit of one list that is never empty. It makes one function for each component, where the
/// standard library's makes half a dozen: a quarter of the library's functions were of that kind.
template <std::size_t i = 0, class Visit, class List>
constexpr decltype(auto) visit_list(Visit&& visit, List&& list) {
  if constexpr (i + 1 < std::variant_size_v<std::remove_reference_t<List>>)
    if (list.index() != i) return visit_list<i + 1>(visit, list);
  return visit(*std::get_if<i>(&list));
}

}  // namespace maxmargin
