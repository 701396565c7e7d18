#include "maxmargin/train/memory.hpp"

#include <algorithm>

#include "maxmargin/base/buffer.hpp"

namespace maxmargin {

std::size_t memory_for(const TrainOptions& options) {
  return options.memory_bytes > 0 ? options.memory_bytes : available_memory_bytes() / 2;
}

std::size_t shared_part(const TrainOptions& options) { return memory_for(options) / 4; }

std::size_t kept_part(const TrainOptions& options) { return memory_for(options) / 4; }

std::size_t memory_beside_kept(std::size_t memory, const TrainOptions& options, const Threads& crew,
                               const Threads& all) {
  const auto at_a_time = static_cast<std::size_t>(all.count() / crew.count());
  return memory - std::min(memory, kept_part(options) / at_a_time);
}

}  // namespace maxmargin
