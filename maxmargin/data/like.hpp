#pragma once

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// No rows yet, to be stored as those of another set are: sparse or dense.
inline Features none_like(const Rows& rows, std::size_t columns) {
  return rows.sparse() ? Features::sparse(columns) : Features::dense(columns);
}
inline Features none_like(const Rows& rows) { return none_like(rows, rows.columns); }
inline Features none_like(const Features& rows, std::size_t columns) {
  return rows.is_sparse() ? Features::sparse(columns) : Features::dense(columns);
}
inline Features none_like(const Features& rows) { return none_like(rows, rows.columns()); }

}  // namespace maxmargin
