// Trains a classifier on one file and tests it on another: classify TRAIN TEST
#include <cstdio>

#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/train.hpp"

using namespace maxmargin;

int main(int argc, char** argv) try {
  if (argc != 3) return std::fputs("usage: classify TRAIN TEST\n", stderr), 2;
  const Threads threads;
  const Trained trained = train(read(argv[1], {}, threads),
                                {.task = Svc{.cost = 10}, .kernel = Rbf{.gamma = 20}}, threads);
  std::printf("%zu support vectors, relative gap %.1e\n", trained.model.support.count(),
              trained.certificate.relative_gap);

  const Dataset test = read(argv[2], {}, threads);
  const Predictor predictor(trained.model);
  const auto values = predictor.decision_values(predictor.prepared(test.x), threads);
  const Classes truth = classes_of(test);
  int right = 0;
  for (std::size_t i = 0; i < test.rows(); ++i) {
    const auto predicted = static_cast<std::size_t>(predictor.predict({&values[i], 1}));
    right += trained.model.classes[predicted] == truth.names[truth.of_row[i]];
  }
  std::printf("%d of %zu right\n", right, test.rows());
  return 10 * right > 9 * static_cast<int>(test.rows()) ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 3;
}
