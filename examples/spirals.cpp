// Writes two interleaved, noisy spirals in LIBSVM format: a small classification problem with a
// curved border.
//
//   spirals ROWS SEED > FILE
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

#include "maxmargin/base/rng.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: spirals ROWS SEED\n", stderr);
    return 2;
  }
  const long rows = std::atol(argv[1]);
  maxmargin::Rng rng(static_cast<std::uint64_t>(std::atoll(argv[2])));
  const double turns = 1.5, noise = 0.05;
  for (long i = 0; i < rows; ++i) {
    const bool first = i % 2 == 0;
    const double along = std::sqrt(rng.uniform(0.02, 1));
    const double angle = 2 * std::numbers::pi * (turns * along + (first ? 0 : 0.5));
    const double x = along * std::cos(angle) + noise * rng.normal();
    const double y = along * std::sin(angle) + noise * rng.normal();
    std::printf("%s 1:%.6f 2:%.6f\n", first ? "+1" : "-1", x, y);
  }
}
