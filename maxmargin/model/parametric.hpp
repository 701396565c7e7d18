#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// A function phi of a row that stands beside the kernel part of a decision function and costs
/// nothing: f(x) = sum_k coefficient[k] K(support[k], x) + b + sum_r c_r phi_r(x). It sees the
/// features as they are in the data, before any scaling.
struct ParametricFunction {
  enum class Kind {
    expression,  ///< `text` is a formula, see data/expression.hpp
    column,      ///< a feature, called by `text`, that the kernel is then not told
    own          ///< a function of the user, called `text`, which a model file cannot hold
  };
  Kind kind = Kind::expression;
  std::string text;
  std::function<double(std::span<const double>)> function{};  ///< own: of all features of a row
};
std::string_view to_string(ParametricFunction::Kind kind);

/// Functions made ready for rows with so many features, called `names` where these are not empty.
class ParametricFunctions {
 public:
  /// Throws Error for an expression that cannot be read, a column that is not there, and, on use, a
  /// function of the user that is missing.
  ParametricFunctions(std::span<const ParametricFunction> functions,
                      std::span<const std::string> names, std::size_t features);
  ~ParametricFunctions();
  ParametricFunctions(ParametricFunctions&&) noexcept;

  std::size_t size() const;

  /// The function that uses one of the first `features` features; nothing where none does. What a
  /// function of the user looks at is not known.
  const ParametricFunction* user_of_first(std::size_t features) const;

  /// values[row * size() + r] = phi_r(row). Rows may have fewer features than known (the others are
  /// zero) or more. Throws Error (data) where a value is not a finite number; there the first row
  /// is called `first_row` + 1.
  std::vector<double> values(const Rows& rows, const Threads& threads,
                             std::size_t first_row = 0) const;

  /// A copy of the first `columns` columns, with those that the kernel is not told set to zero.
  Features visible(const Rows& rows, std::size_t columns) const;
  bool hides() const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace maxmargin
