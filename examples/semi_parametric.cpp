// Fits a curve of which a part is known: two functions get coefficients of their own that cost
// nothing, the kernel explains what is left.
#include <cmath>
#include <cstdio>
#include <maxmargin/maxmargin.hpp>
#include <random>

int main() {
  std::vector<double> x, y;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> anywhere(0, 10);
  std::normal_distribution<double> noise(0, 0.05);
  for (int i = 0; i < 300; ++i) {
    x.push_back(anywhere(random));
    y.push_back(3 * std::sin(x.back()) - 0.5 * x.back() +
                std::exp(-(x.back() - 5) * (x.back() - 5)) + noise(random));
  }

  maxmargin::Options options{
      {"task", "svr"}, {"cost", 1}, {"epsilon", 0.05}, {"gamma", 1}, {"parametric", "x1"}};
  options.own_function("the sine", [](std::span<const double> row) { return std::sin(row[0]); });
  const auto model = maxmargin::train(maxmargin::Dataset::dense(x, 1).labels(y), options);

  const auto coefficient = model.function_coefficients();
  std::printf("%+.3f times x1\n%+.3f times the sine\n", coefficient[0], coefficient[1]);

  // Far from all data only the functions and the bias speak.
  const std::vector<double> far{100, 101};
  const auto f = model.predict(maxmargin::Dataset::dense(far, 1));
  const double expected = coefficient[0] + coefficient[1] * (std::sin(101) - std::sin(100));
  std::printf("f(101) - f(100) = %.6f\n", f[1] - f[0]);
  return std::fabs(f[1] - f[0] - expected) < 1e-9 && std::fabs(coefficient[1] - 3) < 0.3 ? 0 : 1;
}
