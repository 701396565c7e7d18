#include "maxmargin/solver/limits.hpp"

namespace maxmargin {
namespace {

constexpr double seconds_between_reports = 0.1;

}  // namespace

bool Limits::allow(Progress& progress) {
  const double seconds = run_.seconds_before + clock_.seconds();
  if (seconds >= seconds_) stopped_ = Ended::time_limit;
  if (!stopped_ && run_.observer && seconds - last_report_ >= seconds_between_reports) {
    last_report_ = seconds;
    progress.phase = "train";
    progress.seconds = seconds;
    const Control answer = run_.observer(progress);
    if (answer == Control::finish) stopped_ = Ended::time_limit;
    if (answer == Control::cancel) stopped_ = Ended::cancelled;
  }
  return !stopped_;
}

Observer observer_of_part(const Observer& observer, std::size_t size) {
  if (!observer) return {};
  return [observer, size](Progress progress) {
    progress.size = size;
    progress.primal = progress.relative_gap = infinity;
    progress.dual = -infinity;
    progress.done = 0;
    return observer(progress);
  };
}

}  // namespace maxmargin
