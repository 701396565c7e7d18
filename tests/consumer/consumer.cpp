// Uses the installed library: trains on four points and predicts another.
#include <cstdio>
#include <maxmargin/maxmargin.hpp>

int main() {
  const std::vector<double> values{0, 0, 1, 1, 0, 1, 1, 0}, labels{1, 1, 2, 2};
  const auto model = maxmargin::train(maxmargin::Dataset::dense(values, 2).labels(labels),
                                      {{"cost", 10}, {"threads", 1}});
  const double label = model.predict(maxmargin::Dataset::from({{0.1, 0.1}})).at(0);
  std::printf("class %g, relative gap %g\n", label, model.certificate().relative_gap);
  return label == 1 ? 0 : 1;
}
