// Arbitrary bytes as an idx file.

#include "fuzz/reading.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const maxmargin::Threads threads(1);
  if (size == 0) return 0;
  maxmargin::ReadOptions options;
  options.format = maxmargin::Format::idx;
  options.labels = data[0] % 2 == 0 ? maxmargin::LabelKind::any : maxmargin::LabelKind::none;
  const std::size_t block = 1;
  maxmargin::read_both_ways(std::as_bytes(std::span(data + 1, size - 1)), options, threads, block);
  return 0;
}
