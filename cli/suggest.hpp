#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace maxmargin::cli {

/// The candidate that was probably meant (few edits away), or an empty text.
std::string nearest(std::string_view typed, const std::vector<std::string>& candidates);

/// "did you mean 'rbf'?", or "choose one of a, b, c" when nothing is near.
std::string suggestion(std::string_view typed, const std::vector<std::string>& candidates);

/// The long option that a habit from svm-train means: 'c' -> "--cost"; empty if none.
std::string_view long_option_for(char letter);

}  // namespace maxmargin::cli
