// Arbitrary bytes as LIBSVM text, with every way to take labels and to count features.

#include "fuzz/reading.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const maxmargin::Threads threads(1);
  if (size == 0) return 0;
  maxmargin::ReadOptions options;
  options.format = maxmargin::Format::libsvm;
  options.labels = static_cast<maxmargin::LabelKind>(data[0] % 4);
  options.base = static_cast<maxmargin::ReadOptions::Base>(data[0] / 3 % 3);
  const std::size_t block = 1 + data[0] / 9;
  maxmargin::read_both_ways(std::as_bytes(std::span(data + 1, size - 1)), options, threads, block);
  return 0;
}
