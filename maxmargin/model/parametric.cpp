#include "maxmargin/model/parametric.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/dataset.hpp"
#include "maxmargin/data/formula/expression.hpp"
#include "maxmargin/data/like.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t rows_per_task = 4096;

Index column_named(const std::string& text, std::span<const std::string> names,
                   std::size_t features) {
  const auto named = std::ranges::find(names, text);
  if (named != names.end()) return static_cast<Index>(named - names.begin());
  const char* begin = text.data() + (text.starts_with('x') ? 1 : 0);
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(begin, text.data() + text.size(), number);
  if (code == std::errc{} && end == text.data() + text.size() && number >= 1 && number <= features)
    return static_cast<Index>(number - 1);
  throw Error(Fault::usage, "there is no feature '" + text.substr(0, 60) + "'",
              "give the name of a column, or its number from 1 to " + std::to_string(features));
}

/// Values of some features, row by row.
std::vector<double> gathered(const Rows& rows, std::size_t begin, std::size_t end,
                             std::span<const Index> features) {
  std::vector<double> values((end - begin) * features.size(), 0.0);
  double* row_values = values.data();
  for (std::size_t row = begin; row < end; ++row, row_values += features.size()) {
    if (!rows.sparse()) {
      for (std::size_t j = 0; j < features.size(); ++j)
        if (features[j] < rows.columns)
          row_values[j] = rows.value(std::uint64_t{row} * rows.columns + features[j]);
      continue;
    }
    rows.for_each(row, [&](Index feature, double value) {
      const auto found = std::ranges::lower_bound(features, feature);
      if (found != features.end() && *found == feature)
        row_values[found - features.begin()] = value;
    });
  }
  return values;
}

}  // namespace

struct ParametricFunctions::Parts {
  std::vector<ParametricFunction> functions;
  std::vector<std::optional<Expression>> expressions;  ///< of each function that is one
  std::vector<Index> columns;                          ///< of each function that is one
  std::vector<Index> hidden;                           ///< those columns, increasing
  std::size_t features = 0;

  std::vector<double> one(std::size_t r, const Rows& rows, std::size_t begin,
                          std::size_t end) const {
    switch (functions[r].kind) {
      case ParametricFunction::Kind::expression:
        return expressions[r]->evaluate(end - begin,
                                        gathered(rows, begin, end, expressions[r]->features()));
      case ParametricFunction::Kind::column:
        return gathered(rows, begin, end, {&columns[r], 1});
      case ParametricFunction::Kind::own:
        break;
    }
    std::vector<Index> all(features);
    for (std::size_t j = 0; j < features; ++j) all[j] = static_cast<Index>(j);
    std::vector<double> result;
    for (std::size_t row = begin; row < end; ++row)
      result.push_back(functions[r].function(gathered(rows, row, row + 1, all)));
    return result;
  }
};

std::string_view to_string(ParametricFunction::Kind kind) {
  switch (kind) {
    case ParametricFunction::Kind::expression:
      return "expression";
    case ParametricFunction::Kind::column:
      return "column";
    case ParametricFunction::Kind::own:
      return "own";
  }
  return "";
}

ParametricFunctions::ParametricFunctions(std::span<const ParametricFunction> functions,
                                         std::span<const std::string> names, std::size_t features) {
  auto parts = std::make_unique<Parts>();
  parts->features = features;
  for (const ParametricFunction& function : functions) {
    parts->functions.push_back(function);
    parts->expressions.emplace_back();
    parts->columns.push_back(0);
    if (function.kind == ParametricFunction::Kind::expression)
      parts->expressions.back().emplace(function.text, names, features);
    if (function.kind == ParametricFunction::Kind::column) {
      parts->columns.back() = column_named(function.text, names, features);
      parts->hidden.push_back(parts->columns.back());
    }
  }
  std::ranges::sort(parts->hidden);
  parts->hidden.erase(std::unique(parts->hidden.begin(), parts->hidden.end()), parts->hidden.end());
  parts_ = std::move(parts);
}

ParametricFunctions::~ParametricFunctions() = default;
ParametricFunctions::ParametricFunctions(ParametricFunctions&&) noexcept = default;

std::size_t ParametricFunctions::size() const { return parts_->functions.size(); }
bool ParametricFunctions::hides() const { return !parts_->hidden.empty(); }

const ParametricFunction* ParametricFunctions::user_of_first(std::size_t features) const {
  const auto early = [&](Index feature) { return feature < features; };
  for (std::size_t r = 0; r < size(); ++r) {
    const ParametricFunction& function = parts_->functions[r];
    if (function.kind == ParametricFunction::Kind::expression
            ? std::ranges::any_of(parts_->expressions[r]->features(), early)
            : function.kind == ParametricFunction::Kind::column && early(parts_->columns[r]))
      return &function;
  }
  return nullptr;
}

std::vector<double> ParametricFunctions::values(const Rows& rows, const Threads& threads,
                                                std::size_t first_row) const {
  for (const ParametricFunction& each : parts_->functions)
    if (each.kind == ParametricFunction::Kind::own && !each.function)
      throw Error(Fault::usage,
                  "the function '" + each.text +
                      "' of this model is one of its user, which a model file cannot hold",
                  "load the model from C++ and give it the function again");
  const std::size_t count = size();
  std::vector<double> result(rows.count * count);
  threads.split(rows.count, rows_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = 0; r < count; ++r) {
      const std::vector<double> some = parts_->one(r, rows, begin, end);
      for (std::size_t row = begin; row < end; ++row) result[row * count + r] = some[row - begin];
    }
  });
  for (std::size_t at = 0; at < result.size(); ++at)
    if (!std::isfinite(result[at]))
      throw Error(Fault::data,
                  "the function '" + parts_->functions[at % count].text + "' is " +
                      (std::isnan(result[at]) ? "nan" : shortest(result[at])) + " in row " +
                      std::to_string(first_row + at / count + 1),
                  "change the function, or leave such rows out");
  return result;
}

Features ParametricFunctions::visible(const Rows& rows, std::size_t columns) const {
  return placed(rows, none_like(rows, columns), [&](std::size_t, Index feature, double) {
    const bool is_hidden = std::ranges::binary_search(parts_->hidden, feature);
    return feature >= columns || is_hidden ? std::nullopt : std::optional(feature);
  });
}

}  // namespace maxmargin
