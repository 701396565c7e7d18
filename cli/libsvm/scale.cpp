#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "cli/libsvm/arguments.hpp"
#include "cli/libsvm/range_file.hpp"
#include "cli/terminal/output.hpp"
#include "maxmargin/base/requests_blocked.hpp"
#include "maxmargin/data/columns.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin::cli::libsvm {
namespace {

constexpr const char* scale_usage =
    "Usage: svm-scale [options] data_filename\n"
    "options:\n"
    "-l lower : smallest value of a feature (default -1)\n"
    "-u upper : largest value of a feature (default +1)\n"
    "-y y_lower y_upper : smallest and largest label (default: labels stay as they are)\n"
    "-s save_filename : save what was learned to save_filename\n"
    "-r restore_filename : scale as restore_filename says\n"
    "This is maxmargin; 'maxmargin train --scale' scales by itself and remembers how.\n";

constexpr const char* cannot_open = "can't open file ";
constexpr std::size_t rows_per_task = 256;
constexpr std::size_t tasks_per_round = 64;

struct ScaleCommand {
  Target x;
  std::optional<Target> y;
  std::string save, restore, data;
};

ScaleCommand parse_scale(Arguments arguments) {
  ScaleCommand command;
  OptionReader options(arguments, scale_usage);
  while (options.next()) switch (options.letter()) {
      case 'l':
        command.x.lower = options.number();
        break;
      case 'u':
        command.x.upper = options.number();
        break;
      case 'y':
        command.y.emplace();
        command.y->lower = options.number();
        command.y->upper = options.number();
        break;
      case 's':
        command.save = options.text();
        break;
      case 'r':
        command.restore = options.text();
        break;
      default:
        throw Misused("unknown option", scale_usage);
    }
  if (!(command.x.upper > command.x.lower) || (command.y && !(command.y->upper > command.y->lower)))
    throw Worded("inconsistent lower/upper specification");
  if (!command.save.empty() && !command.restore.empty())
    throw Worded("cannot use -r and -s simultaneously");
  command.data = options.files(1, 1)[0];
  return command;
}

Ranges learned(const Dataset& data, const ScaleCommand& command) {
  Ranges ranges;
  ranges.x_target = command.x;
  ranges.y_target = command.y;
  const auto [low, high] = std::ranges::minmax(data.y);
  ranges.y = {low, high};
  const Columns columns = describe_columns(data.x);
  ranges.feature = columns.feature;
  for (std::size_t k = 0; k < columns.size(); ++k)
    ranges.of.push_back({columns.low[k], columns.high[k]});
  return ranges;
}

void warn_of_unknown(const Rows& rows, const Ranges& ranges, const ScaleCommand& command) {
  std::vector<Index> unknown;
  for (const Index feature : describe_columns(rows).feature)
    if (!std::ranges::binary_search(ranges.feature, feature)) unknown.push_back(feature);
  for (const Index feature : unknown)
    tell(fmt::format(
        "WARNING: feature index {} appeared in file {} was not seen in the scaling factor "
        "file {}. The feature is scaled to 0.\n",
        feature, command.data, command.restore));
}

void save(const Ranges& ranges, const std::string& path, const std::string& data) {
  reading(
      path,
      [&] {
        require_writable(path, {data});
        const RequestsBlocked blocked;
        WholeFile file(path);
        const std::string text = range_text(ranges);
        file.write(std::as_bytes(std::span(text)));
        file.commit(Sync::leave);
        return 0;
      },
      cannot_open);
}

/// Scales rows and writes them as text.
class Scaler {
 public:
  Scaler(const Dataset& data, const Ranges& ranges) : data_(data), ranges_(ranges) {
    for (std::size_t k = 0; k < ranges.feature.size(); ++k) {
      if (ranges.of[k].constant()) continue;
      feature_.push_back(ranges.feature[k]);
      range_.push_back(ranges.of[k]);
      zero_.push_back(ranges.of[k].mapped(0, ranges.x_target));
      if (zero_.back() != 0) fills_up_.push_back(feature_.size() - 1);
    }
  }

