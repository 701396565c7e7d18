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
  /// What is said of a row.
  struct Prediction {
    std::string label;      ///< its class; empty: none is known yet, or no classes are told apart
    double value = 0;       ///< the value of a regression, or +1 (normal) and -1 (an alarm)
    double margin = 0;      ///< by how much
    bool doubtful = false;  ///< what truncation has taken could have changed the label
  };
  struct Learned {
    Prediction before;     ///< what was said before it was learned
    double loss = 0;       ///< before it was learned
    bool correct = false;  ///< the class; regression: within the tube; novelty: no alarm
    bool updated = false;  ///< the row has changed the machine
  };

  /// Throws Error for options that are unknown, do not fit, or contradict each other.
  explicit Learner(const Options& options = {});

  // A row is its values, or its features (counting from 0, increasing) and their values. Before:
  // finite values, of the kind that the kernel takes; anything else is an Error that leaves the
  // machine as it was.

  Prediction predict(std::span<const double> values);
  Prediction predict(std::span<const std::uint32_t> features, std::span<const double> values);
  /// The label is a class by its number, or the value to be regressed; novelty does not look at it.
  Learned learn(std::span<const double> values, double label);
  Learned learn(std::span<const std::uint32_t> features, std::span<const double> values,
                double label);
  /// A class by its name.
  Learned learn(std::span<const double> values, std::string_view label);
  Learned learn(std::span<const std::uint32_t> features, std::span<const double> values,
                std::string_view label);
  /// With "exact": takes back the row that was learned as number `row` (from 0), as if it had never
  /// come. False: it is not held.
  bool forget(std::uint64_t row);

  std::uint64_t rows() const;  ///< learned so far
  std::vector<std::string> classes() const;
  std::size_t support_vectors() const;
  /// D: |f - f without truncation|(x) <= sqrt(k(x,x)) D.
  double truncation_bound() const;

  /// What it has learned so far as a model like any other.
  Model model() const;
  /// Writes that model, whole or not at all.
  void save(const std::string& path) const;

  /// Everything as bytes; another learner with the same options goes on from them as if it had
  /// never stopped, to the last bit. They are not trusted.
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
