#include "maxmargin/online/progressive.hpp"

#include <algorithm>
#include <cmath>

namespace maxmargin {

void Tally::add(const Tally& more) {
  rows += more.rows;
  loss += more.loss;
  errors += more.errors;
  squares += more.squares;
  absolutes += more.absolutes;
}

Tally judged(const Learned& learned, Outcome outcome, double label) {
  Tally row;
  row.rows = 1;
  row.loss = learned.loss;
  row.errors = learned.correct ? 0 : 1;
  if (outcome == Outcome::number) {
    const double error = label - learned.before.value;
    row.squares = error * error;
    row.absolutes = std::abs(error);
  }
  return row;
}

std::optional<DriftNotice> DriftTest::add(double error) {
  ++rows_;
  largest_ = std::max(largest_, error);
  const double value = error / largest_;
  ++now_.rows;
  now_.sum += value;
  now_.squares += value * value;
  if (now_.rows < window_) return {};
  const Part window = now_;
  now_ = {};
  std::optional<DriftNotice> notice;
  if (before_.rows > 0) {
    ++tests_;
    const auto n0 = static_cast<double>(before_.rows), n1 = static_cast<double>(window.rows);
    const auto k = static_cast<double>(tests_);
    const double mean = (before_.sum + window.sum) / (n0 + n1);
    const double variance =
        std::max(0.0, (before_.squares + window.squares) / (n0 + n1) - mean * mean);
    const double m = 1 / (1 / n0 + 1 / n1);
    const double L = std::log(2 * k * (k + 1) / level_);
    const double bound = std::sqrt(2 * variance * L / m) + 2 * L / (3 * m);
    const double past = before_.sum / n0, present = window.sum / n1;
    if (std::abs(present - past) > bound)
      notice = {rows_, past * largest_, present * largest_, bound * largest_};
  }
  if (notice) before_ = {};
  before_.rows += window.rows;
  before_.sum += window.sum;
  before_.squares += window.squares;
  return notice;
}

std::optional<DriftNotice> Progressive::add(const Learned& learned, double label) {
  const Tally row = judged(learned, outcome_, label);
  overall_.add(row);
  since_last_.add(row);
  doubtful_ += learned.before.doubtful;
  if (recent_.size() < window_)
    recent_.push_back(row);
  else
    recent_[at_] = row;
  at_ = (at_ + 1) % window_;
  return drift_.add(outcome_ == Outcome::number ? row.absolutes : row.errors);
}

Tally Progressive::window() const {
  Tally sum;
  for (const Tally& row : recent_) sum.add(row);
  return sum;
}

}  // namespace maxmargin
