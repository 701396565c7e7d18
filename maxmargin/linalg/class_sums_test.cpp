#include "maxmargin/linalg/class_sums.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "maxmargin/base/rng.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t features = 50, count = 17;

struct Drawn {
  explicit Drawn(std::size_t classes) : w(features * classes), change(classes) {
    Rng rng(classes);
    for (double& each : w) each = rng.uniform() - 0.5;
    for (std::size_t c = 0; c < classes; c += 1 + rng.below(3)) change[c] = rng.uniform();
    for (std::size_t k = 0; k < count; ++k) {
      feature.push_back(static_cast<std::uint32_t>(3 * k - rng.below(2) * (k > 0)));
      floats.push_back(static_cast<float>(rng.uniform()));
      doubles.push_back(rng.uniform());
    }
  }
  /// Every kind of row there is.
  std::vector<ClassRow> rows() const {
    return {{feature.data(), floats.data(), nullptr, count},
            {feature.data(), nullptr, doubles.data(), count},
            {feature.data(), nullptr, nullptr, count},
            {nullptr, floats.data(), nullptr, count},
            {nullptr, nullptr, doubles.data(), count},
            {feature.data(), nullptr, doubles.data(), 0}};
  }

  std::vector<double> w, change;
  std::vector<std::uint32_t> feature;
  std::vector<float> floats;
  std::vector<double> doubles;
};

std::size_t feature_of(const ClassRow& row, std::size_t k) {
  return row.feature == nullptr ? k : row.feature[k];
}
double value_of(const ClassRow& row, std::size_t k) {
  if (row.doubles != nullptr) return row.doubles[k];
  return row.floats != nullptr ? static_cast<double>(row.floats[k]) : 1.0;
}

TEST(ClassSums, HaveTheBitsOfAPlainLoop) {
  for (std::size_t classes = 1; classes <= 60; ++classes) {
    const Drawn drawn(classes);
    for (const ClassRow& row : drawn.rows()) {
      std::vector<double> expected(classes, 0.0), found(classes, 7.0);
      for (std::size_t k = 0; k < row.count; ++k)
        for (std::size_t c = 0; c < classes; ++c)
          expected[c] += value_of(row, k) * drawn.w[feature_of(row, k) * classes + c];
      class_sums(drawn.w.data(), row, classes, found.data());
      EXPECT_EQ(found, expected) << classes;
    }
  }
}

TEST(ClassSums, ChangesHaveTheBitsOfAPlainLoop) {
  for (std::size_t classes = 1; classes <= 60; ++classes) {
    const Drawn drawn(classes);
    for (const ClassRow& row : drawn.rows()) {
      std::vector<double> expected = drawn.w, found = drawn.w;
      for (std::size_t k = 0; k < row.count; ++k)
        for (std::size_t c = 0; c < classes; ++c)
          expected[feature_of(row, k) * classes + c] += value_of(row, k) * drawn.change[c];
      add_to_classes(found.data(), row, classes, drawn.change.data());
      EXPECT_EQ(found, expected) << classes;
    }
  }
}

}  // namespace
}  // namespace maxmargin
