// A cost of one's own: log cosh, a smooth absolute error. What train() needs to know of a convex
// cost c(z) are its value and slope, and the conjugate c*(t), the largest t z - c(z), with two
// derivatives. A cost that is not convex is refused.
#include <cmath>
#include <cstdio>
#include <maxmargin/maxmargin.hpp>
#include <string>
#include <vector>

namespace {

maxmargin::OwnCost log_cosh() {
  return {"log cosh",
          [](double z) { return std::log(std::cosh(z)); },
          [](double z) { return std::tanh(z); },
          [](double t) {
            const auto part = [](double x) { return x > 0 ? x * std::log(x) / 2 : 0.0; };
            return part(1 + t) + part(1 - t);
          },
          [](double t) { return std::atanh(t); },
          [](double t) { return 1 / (1 - t * t); },
          -1,
          1};
}

}  // namespace

int main() {
  std::vector<double> x, y;
  for (int i = 0; i < 60; ++i) {
    x.push_back(0.1 * i);
    y.push_back(std::sin(0.1 * i) + (i % 15 == 7 ? 5 : 0));  // with four outliers
  }
  const auto data = maxmargin::Dataset::dense(x, 1).labels(y);
  maxmargin::Options options{{"task", "svr"}, {"gamma", 1}, {"cost", 1}};
  options.own_cost(log_cosh());
  const auto model = maxmargin::train(data, options);
  const double at_outlier = model.predict(data)[37];
  std::printf("at 3.7, where the truth is %.2f and the label %.2f: %.2f\n", std::sin(3.7), y[37],
              at_outlier);

  maxmargin::OwnCost hat = log_cosh();
  hat.value = [](double z) { return 1 - std::exp(-z * z); };
  bool refused = false;
  try {
    maxmargin::train(data, maxmargin::Options{{"task", "svr"}}.own_cost(hat));
  } catch (const maxmargin::Error& error) {
    refused = true;
    std::printf("%s\n", error.what());
  }
  return refused && std::abs(at_outlier - std::sin(3.7)) < 0.5 ? 0 : 1;
}
