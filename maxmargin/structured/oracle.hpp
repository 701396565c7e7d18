#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/data/rows.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// A structured label: the tags of a sentence, the class of a row, the ranks of documents. Only the
/// oracle knows what the numbers mean.
using Structure = std::vector<std::int32_t>;
using StructureView = std::span<const std::int32_t>;

/// A list of features and their values. A feature may occur more than once: the values add up.
struct JointFeatures {
  std::vector<Index> index;
  std::vector<double> value;

  std::size_t size() const { return index.size(); }
  void add(std::size_t feature, double amount) {
    index.push_back(static_cast<Index>(feature));
    value.push_back(amount);
  }
  void clear() {
    index.clear();
    value.clear();
  }
  double dot(std::span<const double> w) const {
    double sum = 0;
    for (std::size_t k = 0; k < index.size(); ++k) sum += w[index[k]] * value[k];
    return sum;
  }
};

/// What an oracle returns: a structure that attains the maximum (exact); a point that attains the
/// maximum over a superset of the structures (relaxed), so that the certificate is that of the
/// relaxed problem; or any good structure (heuristic), so that the gap is no bound.
enum class Exactness { exact, relaxed, heuristic };
std::string_view to_string(Exactness exactness);

/// The inference problem, what is maximised over y:
///   best    w.Psi(x,y)                       a prediction
///   margin  Delta(y) - w.psi(y)              margin rescaling
///   slack   Delta(y) (1 - w.psi(y))          slack rescaling
/// with psi(y) = Psi(x,y_true) - Psi(x,y).
enum class Ask { best, margin, slack };

/// An inner product <a,b> = a'Mb of joint features, for machines with kernels. w is then M times
/// the coefficients, and oracles are asked with that.
class Metric {
 public:
  virtual ~Metric() = default;
  /// scores += scale * M delta. Solvers use fast values, certificates exact ones.
  virtual void add_product(const JointFeatures& delta, double scale, Precision precision,
                           std::span<double> scores) const = 0;
  virtual double inner(const JointFeatures& a, const JointFeatures& b) const = 0;
  /// A bound of the error that any score of M c has, computed at once from exact values.
  virtual double score_error(std::span<const double> c) const = 0;

  /// Approximates M between two products: cheap updates of the scores after each step, exact within
  /// an example, perhaps approximate between examples.
  class Surrogate {
   public:
    virtual ~Surrogate() = default;
    /// Starts from these scores, and forgets earlier changes.
    virtual void begin(std::span<const double> scores) = 0;
    /// Changes coefficients. Of the scores only those that belong to no example change here.
    virtual void add(const JointFeatures& delta, double scale, std::span<double> scores) = 0;
    /// Computes the scores of an example.
    virtual void update(std::size_t example, std::span<double> scores) const = 0;
    /// a'Mb, exactly, of features of one example.
    virtual double inner(const JointFeatures& a, const JointFeatures& b) const = 0;
  };
  /// `examples[i]` are the joint features of an example's truth.
  virtual std::unique_ptr<Surrogate> surrogate(std::span<const JointFeatures> examples) const = 0;
};

/// The examples of a structural machine, with their joint features, loss and separation oracle. A
/// user writes the first six functions. They are called by several threads at once and must be
/// deterministic.
class Oracle {
 public:
  virtual ~Oracle() = default;

  virtual std::size_t examples() const = 0;
  virtual std::size_t dimensions() const = 0;
  virtual Structure truth(std::size_t example) const = 0;
  /// Delta: 0 for the truth, never negative.
  virtual double loss(std::size_t example, StructureView y) const = 0;
  /// Appends scale * Psi(x, y).
  virtual void features(std::size_t example, StructureView y, double scale,
                        JointFeatures& out) const = 0;
  /// The structure that maximises what `ask` says; among equal ones always the same.
  virtual Structure most_violated(std::size_t example, std::span<const double> w,
                                  Ask ask) const = 0;

  virtual Exactness exactness() const { return Exactness::exact; }
  /// Whether most_violated() solves this inference problem.
  virtual bool answers(Ask ask) const { return ask != Ask::slack; }
  /// Null: the inner product a'b.
  virtual const Metric* metric() const { return nullptr; }
  /// Appends scale * psi(y). An override can leave out the features that y shares with the truth,
  /// mostly nearly all of them.
  virtual void difference(std::size_t example, StructureView y, double scale,
                          JointFeatures& out) const;
  /// out[k] = w.psi(ys[k]). Solvers call this most often.
  virtual void margins(std::size_t example, std::span<const StructureView> ys,
                       std::span<const double> w, std::span<double> out) const;
  /// Appends the sum of scale[k] * psi(ys[k]).
  virtual void combine(std::size_t example, std::span<const StructureView> ys,
                       std::span<const double> scale, JointFeatures& out) const;
  /// most_violated() of many examples at once.
  virtual std::vector<Structure> most_violated(std::span<const std::size_t> examples,
                                               std::span<const double> w, Ask ask,
                                               const Threads& threads) const;
  /// Whether y is a structure of the example; checks the planes of a model file.
  virtual bool is_structure(std::size_t, StructureView) const { return true; }
  /// Relaxed oracles: whether y is a structure, not only a point of the relaxation. A certificate
  /// in which all are is exact.
  virtual bool is_integral_structure(std::size_t, StructureView) const {
    return exactness() != Exactness::relaxed;
  }
  /// The name of an example in messages.
  virtual std::string example_name(std::size_t example) const;
};

/// Some of the examples of `whole`, which must outlive it.
class OracleSubset : public Oracle {
 public:
  OracleSubset(const Oracle& whole, std::vector<std::size_t> which)
      : whole_(whole), which_(std::move(which)) {}

  std::size_t examples() const override { return which_.size(); }
  std::size_t dimensions() const override { return whole_.dimensions(); }
  Structure truth(std::size_t i) const override { return whole_.truth(which_[i]); }
  double loss(std::size_t i, StructureView y) const override { return whole_.loss(which_[i], y); }
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override {
    whole_.features(which_[i], y, scale, out);
  }
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override {
    return whole_.most_violated(which_[i], w, ask);
  }
  Exactness exactness() const override { return whole_.exactness(); }
  bool answers(Ask ask) const override { return whole_.answers(ask); }
  const Metric* metric() const override { return whole_.metric(); }
  void difference(std::size_t i, StructureView y, double scale, JointFeatures& out) const override {
    whole_.difference(which_[i], y, scale, out);
  }
  void margins(std::size_t i, std::span<const StructureView> ys, std::span<const double> w,
               std::span<double> out) const override {
    whole_.margins(which_[i], ys, w, out);
  }
  void combine(std::size_t i, std::span<const StructureView> ys, std::span<const double> scale,
               JointFeatures& out) const override {
    whole_.combine(which_[i], ys, scale, out);
  }
  std::vector<Structure> most_violated(std::span<const std::size_t> examples,
                                       std::span<const double> w, Ask ask,
                                       const Threads& threads) const override;
  bool is_structure(std::size_t i, StructureView y) const override {
    return whole_.is_structure(which_[i], y);
  }
  bool is_integral_structure(std::size_t i, StructureView y) const override {
    return whole_.is_integral_structure(which_[i], y);
  }
  std::string example_name(std::size_t i) const override { return whole_.example_name(which_[i]); }

 private:
  const Oracle& whole_;
  std::vector<std::size_t> which_;
};

}  // namespace maxmargin
