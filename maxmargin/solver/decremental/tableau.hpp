#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// Of a product of matrices that stand by rows: those of the first, what is summed over, columns of
/// the second.
struct ProductShape {
  std::size_t rows, inner, columns;
};
struct MatrixView {
  const double* values;
  std::size_t stride;
};
/// C += factor A B. To be called under a SerialBlas.
void add_product(const ProductShape& shape, double factor, MatrixView A, MatrixView B, double* C,
                 std::size_t stride);

/// Rows of Q without its curvatures, s_v s_w K(row_v, row_w) over all variables w, in double. Each
/// is computed once and kept; several threads may ask.
class SignedRows {
 public:
  explicit SignedRows(const DualQp& qp) : qp_(qp) {}

  /// Computes those that are not there yet.
  void compute(std::span<const Index> variables, const Threads& threads);
  const std::vector<double>& of(Index v);

 private:
  /// The rows of some variables, at once.
  std::vector<std::vector<double>> computed(std::span<const Index> variables) const;

  const DualQp& qp_;
  std::map<Index, std::vector<double>> rows_;
  std::mutex busy_;
};

/// The principal pivot of the optimality conditions g = Q a + p + A'lambda, A a = d on the
/// variables F that are free, for a DualQp with at most one equality row (Cauwenberghs and Poggio
/// 2000). With G the inverse of [Q_FF A_F'; A_F 0], the changes on the left follow from those on
/// the right,
///
///   (a_F, lambda)  =  [ G        -G Q_FN              ]  g_F
///   g_N               [ Q_NF G   Q_NN - Q_NF G Q_FN   ]  a_N
///
/// where N are all others. Variables have positions, the free ones the first of them; a column has
/// an entry for each position and one more, that of lambda. All columns of F take O(positions F^2 +
/// F^3), each other one O(positions F).
class Tableau {
 public:
  /// `order`: the variables by position, of which the first `free` are free. Nothing where
  /// their matrix is singular in spite of a ridge.
  static std::optional<Tableau> make(const DualQp& qp, std::vector<Index> order, std::size_t free,
                                     SignedRows& rows, const Threads& threads);

  std::size_t free() const { return free_; }
  std::size_t positions() const { return variables_.size(); }
  std::size_t stride() const { return variables_.size() + 1; }
  Index variable(std::size_t position) const { return variables_[position]; }
  /// Of a variable, or `none`.
  Index position(Index v) const { return position_of_[v]; }
  static constexpr Index none = 0xffffffffu;

  /// The column of a free variable.
  const double* free_column(std::size_t position) const {
    return &free_columns_[position * stride()];
  }
  /// Those of variables that are not free, one after another.
  std::vector<double> columns(std::span<const Index> variables, SignedRows& rows,
                              const Threads& threads) const;

 private:
  Tableau(const DualQp& qp, std::vector<Index> order, std::size_t free);
  bool invert(SignedRows& rows, const Threads& threads);
  void fill_free_columns(const Threads& threads);
  double border(Index v) const { return qp_->A.empty() ? 0.0 : qp_->A[0][v]; }

  const DualQp* qp_;
  std::vector<Index> variables_, position_of_;
  std::size_t free_, order_;  ///< order_: of G, one more where there is an equality row
  double ridge_ = 0;
  std::vector<double> G_;      ///< order_ x order_
  std::vector<double> pivot_;  ///< Q_F of all positions, and A: order_ rows
  std::vector<double> free_columns_;
};

}  // namespace maxmargin
