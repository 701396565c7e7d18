#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "cli/stream/arguments.hpp"
#include "cli/stream/reports.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/online/progressive.hpp"

namespace maxmargin::cli::streaming {

/// Where a line of output goes.
using Answer = std::function<void(std::string_view line)>;

/// The stream stops at a line that cannot be read or learned; all before it is learned.
struct Halted {
  Error error;
};

/// The state of a stream: learner, counts and reports.
class Session {
 public:
  explicit Session(const StreamArguments& arguments);

  /// Predicts and learns the rows of a batch; the line of each goes to `answer`, if there is one.
  /// Lines that cannot be read go to `complain`, or throw Halted.
  void take(const FeedBatch& batch, const Feed& feed, const Answer& answer,
            const std::function<void(const Error&)>& complain);

  /// Called when a checkpoint is due, at a row that is complete.
  std::function<void()> on_checkpoint;
  /// Called with a report or a notice.
  Reports* reports = nullptr;

  Model model() const;
  Snapshot snapshot() const;
  std::uint64_t rows() const { return rows_; }
  StreamLearner& learner() { return *learner_; }
  const StreamLearner& learner() const { return *learner_; }
  /// The time for a checkpoint by the clock has come.
  bool is_checkpoint_late() const;
  void checkpoint_made() { since_checkpoint_ = Stopwatch(); }

  /// Where in the input the next row begins.
  std::string input;
  std::uint64_t line = 1, offset = 0;
  std::uint64_t predictions_bytes = 0;  ///< written for the rows so far

  std::string state() const;
  void restore(const std::string& state, const std::string& name);

 private:
  template <class Archive>
  void pass(Archive& archive);
  struct Waiting {
    std::string id;
    std::vector<Index> features;
    std::vector<double> values;
    std::uint64_t number = 0;
    std::int64_t said_class = -1;
    double said_value = 0;

    template <class Archive>
    void pass(Archive& archive) {
      archive(id);
      archive(features);
      archive(values);
      archive(number);
      archive(said_class);
      archive(said_value);
    }
  };

  void take_row(const FeedBatch& batch, std::size_t row, const Answer& answer);
  void take_late_label(const FeedBatch& batch, const Answer& answer);
  void hold(const std::string& id, std::uint64_t number);
  void forget(const FeedBatch& batch, const Answer& answer);
  StreamRow row_of(const Rows& rows, std::size_t row);
  Learned learn(const StreamRow& x, const Label& label, std::span<const std::string> words);
  void wait(const std::string& id, const StreamRow& x, const OnlinePrediction& said);
  void judge(const Learned& learned, double label);
  void answer_row(const FeedBatch& batch, std::size_t row, const OnlinePrediction& said,
                  const Answer& answer);
  void report_if_due();
  bool is_checkpoint_due() const;

  const StreamArguments& arguments_;
  std::unique_ptr<StreamLearner> learner_;
  Progressive progressive_;
  std::uint64_t rows_ = 0, faults_ = 0, late_ = 0, expired_ = 0, next_report_ = 1;
  std::deque<Waiting> waiting_;
  std::unordered_map<std::string, std::uint64_t> waiting_at_;  ///< id -> row number
  using HeldRow = std::pair<std::string, std::uint64_t>;       ///< id, number
  std::deque<HeldRow> held_;                                   ///< of an exact window, by number
  std::vector<Index> features_;
  std::vector<double> values_;
  Stopwatch watch_, since_checkpoint_;
  std::uint64_t rows_before_ = 0;  ///< of an earlier run
};

}  // namespace maxmargin::cli::streaming
