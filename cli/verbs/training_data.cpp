#include "cli/verbs/training_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/report/report.hpp"
#include "cli/report/scale_warning.hpp"
#include "cli/terminal/file_name.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/units.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/train/memory_plan.hpp"

namespace maxmargin::cli {

namespace {

/// Numbers that are all different are rarely classes: asks, before a million machines are trained.
void ask_about_numbers(const TrainArguments& arguments, const Dataset& data) {
  if (arguments.names_task() || arguments.outcome() != Outcome::classes || !data.words.empty())
    return;
  std::vector<double> labels = data.y;
  std::ranges::sort(labels);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  const bool fractions =
      std::ranges::any_of(labels, [](double label) { return label != std::trunc(label); });
  const std::size_t classes = labels.size();
  constexpr std::size_t many_fractions = 20, many = 100, very_many = 1000, rows_per_class = 5;
  const bool many_classes =
      classes > very_many || (classes > many && data.rows() < rows_per_class * classes);
  if (fractions ? classes <= many_fractions : !many_classes) return;
  throw Error(Fault::usage,
              fmt::format("the labels are {} different numbers in {} rows: as classes, these would "
                          "be {} machines",
                          show_count(classes), show_count(data.rows()),
                          show_count(classes * (classes - 1) / 2)),
              "to predict numbers add --task svr; if they are classes add --task svc");
}

}  // namespace

TrainingData read_training_data(const TrainArguments& arguments, const Threads& threads) {
  const Stopwatch watch;
  TrainingData read;
  read.data = maxmargin::read(arguments.data, arguments.read_options(), threads);
  read.rows = read.data.rows();
  const bool has_serials = arguments.has_given_kernel() &&
                           naming(arguments.data, [&] { return take_serials(read.data); });
  read.base = has_serials ? "serial" : read.data.counts_from_zero ? "0" : "";
  read.features = read.data.x.columns();
  read.density = density(read.data.x);
  read.seconds = watch.seconds();
  ask_about_numbers(arguments, read.data);
  read.options = naming(arguments.data, [&] { return arguments.options(read.data); });
  if (read.options.memory_bytes > 0)
    read.options.memory_bytes = room_for_kernel(read.data, read.options, read.options.memory_bytes);
  if (!read.options.scaling && !arguments.quiet && !is_given(read.options.kernel))
    if (const std::string advice = scale_warning(read.data); !advice.empty()) warn(advice);
  return read;
}

std::string show_contents(const TrainingData& read, const std::vector<std::string>& classes) {
  std::string contents =
      fmt::format("{}, {}", show_counted(read.rows, "row"), show_counted(read.features, "feature"));
  if (!classes.empty())
    contents +=
        fmt::format(", {} ({})", show_counted(classes.size(), "class"), show_names(classes));
  return contents + fmt::format(", {:.3g}% non-zero", 100 * read.density);
}

}  // namespace maxmargin::cli
