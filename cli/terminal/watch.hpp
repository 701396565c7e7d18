#pragma once

#include <string>

#include "cli/terminal/file_name.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/signals.hpp"

namespace maxmargin::cli {

/// `work(observer, line)` on the data of a file, with a progress line, until a signal comes.
template <class Work>
auto watched(const std::string& file, const Stop& stop, const StopRequest& request,
             ProgressLine::Show show, Work&& work) {
  ProgressLine line(stop, request, show);
  const Observer observer = [&](const Progress& progress) {
    line.update(progress);
    return request.made() ? Control::cancel : Control::proceed;
  };
  return naming(file, [&] { return work(observer, line); });
}

}  // namespace maxmargin::cli
