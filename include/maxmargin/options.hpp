#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace maxmargin {
inline namespace v0 {

/// One row, as a kernel or function of the user's receives it.
class Row {
 public:
  Row(const double* doubles, const float* floats, const std::uint32_t* index, std::size_t stored,
      std::size_t columns)
      : doubles_(doubles), floats_(floats), index_(index), stored_(stored), columns_(columns) {}

  std::size_t columns() const { return columns_; }

  /// Calls visit(column, value) for what is stored, in order of the columns.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t k = 0; k < stored_; ++k)
      visit(index_ ? static_cast<std::size_t>(index_[k]) : k,
            doubles_ ? doubles_[k] : static_cast<double>(floats_[k]));
  }

 private:
  const double* doubles_;
  const float* floats_;
  const std::uint32_t* index_;
  std::size_t stored_, columns_;
};

/// A kernel of the user's own. Before: K(x, z) = K(z, x), finite. Called from several
/// threads at once.
///
///   options.own_kernel("overlap", [](const maxmargin::Row& x, const maxmargin::Row& z) {
///     std::vector<double> of_z(z.columns());
///     z.for_each([&](std::size_t column, double value) { of_z[column] = value; });
///     double sum = 0;
///     x.for_each([&](std::size_t column, double value) { sum += std::min(value, of_z[column]); });
///     return sum;
///   });
using KernelFunction = std::function<double(const Row& x, const Row& z)>;

/// A convex cost c(z) of the user's own: z = y f with y = +1 or -1 for task svc, z = f - y for task
/// svr. Functions are called from several threads at once. Before: c is convex, and what stands
/// beside it belongs to it. After: train() has looked at them on a grid and thrown an Error where
/// they are not convex or do not fit together; between its points they are taken on trust.
/// examples/own_cost.cpp has one: c(z) = log cosh z, whose conjugate is
/// ((1 + t) log(1 + t) + (1 - t) log(1 - t)) / 2 between -1 and 1.
struct OwnCost {
  using Function = std::function<double(double)>;
  std::string label;         ///< under which models mention it
  Function value;            ///< c(z)
  Function slope;            ///< c'(z)
  Function conjugate;        ///< c*(t), the largest t z - c(z), for t between the limits of c'
  Function conjugate_slope;  ///< the derivative of c*: the z where c has the slope t
  Function conjugate_bend;   ///< its second derivative
  double least_slope, most_slope;  ///< the limits of c' far left and far right; may be infinite
};

/// The progress of a training.
struct TrainingProgress {
  std::size_t iteration = 0;
  double primal = 0, dual = 0, relative_gap = 0;
  double done = 0;     ///< estimated share of the work, 0 to 1
  double seconds = 0;  ///< since the start
};

/// The options of a training, by the names that `maxmargin train --help` lists, without their
/// dashes.
///
///   maxmargin::Options options{{"task", "svr"}, {"cost", 10}, {"gamma", 1}, {"gap", 1e-6}};
///   options.set("solver", "smo").set("time-limit", "60s");
///
/// Before: nothing; whatever is given is taken. After: it is checked by train(), which throws an
/// Error for an unknown name (with the one that was probably meant), a value that does not fit, and
/// an option without effect, before any work. Trainings leave the options as they are, so that they
/// serve for several, also in several threads at once; copies are independent.
class Options {
 public:
  /// A value, by its text: "rbf", 10, 0.5, true.
  struct Value {
    Value(const char* word) : text(word) {}
    Value(std::string_view word) : text(word) {}
    Value(const std::string& word) : text(word) {}
    Value(double number);
    Value(std::integral auto number) : Value(whole(number)) {}
    std::string text;

   private:
    static Value whole(bool yes) { return yes ? "true" : "false"; }
    static Value whole(std::integral auto number) { return std::to_string(number); }
  };

  Options() = default;
  Options(std::initializer_list<std::pair<std::string_view, Value>> given);

  /// After: the option has this value. The last value of a name counts; "class-weight",
  /// "parametric" and "parametric-column" add up.
  Options& set(std::string_view name, const Value& value);

  /// A kernel of the user's own. `mercer`: whether it is positive semi-definite, which is
  /// taken on trust; otherwise the gap is no bound. After: models are trained with it and mention
  /// its label; one that was loaded from a file gets the function by Model::with_kernel.
  Options& own_kernel(std::string label, KernelFunction kernel, bool mercer = true);

  /// An unpenalised function of a row's features beside the kernel part. Before: finite values.
  /// After: models have a coefficient more, Model::function_coefficients.
  Options& own_function(std::string label, std::function<double(std::span<const double>)> function);

  /// A cost of the user's own instead of "loss", for the tasks svc and svr. After: models are
  /// trained with it; the last one counts.
  Options& own_cost(OwnCost cost);

  /// Called a few times a second. After: false has ended the training with the best machine so
  /// far, and its certificate says that it has not converged.
  Options& watch(std::function<bool(const TrainingProgress&)> watcher);

  struct Help {
    std::string name, preset, text;
  };
  /// Every option there is, with its default and what it means.
  static std::vector<Help> all();

 private:
  friend struct Inside;
  std::vector<std::pair<std::string, std::string>> given_;
  std::string kernel_label_;
  KernelFunction kernel_;
  bool mercer_ = true;
  std::vector<std::pair<std::string, std::function<double(std::span<const double>)>>> functions_;
  std::shared_ptr<const OwnCost> cost_;
  std::function<bool(const TrainingProgress&)> watcher_;
};

}  // namespace v0
}  // namespace maxmargin
