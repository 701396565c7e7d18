#include "maxmargin/solver/limits.hpp"

#include <algorithm>

namespace maxmargin {
namespace {

constexpr double seconds_between_reports = 0.1;

}  // namespace

bool Limits::is_due() {
  asked_ = now();
  if (asked_ >= seconds_) stopped_ = Ended::time_limit;
  return !stopped_ && run_.observer && asked_ - last_report_ >= seconds_between_reports;
}

void Limits::report(Progress& progress) {
  progress.phase = "train";
  progress.seconds = asked_;
  const Control answer = run_.observer(progress);
  if (answer == Control::finish) stopped_ = Ended::time_limit;
  if (answer == Control::cancel) stopped_ = Ended::cancelled;
  const double done = now();
  last_report_ = done + std::max(0.0, 20 * (done - asked_) - seconds_between_reports);
}

bool Limits::allow(Progress& progress) {
  if (is_due()) report(progress);
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
