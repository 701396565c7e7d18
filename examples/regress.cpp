// Fits sin(x) from noisy samples, with an error in each direction priced differently, and shows how
// far the answer can be from the optimum.
#include <cmath>
#include <cstdio>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/train.hpp"

using namespace maxmargin;

int main() {
  Dataset data;
  data.x = Features::dense(1);
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    const double x[] = {rng.uniform(-3, 3)};
    data.x.append(x);
    data.y.push_back(std::sin(x[0]) + 0.1 * rng.normal());
  }

  const Threads threads;
  TrainOptions options;
  options.task = Svr{.cost = 10, .epsilon = 0.1, .over = 1, .under = 1.5};
  options.kernel = Rbf{.gamma = 1};
  options.stop.relative_gap = 1e-6;
  const Trained trained = train(std::move(data), options, threads);
  const Certificate& certificate = trained.certificate;
  std::printf("the optimum lies between %.9g and %.9g: relative gap %.1e\n", certificate.dual,
              certificate.primal, certificate.relative_gap);

  const Predictor predictor(trained.model);
  double worst = 0;
  for (double x = -2.5; x <= 2.5; x += 0.5) {
    const Features point = Features::dense(1, {&x, 1});
    const double predicted = predictor.predict(predictor.decision_values(point, threads));
    std::printf("f(%4.1f) = %6.3f, sin = %6.3f\n", x, predicted, std::sin(x));
    worst = std::fmax(worst, std::fabs(predicted - std::sin(x)));
  }
  return worst < 0.15 && certificate.relative_gap <= 1e-6 ? 0 : 1;
}
