#pragma once

#include <cstddef>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

// The inner loops of chains over all labels of a token, vectorised, with the same bits on any
// machine.

/// The attributes of a token.
struct TokenAttributes {
  const Index* attribute;
  const float* value;  ///< null: they are all 1
  std::size_t count;
};
/// scores[l] = sum over k of value[k] w[attribute[k] labels + l]
void label_scores(const double* w, const TokenAttributes& token, std::size_t labels,
                  double* scores);

/// to[l] = max over k of from[k] + pair[k labels + l]
void best_before(const double* from, const double* pair, std::size_t labels, double* to);

}  // namespace maxmargin
