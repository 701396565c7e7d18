#pragma once

#include <functional>
#include <string>
#include <vector>

#include "maxmargin/libsvm/train.hpp"

namespace maxmargin {

/// The numbers that svm-train prints for one pair of classes, or for the one machine of other
/// types.
struct LibsvmReport {
  std::size_t rows = 0;  ///< of the pair
  std::uint64_t iterations = 0;
  double objective = 0;  ///< of the dual, as LIBSVM minimises it
  double rho = 0;
  double cost_first = 0, cost_second = 0;  ///< bounds of the coefficients of both classes
  double width = 0;                        ///< the width that nu determines, see Machine
  std::size_t dots = 0;                    ///< that have been printed already
};

/// The lines that svm-train prints about the machines of a model, in pieces: there may be tens of
/// thousands.
class LibsvmReporter {
 public:
  using Say = std::function<void(const std::string&)>;

  /// Keeps references to both.
  LibsvmReporter(const LibsvmModel& model, const Say& say);

  /// The lines about classes i < j (0 and 1 where there are none).
  void add(std::size_t i, std::size_t j, const LibsvmReport& report);
  void add(const std::string& lines);
  /// How many support vectors the classes have, if there are any.
  void end();

 private:
  struct Coefficients;
  Coefficients of_pair(std::size_t i, std::size_t j, const LibsvmReport& report) const;

  const LibsvmModel& model_;
  const Say& say_;
  std::vector<std::size_t> begin_;  // of each class among the support vectors
  std::string text_;                // that is not said yet
};

/// The line that says of a training that it has not converged.
std::string warning_of(Ended ended, double violation);

/// As printf's %g shows it.
std::string general(double value);

/// One dot stands for so many iterations.
std::size_t iterations_per_dot(std::size_t rows);

}  // namespace maxmargin
