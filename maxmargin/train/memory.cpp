#include "maxmargin/train/memory.hpp"

#include <algorithm>

#include "maxmargin/base/buffer.hpp"

namespace maxmargin {

std::size_t memory_for(const TrainOptions& options, const Context& context) {
  if (context.memory > 0) return context.memory;
  return options.memory_bytes > 0 ? options.memory_bytes : available_memory_bytes() / 2;
}

std::size_t shared_part(const TrainOptions& options, const Context& context) {
  return memory_for(options, context) / 4;
}

std::size_t kept_part(const TrainOptions& options, const Context& context) {
  return memory_for(options, context) / 4;
}

Context beside_kept(const Context& machine, const TrainOptions& options, const Context& all) {
  const auto at_a_time = static_cast<std::size_t>(all.threads.count() / machine.threads.count());
  const std::size_t kept = kept_part(options, all) / at_a_time;
  return machine.with_memory(machine.memory - std::min(machine.memory, kept));
}

}  // namespace maxmargin
