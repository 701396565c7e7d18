#include "maxmargin/train/machines/approximation.hpp"

#include <algorithm>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/certify/enclosure.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/problem/matrix/biased.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/train/machines/machines.hpp"

namespace maxmargin {
namespace {

constexpr double seconds_between_reports = 0.1;
// The share of the time for the approximation; the rest is the solver's.
constexpr double share_of_time = 0.5;

std::shared_ptr<const Quadratic> kernel_over(const Examples& data, const Kernel& kernel,
                                             const std::vector<Index>& rows) {
  if (is_given(kernel)) return make_kernel_quadratic(kernel, data.x, rows, data.definite);
  if (rows.size() == data.x->count()) return make_kernel_quadratic(kernel, data.x);
  Features some = none_like(*data.x);
  some.append(data.x->view(), rows);
  return make_kernel_quadratic(kernel, std::make_shared<const Features>(std::move(some)));
}

}  // namespace

namespace {

/// The basis functions that Z may have within its part of the memory; the rest is the solver's.
std::size_t most_basis_functions(std::size_t points, std::size_t asked, MemoryBudget memory) {
  constexpr std::size_t megabyte = std::size_t{1} << 20;
  const std::size_t column = sizeof(double) * std::max<std::size_t>(1, points);
  const std::size_t most = std::min(points, memory.low_rank().bytes / column);
  const std::size_t least = std::max<std::size_t>(1, std::min(asked, points));
  if (least <= most) return most;
  throw Error(
      Fault::usage,
      std::to_string(least) + " basis functions of " + std::to_string(points) + " rows need " +
          std::to_string(2 * column * least / megabyte + 1) + " MB beside the data, and " +
          std::to_string(memory.bytes / megabyte) + " are left for them",
      most > 0 ? "give more --memory, or --rank " + std::to_string(most) : "give more --memory");
}

}  // namespace

ApproximatedKernel approximate_kernel(const Examples& data, const TrainOptions& options,
                                      const Context& context) {
  ApproximatedKernel result;
  const bool by_number = data.first_equal.empty();
  result.point_of_row.resize(data.x->count());
  for (Index row = 0; row < data.x->count(); ++row) {
    const Index leader = by_number ? row : data.first_equal[row];
    if (leader == row) {
      result.point_of_row[row] = static_cast<Index>(result.row_of_point.size());
      result.row_of_point.push_back(row);
    } else {
      result.point_of_row[row] = result.point_of_row[leader];
    }
  }
  const Stopwatch clock;
  double last_report = 0;
  const GoOn go_on = [&] {
    const double seconds = clock.seconds();
    if (seconds >= share_of_time * std::min(options.stop.seconds, context.seconds)) return false;
    if (!context.observer || seconds - last_report < seconds_between_reports) return true;
    last_report = seconds;
    Progress progress;
    progress.phase = "approximate";
    progress.seconds = seconds;
    return context.observer(progress) == Control::proceed;
  };
  Approximate how = *options.approximate;
  how.seed = options.seed;
  const std::size_t most =
      most_basis_functions(result.row_of_point.size(), how.rank, memory_for(options, context));
  // Without a rank the residual decides, as far as there is room.
  if (how.rank == 0 && options.memory_bytes > 0) {
    if (how.residual == 0) how.residual = 1e-3;  // as without a rank
    how.rank = most;
  }
  result.low = approximate(*kernel_over(data, options.kernel, result.row_of_point), how,
                           context.threads, go_on);
  result.seconds = clock.seconds();
  return result;
}

std::vector<std::pair<Index, double>> basis_coefficients(const ApproximatedKernel& kernel,
                                                         const Formulated& formulated,
                                                         std::span<const double> a,
                                                         const Threads& threads) {
  std::vector<double> beta(kernel.row_of_point.size(), 0.0);
  const std::vector<double> own = formulated.qp.coefficients(a);
  for (std::size_t p = 0; p < own.size(); ++p)
    beta[kernel.point_of_row[formulated.point_rows[p]]] += own[p];
  const std::vector<double> w = kernel.low.basis_coefficients(beta, threads);
  std::vector<std::pair<Index, double>> result;
  for (std::size_t j = 0; j < w.size(); ++j)
    if (w[j] != 0) result.emplace_back(kernel.row_of_point[kernel.low.basis[j]], w[j]);
  std::sort(result.begin(), result.end());
  return result;
}

double true_dual(const Examples& data, const Kernel& kernel, const Formulated& formulated,
                 std::span<const double> a, const Threads& threads) {
  auto K = kernel_over(data, kernel, formulated.point_rows);
  if (formulated.is_biased) K = make_biased(std::move(K));
  const std::vector<double> beta = formulated.qp.coefficients(a);
  std::vector<double> f(K->size());
  K->multiply(beta, f, Precision::fast, threads);
  DualQp qp = formulated.qp;
  qp.K = std::move(K);
  const double error = product_error(*qp.K, beta, Precision::fast) + coefficient_error(qp, a);
  return enclose(qp, a, f, {error}, std::vector<double>(qp.A.size(), 0.0)).dual;
}

}  // namespace maxmargin
