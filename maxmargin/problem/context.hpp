#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/base/memory_budget.hpp"
#include "maxmargin/base/threads.hpp"
#include "maxmargin/base/ways.hpp"
#include "maxmargin/problem/solution.hpp"

namespace maxmargin {

/// The environment of a run, handed down as one value from train() to the solvers: threads,
/// observer, time, memory and costs. Threads alone convert to one, without an observer or further
/// limits. What decides the result, as the seed does, belongs to the options, and models record it.
struct Context {
  Context(const Threads& crew, Observer watching = {})  // NOLINT: threads are a context
      : threads(crew), observer(std::move(watching)) {}

  const Threads& threads;
  Observer observer;  ///< may be empty
  double seconds =
      infinity;  ///< time that is left, where that is less than the limit of the options
  std::optional<MemoryBudget> memory{};  ///< memory that is left; none: that of the options
  CostModel costs{};                     ///< by which algorithms are chosen
  std::shared_ptr<WaysGone> ways{};      ///< where the ways of the run are counted; may be null

  void note(Way way) const {
    if (ways) ways->note(way);
  }

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
    result.ways = ways;
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
  Context counted_by(std::shared_ptr<WaysGone> other) const {
    Context result = *this;
    result.ways = std::move(other);
    return result;
  }
  /// The same with less time left.
  Context after(double spent, const Stop& stop) const {
    Context result = *this;
    result.seconds = std::max(0.0, std::min(seconds, stop.seconds) - spent);
    return result;
  }
};

}  // namespace maxmargin
