// The certificate of a dual learner, its model, and its state as bytes.
#include <algorithm>
#include <cmath>

#include "maxmargin/certify/certify.hpp"
#include "maxmargin/loss/hinge.hpp"
#include "maxmargin/model/file/header_json.hpp"
#include "maxmargin/online/archive.hpp"
#include "maxmargin/online/dual_learner.hpp"
#include "maxmargin/online/learner.hpp"
#include "maxmargin/online/row_state.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin {

Features DualLearner::held(std::vector<std::size_t>& slots) const {
  Features x = Features::sparse(columns_);
  for (std::size_t i = 0; i < rows_.slots(); ++i) {
    if (!rows_.used(i)) continue;
    const StreamRow row = rows_.row(i);
    x.append(row.features, row.values);
    slots.push_back(i);
  }
  return x;
}

Certified DualLearner::certified(const Dual& dual, const std::vector<std::size_t>& slots,
                                 std::shared_ptr<const Quadratic> K, const Threads& threads) const {
  DualQp qp;
  qp.K = std::move(K);
  qp.A.emplace_back();
  qp.d = {0};
  Solution solution;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const double y = dual.y[slots[i]];
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back(Hinge{}.blocks(y, options_.cost)[0]);
    qp.A[0].push_back(y);
    solution.a.push_back(y * dual.alpha[slots[i]]);
  }
  solution.iterations = pair_steps_;
  return certify(qp, std::move(solution), Precision::exact, threads);
}

std::optional<Certificate> DualLearner::certificate(const Threads& threads) const {
  if (classes_.size() < 2) return std::nullopt;
  std::vector<std::size_t> slots;
  const auto x = std::make_shared<const Features>(held(slots));
  if (slots.empty()) return std::nullopt;
  const auto K = make_kernel_quadratic(options_.kernel, x, {}, Definite::unknown, threads);
  std::optional<Certificate> all;
  for (const Dual& dual : machines_) {
    const Certificate one = certified(dual, slots, K, threads).certificate;
    if (!all) {
      all = one;
      continue;
    }
    all->primal += one.primal;
    all->dual += one.dual;
    all->gap += one.gap;
    all->relative_gap = std::max(all->relative_gap, one.relative_gap);
    all->kkt = std::max(all->kkt, one.kkt);
    all->equality_residual = std::max(all->equality_residual, one.equality_residual);
    all->bound_residual = std::max(all->bound_residual, one.bound_residual);
    all->rounding = std::max(all->rounding, one.rounding);
  }
  return all;
}

Model DualLearner::model(std::uint64_t rows) const {
  if (classes_.size() < 2)
    throw Error(Fault::data,
                classes_.empty() ? "no row with a label was learned"
                                 : "all rows had the label '" + classes_[0] + "'",
                "a model needs rows of two classes");
  Model model;
  model.multiclass = classes_.size() > 2 ? Multiclass::one_vs_rest : Multiclass::one_vs_one;
  model.kernel = options_.kernel;
  model.features = columns_;
  model.classes = classes_;
  model.numeric_classes = are_numbers(classes_);
  model.rows = std::max(rows, steps_);
  model.program = "maxmargin " MAXMARGIN_VERSION;
  model.options = {{"task", "svc"},
                   {"cost", shortest(options_.cost)},
                   {"kernel", std::string(name_of(options_.kernel))},
                   {options_.window > 0 ? "window" : "rule",
                    options_.window > 0 ? std::to_string(options_.window) : "lasvm"},
                   {"tolerance", shortest(options_.tolerance)}};
  std::vector<std::size_t> slots;
  const auto x = std::make_shared<const Features>(held(slots));
  const Threads threads(1);
  const auto K = make_kernel_quadratic(options_.kernel, x, {}, Definite::unknown, threads);
  std::vector<Index> position(slots.size(), 0), support;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (std::ranges::none_of(machines_, [&](const Dual& d) { return d.alpha[slots[i]] != 0; }))
      continue;
    position[i] = static_cast<Index>(support.size());
    support.push_back(static_cast<Index>(i));
    model.support_row.push_back(rows_.row(slots[i]).number);
  }
  model.support = Features::sparse(columns_);
  model.support.append(x->view(), support);
  for (std::size_t m = 0; m < machines_.size(); ++m) {
    const Certified judged = certified(machines_[m], slots, K, threads);
    Machine machine;
    machine.positive = static_cast<int>(m);
    machine.negative = classes_.size() == 2 ? 1 : Machine::nobody;
    machine.lambda = judged.solution.lambda;
    machine.certificate = judged.certificate;
    machine.iterations = pair_steps_;
    machine.ended = judged.certificate.kkt <= options_.tolerance + judged.certificate.rounding
                        ? Ended::converged
                        : Ended::iteration_limit;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (machines_[m].alpha[slots[i]] == 0) continue;
      machine.support.push_back(position[i]);
      machine.coefficient.push_back(machines_[m].alpha[slots[i]]);
    }
    model.machines.push_back(std::move(machine));
  }
  return model;
}

