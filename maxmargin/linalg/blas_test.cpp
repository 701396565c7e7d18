#include "maxmargin/linalg/blas.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace maxmargin::blas_test {
namespace {

// The second differences, 2 on the diagonal and -1 beside it: eigenvalues 2 - 2 cos(k pi / (n+1)).
constexpr int n = 7;
std::vector<double> differences() {
  std::vector<double> a(n * n, 0.0);
  for (int i = 0; i < n; ++i) {
    a[static_cast<std::size_t>(i * n + i)] = 2;
    if (i > 0) a[static_cast<std::size_t>(i * n + i - 1)] = -1;
    if (i > 0) a[static_cast<std::size_t>((i - 1) * n + i)] = -1;
  }
  return a;
}
double eigenvalue(int k) { return 2 - 2 * std::cos(k * M_PI / (n + 1)); }

TEST(Blas, EigenvaluesAreThoseOfTheTextbook) {
  std::vector<double> values(n);
  for (const auto solve : {syev, syevd}) {
    std::vector<double> a = differences();
    ASSERT_EQ(solve('U', n, a.data(), n, values.data()), 0);
    for (int k = 1; k <= n; ++k)
      EXPECT_NEAR(values[static_cast<std::size_t>(k - 1)], eigenvalue(k), 1e-13);
  }
  std::vector<double> a = differences();
  ASSERT_EQ(syevr('L', n, a.data(), n, 3, 5, values.data()), 0);
  for (int k = 3; k <= 5; ++k)
    EXPECT_NEAR(values[static_cast<std::size_t>(k - 3)], eigenvalue(k), 1e-13);
}

TEST(Blas, FactorsSolve) {
  const std::vector<double> a = differences();
  std::vector<double> x(n), b(n), factor = a;
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = i * i - 3;
  blas().cblas_dgemv(CblasColMajor, CblasNoTrans, n, n, 1, a.data(), n, x.data(), 1, 0, b.data(),
                     1);
  std::vector<int> pivots(n);
  ASSERT_EQ(sytrf('U', n, factor.data(), n, pivots.data()), 0);
  ASSERT_EQ(sytrs('U', n, 1, factor.data(), n, pivots.data(), b.data(), n), 0);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(b[i], x[i], 1e-12);
  factor = a;
  ASSERT_EQ(potrf('U', n, factor.data(), n), 0);
  EXPECT_NEAR(factor[0], std::sqrt(2.0), 1e-15);
  factor[0] = -1;
  EXPECT_NE(potrf('U', n, factor.data(), n), 0);
}

#if HWY_ARCH_X86
// The operating system's list of what the processor can do.
TEST(SimdTargets, AreThoseOfTheProcessor) {
  std::ifstream in("/proc/cpuinfo");
  std::string line;
  while (std::getline(in, line) && !line.starts_with("flags")) {
  }
  const auto has = [&](const std::string& flags) {
    std::istringstream words(flags);
    for (std::string flag; words >> flag;)
      if ((line + " ").find(" " + flag + " ") == std::string::npos) return false;
    return true;
  };
  ASSERT_FALSE(line.empty()) << "the system does not tell";
  const std::int64_t targets = hwy::SupportedTargets();
  const std::string avx2 = "avx avx2 fma f16c bmi1 bmi2 abm ";
  const std::string avx512 = avx2 + "avx512f avx512vl avx512dq avx512bw avx512cd ";
  EXPECT_EQ((targets & HWY_SSE4) != 0, has("sse4_1 sse4_2 pclmulqdq aes"));
  EXPECT_EQ((targets & HWY_AVX2) != 0, has(avx2));
  EXPECT_EQ((targets & HWY_AVX3) != 0, has(avx512));
  EXPECT_EQ((targets & HWY_AVX3_DL) != 0,
            has(avx512 + "avx512vbmi avx512_vbmi2 avx512_vnni avx512_bitalg avx512_vpopcntdq "
                         "vpclmulqdq vaes gfni"));
}
#endif

}  // namespace
}  // namespace maxmargin::blas_test
