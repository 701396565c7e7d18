// Arbitrary bytes as CSV or TSV, with every way to take header, label and weight.

#include "fuzz/reading.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const maxmargin::Threads threads(1);
  if (size == 0) return 0;
  maxmargin::ReadOptions options;
  options.format = data[0] % 2 == 0 ? maxmargin::Format::csv : maxmargin::Format::tsv;
  options.labels = static_cast<maxmargin::LabelKind>(data[0] / 2 % 4);
  options.header = static_cast<maxmargin::ReadOptions::Header>(data[0] / 6 % 3);
  if (data[0] / 18 % 2 == 1) options.label_column = "2";
  if (data[0] / 36 % 2 == 1) options.weight_column = "w";
  const std::size_t block = 1 + data[0] / 72 * 7;
  maxmargin::read_both_ways(std::as_bytes(std::span(data + 1, size - 1)), options, threads, block);
  return 0;
}
