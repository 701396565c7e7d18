#pragma once

#include <string>

#include "maxmargin/data/dataset.hpp"

namespace maxmargin::cli {

/// Advice where the features of a sample of the rows differ much in size, else an empty text.
std::string scale_warning(const Dataset& data);

}  // namespace maxmargin::cli
