// Arbitrary bytes as the file of a structural machine: a consistent model that is written as it was
// read, or an Error. The checksum is made to fit first, so that what is behind it is reached.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "maxmargin/base/error.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/structured/model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace maxmargin;
  constexpr std::size_t checksum_size = 33;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.size() >= checksum_size) {
    bytes.resize(bytes.size() - checksum_size);
    bytes += checksum(std::as_bytes(std::span(bytes.data(), bytes.size()))) + "\n";
  }
  try {
    const StructuredModel model = structured_from_bytes(bytes, "fuzz");
    const StructuredModel again = structured_from_bytes(structured_bytes(model), "again");
    if (digest(model) != digest(again)) std::abort();
  } catch (const Error&) {
    // No such model.
  }
  return 0;
}