/// Whether sums_fit() holds for k(x_slot, .) over all rows; with a positive definite kernel
/// |k(x, z)| <= max(k(x, x), k(z, z)), which are checked elsewhere.
bool DualLearner::kernel_row_fits(std::size_t slot) {
  const bool definite =
      visit_list([](const auto& k) { return k.definite() == Definite::yes; }, options_.kernel);
  if (definite) return true;
  const auto values = rows_.values(rows_.row(slot));
  return std::ranges::all_of(values, [this](double value) { return sums_fit(value); });
}

template <class Archive>
void DualLearner::pass(Archive& archive) {
  std::string kernel =
      visit_list([](const auto& k) { return component_json(k).dump(); }, options_.kernel);
  double cost = options_.cost, tolerance = options_.tolerance;
  std::uint64_t window = options_.window, columns = columns_;
  const std::string own = kernel;
  archive(kernel);
  archive(cost);
  archive(tolerance);
  archive(window);
  if constexpr (Archive::reads)
    if (kernel != own || cost != options_.cost || tolerance != options_.tolerance ||
        window != options_.window)
      throw Error(Fault::usage, Place{archive.name()},
                  "this checkpoint is of another machine: kernel, cost or window differs",
                  "repeat the options it was made with");
  for (std::uint64_t* count : {&steps_, &updates_, &pair_steps_, &columns}) archive(*count);
  archive(classes_);
  pass_rows(archive, rows_, options_.most_features);
  archive(class_);
  std::uint64_t machines = machines_.size();
  archive(machines);
  const std::size_t slots = rows_.slots();
  if constexpr (Archive::reads) {
    const std::size_t expected =
        classes_.size() <= 2 ? std::min<std::size_t>(1, classes_.size()) : classes_.size();
    archive.demand(machines == expected && columns <= options_.most_features &&
                       classes_.size() <= options_.most_classes && class_.size() == slots,
                   "counts do not agree");
    for (const int number : class_)
      archive.demand(number >= 0 && static_cast<std::size_t>(number) <
                                        std::max<std::size_t>(1, classes_.size()),
                     "a row is of a class that is not there");
    columns_ = static_cast<std::size_t>(columns);
    machines_.assign(expected, {});
    kernel_rows_ = KernelRows(options_.cache_bytes, slots);
    self_values_.assign(slots, 0.0);
    for (std::size_t i = 0; i < slots; ++i) {
      if (!rows_.used(i)) continue;
      self_values_[i] = rows_.self(i);
      archive.demand(sums_fit(self_values_[i]) && kernel_row_fits(i), "a row's values overflow");
      if (options_.window > 0) record_arrival(i);
    }
  }
  for (Dual& dual : machines_) {
    for (std::vector<double>* numbers : {&dual.alpha, &dual.gradient, &dual.y}) {
      archive(*numbers);
      if constexpr (Archive::reads)
        archive.demand(
            numbers->size() == slots &&
                std::ranges::all_of(*numbers, [](double v) { return std::abs(v) <= largest_sum; }),
            "a machine is not right");
    }
    archive(dual.bias);
    if constexpr (Archive::reads)
      archive.demand(std::abs(dual.bias) <= largest_sum, "a machine is not right");
    if constexpr (Archive::reads)
      for (std::size_t i = 0; i < slots; ++i) {
        set_bounds(dual, i);
        archive.demand(rows_.used(i) ? std::abs(dual.y[i]) == 1 && room_up(dual, i) >= 0 &&
                                           room_down(dual, i) >= 0
                                     : dual.y[i] == 0 && dual.alpha[i] == 0,
                       "a variable is out of its bounds");
      }
  }
}

std::string DualLearner::state() const {
  StateWriter writer;
  const_cast<DualLearner*>(this)->pass(writer);
  return writer.take();
}

void DualLearner::restore(std::span<const std::byte> bytes, const std::string& name) {
  StateReader reader(bytes, name);
  DualLearner read(options_);
  read.pass(reader);
  reader.end();
  *this = std::move(read);
}

}  // namespace maxmargin
