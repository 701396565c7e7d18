#pragma once

#include <optional>
#include <span>

namespace maxmargin::cli {

/// Runs `train` with the task of a structural machine, and `predict`, `verify` or `inspect` with
/// the model of one; nothing for every other command line.
std::optional<int> run_structured(std::span<char*> arguments);

}  // namespace maxmargin::cli
