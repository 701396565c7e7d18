#pragma once

#include <string>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// Throws Error (Fault::data, naming the file) unless the rows keep what Rows promises: offsets
/// that do not fall and stay within `stored`, strictly increasing indices below `columns`, finite
/// values.
void check_rows(const Rows& rows, std::uint64_t stored, const std::string& name);

/// The same for everything else in a model that later code relies on: counts that agree, positions
/// within their arrays, finite numbers, a kernel with parameters in range.
void check_model(const Model& model, const std::string& name);

/// What both of them and the loader throw.
[[noreturn]] void throw_damaged(const std::string& name, const std::string& what);

}  // namespace maxmargin
