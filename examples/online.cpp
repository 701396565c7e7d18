// Learns from a stream of rows, with at most 100 of them in memory, and saves a model.
#include <cstdio>
#include <maxmargin/maxmargin.hpp>
#include <random>

int main() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> draw(-1, 1);
  int errors = 0;
  maxmargin::Learner learner(
      {{"kernel", "rbf"}, {"gamma", 2}, {"truncate", "budget"}, {"budget", 100}});
  for (int t = 0; t < 5000; ++t) {
    const double x[] = {draw(random), draw(random)};
    errors += !learner.learn(x, x[0] * x[1] > 0 ? 1.0 : -1.0).correct;
  }
  learner.save("stream.model");
  std::printf("%d of 5000 rows were predicted wrongly before they were learned\n", errors);
  return errors < 1000 ? 0 : 1;
}
