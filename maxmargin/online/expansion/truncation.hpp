#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "maxmargin/base/field.hpp"
#include "maxmargin/base/named.hpp"
#include "maxmargin/online/expansion/expansion.hpp"

namespace maxmargin {

/// A decision function, f = scale * sum over the slots of coefficient * k(x_slot, .); with the
/// linear kernel the coefficients are weights of the features. f decays by one multiplication of
/// the scale.
struct OnlineMachine {
  double scale = 1;
  double bias = 0;
  double width = 0;         ///< rho, epsilon or sigma
  double dropped = 0;       ///< D, a bound of the norm of all that truncation has removed from f
  double squared_norm = 0;  ///< |f|^2; not known after a truncation
  double scale_sum = 0;     ///< averaging: sum over the steps t of t * scale
  double bias_sum = 0;      ///< the same of t * bias
  double width_sum = 0;     ///< the same of t * width
  std::vector<double> coefficient;
  /// Averaging: sum over t of t * (coefficient in f_t) = scale_sum * coefficient + correction.
  std::vector<double> correction;
};

/// A kernel expansion with its machines: what truncations work on.
struct OnlineTerms {
  OnlineTerms(const Kernel& kernel, bool averaging) : expansion(kernel), averages(averaging) {}

  Expansion expansion;
  std::vector<std::uint64_t> birth;  ///< by slot: the step that added the row
  std::vector<double> target;        ///< by slot: the row's label or class number
  std::vector<double> root_self;     ///< by slot: sqrt k(x_i, x_i); 0 in free slots
  std::vector<OnlineMachine> machines;
  bool averages;

  std::size_t add(const StreamRow& x, std::uint64_t step, double label);
  /// Removes a row; D of each machine grows by the norm of its term, |alpha| sqrt k(x,x).
  void drop(std::size_t slot);
  /// The row whose terms have the smallest norm, summed over the machines; slots(): there is none.
  std::size_t smallest();

 private:
  std::vector<double> total_;  ///< scratch of smallest()
};

struct NoTruncation {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view summary = "every row stays";
  static constexpr std::tuple<> fields{};
  void apply(std::uint64_t, OnlineTerms&) const {}
};

/// NORMA's truncation (LWK, algorithm 10.6): a row is removed after so many steps.
struct Horizon {
  int horizon = 1000;
  static constexpr std::string_view name = "horizon";
  static constexpr std::string_view summary = "rows are forgotten after so many steps";
  static constexpr auto fields =
      std::tuple{field("horizon", &Horizon::horizon, "steps that a row is remembered",
                       {1, 1e9, false, false, "of 1 or more"})};
  void apply(std::uint64_t step, OnlineTerms& terms) const;
};

/// How a row is removed (Wang, Crammer and Vucetic 2012).
enum class Removal {
  drop,     ///< with its term
  project,  ///< its term is projected on the span of the nearest rows
  merge     ///< it and another row become one row between them (rbf only)
};
template <>
struct Named<Removal> {
  static constexpr std::array<std::pair<Removal, std::string_view>, 3> values{
      {{Removal::drop, "drop"}, {Removal::project, "project"}, {Removal::merge, "merge"}}};
};

/// A budget of rows (Wang, Crammer and Vucetic 2012): the one whose term has the smallest norm is
/// removed.
struct Budget {
  int budget = 1000;
  Removal removal = Removal::drop;
  static constexpr std::string_view name = "budget";
  static constexpr std::string_view summary = "at most so many rows: the least one leaves";
  static constexpr auto fields = std::tuple{
      field("budget", &Budget::budget, "rows kept at most", {2, 1e9, false, false, "of 2 or more"}),
      field("removal", &Budget::removal, "how a row leaves: drop, project or merge")};
  void apply(std::uint64_t step, OnlineTerms& terms) const;

 private:
  static void project(OnlineTerms& terms, std::size_t slot);
  static void merge(OnlineTerms& terms, std::size_t slot);
};

/// Removes rows whose terms have the smallest norms, as long as D stays within a bound.
struct LargestError {
  double error = 0.01;
  static constexpr std::string_view name = "error";
  static constexpr std::string_view summary = "the least rows leave while D stays within a bound";
  static constexpr auto fields = std::tuple{
      field("error", &LargestError::error, "what all rows that left may add up to", positive)};
  void apply(std::uint64_t step, OnlineTerms& terms) const;
};

/// The list of truncations.
using Truncation = std::variant<NoTruncation, Horizon, Budget, LargestError>;

}  // namespace maxmargin
