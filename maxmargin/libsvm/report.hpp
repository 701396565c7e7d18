#pragma once

#include <string>

#include "maxmargin/libsvm/train.hpp"

namespace maxmargin {

/// What svm-train prints about one pair of classes, or about the one machine of other types.
struct LibsvmReport {
  std::size_t rows = 0;  ///< of the pair
  std::uint64_t iterations = 0;
  double objective = 0;  ///< of the dual, as LIBSVM minimises it
  double rho = 0;
  double cost_first = 0, cost_second = 0;  ///< bounds of the coefficients of both classes
  double width = 0;                        ///< what nu has chosen, see Machine
};

/// The lines about classes i and j (0 and 1 where there are none) of a trained model. `dots`:
/// dots that have been printed already.
std::string report_lines(const LibsvmModel& model, std::size_t i, std::size_t j,
                         const LibsvmReport& report, std::size_t dots = 0);

/// As printf's %g shows it.
std::string general(double value);

/// One dot stands for so many iterations.
std::size_t iterations_per_dot(std::size_t rows);

}  // namespace maxmargin
