#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// A function of a row written as text over its features: "sin(x1)", "price^2 / (1 + [floor
/// area])".
///
/// Features are called x1, x2, ... or by the names of their columns; a name that is no plain word
/// stands in brackets. Known are + - * / ^, comparisons (1 or 0), parentheses, numbers, the
/// constants pi and e (where no column has that name) and the functions of expression_functions().
/// Whatever the text is, the result is a function or an Error that names the column of the mistake.
class Expression {
 public:
  /// No text is longer, and no parentheses are nested deeper.
  static constexpr std::size_t most_characters = 1000;
  static constexpr std::size_t most_nested = 50;

  /// `names` of the features, or empty; there are `features` of them.
  Expression(std::string text, std::span<const std::string> names, std::size_t features);

  const std::string& text() const { return text_; }
  /// The features that it needs, increasing.
  const std::vector<Index>& features() const { return features_; }

  /// Its value for each of so many rows, given the values of its features: row i has them at
  /// values[i * features().size()]. NaN or infinity where it has no other.
  std::vector<double> evaluate(std::size_t rows, std::span<const double> values) const;

 private:
  std::string text_;
  std::string prepared_;  // names of features replaced by plain words
  std::vector<Index> features_;
};

/// Names of the functions that an expression may call.
std::vector<std::string> expression_functions();

}  // namespace maxmargin
