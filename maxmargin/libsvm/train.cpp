#include "maxmargin/libsvm/train.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <thread>

#include "maxmargin/data/like.hpp"
#include "maxmargin/data/renumbering.hpp"
#include "maxmargin/libsvm/calibration.hpp"
#include "maxmargin/libsvm/folds.hpp"
#include "maxmargin/libsvm/pair_table.hpp"
#include "maxmargin/libsvm/predict.hpp"
#include "maxmargin/libsvm/report.hpp"
#include "maxmargin/libsvm/small_pairs.hpp"
#include "maxmargin/train/folds/calibrate.hpp"
#include "maxmargin/train/folds/held_out.hpp"
#include "maxmargin/train/folds/retrain.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t probability_folds = 5;

/// LIBSVM's limit of iterations, for indefinite kernels with a huge C, which hardly converge.
std::size_t most_iterations(std::size_t variables) {
  return std::max<std::size_t>(10'000'000, 100 * variables);
}

std::vector<std::uint64_t> serial_numbers(const Rows& rows) {
  std::vector<std::uint64_t> serial(rows.count, 0);
  for (std::size_t i = 0; i < rows.count; ++i) {
    double number = 0;
    rows.for_each(i, [&](Index feature, double value) {
      if (feature == 0) number = value;
    });
    if (!(number >= 1) || number >= static_cast<double>(rows.columns) ||
        number != std::trunc(number))
      throw Error(Fault::data,
                  "row " + std::to_string(i + 1) + " has the number " + shortest(number) +
                      " among the rows of the kernel matrix",
                  "begin each row with 0:number, from 1 to the last index");
    serial[i] = static_cast<std::uint64_t>(number);
  }
  return serial;
}

/// The kernel matrix of the rows from their kernel values with rows that have numbers. Where it is
/// not symmetric, the symmetric part of it: no other one is a kernel's.
Features gram_matrix(Features values, std::span<const std::uint64_t> serial, const LibsvmRun& run) {
  const std::size_t n = values.count();
  std::vector<double> gram(n * n);
  {
    const Rows rows = values;
    std::vector<double> all(rows.columns);
    for (std::size_t i = 0; i < n; ++i) {
      std::ranges::fill(all, 0.0);
      rows.for_each(i, [&](Index feature, double value) { all[feature] = value; });
      for (std::size_t j = 0; j < n; ++j) gram[i * n + j] = all[serial[j]];
    }
  }
  values = Features::dense(n);
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < n; ++i) {
    largest = std::max(largest, std::abs(gram[i * n + i]));
    for (std::size_t j = 0; j < i; ++j) {
      double &one = gram[i * n + j], &other = gram[j * n + i];
      difference = std::max(difference, std::abs(one - other));
      one = other = one + (other - one) / 2;
    }
  }
  if (difference > 1e-6 * largest && run.warn)
    run.warn("WARNING: the kernel matrix is not symmetric; (K + K')/2 is taken for it\n");
  for (std::size_t i = 0; i < n; ++i) values.append(std::span(gram).subspan(i * n, n));
  values.fit();
  return values;
}

/// Prints dots as a single machine's iterations go by.
class Dots {
 public:
  Dots(const LibsvmRun& run, std::size_t rows)
      : run_(run), step_(iterations_per_dot(rows)), caller_(std::this_thread::get_id()) {}

  Control tell(const Progress& progress) {
    const std::size_t due = progress.iteration / step_;
    if (due > printed_ && std::this_thread::get_id() == caller_) {
      run_.print(std::string(due - printed_, '.'));
      printed_ = due;
    }
    return run_.stop && run_.stop() ? Control::cancel : Control::proceed;
  }
  std::size_t printed() const { return printed_; }

 private:
  const LibsvmRun& run_;
  std::size_t step_;
  std::thread::id caller_;
  std::size_t printed_ = 0;
};

