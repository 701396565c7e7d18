// Arbitrary bytes as the data file of a structural task: sequences, LETOR, several labels, brackets
// and so on. What can be read has truths without loss, features within their dimensions, and an
// oracle that answers.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz/memory_file.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace {

using namespace maxmargin;

// What is asked of an oracle takes time in proportion to these, or to a power of them.
constexpr std::size_t most_dimensions = 1 << 16, most_examples = 20, most_length = 40;

void require(bool holds) {
  if (!holds) std::abort();
}

void ask(const Oracle& oracle) {
  const std::vector<double> w(oracle.dimensions(), 0.25);
  for (std::size_t i = 0; i < std::min(oracle.examples(), most_examples); ++i) {
    const Structure truth = oracle.truth(i);
    if (truth.size() > most_length) continue;
    require(oracle.is_structure(i, truth));
    require(oracle.loss(i, truth) == 0);
    for (const Ask question : {Ask::best, Ask::margin}) {
      const Structure y = oracle.most_violated(i, w, question);
      require(oracle.loss(i, y) >= 0);
      JointFeatures features;
      oracle.features(i, y, 1, features);
      for (const Index feature : features.index) require(feature < oracle.dimensions());
    }
  }
}

}  // namespace

// The first byte says which task; one that starts programs is left out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Threads threads(1);
  if (size == 0) return 0;
  const auto tasks = structured_tasks();
  const StructuredTask& task = tasks[data[0] % tasks.size()];
  if (task.name == "process") return 0;
  const MemoryFile file(std::as_bytes(std::span(data + 1, size - 1)));
  try {
    const auto examples = task.read(file.path(), task.settings({}), nullptr, threads);
    if (!examples->labelled() || !examples->unknown().empty()) return 0;
    const Oracle& oracle = examples->oracle();
    if (oracle.dimensions() > most_dimensions) return 0;
    ask(oracle);
  } catch (const Error&) {
    // No file of this task.
  }
  return 0;
}
