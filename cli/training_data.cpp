#include "cli/training_data.hpp"

#include <fmt/format.h>

#include "cli/file_name.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/scale_warning.hpp"
#include "cli/units.hpp"
#include "maxmargin/base/clock.hpp"

namespace maxmargin::cli {

TrainingData read_training_data(const TrainArguments& arguments, const Threads& threads) {
  const Stopwatch watch;
  TrainingData read;
  read.data = maxmargin::read(arguments.data, arguments.read_options(), threads);
  read.rows = read.data.rows();
  read.features = read.data.x.columns();
  read.density = density(read.data.x);
  read.counts_from_zero = read.data.counts_from_zero;
  read.seconds = watch.seconds();
  read.options = naming(arguments.data, [&] { return arguments.options(read.data); });
  if (!read.options.scaling && !arguments.quiet &&
      !std::holds_alternative<Precomputed>(read.options.kernel))
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