/// Trains on some rows of a data set, in an order that decides that of the classes. It uses
/// the parts of train/: prepare, Retrainer, HeldOut, summed_up,
/// fit_sigmoid. LIBSVM's own, and only here, are
/// - the order of the classes, and folds that are drawn by C's rand() in the order of its calls;
/// - probabilities of a pair of classes from folds of the rows of these two, where train/ judges
///   all classes by the same folds; a fold whose rest is of one class says -1 or 1;
/// - the noise of a regression from five folds of their own, by the mean size of its residuals;
/// - the lines and dots that are printed meanwhile, and models of a single class.
class LibsvmTrainer {
 public:
  LibsvmTrainer(Dataset data, const LibsvmParameters& parameters, const LibsvmRun& run)
      : parameters_(parameters),
        run_(run),
        of_classes_(predicts_classes(parameters.type())),
        y_(data.y) {
    if (run.stop)
      watch_ = [this](const Progress&) { return run_.stop() ? Control::cancel : Control::proceed; };
    const std::vector<int> classes = of_classes_ ? libsvm_classes(y_) : std::vector<int>{};
    if (of_classes_ && classes.size() < 2) return;  // there will be nothing to train
    options_ = train_options(parameters, classes);
    options_.stop.iterations = most_iterations((of_classes_ ? 1 : 2) * y_.size());
    if (parameters.precomputed()) {
      serial_ = serial_numbers(data.x);
      data.x = gram_matrix(std::move(data.x), serial_, run);
    }
    prepared_ = prepare(std::move(data), options_, run.threads);
  }

  /// All of svm_train. The serial numbers of a precomputed kernel are those of the rows, from 0.
  LibsvmModel train_on(std::span<const Index> rows) { return train_from(nullptr, rows).model; }

  /// Trains the machines of all rows, from which those of folds start.
  void expect_folds(std::size_t count) {
    std::optional<Retrainable> can = retrainable(prepared_, options_, count, run_.threads);
    if (!can) return;
    // Of several machines all folds are trained at once, where nothing else is.
    if (prepared_.problems.list.size() > 1 && !needs_folds() && count <= most_at_once)
      at_once_ = std::move(can);
    else
      retrainer_.emplace(prepared_, *std::move(can), options_, watched());
  }

  /// All of svm_cross_validation; the result has the order of `rows`.
  std::vector<double> cross_validate(std::span<const Index> rows, std::size_t folds,
                                     const Retrained* from = nullptr) {
    std::vector<Index> all(rows.begin(), rows.end());
    const LibsvmFolds parts =
        of_classes_ && folds < rows.size()
            ? stratified_folds(rows_of(classes_of_rows(rows), rows), folds, run_.random)
            : shuffled_folds(std::move(all), folds, run_.random);
    std::vector<double> of_row(y_.size(), 0.0);
    std::vector<Retrained> machines = machines_of_folds(parts, from);
    for (std::size_t fold = 0; fold < parts.count(); ++fold) {
      const std::vector<Index> rest = parts.rest(fold);
      if (rest.empty()) continue;  // a model of no rows predicts 0
      predict(
          machines.empty() ? train_from(from, rest) : fitted(std::move(machines[fold]), rest, 0),
          parts.held_out(fold), of_row);
    }
    std::vector<double> result;
    for (const Index row : rows) result.push_back(of_row[row]);
    return result;
  }

  void set_serial(LibsvmModel& model) const {
    for (std::uint64_t& serial : model.serial) serial = serial_[serial];
  }
  void forget_noise() { noise_wanted_ = false; }
  bool needs_folds() const {
    return (of_classes_ && parameters_.probability == 1) || wants_noise();
  }

 private:
  struct Calibrated {
    PlattSigmoid sigmoid;
    std::string printed;
  };
  using Say = LibsvmReporter::Say;

  struct Fitted {
    Model own;
    LibsvmModel model;   ///< the same
    Retrained machines;  ///< that it was made of; none where there is only one class
  };

  Fitted train_from(const Retrained* from, std::span<const Index> rows) {
    const std::vector<int> classes = classes_of_rows(rows);
    if (of_classes_ && classes.size() == 1) return {{}, only(classes[0]), {}};
    Dots dots(run_, rows.size());
    Observer observer = watch_;
    if (run_.print && classes.size() <= 2)
      observer = [&](const Progress& progress) { return dots.tell(progress); };
    Retrained machines = machines_of(rows, observer, from);
    return fitted(std::move(machines), rows, dots.printed());
  }

