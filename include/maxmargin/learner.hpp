#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "maxmargin/model.hpp"
#include "maxmargin/options.hpp"

namespace maxmargin {
inline namespace v0 {

/// A machine that learns a row at a time: predicts it, then learns it.
///
///   maxmargin::Learner learner({{"kernel", "rbf"}, {"gamma", 2}, {"truncate", "budget"}});
///   while (next(row, label)) wrong += !learner.learn(row, label).correct;
///   learner.save("stream.model");
///
/// The options are those of `maxmargin stream --help` that say what learns: "rule" and its
/// parameters, "lambda", "rate", "eta", "t0", "no-bias", "average", "truncate" and its parameters,
/// "kernel" and its parameters; or "lasvm" or "exact" (with "window"), "cost" and "tolerance".
class Learner {
 public:
  /// The prediction for a row.
  struct Prediction {
    std::string label;      ///< its class; empty: no class is known yet, or the rule has none
    double value = 0;       ///< the value of a regression, or +1 (normal) and -1 (an alarm)
    double margin = 0;      ///< by how much: g, f - rho, or the lead of the class
    bool doubtful = false;  ///< without truncation it might have been another label
  };
  struct Learned {
    Prediction before;     ///< the prediction before it was learned
    double loss = 0;       ///< before it was learned
    bool correct = false;  ///< the class; regression: within the tube; novelty: no alarm
    bool updated = false;  ///< the row has changed the machine
  };

  /// Before: known options that fit together; anything else is an Error.
  /// After: a learner that has seen no rows.
  explicit Learner(const Options& options = {});

  // A row is its values, or its features (counting from 0, increasing) and their values. Before:
  // finite values, of the kind that the kernel takes; anything else is an Error that leaves the
  // machine as it was.

  Prediction predict(std::span<const double> values);
  Prediction predict(std::span<const std::uint32_t> features, std::span<const double> values);
  /// The label is a class by its number, or the value of a regression; novelty ignores it.
  /// After: the row is learned, or an Error and the learner is unchanged.
  Learned learn(std::span<const double> values, double label);
  Learned learn(std::span<const std::uint32_t> features, std::span<const double> values,
                double label);
  /// A class by its name.
  Learned learn(std::span<const double> values, std::string_view label);
  Learned learn(std::span<const std::uint32_t> features, std::span<const double> values,
                std::string_view label);
  /// With "exact": unlearns the row that was learned as number `row` (from 0). False: it is not
  /// held.
  bool forget(std::uint64_t row);

  std::uint64_t rows() const;  ///< learned so far
  std::vector<std::string> classes() const;
  std::size_t support_vectors() const;
  /// D: |f - f without truncation|(x) <= sqrt(k(x,x)) D.
  double truncation_bound() const;

  /// What was learned so far as a model. Before: rows of two classes, where there are classes.
  Model model() const;
  /// Writes that model. After: the file, or an Error and what was there before.
  void save(const std::string& path) const;

  /// The state as bytes, and a learner's state replaced by it. Before: a state of the same options,
  /// anything else is an Error. After: the same updates as without the interruption, bit by bit.
  std::string state() const;
  void restore(std::string_view state);

  Learner(Learner&&) noexcept;
  Learner& operator=(Learner&&) noexcept;
  ~Learner();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace v0
}  // namespace maxmargin
