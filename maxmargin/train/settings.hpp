#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "maxmargin/base/settings.hpp"
#include "maxmargin/data/dataset.hpp"
#include "maxmargin/data/scaling.hpp"
#include "maxmargin/kernel/kernels.hpp"
#include "maxmargin/task/task.hpp"

// Settings whose meaning depends on the data.

namespace maxmargin {

/// The settings of all kernels; gamma may be "scale", its default, which is gamma_scale() of the
/// rows, or "auto", 1 / features.
FieldSettings kernel_settings(std::string prefix = "");

/// The kernel of that name for rows that will be scaled so.
Kernel kernel_for(const FieldSettings& settings, std::string_view name, const Rows& rows,
                  std::optional<ScalingKind> scaling);
/// The same without the data, to check the settings.
Kernel kernel_without_data(const FieldSettings& settings, std::string_view name);

/// The named task with the values given. A scheme that has all classes in one problem has no free
/// bias: none, unless another one is given.
Task task_for(const FieldSettings& settings, std::string_view name);

/// A factor of the cost of a class as people write it: "LABEL=FACTOR". Throws a usage Error.
std::pair<std::string, double> class_factor(std::string_view option, const std::string& text);

/// The factors of several such texts, or of "balanced": in inverse proportion to the sizes of the
/// classes. Those that are 1 are left out.
std::vector<std::pair<std::string, double>> class_factors(std::string_view option,
                                                          std::span<const std::string> texts,
                                                          const Dataset& data);

/// The scaling by its name; "auto" is range, for sparse rows maximum; empty: none.
std::optional<ScalingKind> scaling_for(std::string_view name, const Rows& rows);

}  // namespace maxmargin
