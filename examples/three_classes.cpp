// Three classes with words for labels, from arrays that are not copied, with probabilities.
#include <cmath>
#include <cstdio>
#include <maxmargin/maxmargin.hpp>
#include <random>

int main() {
  // Three clouds of points in the plane.
  const std::vector<std::string> names{"north", "south-east", "south-west"};
  std::vector<double> values;
  std::vector<std::string> labels;
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.4);
  for (int i = 0; i < 300; ++i) {
    const std::size_t cloud = static_cast<std::size_t>(i % 3);
    const double angle = 1.5707963 - 2.0943951 * static_cast<double>(cloud);
    values.push_back(std::cos(angle) + noise(random));
    values.push_back(std::sin(angle) + noise(random));
    labels.push_back(names[cloud]);
  }

  const auto model =
      maxmargin::train(maxmargin::Dataset::dense(values, 2).labels(labels),
                       {{"gamma", 0.5}, {"cost", 1}, {"probability", 5}, {"seed", 1}});

  const std::vector<double> asked{0, 1, 0.9, -0.5, -0.9, -0.5};
  const auto rows = maxmargin::Dataset::dense(asked, 2);
  const auto predicted = model.predict_labels(rows);
  const auto probability = model.probabilities(rows);
  const auto classes = model.classes();
  bool right = true;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::printf("(%4.1f, %4.1f): %s,", asked[2 * i], asked[2 * i + 1], predicted[i].c_str());
    for (std::size_t k = 0; k < classes.size(); ++k)
      std::printf(" %s %.2f", classes[k].c_str(), probability[i * classes.size() + k]);
    std::printf("\n");
    right = right && predicted[i] == names[i];
  }
  return right ? 0 : 1;
}
