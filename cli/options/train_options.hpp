#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/components.hpp"
#include "cli/options/kernel_options.hpp"
#include "cli/options/reading.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/train/disk/out_of_core.hpp"

namespace maxmargin::cli {

/// The command line of `train`.
class TrainArguments {
 public:
  void add_to(CLI::App& app);

  /// Throws a usage Error for everything that is wrong whatever the data is.
  void check();
  /// Names the model after the data, where no -o does.
  void name_model();
  ReadOptions read_options() const;
  /// The options of the library, for data that has been read.
  TrainOptions options(const Dataset& data) const;
  /// Why the data should stay on disk; empty if it should not.
  std::string out_of_core_reason() const;
  /// Whether this field of the task or the kernel was given.
  bool gives(std::string_view field) const {
    return task_fields_.given(field) || kernel_.gives(field);
  }
  /// Whether rows hold kernel values, in whatever form.
  bool has_given_kernel() const { return is_given(kernel_.check()); }
  bool demands_out_of_core() const { return out_of_core_; }
  Outcome outcome() const;
  bool names_task() const { return task_option_ != nullptr && task_option_->count() > 0; }
  SpillOptions spill_options() const;
  /// How the data was read and scaled, for the model.
  std::vector<std::pair<std::string, std::string>> remembered(const std::string& base) const;

  std::string data, model;
  int threads = 0;
  bool json = false, quiet = false;
  int cross_validation = 0;  ///< folds; 0: train a model

  std::optional<ScalingKind> scaling(const Rows& rows) const;
  /// As many rows as the data counts for; of two weights a row, their mean.
  static double total_weight(const Dataset& data);

 private:
  void add_task(CLI::App& app);
  void add_stopping(CLI::App& app);
  void add_machine(CLI::App& app);
  void add_approximation(CLI::App& app);
  Task task() const;
  std::vector<ParametricFunction> functions() const;
  std::optional<Approximate> approximation() const;
  double true_gap() const;
  TrainOptions options_without_data() const;
  void check_out_of_core() const;
  /// `--regulariser l1` alone is the linear program; with a solver that descends it is that
  /// solver's.
  bool asks_for_l1() const {
    return solver_ == "auto" && solver_fields_.given("regulariser") == "l1" &&
           solver_fields_.first_given() == "--regulariser";
  }
  void check_cost(const Task& task) const;
  void set_cost(const Dataset& data, Task& task) const;

  ComponentOptions<Task> task_fields_{"task"};
  ComponentOptions<Solver> solver_fields_{"solver"};
  KernelOptions kernel_;
  ReadingOptions reading_;
  CLI::Option* task_option_ = nullptr;
  std::string task_ = "svc";
  std::string solver_ = "auto";
  std::string approximate_, rank_, residual_;
  std::string true_gap_;
  bool true_bound_ = false;
  std::vector<std::string> class_weights_;
  std::vector<std::string> expressions_, function_columns_;
  std::string scale_;
  std::string start_, lambda_, candidates_;
  std::shared_ptr<const Model> start_model_;
  std::string probability_text_;
  int probability_folds_ = 0;
  Stop stop_;
  std::uint64_t memory_ = 0;
  bool out_of_core_ = false;
  std::string scratch_;
  std::uint64_t seed_ = 0;
  std::string mercer_ = "sampled";
};

}  // namespace maxmargin::cli
