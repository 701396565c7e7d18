#include "maxmargin/linalg/class_spreads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::class_spreads_test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

TEST(ClassSpreads, AreThoseOfPlainLoops) {
  Rng rng(3);
  for (const std::size_t count : {1u, 7u, 8u, 9u, 33u, 100u})
    for (const std::size_t classes : {2u, 3u, 11u}) {
      const std::size_t stride = count + 5;
      std::vector<double> g(classes * stride), bar(g.size()), by(classes), spread(count);
      std::vector<float> row(count);
      for (double& each : g) each = rng.normal();
      for (double& each : bar) each = rng.uniform() < 0.5 ? 0 : infinite;
      for (std::size_t c = 0; c < count; ++c) bar[(c % classes) * stride + c] = 0;
      for (double& each : by) each = rng.uniform() < 0.5 ? 0 : rng.normal();
      for (float& each : row) each = static_cast<float>(rng.normal());
      for (const bool adds : {false, true}) {
        std::vector<double> wanted = g;
        if (adds)
          for (std::size_t k = 0; k < classes; ++k)
            for (std::size_t c = 0; c < count; ++c)
              wanted[k * stride + c] += by[k] * static_cast<double>(row[c]);
        const std::size_t widest =
            add_and_spread({g.data(), bar.data(), stride, classes, count},
                           adds ? row.data() : nullptr, by.data(), spread.data());
        std::vector<double> spreads;
        for (std::size_t c = 0; c < count; ++c) {
          double largest = -infinite, lowest = infinite;
          for (std::size_t k = 0; k < classes; ++k) {
            EXPECT_EQ(g[k * stride + c], wanted[k * stride + c]);
            largest = std::max(largest, wanted[k * stride + c]);
            lowest = std::min(lowest, wanted[k * stride + c] + bar[k * stride + c]);
          }
          spreads.push_back(largest - lowest);
        }
        EXPECT_EQ(spread, spreads) << count << " columns, " << classes << " classes";
        EXPECT_EQ(widest,
                  static_cast<std::size_t>(std::ranges::max_element(spreads) - spreads.begin()));
      }
    }
}

}  // namespace
}  // namespace maxmargin::class_spreads_test
