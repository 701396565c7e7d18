// Trains a classifier on one file and tests it on another: classify TRAIN TEST
#include <cstdio>
#include <maxmargin/maxmargin.hpp>

int main(int argc, char** argv) try {
  if (argc != 3) return std::fputs("usage: classify TRAIN TEST\n", stderr), 2;
  const auto model =
      maxmargin::train(maxmargin::Dataset::read(argv[1]), {{"cost", 10}, {"gamma", 20}});
  std::printf("%zu support vectors, relative gap %.1e\n", model.support_vectors(),
              model.certificate().relative_gap);

  const auto test = maxmargin::Dataset::read(argv[2]);
  const auto predicted = model.predict_labels(test), truth = test.label_texts();
  int right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) right += predicted[i] == truth[i];
  std::printf("%d of %zu right\n", right, truth.size());
  return 10 * right > 9 * static_cast<int>(truth.size()) ? 0 : 1;
} catch (const maxmargin::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 3;
}