  /// The model of machines that were trained on these rows.
  Fitted fitted(Retrained machines, std::span<const Index> rows, std::size_t dots) {
    const std::vector<int> classes = classes_of_rows(rows);
    if (of_classes_ && classes.size() == 1) return {{}, only(classes[0]), {}};
    const std::vector<Calibrated> calibrated =
        calibrate_pairs(classes, rows_of(classes, rows), machines);
    const double noise = noise_of(rows, machines);
    Trained trained = together(machines);
    if (trained.ended != Ended::converged) warn_of_ending(trained);
    LibsvmModel model = in_form(trained.model, classes);
    for (const Calibrated& pair : calibrated) {
      model.prob_a.push_back(pair.sigmoid.slope);
      model.prob_b.push_back(pair.sigmoid.offset);
    }
    if (wants_noise()) model.prob_a = {noise};
    if (parameters_.probability == 1 && parameters_.type() == LibsvmType::one_class)
      mark_density(rows, model);
    if (run_.print) report(trained.model, model, machines.problems, calibrated, dots, run_.print);
    return {std::move(trained.model), std::move(model), std::move(machines)};
  }

  std::vector<int> classes_of_rows(std::span<const Index> rows) const {
    if (!of_classes_) return {};
    std::vector<double> labels;
    for (const Index row : rows) labels.push_back(y_[row]);
    return libsvm_classes(labels);
  }
  std::vector<std::vector<Index>> rows_of(std::span<const int> classes,
                                          std::span<const Index> rows) const {
    std::map<int, std::size_t> position;
    for (std::size_t k = 0; k < classes.size(); ++k) position[classes[k]] = k;
    std::vector<std::vector<Index>> members(classes.size());
    if (of_classes_)
      for (const Index row : rows) members[position.at(static_cast<int>(y_[row]))].push_back(row);
    return members;
  }

  Context watched() const { return {run_.threads, watch_}; }

  std::vector<bool> all_but(std::span<const Index> rows) const {
    std::vector<bool> left_out(y_.size(), true);
    for (const Index row : rows) left_out[row] = false;
    return left_out;
  }
  /// The machines over these rows only, started from those of more rows.
  Retrained machines_of(std::span<const Index> rows, const Observer& observer,
                        const Retrained* from) const {
    const std::vector<bool> left_out = all_but(rows);
    const Context context(run_.threads, observer);
    return retrainer_ ? retrainer_->without(left_out, options_, context, from)
                      : train_afresh(prepared_, left_out, options_, context);
  }
  /// Those of all folds, where nothing else has to be trained in between.
  std::vector<Retrained> machines_of_folds(const LibsvmFolds& parts, const Retrained* from) {
    if (needs_folds() || (!at_once_ && !retrainer_) || parts.count() > most_at_once) return {};
    std::vector<std::vector<bool>> left_out;
    for (std::size_t fold = 0; fold < parts.count(); ++fold)
      left_out.push_back(all_but(parts.rest(fold)));
    if (at_once_)
      return retrain_each(prepared_, *std::move(at_once_), left_out, options_, watched());
    return retrainer_->without_each(left_out, options_, watched(), from);
  }
  Trained together(const Retrained& machines) const {
    return summed_up(prepared_, machines.problems, options_, machines.machines, run_.threads);
  }

  LibsvmModel only(int label) const {
    LibsvmModel model;
    model.type = parameters_.type();
    model.kernel = kernel_of(parameters_);
    model.labels = {label};
    model.sizes = {0};
    if (run_.print)
      run_.print(
          "WARNING: training data in only one class. See README for details.\nTotal nSV = 0\n");
    return model;
  }

  void warn_of_ending(const Trained& trained) const {
    if (!run_.warn) return;
    if (trained.ended == Ended::unbounded && parameters_.type() == LibsvmType::nu_svc)
      return run_.warn(
          "WARNING: no margin is left between two classes at this nu: C and obj mean nothing, and "
          "rho is rounding. Rows that are equal but for their labels can be the reason; choose a "
          "larger nu\n");
    run_.warn(warning_of(trained.ended, trained.certificate.kkt));
  }

  double bound_of(int label) const {
    if (parameters_.type() == LibsvmType::one_class) return 1;
    return of_classes_ ? parameters_.C * parameters_.weight_of(label) : parameters_.C;
  }

