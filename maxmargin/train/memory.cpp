#include "maxmargin/train/memory.hpp"

namespace maxmargin {

MemoryBudget memory_for(const TrainOptions& options, const Context& context) {
  if (context.memory) return *context.memory;
  return options.memory_bytes > 0 ? MemoryBudget{options.memory_bytes} : MemoryBudget::of_machine();
}

Context beside_rows_of_folds(const Context& machine, const TrainOptions& options,
                             const Context& all) {
  const auto at_a_time = static_cast<std::size_t>(all.threads.count() / machine.threads.count());
  const MemoryBudget rows = memory_for(options, all).rows_of_folds().divided(at_a_time);
  return machine.with_memory(memory_for(options, machine).without(rows.bytes));
}

}  // namespace maxmargin
