#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "maxmargin/online/stream_learner.hpp"

namespace maxmargin {

/// Sums over the predictions of some rows, made before the rows were learned.
struct Tally {
  std::uint64_t rows = 0;
  double loss = 0;
  double errors = 0;     ///< wrong classes, alarms, rows outside of the tube
  double squares = 0;    ///< regression: squared errors
  double absolutes = 0;  ///< regression: absolute errors

  void add(const Tally& more);
  /// A mean; 0 without rows.
  double per_row(double sum) const { return rows == 0 ? 0 : sum / static_cast<double>(rows); }

  template <class Archive>
  void pass(Archive& archive) {
    archive(rows);
    for (double* number : {&loss, &errors, &squares, &absolutes}) archive(*number);
  }
};

/// That of one row.
Tally judged(const Learned& learned, Outcome outcome, double label);

/// The mean error of a window differs from that of the rows before it.
struct DriftNotice {
  std::uint64_t row = 0;  ///< the last of the window
  double before = 0, window = 0;
  double bound = 0;  ///< without drift they differ by at most this, with probability 1 - level_k
};

/// Drift detection by the cut of ADWIN (Bifet and Gavalda 2007), between each full window of rows
/// and all rows before it since the last notice. There is a notice where the means of the n_0 and
/// n_1 values in [0, 1], with the pooled variance v, differ by more than
///
///   sqrt(2 v L / m) + 2 L / (3 m),   1/m = 1/n_0 + 1/n_1,   L = log(2 / level_k)
///
/// with level_k = level / (k (k + 1)) for the k-th window, so that the probability of any notice
/// over a stream of independent rows without drift, of any length, is at most `level`.
class DriftTest {
 public:
  DriftTest(std::uint64_t window, double level) : window_(window), level_(level) {}

  std::uint64_t window() const { return window_; }
  double level() const { return level_; }
  /// Errors of a regression are divided by the largest so far.
  std::optional<DriftNotice> add(double error);

  template <class Archive>
  void pass(Archive& archive) {
    for (std::uint64_t* count : {&rows_, &tests_, &before_.rows, &now_.rows}) archive(*count);
    for (double* number : {&largest_, &before_.sum, &before_.squares, &now_.sum, &now_.squares})
      archive(*number);
  }

 private:
  struct Part {
    std::uint64_t rows = 0;
    double sum = 0, squares = 0;
  };

  std::uint64_t window_;
  double level_;
  std::uint64_t rows_ = 0, tests_ = 0;
  double largest_ = 1;
  Part before_, now_;
};

/// Progressive validation (Blum, Kalai and Langford 1999): every row is predicted before it is
/// learned, and the errors of these predictions are summed.
class Progressive {
 public:
  Progressive(Outcome outcome, std::uint64_t window, double drift_level)
      : outcome_(outcome), window_(window), drift_(window, drift_level) {}

  std::optional<DriftNotice> add(const Learned& learned, double label);

  const Tally& overall() const { return overall_; }
  const Tally& since_last() const { return since_last_; }
  /// Over the rows of the sliding window.
  Tally window() const;
  /// Restarts since_last().
  void mark() { since_last_ = {}; }
  std::uint64_t doubtful() const { return doubtful_; }
  const DriftTest& drift() const { return drift_; }

  template <class Archive>
  void pass(Archive& archive) {
    archive(overall_);
    archive(since_last_);
    archive(doubtful_);
    archive(at_);
    archive(recent_);
    if constexpr (Archive::reads)
      archive.demand(recent_.size() <= window_ && at_ <= recent_.size(), "a window is not right");
    drift_.pass(archive);
  }

 private:
  Outcome outcome_;
  std::uint64_t window_;
  Tally overall_, since_last_;
  std::uint64_t doubtful_ = 0;
  std::vector<Tally> recent_;  ///< a ring buffer
  std::uint64_t at_ = 0;
  DriftTest drift_;
};

}  // namespace maxmargin