  LibsvmModel in_form(Model& trained, std::span<const int> classes) const {
    if (of_classes_) keep_classes(classes, trained);
    LibsvmModel model = to_libsvm(trained, Numbering::libsvm, classes);
    model.type = parameters_.type();
    model.kernel = kernel_of(parameters_);
    if (model.serial.empty()) model.training = prepared_.examples.x;
    if (model.type == LibsvmType::nu_svc) return model;  // bounds are relative to the margin
    std::vector<double> bounds;
    for (const int label : classes) bounds.push_back(bound_of(label));
    if (classes.empty()) bounds.push_back(bound_of(0));
    put_at_bound(bounds, model);
    return model;
  }

  /// What svm-train prints of trained machines.
  void report(const Model& own, const LibsvmModel& model, const Subproblems& problems,
              std::span<const Calibrated> calibrated, std::size_t dots, const Say& say) const {
    LibsvmReporter reporter(model, say);
    const auto add = [&](const Machine& machine, std::size_t i, std::size_t j, double rho) {
      const auto number = static_cast<std::size_t>(&machine - own.machines.data());
      LibsvmReport lines;
      lines.rows = problems.list.examples(number);
      lines.iterations = machine.iterations;
      lines.objective = -machine.certificate.dual;
      lines.rho = rho;
      lines.width = machine.width;
      lines.dots = dots;
      lines.cost_first = bound_of(of_classes_ ? model.labels[i] : 0);
      lines.cost_second = bound_of(of_classes_ ? model.labels[j] : 0);
      if (model.type == LibsvmType::nu_svc) {
        // Coefficients are divided by the margin, and LIBSVM's objective is that of these.
        lines.cost_first = lines.cost_second = 1 / machine.width;
        lines.objective /= machine.width * machine.width;
      }
      reporter.add(i, j, lines);
    };
    if (of_classes_) {
      const PairTable pairs(own);
      std::size_t pair = 0;
      for (std::size_t i = 0; i < model.labels.size(); ++i)
        for (std::size_t j = i + 1; j < model.labels.size(); ++j, ++pair) {
          if (!calibrated.empty()) reporter.add(calibrated[pair].printed);
          if (const Machine* machine = pairs.machine_of(model.labels[i], model.labels[j]))
            add(*machine, i, j, model.rho[pair]);
        }
    } else {
      add(own.machines[0], 0, 0, model.rho[0]);
    }
    reporter.end();
  }

  std::vector<Calibrated> calibrate_pairs(std::span<const int> classes,
                                          std::span<const std::vector<Index>> members,
                                          const Retrained& from) const {
    std::vector<Calibrated> pairs;
    if (!of_classes_ || parameters_.probability == 0) return pairs;
    for (std::size_t i = 0; i < classes.size(); ++i)
      for (std::size_t j = i + 1; j < classes.size(); ++j) {
        if (run_.stop && run_.stop()) {
          if (run_.warn)
            run_.warn("WARNING: no probabilities: there was no time for their folds\n");
          return {};
        }
        pairs.push_back(calibrate_pair(classes[i], classes[j], members[i], members[j], from));
      }
    return pairs;
  }

  /// The sigmoid of two classes from decision values of rows out of their folds.
  Calibrated calibrate_pair(int first, int second, const std::vector<Index>& of_first,
                            const std::vector<Index>& of_second, const Retrained& from) const {
    std::vector<Index> rows = of_first;
    rows.insert(rows.end(), of_second.begin(), of_second.end());
    const LibsvmFolds folds = shuffled_folds(rows, probability_folds, run_.random);
    Calibrated result;
    std::vector<double> f(y_.size(), 0.0);
    for (std::size_t fold = 0; fold < folds.count(); ++fold) {
      const std::vector<Index> rest = folds.rest(fold);
      const auto firsts = std::ranges::count_if(
          rest, [&](Index row) { return static_cast<int>(y_[row]) == first; });
      if (firsts == 0 || firsts == std::ssize(rest)) {
        for (const Index row : folds.held_out(fold))
          f[row] = rest.empty() ? 0 : firsts == 0 ? -1 : 1;
        continue;
      }
      Retrained machines = machines_of(rest, watch_, &from);
      Trained trained = together(machines);
      const std::vector<int> order{first, second};
      LibsvmModel model = in_form(trained.model, order);
      if (run_.print)
        report(trained.model, model, machines.problems, {}, 0,
               [&](const std::string& lines) { result.printed += lines; });
      const auto held_out = folds.held_out(fold);
      const std::vector<double> values =
          values_at({std::move(trained.model), std::move(model), std::move(machines)}, held_out);
      for (std::size_t k = 0; k < held_out.size(); ++k) f[held_out[k]] = values[k];
    }
    std::vector<double> values, targets;
    for (const Index row : rows) {
      values.push_back(f[row]);
      targets.push_back(static_cast<int>(y_[row]) == first ? 1 : -1);
    }
    result.sigmoid = fit_sigmoid(values, targets);
    return result;
  }

