#include "maxmargin/libsvm/small_pairs.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "maxmargin/data/equal_rows.hpp"
#include "maxmargin/libsvm/report.hpp"
#include "maxmargin/train/formulate/formulate.hpp"
#include "maxmargin/train/machines/few_rows.hpp"
#include "maxmargin/train/memory.hpp"

namespace maxmargin {
namespace {

/// The rows of each class, these in LIBSVM's order.
std::vector<std::vector<Index>> rows_of_classes(std::span<const double> y,
                                                std::span<const int> classes) {
  std::vector<std::pair<int, std::size_t>> place;
  for (std::size_t k = 0; k < classes.size(); ++k) place.emplace_back(classes[k], k);
  std::ranges::sort(place);
  std::vector<std::vector<Index>> rows(classes.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::pair<int, std::size_t> first{static_cast<int>(y[i]), 0};
    rows[std::ranges::lower_bound(place, first)->second].push_back(static_cast<Index>(i));
  }
  return rows;
}

bool are_few(const std::vector<std::vector<Index>>& rows) {
  std::size_t largest = 0, second = 0;
  for (const auto& each : rows) {
    second = std::max(second, std::min(largest, each.size()));
    largest = std::max(largest, each.size());
  }
  return largest + second <= FewRows::most;
}

class SmallPairs {
 public:
  SmallPairs(const LibsvmParameters& parameters, const LibsvmRun& run, std::vector<int> classes,
             std::vector<std::vector<Index>> members)
      : run_(run), eps_(parameters.eps), members_(std::move(members)) {
    model_.type = parameters.type();
    model_.kernel = kernel_of(parameters);
    model_.labels = std::move(classes);
    for (const int label : model_.labels)
      cost_.push_back(parameters.C * parameters.weight_of(label));
    begin_.push_back(0);
    for (const auto& rows : members_) {
      model_.row.insert(model_.row.end(), rows.begin(), rows.end());
      begin_.push_back(model_.row.size());
    }
  }

  /// Whether these rows, and the memory, allow it.
  bool take(const Features& x, const TrainOptions& options) {
    const std::size_t n = x.count();
    const Context context(run_.threads);
    const MemoryBudget memory = memory_for(options, context);
    if (n * n * sizeof(double) > memory.small_machines().bytes) return false;
    Examples examples;
    examples.x = std::shared_ptr<const Features>(std::shared_ptr<const Features>(), &x);
    examples.first_equal = first_equal_rows(x, run_.threads);
    for (std::size_t i = 0; i < n; ++i)
      if (examples.first_equal[i] != i) return false;
    share_matrix(examples, members_, options.kernel, memory.shared_values(), context);
    if (examples.K->definite() != Definite::yes) return false;
    values_ = exact_values(*examples.K, run_.threads);
    for (const std::uint64_t row : model_.row) point_.push_back(examples.point[row]);
    return true;
  }

  /// Whether all machines converged or were stopped.
  bool train() {
    const std::size_t classes = members_.size(), pairs = classes * (classes - 1) / 2;
    model_.rho.assign(pairs, 0.0);
    model_.coefficients.assign(model_.row.size() * model_.columns(), 0.0);
    reports_.resize(pairs);
    run_.threads.run(classes - 1, [&](std::size_t i) {
      // The first class is always trained, so that there is a model.
      if (i > 0 && !is_stopped_ && run_.stop && run_.stop()) is_stopped_ = true;
      if (is_stopped_ || has_failed_) return;
      Scratch scratch;
      for (std::size_t j = i + 1; j < classes; ++j)
        if (!train_pair(i, j, scratch)) has_failed_ = true;
    });
    return !has_failed_;
  }

  bool is_stopped() const { return is_stopped_; }

  LibsvmModel model(std::shared_ptr<const Features> rows) {
    keep_support();
    put_at_bound(cost_, model_);
    model_.training = std::move(rows);
    return std::move(model_);
  }

  void report(const LibsvmModel& model) const {
    LibsvmReporter reporter(model, run_.print);
    std::size_t pair = 0;
    for (std::size_t i = 0; i < members_.size(); ++i)
      for (std::size_t j = i + 1; j < members_.size(); ++j, ++pair) {
        LibsvmReport lines;
        lines.rows = members_[i].size() + members_[j].size();
        lines.iterations = reports_[pair].iterations;
        lines.objective = reports_[pair].objective;
        lines.rho = model.rho[pair];
        lines.cost_first = cost_[i];
        lines.cost_second = cost_[j];
        reporter.add(i, j, lines);
      }
    reporter.end();
  }

 private:
  struct Reported {
    std::uint64_t iterations = 0;
    double objective = 0;
  };
  struct Scratch {
    FewRows machine;
    std::array<double, FewRows::most * FewRows::most> K;
    std::array<std::size_t, FewRows::most> vector;  ///< of each variable, its place in row
  };

