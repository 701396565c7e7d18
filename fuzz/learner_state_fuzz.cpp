// Arbitrary bytes as the state of a learner: an Error, or a learner that has that state, predicts,
// learns, forgets and becomes a model that can be written and read.

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>

#include "maxmargin/base/error.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/online/dual_learner.hpp"
#include "maxmargin/online/learner.hpp"

namespace {

using namespace maxmargin;

constexpr std::size_t most_features = 1000, most_classes = 20;

/// A learner, and what its states begin with.
struct Kind {
  std::function<std::unique_ptr<StreamLearner>()> make;
  std::string settings;
};

std::uint64_t length_at(const std::string& state) {
  std::uint64_t length = 0;
  std::memcpy(&length, state.data(), sizeof length);
  return length;
}

/// Its state begins with the text of its options.
Kind descent(LearnerOptions options) {
  options.most_features = most_features;
  options.most_classes = most_classes;
  const std::string state = Learner(options).state();
  return {[options] { return std::make_unique<Learner>(options); },
          state.substr(0, sizeof(std::uint64_t) + length_at(state))};
}

/// Its state begins with the text of its kernel and three numbers.
Kind dual(DualLearnerOptions options) {
  options.most_features = most_features;
  options.most_classes = most_classes;
  options.cache_bytes = 1 << 12;
  const std::string state = DualLearner(options).state();
  return {[options] { return std::make_unique<DualLearner>(options); },
          state.substr(0, 4 * sizeof(std::uint64_t) + length_at(state))};
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      descent({.rule = PegasosRule{}, .kernel = Linear{}, .average = true}),
      descent({.rule = SoftMarginRule{}, .kernel = Rbf{1}, .truncation = Budget{4}}),
      descent({.rule = NoveltyRule{}, .kernel = Rbf{1}, .truncation = Horizon{3}}),
      descent({.rule = AdaptiveHuberRule{}, .kernel = Polynomial{}, .average = true}),
      descent(
          {.rule = PerceptronRule{}, .kernel = Rbf{1}, .truncation = Budget{3, Removal::merge}}),
      descent({.rule = NuTubeRule{}, .kernel = Linear{}, .keep = true}),
      dual({.kernel = Rbf{1}}),
      dual({.kernel = Linear{}, .window = 5})};
  return all;
}

void require(bool holds) {
  if (!holds) std::abort();
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// What is refused leaves the learner as it was.
void attempt(StreamLearner& learner, const std::function<void()>& act) {
  const std::string before = learner.state();
  try {
    act();
  } catch (const Error&) {
    require(learner.state() == before);
  }
}

void use(StreamLearner& learner) {
  const Index features[] = {0, 2};
  const double values[] = {1, -0.5};
  const StreamRow row{features, values, 1};
  attempt(learner, [&] { learner.predict(row); });
  attempt(learner, [&] { learner.learn(row, 1.0); });
  attempt(learner, [&] { learner.learn(row, "new"); });
  attempt(learner, [&] { learner.forget(1); });
  try {
    const Model model = from_bytes(bytes_of(to_bytes(learner.model(1))), "model");
    const std::string bytes = to_bytes(model);
    require(to_bytes(from_bytes(bytes_of(bytes), "again")) == bytes);
  } catch (const Error&) {
    // Nothing was learned, or its values overflow.
  }
}

}  // namespace

// The first byte says which learner. Its settings are put in front, otherwise hardly any input
// would get past them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Kind& kind = kinds()[data[0] % kinds().size()];
  const std::string given =
      kind.settings + std::string(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto learner = kind.make();
  try {
    learner->restore(bytes_of(given), "fuzz");
  } catch (const Error&) {
    return 0;
  }
  const std::string state = learner->state();
  const auto again = kind.make();
  again->restore(bytes_of(state), "again");
  require(again->state() == state);
  use(*learner);
  return 0;
}
