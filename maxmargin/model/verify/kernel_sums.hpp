#pragma once

#include <functional>
#include <span>
#include <vector>

#include "maxmargin/model/model.hpp"
#include "maxmargin/model/verify/enclosed.hpp"

namespace maxmargin {

/// What kernel values are computed in. Their errors are bounded in both: see kernel_sums.cpp.
enum class Arithmetic { doubles, extended };
std::string_view to_string(Arithmetic arithmetic);

/// g = sum over a machine's support vectors of coefficient times K, at one row.
struct KernelSum {
  Enclosed g;
  Extended size = 0;  ///< sum of |coefficient K|
};

/// Computes g of every machine at every row, from the definition of the kernel, by code of its own
/// that shares nothing with the engines.
class KernelSums {
 public:
  /// `rows` are the training rows after scaling. Throws Error for a kernel without its function.
  KernelSums(const Model& model, const Rows& rows, Arithmetic arithmetic);
  ~KernelSums();

  /// Calls take(row, sums of all machines) once for every row, by several threads.
  void compute(const Threads& threads,
               const std::function<void(std::size_t, std::span<const KernelSum>)>& take) const;

  /// An upper bound of |K(row, row)|.
  Extended diagonal(std::size_t row) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace maxmargin
