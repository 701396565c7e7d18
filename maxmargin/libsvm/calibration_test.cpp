#include "maxmargin/libsvm/calibration.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace maxmargin::libsvm_calibration_test {
namespace {

TEST(LibsvmCalibration, NoiseLeavesOutliersOut) {
  EXPECT_DOUBLE_EQ(libsvm_noise(std::vector<double>{1, -2, 3}), 2);
  // Mean 12.8 / 11, five deviations 8.2: 10 is out.
  std::vector<double> errors(10, 0.28);
  errors.push_back(10);
  EXPECT_DOUBLE_EQ(libsvm_noise(errors), 0.28);
}

TEST(LibsvmCalibration, DensityMarksAreTheMiddlesOfBinsOfEqualCounts) {
  std::vector<double> f;
  for (int i = 1; i <= 10; ++i) f.push_back(-i);
  for (int i = 0; i < 5; ++i) f.push_back(2 * i + 1);
  const auto marks = libsvm_density_marks(f);
  ASSERT_TRUE(marks);
  EXPECT_EQ(*marks, (DensityMarks{-9, -7, -5, -3, -1, 0.5, 2, 4, 6, 8}));
  EXPECT_EQ(libsvm_density(*marks, -9.5), 0.001);
  EXPECT_EQ(libsvm_density(*marks, -9), 0.1);
  EXPECT_EQ(libsvm_density(*marks, 0), 0.5);
  EXPECT_EQ(libsvm_density(*marks, 7), 0.9);
  EXPECT_EQ(libsvm_density(*marks, 8.5), 0.999);
  EXPECT_FALSE(libsvm_density_marks(std::vector<double>(20, 1.0)));
}

}  // namespace
}  // namespace maxmargin::libsvm_calibration_test
