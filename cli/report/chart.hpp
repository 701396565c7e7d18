#pragma once

#include <string>
#include <vector>

namespace maxmargin::cli {

/// One of several small diagrams over the same values.
struct Panel {
  std::string title;
  std::vector<double> y;  ///< NaN and infinity: no dot
  bool logarithmic = false;
};

/// An SVG picture of panels side by side, the values below each on a logarithmic scale.
std::string small_multiples(const std::string& title, const std::string& x_title,
                            const std::vector<double>& x, const std::vector<Panel>& panels);

}  // namespace maxmargin::cli