  bool wants_noise() const {
    return noise_wanted_ && parameters_.probability == 1 && !of_classes_ &&
           parameters_.type() != LibsvmType::one_class;
  }

  /// The scale of a regression's noise.
  double noise_of(std::span<const Index> rows, const Retrained& from) {
    if (!wants_noise()) return 0;
    noise_wanted_ = false;
    std::vector<double> residuals = cross_validate(rows, probability_folds, &from);
    noise_wanted_ = true;
    for (std::size_t k = 0; k < rows.size(); ++k) residuals[k] = y_[rows[k]] - residuals[k];
    const double noise = libsvm_noise(residuals);
    if (run_.print)
      run_.print(
          "Prob. model for test data: target value = predicted value + z,\n"
          "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma= " +
          general(noise) + "\n");
    return noise;
  }

  void mark_density(std::span<const Index> rows, LibsvmModel& model) const {
    const std::vector<double> f =
        LibsvmPredictor(model).decision_values(chosen_rows(rows), run_.threads);
    if (const auto marks = libsvm_density_marks(f))
      model.marks.assign(marks->begin(), marks->end());
    else if (run_.warn)
      run_.warn("WARNING: too few rows on one side of the threshold for probabilities\n");
  }

  Features chosen_rows(std::span<const Index> rows) const {
    const Features& all = *prepared_.examples.x;
    Features chosen = none_like(all);
    chosen.append(all.view(), rows);
    return chosen;
  }

  /// The decision values of all pairs, row by row.
  std::vector<double> values_at(const Fitted& fitted, std::span<const Index> rows) const {
    if (retrainer_ && fitted.machines.machines.size() == 1)
      if (auto values = values_of_one(fitted, rows)) return *std::move(values);
    if (HeldOut::takes(prepared_))
      return in_order_of_pairs(fitted,
                               HeldOut(prepared_, fitted.own).decision_values(rows, run_.threads));
    return LibsvmPredictor(fitted.model)
        .decision_values(chosen_rows(rows), run_.threads, Precision::fast);
  }
  /// The only machine of a problem has f at its held-out rows already. Nothing where there are rows
  /// of other classes.
  std::optional<std::vector<double>> values_of_one(const Fitted& fitted,
                                                   std::span<const Index> rows) const {
    const Subproblem& problem = prepared_.problems.list[fitted.machines.number[0]];
    const std::vector<double> f = retrainer_->values(fitted.machines, 0);
    const bool is_turned = of_classes_ && fitted.model.labels[0] != label_of(problem.positive);
    std::vector<double> of_row(y_.size(), std::numeric_limits<double>::quiet_NaN()), values;
    for (std::size_t k = 0; k < f.size(); ++k)
      of_row[problem.examples[k].row] = is_turned ? -f[k] : f[k];
    for (const Index row : rows) {
      if (std::isnan(of_row[row])) return std::nullopt;
      values.push_back(of_row[row]);
    }
    return values;
  }
  static std::vector<double> in_order_of_pairs(const Fitted& fitted,
                                               const std::vector<double>& of_machines) {
    const std::vector<int>& labels = fitted.model.labels;
    const std::size_t machines = fitted.own.machines.size();
    const std::size_t rows = of_machines.size() / machines, all = fitted.model.rho.size();
    std::vector<double> values(rows * all, 0.0);
    const PairTable pairs(fitted.own);
    std::size_t pair = 0;
    for (std::size_t i = 0; i < labels.size(); ++i)
      for (std::size_t j = i + 1; j < labels.size(); ++j, ++pair) {
        const Machine* machine = pairs.machine_of(labels[i], labels[j]);
        if (machine == nullptr) continue;  // f = 0
        const auto number = static_cast<std::size_t>(machine - fitted.own.machines.data());
        const std::string& name = fitted.own.classes[static_cast<std::size_t>(machine->positive)];
        const double sign = name == std::to_string(labels[i]) ? 1 : -1;
        for (std::size_t row = 0; row < rows; ++row)
          values[row * all + pair] = sign * of_machines[row * machines + number];
      }
    return values;
  }
  int label_of(int number) const {
    return std::stoi(prepared_.problems.classes[static_cast<std::size_t>(number)]);
  }

