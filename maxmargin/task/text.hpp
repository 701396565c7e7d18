#pragma once

#include <optional>
#include <string>

#include "maxmargin/base/settings.hpp"
#include "maxmargin/task/task.hpp"

// A task as names and texts, the way a model file states it and a command line does.

namespace maxmargin {

/// How a model names the label of a cost of the user's own, which only its program knows.
inline constexpr std::string_view own_cost_name = "own-cost";

/// "task", its fields and those of its loss, "class-weight LABEL".
Texts texts_of(const Task& task);

/// The task that texts state, and the texts that are not about it. Fields that came later than the
/// first models may be absent, then they have their presets; of older models, also those of other
/// losses are there, and say nothing.
struct StatedTask {
  std::optional<Task> task;
  std::string obstacle;  ///< why there is none
  Texts rest;            ///< all texts, where there is none
};
StatedTask task_stated_in(const Texts& texts);

}  // namespace maxmargin
