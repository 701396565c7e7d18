#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/describe.hpp"
#include "maxmargin/data/readers/read.hpp"

namespace maxmargin {

/// Reads bytes as a data file, once whole and once in tiny blocks: both must give the same rows or
/// the same Error. Anything that is read must also be fit for what is done with data first.
inline void read_both_ways(std::span<const std::byte> bytes, ReadOptions options,
                           const Threads& threads, std::size_t block_bytes) {
  const auto outcome = [&]() -> std::string {
    try {
      const Dataset data = read_bytes(bytes, "fuzz", options, threads);
      const Description told = describe(data);
      return content_hash(data) + " " + std::to_string(told.features) + " " +
             std::to_string(told.duplicate_rows);
    } catch (const Error& error) {
      return error.what();
    }
  };
  const std::string whole = outcome();
  options.block_bytes = block_bytes;
  if (outcome() != whole) std::abort();
}

}  // namespace maxmargin
