// Residual traces of sparse greedy matrix approximations of a Gaussian kernel matrix:
//
//   sgma FILE POINTS RANK SELECTION CANDIDATES WIDTH [threads]
//
// over the first POINTS rows of a data file, each feature with mean 0 and deviation 1, and a kernel
// exp(-|x - z|^2 / (WIDTH d)) with d features. SELECTION is sgma, random, pivoted, or pca, the sum
// of the eigenvalues that the best subspace of each dimension leaves out. Prints one number a line,
// tr(K - K~) after 1, 2, ... basis functions.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/data/scaling.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/problem/matrix/low_rank/approximate.hpp"

namespace {

using namespace maxmargin;

std::shared_ptr<const Features> scaled_rows(const std::string& file, std::size_t points,
                                            const Threads& threads) {
  Dataset data = read(file, {}, threads);
  std::vector<Index> first;
  for (std::size_t i = 0; i < std::min(points, data.rows()); ++i)
    first.push_back(static_cast<Index>(i));
  Features some = none_like(data.x);
  some.append(data.x.view(), first);
  constexpr std::size_t any_memory = ~std::size_t{0};
  apply(learn_scaling(some, ScalingKind::deviation, any_memory), some);
  return std::make_shared<const Features>(std::move(some));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fprintf(stderr, "usage: sgma FILE POINTS RANK SELECTION CANDIDATES WIDTH [threads]\n");
    return 2;
  }
  try {
    const Threads threads(argc > 7 ? std::atoi(argv[7]) : 0);
    const auto rows = scaled_rows(argv[1], static_cast<std::size_t>(std::atol(argv[2])), threads);
    const auto rank = static_cast<std::size_t>(std::atol(argv[3]));
    const std::string selection = argv[4];
    const double width = std::atof(argv[6]) * static_cast<double>(rows->columns());
    const auto K = make_kernel_quadratic(Rbf{.gamma = 1 / width}, rows);
    std::vector<double> residual;
    if (selection == "pca") {
      residual = principal_residuals(*K, rank, threads);
    } else {
      Approximate options;
      const auto named = selection_named(selection);
      if (!named) throw Error(Fault::usage, "there is no selection '" + selection + "'", "");
      options.selection = *named;
      options.rank = rank;
      options.candidates = static_cast<std::size_t>(std::atol(argv[5]));
      residual = approximate(*K, options, threads).residual;
    }
    for (const double value : residual) std::printf("%.8g\n", value);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sgma: %s\n", error.what());
    return 3;
  }
}
