// Fits a curve of which a part is known: two functions get coefficients of their own that cost
// nothing, the kernel explains what is left.
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
    const double x[] = {rng.uniform(0, 10)};
    data.x.append(x);
    data.y.push_back(3 * std::sin(x[0]) - 0.5 * x[0] + std::exp(-(x[0] - 5) * (x[0] - 5)) +
                     0.05 * rng.normal());
  }

  const Threads threads;
  TrainOptions options;
  options.task = Svr{.cost = 1, .epsilon = 0.05};
  options.kernel = Rbf{.gamma = 1};
  const auto sine = [](std::span<const double> x) { return std::sin(x[0]); };
  options.functions = {{ParametricFunction::Kind::own, "the sine", sine},
                       {ParametricFunction::Kind::expression, "x1", {}}};
  const Trained trained = train(std::move(data), options, threads);

  const Machine& machine = trained.model.machines[0];
  for (std::size_t r = 0; r < options.functions.size(); ++r)
    std::printf("%+.3f times %s\n", machine.lambda[r + 1], options.functions[r].text.c_str());

  // Far from all data only the functions and the bias speak.
  const Predictor predictor(trained.model);
  const Features far = Features::dense(1, std::vector<double>{100, 101});
  const std::vector<double> f = predictor.decision_values(far, threads);
  const double expected = machine.lambda[1] * (std::sin(101) - std::sin(100)) + machine.lambda[2];
  std::printf("f(101) - f(100) = %.6f\n", f[1] - f[0]);
  return std::fabs(f[1] - f[0] - expected) < 1e-9 && std::fabs(machine.lambda[1] - 3) < 0.3 ? 0 : 1;
}
