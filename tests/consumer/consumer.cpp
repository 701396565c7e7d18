// Uses the installed library: trains on four points and predicts them.
#include <cstdio>

#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/train.hpp"

int main() {
  maxmargin::Dataset data;
  data.x = maxmargin::Features::dense(2, std::vector<double>{0, 0, 1, 1, 0, 1, 1, 0});
  data.y = {1, 1, 2, 2};
  const maxmargin::Threads threads(1);
  maxmargin::TrainOptions options;
  options.task = maxmargin::Svc{.cost = 10};
  const maxmargin::Features points = maxmargin::Features::dense(2, std::vector<double>{0.1, 0.1});
  const maxmargin::Trained trained = maxmargin::train(std::move(data), options, threads);
  const maxmargin::Predictor predictor(trained.model);
  const auto values = predictor.decision_values(points, threads);
  const auto label = static_cast<std::size_t>(predictor.predict(values));
  std::printf("class %s, relative gap %g\n", trained.model.classes.at(label).c_str(),
              trained.certificate.relative_gap);
  return trained.model.classes.at(label) == "1" ? 0 : 1;
}
