#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/problem/solution.hpp"

namespace maxmargin {

/// What a run is given from outside beside what is asked for, handed down as one value from train()
/// to the solvers. Threads alone are one: nobody watches, and limits are those asked for.
struct Context {
  Context(const Threads& crew, Observer watching = {})  // NOLINT: threads are a context
      : threads(crew), observer(std::move(watching)) {}

  const Threads& threads;
  Observer observer;          ///< may be empty
  double seconds = infinity;  ///< what is left of the time, where that is less than is asked for
  std::size_t memory = 0;     ///< bytes for kernel values, of what is asked for; 0: all

  Context watched_by(Observer other) const {
    Context result = *this;
    result.observer = std::move(other);
    return result;
  }
  Context on(const Threads& crew) const {
    Context result(crew, observer);
    result.seconds = seconds;
    result.memory = memory;
    return result;
  }
  Context with_memory(std::size_t bytes) const {
    Context result = *this;
    result.memory = bytes;
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
