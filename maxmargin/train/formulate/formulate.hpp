#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "maxmargin/data/dataset.hpp"
#include "maxmargin/kernel/kernels.hpp"
#include "maxmargin/loss/losses.hpp"
#include "maxmargin/problem/context.hpp"
#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/problem/matrix/low_rank/approximate.hpp"
#include "maxmargin/task/task.hpp"
#include "maxmargin/train/formulate/functions.hpp"

namespace maxmargin {

/// The kernel over all rows, approximated.
struct ApproximatedKernel {
  Approximated low;
  std::vector<Index> row_of_point;  ///< of each point of it, the first of the rows that are equal
  std::vector<Index> point_of_row;
  double seconds = 0;  ///< that it took
};

/// The training rows after scaling, and what all problems made from them share.
struct Examples {
  std::shared_ptr<const Features> x;
  std::vector<Index> first_equal;  ///< see data/equal_rows.hpp
  Definite definite = Definite::yes;
  /// Where several problems are made: the kernel matrix over all different rows, class by class, so
  /// that the rows of a few classes are a few stretches of it; and the point of each first row.
  std::shared_ptr<const Quadratic> K = nullptr;
  std::vector<Index> point = {};
  std::shared_ptr<const ApproximatedKernel> approximation =
      nullptr;                    ///< in place of the kernel; may be null
  FunctionValues functions = {};  ///< unpenalised ones besides the bias
};

/// Makes K; kernel values that several problems need take up to `room`.
void share_matrix(Examples& data, std::span<const std::vector<Index>> rows_of_classes,
                  const Kernel& kernel, MemoryBudget room, const Context& context);

/// One example of one problem: its row, target (+1, -1 or a number) and cost.
struct Example {
  Index row;
  double target;
  double cost;
  /// Of predicting too much, where that costs something else: `cost` is that of too little then.
  std::optional<double> cost_over{};
};
/// A row that costs `factor` times as much.
inline void scale_cost(Example& example, double factor) {
  example.cost *= factor;
  if (example.cost_over) *example.cost_over *= factor;
}

/// A problem over some examples, and which variables each example has a share in.
struct Formulated {
  DualQp qp;
  struct Share {
    Index row;  ///< of the examples' data
    Index variable;
    double part;  ///< of the variable's value
  };
  std::vector<Share> shares;
  std::vector<Index> point_rows;         ///< a row of the data for each point of K
  bool is_biased = false;                ///< K is K + 1
  std::optional<FunctionBasis> basis{};  ///< of the unpenalised functions, if there are any
  /// The rows of the functions as they are given, in place of those of the basis.
  std::vector<std::vector<double>> given_rows{};

  /// The coefficient of each row of the data in f, for the rows where it is not zero.
  std::vector<std::pair<Index, double>> coefficients(std::span<const double> a) const;

  /// The threshold or thresholds of the machine and the coefficients of its functions, from the
  /// multipliers of the rows.
  std::vector<double> unpenalised(std::vector<double> lambda, std::span<const double> a) const;

  /// The same of multipliers that are those of the functions as they are given.
  std::vector<double> with_bias(std::vector<double> lambda, std::span<const double> a) const;
};

/// min 1/2 |w|^2 + sum of the losses. With an unpenalised bias: one equality row, sum s a = 0, or
/// as the nu of the loss says; then a row for each sign, that of +1 first, if the loss has two
/// sides. With a penalised one K + 1 replaces K, and there is no row, as without a bias;
/// but of a loss with a nu the one row of its width, sum a = nu times all costs.
/// A row more for each of the unpenalised functions, in the basis of FunctionBasis.
/// Equal rows share a point of K, and equal blocks on it one variable with the summed bounds: a row
/// of weight 3 is the same problem as that row three times.
Formulated formulate(const Examples& data, std::span<const Example> examples, const Loss& loss,
                     const Kernel& kernel, Bias bias = Bias::unpenalised,
                     const Context& context = Threads(1));

/// The same problem, K and variables included, without some of its examples: `left_out[row]`.
/// Variables without an example are fixed at 0.
Formulated without(const Formulated& whole, std::span<const Example> examples, const Loss& loss,
                   Bias bias, const std::vector<bool>& left_out);

}  // namespace maxmargin
