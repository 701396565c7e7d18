#pragma once

#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

StructuredTask sequence_task();

}  // namespace maxmargin
