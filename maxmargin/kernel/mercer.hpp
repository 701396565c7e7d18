#pragma once

#include "maxmargin/base/threads.hpp"
#include "maxmargin/kernel/kernels.hpp"

namespace maxmargin {

/// Is the Gram matrix of (a sample of) these rows positive semi-definite, and by how much not (K2).
struct Mercer {
  std::size_t sample = 0;  ///< rows looked at
  double smallest = 0;     ///< eigenvalues of the Gram matrix of the sample
  double largest = 0;
  double negative_share = 0;  ///< sum of |negative eigenvalues| / sum of all |eigenvalues|
  double asymmetry = 0;       ///< precomputed only: largest |K_ij - K_ji|
  bool holds = false;         ///< smallest >= -rounding of the largest
};
Mercer mercer_check(const Kernel& kernel, const Rows& rows, std::size_t most_rows,
                    std::uint64_t seed, const Threads& threads);

}  // namespace maxmargin
