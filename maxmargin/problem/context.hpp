#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/base/memory_budget.hpp"
#include "maxmargin/base/threads.hpp"
#include "maxmargin/problem/solution.hpp"

namespace maxmargin {

/// What a run is given from outside beside what is asked for, handed down as one value from train()
/// to the solvers. Threads alone are one: nobody watches, and limits are those asked for. What
/// decides the result, as the seed does, is asked for and recorded in the model.
struct Context {
  Context(const Threads& crew, Observer watching = {})  // NOLINT: threads are a context
      : threads(crew), observer(std::move(watching)) {}

  const Threads& threads;
  Observer observer;          ///< may be empty
  double seconds = infinity;  ///< what is left of the time, where that is less than is asked for
  std::optional<MemoryBudget> memory{};  ///< what is left of the memory; none: what is asked for
  CostModel costs{};                     ///< what decides between two ways of doing the same

  Context watched_by(Observer other) const {
    Context result = *this;
    result.observer = std::move(other);
    return result;
  }
  Context on(const Threads& crew) const {
    Context result(crew, observer);
    result.seconds = seconds;
    result.memory = memory;
    result.costs = costs;
    return result;
  }
  Context with_memory(MemoryBudget budget) const {
    Context result = *this;
    result.memory = budget;
    return result;
  }
  Context with_costs(const CostModel& other) const {
    Context result = *this;
    result.costs = other;
    return result;
  }
  /// After some time of what a run was given.
  Context after(double spent, const Stop& stop) const {
    Context result = *this;
    result.seconds = std::max(0.0, std::min(seconds, stop.seconds) - spent);
    return result;
  }
};

}  // namespace maxmargin