  /// In the order of the data; the class with the larger label is the positive one.
  bool train_pair(std::size_t i, std::size_t j, Scratch& scratch) {
    std::size_t n = 0;
    const std::size_t end_i = begin_[i + 1], end_j = begin_[j + 1];
    for (std::size_t k = begin_[i], l = begin_[j]; k < end_i || l < end_j; ++n)
      scratch.vector[n] = l == end_j || (k < end_i && model_.row[k] < model_.row[l]) ? k++ : l++;
    const std::size_t points = point_.size();
    for (std::size_t v = 0; v < n; ++v) {
      const double* row = values_.data() + point_[scratch.vector[v]] * points;
      for (std::size_t w = 0; w < n; ++w) scratch.K[v * n + w] = row[point_[scratch.vector[w]]];
    }
    const double sign_i = model_.labels[i] > model_.labels[j] ? 1 : -1;
    FewRows& machine = scratch.machine;
    machine.begin(scratch.K.data());
    for (std::size_t v = 0; v < n; ++v) {
      const bool is_first = scratch.vector[v] < end_i && scratch.vector[v] >= begin_[i];
      machine.add(is_first ? sign_i : -sign_i, cost_[is_first ? i : j]);
    }
    const std::optional<FewRows::Answer> answer = machine.solve(eps_);
    if (!answer) return false;
    const std::size_t columns = model_.columns();
    for (std::size_t v = 0; v < n; ++v) {
      const std::size_t at = scratch.vector[v];
      const bool is_first = at < end_i && at >= begin_[i];
      if (machine.a()[v] != 0)
        model_.coefficients[at * columns + (is_first ? j - 1 : i)] =
            is_first ? machine.a()[v] : -machine.a()[v];
    }
    const std::size_t pair = i * (2 * members_.size() - i - 1) / 2 + j - i - 1;
    model_.rho[pair] = -sign_i * answer->bias + 0.0;
    reports_[pair] = {machine.iterations(), -answer->dual};
    return true;
  }

  /// Rows without any coefficient are no support vectors.
  void keep_support() {
    const std::size_t columns = model_.columns();
    std::size_t kept = 0;
    model_.sizes.assign(members_.size(), 0);
    for (std::size_t of = 0; of < members_.size(); ++of)
      for (std::size_t k = begin_[of]; k < begin_[of + 1]; ++k) {
        const std::span<double> own = std::span(model_.coefficients).subspan(k * columns, columns);
        if (std::ranges::all_of(own, [](double each) { return each == 0; })) continue;
        std::ranges::copy(
            own, model_.coefficients.begin() + static_cast<std::ptrdiff_t>(kept * columns));
        model_.row[kept++] = model_.row[k];
        ++model_.sizes[of];
      }
    model_.row.resize(kept);
    model_.coefficients.resize(kept * columns);
  }

  const LibsvmRun& run_;
  const double eps_;
  std::vector<std::vector<Index>> members_;
  std::vector<double> cost_;        // of each class
  std::vector<std::size_t> begin_;  // of each class among model_.row
  std::vector<Index> point_;        // of each of model_.row
  std::vector<double> values_;      // of the kernel over all points
  LibsvmModel model_;
  std::vector<Reported> reports_;  // of each pair
  std::atomic<bool> is_stopped_ = false, has_failed_ = false;
};

/// Costs as they are given: a weight of 0 has a meaning of its own.
bool has_usual_costs(const LibsvmParameters& parameters, std::span<const int> classes) {
  constexpr double least = 1e-6;
  return std::ranges::all_of(classes, [&](int label) {
    const double factor = parameters.weight_of(label);
    return factor >= least && std::isfinite(factor * parameters.C);
  });
}

}  // namespace

std::optional<LibsvmModel> train_small_pairs(Dataset& data, const LibsvmParameters& parameters,
                                             const LibsvmRun& run) {
  if (parameters.type() != LibsvmType::c_svc || parameters.probability == 1 ||
      parameters.precomputed() || data.rows() == 0 || !data.weight.empty())
    return {};
  std::vector<int> classes = libsvm_classes(data.y);
  std::vector<std::vector<Index>> members = rows_of_classes(data.y, classes);
  if (classes.size() <= 2 || !are_few(members) || !has_usual_costs(parameters, classes)) return {};
  const TrainOptions options = train_options(parameters, classes);
  visit_list([](const auto& kernel) { validate(kernel); }, options.kernel);
  SmallPairs pairs(parameters, run, std::move(classes), std::move(members));
  if (!pairs.take(data.x, options) || !pairs.train()) return {};
  LibsvmModel model = pairs.model(std::make_shared<const Features>(std::move(data.x)));
  if (pairs.is_stopped() && run.warn) run.warn(warning_of(Ended::cancelled, infinity));
  if (run.print) pairs.report(model);
  return model;
}

}  // namespace maxmargin
