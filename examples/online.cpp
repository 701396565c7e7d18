// Learns from a stream of rows, with at most 100 of them in memory, and saves a model.
#include <cstdio>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/online/learner.hpp"

using namespace maxmargin;

int main() {
  Rng rng(1);
  int errors = 0;
  Learner learner({.rule = SoftMarginRule{}, .kernel = Rbf{2}, .truncation = Budget{100}});
  for (std::uint64_t t = 0; t < 5000; ++t) {
    const double x[] = {rng.uniform(-1, 1), rng.uniform(-1, 1)};
    const Index features[] = {0, 1};
    const Learned learned = learner.learn({features, x, t}, x[0] * x[1] > 0 ? 1 : -1);
    errors += !learned.correct;
  }
  learner.save("stream.model", 5000);
  std::printf("%d of 5000 rows were predicted wrongly before they were learned\n", errors);
  return errors < 1000 ? 0 : 1;
}
