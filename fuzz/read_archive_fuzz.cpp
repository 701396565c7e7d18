// Arbitrary bytes as a file of unknown kind: archives are unpacked and formats recognised.

#include "fuzz/reading.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const maxmargin::Threads threads(1);
  if (size == 0) return 0;
  const maxmargin::ReadOptions options;
  const std::size_t block = 1 + data[0];
  maxmargin::read_both_ways(std::as_bytes(std::span(data + 1, size - 1)), options, threads, block);
  return 0;
}