  void predict(const Fitted& fitted, std::span<const Index> rows,
               std::vector<double>& of_row) const {
    const LibsvmModel& model = fitted.model;
    if (model.labels.size() == 1) {
      for (const Index row : rows) of_row[row] = model.labels[0];
      return;
    }
    const std::vector<double> values = values_at(fitted, rows);
    const std::size_t pairs = model.rho.size();
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto f = std::span(values).subspan(k * pairs, pairs);
      of_row[rows[k]] =
          model.prob_b.empty() ? libsvm_predicted(model, f) : libsvm_likeliest(model, f);
    }
  }

  const LibsvmParameters& parameters_;
  const LibsvmRun& run_;
  const bool of_classes_;
  const std::vector<double> y_;
  TrainOptions options_;
  Observer watch_;  ///< ends a run on request
  Prepared prepared_;
  std::optional<Retrainer> retrainer_;
  std::optional<Retrainable> at_once_;
  std::vector<std::uint64_t> serial_;
  bool noise_wanted_ = true;
};

std::vector<Index> all_rows(std::size_t count) {
  std::vector<Index> rows(count);
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

void warn_of_weights(const Dataset& data, const LibsvmParameters& parameters,
                     const LibsvmRun& run) {
  if (!run.warn || parameters.type() != LibsvmType::c_svc) return;
  const std::vector<int> classes = libsvm_classes(data.y);
  for (const auto& [label, factor] : parameters.weight)
    if (std::ranges::count(classes, label) == 0)
      run.warn("WARNING: class label " + std::to_string(label) +
               " specified in weight is not found\n");
}

/// Closes the gaps between features, which a precomputed kernel does not have.
Renumbering close_gaps(Dataset& data, const LibsvmParameters& parameters) {
  if (parameters.precomputed()) return {};
  const Renumbering numbers(data.x);
  if (!numbers.none()) data.x = numbers.applied(data.x);
  return numbers;
}

}  // namespace

LibsvmModel libsvm_train(Dataset data, const LibsvmParameters& parameters, const LibsvmRun& run) {
  warn_of_weights(data, parameters, run);
  const std::vector<Index> rows = all_rows(data.rows());
  const std::size_t columns = data.x.columns();
  const Renumbering numbers = close_gaps(data, parameters);
  const auto in_general = [&] {
    LibsvmTrainer trainer(std::move(data), parameters, run);
    if (trainer.needs_folds()) trainer.expect_folds(probability_folds);
    LibsvmModel trained = trainer.train_on(rows);
    trainer.set_serial(trained);
    return trained;
  };
  std::optional<LibsvmModel> small = train_small_pairs(data, parameters, run);
  LibsvmModel model = small ? *std::move(small) : in_general();
  if (!numbers.none() && model.training)
    model.training =
        std::make_shared<const Features>(numbers.undone(model.training->view(), columns));
  return model;
}

std::vector<double> libsvm_cross_validation(Dataset data, const LibsvmParameters& parameters,
                                            int folds, const LibsvmRun& run) {
  warn_of_weights(data, parameters, run);
  const std::vector<Index> rows = all_rows(data.rows());
  auto count = static_cast<std::size_t>(folds);
  if (count > rows.size()) {
    count = rows.size();
    if (run.warn)
      run.warn(
          "WARNING: # folds > # data. Will use # folds = # data instead (i.e., leave-one-out "
          "cross validation)\n");
  }
  close_gaps(data, parameters);
  LibsvmTrainer trainer(std::move(data), parameters, run);
  trainer.forget_noise();
  trainer.expect_folds(trainer.needs_folds() ? std::max(count, probability_folds) : count);
  return trainer.cross_validate(rows, count);
}

}  // namespace maxmargin
