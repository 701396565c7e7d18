#pragma once

#include "maxmargin/task/multiclass/one_vs_rest.hpp"

namespace maxmargin {

/// A machine for each class, all of them in the one problem of Crammer and Singer (2001), which has
/// no free bias; the largest value decides.
struct CrammerSingerScheme : OneVsRestScheme {
  static constexpr std::string_view name = "crammer-singer";
  static constexpr std::string_view full_name = "crammer-singer";
  static constexpr std::string_view summary = "all classes in one problem without a free bias";
  static constexpr bool is_one_problem = true;

  static std::vector<Sides> machines(const std::vector<bool>& present) {
    return each_class(present);
  }
};

}  // namespace maxmargin