  /// Appends the rows [begin, end); returns how many values are not zero.
  std::size_t write(std::size_t begin, std::size_t end, std::string& text) const {
    std::size_t values = 0;
    const Rows rows = data_.x;
    const auto put = [&](std::size_t k, double value) {
      if (value == 0) return;
      fmt::format_to(std::back_inserter(text), "{}:{:g} ", feature_[k], value);
      ++values;
    };
    for (std::size_t i = begin; i < end; ++i) {
      double label = data_.y[i];
      if (ranges_.y_target) label = ranges_.y.mapped(label, *ranges_.y_target);
      fmt::format_to(std::back_inserter(text), "{:.17g} ", label);
      auto absent = fills_up_.begin();
      auto known = feature_.begin();
      const auto fill_up_to = [&](Index feature) {
        for (; absent != fills_up_.end() && feature_[*absent] < feature; ++absent)
          put(*absent, zero_[*absent]);
        if (absent != fills_up_.end() && feature_[*absent] == feature) ++absent;
      };
      rows.for_each(i, [&](Index feature, double value) {
        fill_up_to(feature);
        known = std::lower_bound(known, feature_.end(), feature);
        if (known == feature_.end() || *known != feature) return;
        const auto k = static_cast<std::size_t>(known - feature_.begin());
        put(k, range_[k].mapped(value, ranges_.x_target));
      });
      for (; absent != fills_up_.end(); ++absent) put(*absent, zero_[*absent]);
      text += '\n';
    }
    return values;
  }

 private:
  const Dataset& data_;
  const Ranges& ranges_;
  std::vector<Index> feature_;
  std::vector<Range> range_;
  std::vector<double> zero_;           ///< what 0 becomes
  std::vector<std::size_t> fills_up_;  ///< positions of features where that is not 0
};

std::size_t write_all(const Dataset& data, const Scaler& scaler, const Threads& threads) {
  std::atomic<std::size_t> values = 0;
  std::vector<std::string> texts(tasks_per_round);
  constexpr std::size_t rows_per_round = rows_per_task * tasks_per_round;
  for (std::size_t first = 0; first < data.rows(); first += rows_per_round) {
    threads.run(texts.size(), [&](std::size_t task) {
      texts[task].clear();
      const std::size_t begin = std::min(data.rows(), first + task * rows_per_task);
      const std::size_t end = std::min(data.rows(), begin + rows_per_task);
      values += scaler.write(begin, end, texts[task]);
    });
    for (const std::string& text : texts) print(text);
  }
  return values;
}

}  // namespace

int scale(Arguments arguments) {
  const ScaleCommand command = parse_scale(arguments);
  const StartedThreads threads(thread_count({command.data}));
  const Dataset data = reading(
      command.data, [&] { return read(command.data, read_options(), threads); }, cannot_open);
  Ranges ranges;
  if (command.restore.empty()) {
    ranges = learned(data, command);
  } else {
    ranges = reading(
        command.restore, [&] { return load_ranges(command.restore); }, cannot_open);
    warn_of_unknown(data.x, ranges, command);
  }
  if (!ranges.feature.empty() && ranges.feature[0] == 0)
    tell("WARNING: minimal feature index is 0, but indices should start from 1\n");
  if (!command.save.empty()) save(ranges, command.save, command.data);
  const std::size_t values = write_all(data, Scaler(data, ranges), threads);
  if (const std::uint64_t before = data.x.view().stored(); values > before)
    tell(fmt::format(
        "WARNING: original #nonzeros {}\n"
        "       > new      #nonzeros {}\n"
        "If feature values are non-negative and sparse, use -l 0 rather than the default "
        "-l -1\n",
        before, values));
  return 0;
}

}  // namespace maxmargin::cli::libsvm
