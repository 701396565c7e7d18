// Writes made data for two classes in LIBSVM's format: `made_rows linear|curved FILE ROWS
// FEATURES`. linear: normal features, the sign of a linear function with noise; curved: uniform
// features in
// [-1, 1], the sign of a sum of waves and products with noise. The same file on every machine.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "maxmargin/base/rng.hpp"

namespace {

double plane(const std::vector<double>& x) {
  double sum = 0.2;
  for (std::size_t j = 0; j < x.size(); ++j) sum += x[j] / static_cast<double>(1 + j % 5);
  return sum;
}

double waves(const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t j = 0; j + 1 < x.size(); j += 2) sum += std::sin(3 * x[j]) + 2 * x[j] * x[j + 1];
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: made_rows linear|curved FILE ROWS FEATURES\n");
    return 2;
  }
  const bool linear = std::strcmp(argv[1], "linear") == 0;
  std::FILE* file = std::fopen(argv[2], "w");
  if (file == nullptr) {
    std::perror(argv[2]);
    return 6;
  }
  const long rows = std::atol(argv[3]);
  maxmargin::Rng rng(1);
  std::vector<double> x(static_cast<std::size_t>(std::atol(argv[4])));
  for (long i = 0; i < rows; ++i) {
    for (double& value : x) value = linear ? rng.normal() : rng.uniform(-1, 1);
    const double f = linear ? plane(x) + rng.normal() : waves(x) + 0.5 * rng.normal();
    std::fputs(f > 0 ? "+1" : "-1", file);
    for (std::size_t j = 0; j < x.size(); ++j) std::fprintf(file, " %zu:%.5f", j + 1, x[j]);
    std::fputc('\n', file);
  }
  if (std::fclose(file) != 0) {
    std::perror(argv[2]);
    return 6;
  }
}
