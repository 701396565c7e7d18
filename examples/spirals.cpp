// Writes two interleaved, noisy spirals in LIBSVM format: a small classification problem with a
// curved border.
//
//   spirals ROWS SEED > FILE
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numbers>

/// SplitMix64: the same sequence on every machine, unlike the distributions of <random>.
struct Random {
  std::uint64_t state;

  double uniform() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  /// By Box and Muller.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
};

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: spirals ROWS SEED\n", stderr);
    return 2;
  }
  const long rows = std::atol(argv[1]);
  Random random{static_cast<std::uint64_t>(std::atoll(argv[2]))};
  const double turns = 1.5, noise = 0.05;
  for (long i = 0; i < rows; ++i) {
    const bool first = i % 2 == 0;
    const double along = std::sqrt(0.02 + (1 - 0.02) * random.uniform());
    const double angle = 2 * std::numbers::pi * (turns * along + (first ? 0 : 0.5));
    const double x = along * std::cos(angle) + noise * random.normal();
    const double y = along * std::sin(angle) + noise * random.normal();
    std::printf("%s 1:%.6f 2:%.6f\n", first ? "+1" : "-1", x, y);
  }
}
