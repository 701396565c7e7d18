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

/// One decision function of a stream, f = scale * sum over slots of coefficient * k (over features,
/// coefficient * value, for the linear kernel): a decay of f is one multiplication.
struct OnlineMachine {
  double scale = 1;
  double bias = 0;
  double width = 0;         ///< rho, epsilon or sigma
  double dropped = 0;       ///< D: the norm of what truncation has taken from f is at most this
  double squared_norm = 0;  ///< |f|^2, where nothing was truncated
  double scale_sum = 0;     ///< sum over the steps t of t * scale, for the average
  double bias_sum = 0;      ///< and of t * bias
  double width_sum = 0;     ///< and of t * width
  std::vector<double> coefficient;
  /// Averaging only: the sum over steps of t * (coefficient in f) is scale_sum * coefficient +
  /// this.
  std::vector<double> correction;
};

/// All of a kernel expansion that a truncation may touch.
struct OnlineTerms {
  OnlineTerms(const Kernel& kernel, bool averaging) : expansion(kernel), averages(averaging) {}

  Expansion expansion;
  std::vector<std::uint64_t> birth;  ///< of each slot: the step that added it
  std::vector<double> target;        ///< of each slot: its label, or the number of its class
  std::vector<double> root_self;     ///< sqrt k(x_i, x_i) of each slot in use, 0 otherwise
  std::vector<OnlineMachine> machines;
  bool averages;

  std::size_t add(const StreamRow& x, std::uint64_t step, double label);
  /// Forgets a row; D of each machine grows by what it had.
  void drop(std::size_t slot);
  /// The row that has the least part in all machines together; slots() if there is none.
  std::size_t smallest();
  double part(std::size_t slot) const;  ///< its |alpha| sqrt k(x,x), summed over the machines

 private:
  std::vector<double> total_;
};

struct NoTruncation {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view summary = "every row stays";
  static constexpr std::tuple<> fields{};
  void apply(std::uint64_t, OnlineTerms&) const {}
};

/// Rows are forgotten after so many steps (algorithm 10.6).
struct Horizon {
  int horizon = 1000;
  static constexpr std::string_view name = "horizon";
  static constexpr std::string_view summary = "rows are forgotten after so many steps";
  static constexpr auto fields =
      std::tuple{field("horizon", &Horizon::horizon, "steps that a row is remembered",
                       {1, 1e9, false, false, "of 1 or more"})};
  void apply(std::uint64_t step, OnlineTerms& terms) const;
};

/// What happens to the row that has to leave.
enum class Removal {
  drop,     ///< it is forgotten
  project,  ///< those most like it take over its part, as well as they can
  merge     ///< it and the one most like it become one between them (rbf)
};
template <>
struct Named<Removal> {
  static constexpr std::array<std::pair<Removal, std::string_view>, 3> values{
      {{Removal::drop, "drop"}, {Removal::project, "project"}, {Removal::merge, "merge"}}};
};

/// At most so many rows (Wang, Crammer and Vucetic 2012): the one with the least part leaves.
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

/// Rows with the least part leave as long as D stays within this.
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
