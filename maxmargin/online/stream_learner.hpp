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

/// The prediction for a row, made before the row is learned.
struct OnlinePrediction {
  int class_number = -1;  ///< position in classes(); -1: no class is known yet
  double value = 0;       ///< regression: g; novelty: +1, or -1 for an alarm
  double margin = 0;      ///< g, f - rho, or the largest g of a class minus the second largest
  bool doubtful = false;  ///< without truncation it might have been another class, or no alarm
};

struct Learned {
  OnlinePrediction before;
  double loss = 0;       ///< of the prediction, summed over the machines
  bool correct = false;  ///< the class was right; regression: within the tube; novelty: no alarm
  bool updated = false;  ///< f has changed by a multiple of k(x, .)
};

/// A bound that is proved, or the reason why there is none.
struct Bound {
  std::optional<double> value{};
  std::string why_not{};
};

/// The numbers of the classes whose labels are numbers: a search in a short sorted array, because
/// every row asks.
class NumberedClasses {
 public:
  /// -1: no class has this label.
  int find(double label) const {
    const auto at = lower_bound(label);
    return at != numbers_.end() && at->first == label ? at->second : -1;
  }
  void add(double label, int class_number) {
    numbers_.insert(lower_bound(label), {label, class_number});
  }

 private:
  using Numbers = std::vector<std::pair<double, int>>;  // sorted by label
  Numbers::const_iterator lower_bound(double label) const {
    return std::ranges::lower_bound(numbers_, label, {}, &std::pair<double, int>::first);
  }
  Numbers numbers_;
};

/// A machine that learns row by row. `maxmargin stream` needs no more of it than this.
class StreamLearner {
 public:
  virtual ~StreamLearner() = default;

  virtual Outcome outcome() const = 0;
  /// Throws Error for a row with a feature beyond the limit, or whose values overflow; the learner
  /// is then unchanged.
  virtual OnlinePrediction predict(const StreamRow& x) = 0;
  /// Predicts, then learns. Novelty detection ignores the label.
  virtual Learned learn(const StreamRow& x, double label) = 0;
  /// The same with the name of a class.
  virtual Learned learn(const StreamRow& x, std::string_view label) = 0;
  /// Unlearns the row of this number; false where no such row is held, or the learner cannot.
  virtual bool forget(std::uint64_t) { return false; }

  virtual const std::vector<std::string>& classes() const = 0;
  virtual std::size_t terms() const = 0;      ///< rows in the expansion; 0 for linear machines
  virtual std::uint64_t updates() const = 0;  ///< rows that changed f
  virtual bool truncates() const { return false; }
  virtual double dropped() const { return 0; }
  virtual Bound horizon_bound() const { return {{}, "nothing is truncated"}; }
  virtual Bound risk_bound() const = 0;
  /// Of the problem over the rows that are held, where the learner solves one.
  virtual std::optional<Certificate> certificate(const Threads&) const { return std::nullopt; }

  /// Solves the problem over the rows that are held to its tolerance; false: there is no such
  /// problem.
  virtual bool finish() { return false; }

  /// What was learned so far as a model. Throws Error where fewer than two classes, or no rows,
  /// were seen. `rows`: how many the stream had.
  virtual Model model(std::uint64_t rows) const = 0;
  /// The state as bytes, for a checkpoint.
  virtual std::string state() const = 0;
  /// Takes over the state of a learner with the same options. The bytes may be damaged: throws
  /// Error, which calls them `name`.
  virtual void restore(std::span<const std::byte> bytes, const std::string& name) = 0;
};

}  // namespace maxmargin
