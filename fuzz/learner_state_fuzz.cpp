// Arbitrary bytes as the state of a learner: an Error, or a learner that has that state, predicts,
// learns and becomes a model.

#include <cstdlib>

#include "maxmargin/base/error.hpp"
#include "maxmargin/online/learner.hpp"

namespace {

using namespace maxmargin;

void restored(const LearnerOptions& options, std::span<const std::byte> bytes) {
  try {
    Learner learner(options), again(options);
    learner.restore(bytes, "fuzz");
    const std::string state = learner.state();
    again.restore(std::as_bytes(std::span(state)), "again");
    if (again.state() != state) std::abort();
    const Index features[] = {0, 2};
    const double values[] = {1, -0.5};
    learner.predict({features, values, 1});
    learner.learn({features, values, 1}, 1.0);
    learner.model(1);
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  restored({.rule = PegasosRule{}, .average = true, .most_features = 1000}, bytes);
  restored(
      {.rule = SoftMarginRule{}, .kernel = Rbf{1}, .truncation = Budget{4}, .most_features = 1000},
      bytes);
  restored(
      {.rule = NoveltyRule{}, .kernel = Rbf{1}, .truncation = Horizon{3}, .most_features = 1000},
      bytes);
  return 0;
}
