#pragma once

#include <array>

#include "maxmargin/base/named.hpp"
#include "maxmargin/task/multiclass/crammer_singer.hpp"

namespace maxmargin {

/// The list of schemes by which machines for two classes tell several apart. Each says which
/// machines there are (`machines`), what their values decide (`decide`) and which of these values
/// have to be known well for it (`doubtful`).
enum class Multiclass { one_vs_one, one_vs_rest, crammer_singer };

template <>
struct Named<Multiclass> {
  static constexpr std::array<std::pair<Multiclass, std::string_view>, 3> values{
      {{Multiclass::one_vs_one, OneVsOneScheme::name},
       {Multiclass::one_vs_rest, OneVsRestScheme::name},
       {Multiclass::crammer_singer, CrammerSingerScheme::name}}};
  static constexpr std::array summaries{OneVsOneScheme::summary, OneVsRestScheme::summary,
                                        CrammerSingerScheme::summary};
};

/// Calls `visit` with the chosen one.
template <class Visit>
decltype(auto) with_scheme(Multiclass chosen, Visit&& visit) {
  switch (chosen) {
    case Multiclass::one_vs_rest:
      return visit(OneVsRestScheme{});
    case Multiclass::crammer_singer:
      return visit(CrammerSingerScheme{});
    case Multiclass::one_vs_one:
      break;
  }
  return visit(OneVsOneScheme{});
}

inline std::string_view full_name(Multiclass chosen) {
  return with_scheme(chosen, [](auto scheme) { return scheme.full_name; });
}
/// Whether each machine is of two classes, or of one against the rest.
inline bool compares_pairs(Multiclass chosen) {
  return with_scheme(chosen, [](auto scheme) { return scheme.compares_pairs; });
}
/// Whether all machines are trained at once.
inline bool is_one_problem(Multiclass chosen) {
  return with_scheme(chosen, [](auto scheme) { return scheme.is_one_problem; });
}

}  // namespace maxmargin
