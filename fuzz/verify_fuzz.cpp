// A model file and a data file, one behind the other: what loads is verified on what can be read.
// The checksum of the model is made to fit first.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/verify/verify.hpp"

namespace {

using namespace maxmargin;

constexpr std::size_t checksum_size = 33;
// Verifying takes time in proportion to these.
constexpr std::size_t most_features = 1000, most_machines = 1000;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

// The first two bytes say how long the model is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Threads threads(1);
  if (size < 2) return 0;
  const std::size_t length = std::min<std::size_t>(size - 2, data[0] * 256u + data[1]);
  std::string text(reinterpret_cast<const char*>(data + 2), length);
  if (text.size() >= checksum_size) {
    text.resize(text.size() - checksum_size);
    text += checksum(bytes_of(text)) + "\n";
  }
  try {
    const Model model = from_bytes(bytes_of(text), "model");
    if (model.features > most_features || model.machines.size() > most_machines) return 0;
    ReadOptions options;
    options.columns = model.features;
    const Dataset rows = read_bytes(std::as_bytes(std::span(data + 2 + length, size - 2 - length)),
                                    "data", options, threads);
    if (verify(model, rows, threads).size() != model.machines.size()) std::abort();
  } catch (const Error&) {
    // A file that is none, or data that is not the model's.
  }
  return 0;
}
