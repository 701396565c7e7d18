#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "maxmargin/data/dataset.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

// Debian's svm-train and svm-predict as witnesses.
namespace maxmargin {

/// A folder where Debian's programs run.
class Folder : public TemporaryFolder {
 public:
  /// What Debian's program prints; it must end well.
  std::string run(const std::string& words) const {
    const std::string command = "cd '" + path().string() + "' && /usr/bin/" + words + " > log 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << words << "\n" << text_of(*this / "log");
    return text_of(*this / "log");
  }
};

inline std::vector<double> printed_behind(const std::string& log, const std::string& name) {
  std::vector<double> all;
  for (std::size_t at = log.find(name); at != std::string::npos; at = log.find(name, at + 1))
    all.push_back(std::atof(log.c_str() + at + name.size()));
  return all;
}

/// The objectives of all trainings. LIBSVM divides that of nu-SVC by the squared margin, which is
/// known to the tolerance of the multipliers only: that is taken back, with C = 1 / margin.
struct Objectives {
  std::vector<double> value, rounding;  ///< of the six decimals that are printed

  explicit Objectives(const std::string& log) : value(printed_behind(log, "obj = ")) {
    const std::vector<double> C = printed_behind(log, "\nC = ");
    for (std::size_t k = 0; k < value.size(); ++k) {
      const double factor = C.empty() ? 1 : 1 / (C[k] * C[k]);
      value[k] *= factor;
      rounding.push_back(1e-6 * factor + (C.empty() ? 0 : 2e-6 / C[k] * std::abs(value[k])));
    }
  }
};

inline std::string libsvm_lines(const Dataset& data) {
  std::ostringstream out;
  const Rows x = data.x;
  for (std::size_t i = 0; i < x.count; ++i) {
    out << shortest(data.y[i]);
    x.for_each(i, [&](Index feature, double value) {
      if (value != 0) out << ' ' << feature + 1 << ':' << shortest(value);
    });
    out << '\n';
  }
  return out.str();
}

}  // namespace maxmargin
