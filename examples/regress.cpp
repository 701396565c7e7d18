// Fits sin(x) from noisy samples, with an error in each direction priced differently, and shows how
// far the answer can be from the optimum.
#include <cmath>
#include <cstdio>
#include <maxmargin/maxmargin.hpp>
#include <random>

int main() {
  std::vector<double> x, y;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> anywhere(-3, 3);
  std::normal_distribution<double> noise(0, 0.1);
  for (int i = 0; i < 300; ++i) {
    x.push_back(anywhere(random));
    y.push_back(std::sin(x.back()) + noise(random));
  }

  const auto model = maxmargin::train(maxmargin::Dataset::dense(x, 1).labels(y), {{"task", "svr"},
                                                                                  {"cost", 10},
                                                                                  {"epsilon", 0.1},
                                                                                  {"under", 1.5},
                                                                                  {"gamma", 1},
                                                                                  {"gap", 1e-6}});
  const auto certificate = model.certificate();
  std::printf("the optimum lies between %.9g and %.9g: relative gap %.1e\n", certificate.dual,
              certificate.primal, certificate.relative_gap);

  std::vector<double> points;
  for (double point = -2.5; point <= 2.5; point += 0.5) points.push_back(point);
  const auto predicted = model.predict(maxmargin::Dataset::dense(points, 1));
  double worst = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::printf("f(%4.1f) = %6.3f, sin = %6.3f\n", points[i], predicted[i], std::sin(points[i]));
    worst = std::fmax(worst, std::fabs(predicted[i] - std::sin(points[i])));
  }
  return worst < 0.15 && certificate.relative_gap <= 1e-6 ? 0 : 1;
}
