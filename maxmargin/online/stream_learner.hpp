#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/model/model.hpp"
#include "maxmargin/online/expansion/expansion.hpp"

namespace maxmargin {

/// What is said of a row before it is learned.
struct OnlinePrediction {
  int class_number = -1;  ///< of classes(); -1: none is known yet
  double value = 0;       ///< regression: g; novelty: +1, or -1 for an alarm
  double margin = 0;      ///< by how much: g, f - rho, or the lead of the winner
  bool doubtful = false;  ///< what truncation has taken could have changed the class or the alarm
};

struct Learned {
  OnlinePrediction before;
  double loss = 0;       ///< of f before the row, summed over the machines
  bool correct = false;  ///< the class; regression: within the tube; novelty: no alarm
  bool updated = false;  ///< the row has become a part of f
};

/// A number that holds, or the reason why it does not.
struct Bound {
  std::optional<double> value{};
  std::string why_not{};
};

/// The classes whose labels are numbers, by these. Few, and asked for at every row.
class NumberedClasses {
 public:
  /// -1: none is known.
  int find(double label) const {
    const auto at = place(label);
    return at != known_.end() && at->first == label ? at->second : -1;
  }
  void add(double label, int class_number) { known_.insert(place(label), {label, class_number}); }

 private:
  using Known = std::vector<std::pair<double, int>>;  // in order of the labels
  Known::const_iterator place(double label) const {
    return std::ranges::lower_bound(known_, label, {}, &std::pair<double, int>::first);
  }
  Known known_;
};

/// What a stream needs of a machine that learns from it.
class StreamLearner {
 public:
  virtual ~StreamLearner() = default;

  virtual Outcome outcome() const = 0;
  /// Throws Error where the row cannot be taken: too wide, or values that overflow. A learner that
  /// has thrown is as it was before.
  virtual OnlinePrediction predict(const StreamRow& x) = 0;
  /// Predicts, then learns. A class by its number as a label; novelty needs none.
  virtual Learned learn(const StreamRow& x, double label) = 0;
  /// A class by its name.
  virtual Learned learn(const StreamRow& x, std::string_view label) = 0;
  /// Takes back a row that it holds, by its number, as if it had never come; false: it has none
  /// such, or cannot.
  virtual bool forget(std::uint64_t) { return false; }

  virtual const std::vector<std::string>& classes() const = 0;
  virtual std::size_t terms() const = 0;      ///< rows held; 0 for linear machines
  virtual std::uint64_t updates() const = 0;  ///< rows that changed f
  virtual bool truncates() const { return false; }
  virtual double dropped() const { return 0; }
  virtual Bound horizon_bound() const { return {{}, "nothing is truncated"}; }
  virtual Bound risk_bound() const = 0;
  /// How good it is as an answer to the problem of the rows it holds, where there is one.
  virtual std::optional<Certificate> certificate(const Threads&) const { return std::nullopt; }

  /// Goes on with the rows it holds until their machine is at its optimum; false: it has no such
  /// problem.
  virtual bool finish() { return false; }

  /// What it has learned so far as a model like any other. Error where it has seen nothing to tell
  /// apart. `rows`: how many the stream had.
  virtual Model model(std::uint64_t rows) const = 0;
  /// Everything as bytes.
  virtual std::string state() const = 0;
  /// Takes over the state of another one with the same options; the bytes are not trusted.
  virtual void restore(std::span<const std::byte> bytes, const std::string& name) = 0;
};

}  // namespace maxmargin
