#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "maxmargin/online/stream_learner.hpp"

namespace maxmargin {

/// What some rows said before they were learned, summed.
struct Tally {
  std::uint64_t rows = 0;
  double loss = 0;
  double errors = 0;     ///< wrong classes, alarms, rows outside of the tube
  double squares = 0;    ///< of a regression's errors
  double absolutes = 0;  ///< of the same

  void add(const Tally& more);
  /// A mean; 0 without rows.
  double per_row(double sum) const { return rows == 0 ? 0 : sum / static_cast<double>(rows); }

  template <class Archive>
  void pass(Archive& archive) {
    archive(rows);
    for (double* number : {&loss, &errors, &squares, &absolutes}) archive(*number);
  }
};

/// One row of it.
Tally judged(const Learned& learned, Outcome outcome, double label);

/// The error of a window is not what it was before.
struct DriftNotice {
  std::uint64_t row = 0;  ///< the last of the window
  double before = 0, window = 0;
  double bound = 0;  ///< the two differ by more than this
};

/// Compares each full window of rows with all rows before it, back to the last notice, by the cut
/// of ADWIN (Bifet and Gavalda 2007): means of n_0 and n_1 values in [0, 1] with the pooled
/// variance v differ by more than
///
///   sqrt(2 v L / m) + 2 L / (3 m),   1/m = 1/n_0 + 1/n_1,   L = log(2 / level_k)
///
/// level_k = level / (k (k + 1)) for the k-th window: over a stream of any length that does not
/// drift, of independent rows, a notice comes with a probability of `level` at most.
class DriftTest {
 public:
  DriftTest(std::uint64_t window, double level) : window_(window), level_(level) {}

  std::uint64_t window() const { return window_; }
  double level() const { return level_; }
  /// The error of a row; errors of a regression are taken as shares of the largest so far.
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

/// Progressive validation: every row is judged by what was said of it before it was learned.
class Progressive {
 public:
  Progressive(Outcome outcome, std::uint64_t window, double drift_level)
      : outcome_(outcome), window_(window), drift_(window, drift_level) {}

  std::optional<DriftNotice> add(const Learned& learned, double label);

  const Tally& overall() const { return overall_; }
  const Tally& since_last() const { return since_last_; }
  /// The last rows, as many as the window holds.
  Tally window() const;
  /// A report was made.
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
  std::vector<Tally> recent_;  ///< a ring
  std::uint64_t at_ = 0;
  DriftTest drift_;
};

}  // namespace maxmargin
