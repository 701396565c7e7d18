#include "maxmargin/kernel/given.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace maxmargin::given_test {
namespace {

template <std::size_t... I>
std::vector<bool> given_by_list(std::index_sequence<I...>) {
  return {is_given(Kernel(std::in_place_index<I>))...};
}

TEST(Given, IsThePrecomputedKernelAlone) {
  const std::vector<bool> given =
      given_by_list(std::make_index_sequence<std::variant_size_v<Kernel>>());
  for (std::size_t k = 0; k < given.size(); ++k)
    EXPECT_EQ(given[k], k == Kernel(Precomputed{}).index()) << k;
}

}  // namespace
}  // namespace maxmargin::given_test
