// Loads the input as a model file. The checksum is made to fit first: otherwise hardly any input
// would get past it. What loads must predict and come back the same from its own bytes.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"

namespace {

using namespace maxmargin;

constexpr std::size_t checksum_size = 33;
// Predictors may use memory and time in proportion to the features and machines.
constexpr std::size_t most_features = 1000;
constexpr std::size_t most_machines = 1000;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void require(bool good) {
  if (!good) std::abort();
}

void predict_one(const Model& model, const Threads& threads) {
  if (model.features > most_features || model.machines.size() > most_machines) return;
  try {
    const Predictor predictor(model);
    Features row = Features::sparse(model.features);
    const std::size_t some = std::min<std::size_t>(model.features, 3);
    std::vector<Index> features;
    for (std::size_t j = 0; j < some; ++j) features.push_back(static_cast<Index>(j));
    row.append(features, std::vector<double>(some, 0.5));
    const auto prepared = predictor.prepared(row);
    const std::vector<double> f = predictor.decision_values(prepared, threads);
    const double predicted = predictor.predict(f);
    if (model.calibration.none()) return;
    model.calibration.p_value(f[0]);
    model.calibration.interval(0.9);
    if (model.outcome != Outcome::classes || model.classes.size() > most_features) return;
    const std::vector<double> p = predictor.probabilities(f);
    require(std::ranges::max_element(p) - p.begin() == static_cast<std::ptrdiff_t>(predicted));
  } catch (const Error&) {
    // A kernel may not accept the data, or be without its function.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Threads threads(1);
  std::string text(reinterpret_cast<const char*>(data), size);
  if (size >= checksum_size) {
    text.resize(size - checksum_size);
    text += checksum(bytes_of(text)) + "\n";
  }
  try {
    const Model model = from_bytes(bytes_of(text), "input");
    const std::string again = to_bytes(model);
    require(to_bytes(from_bytes(bytes_of(again), "again")) == again);
    require(digest(from_bytes(bytes_of(again), "again")) == digest(model));
    predict_one(model, threads);
  } catch (const Error& error) {
    require(error.fault() == Fault::data);
  }
  return 0;
}
