#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/options/kernel_options.hpp"
#include "cli/options/reading.hpp"
#include "cli/options/running_options.hpp"
#include "cli/report/report.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/file_name.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/units.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/data/describe.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/kernel/mercer.hpp"

namespace maxmargin::cli {
namespace {

struct CheckArguments {
  std::string data;
  bool json = false;
  int threads = 0;
  std::uint64_t seed = 0;
  std::string mercer = "sampled";
  ReadingOptions reading;
  KernelOptions kernel;
};

std::string feature_name(const Dataset& data, Index feature) {
  return feature < data.feature_names.size() ? data.feature_names[feature]
                                             : std::to_string(feature + 1);
}

Json description_json(const Dataset& data, const Description& found) {
  Json object{{"rows", found.rows},         {"features", found.features},
              {"stored", found.stored},     {"nonzeros", found.nonzeros},
              {"density", found.density},   {"sparse", found.sparse},
              {"floats", found.floats},     {"bytes", data.x.bytes()},
              {"labelled", found.labelled}, {"numeric_labels", found.numeric_labels}};
  Json classes = Json::array();
  for (const auto& [name, rows] : found.classes)
    classes.push_back({{"name", name}, {"rows", rows}});
  object["classes"] = std::move(classes);
  if (found.labelled && found.numeric_labels)
    object["labels"] = {{"low", found.label_low},
                        {"high", found.label_high},
                        {"mean", found.label_mean},
                        {"deviation", found.label_deviation}};
  Json constant = Json::array();
  for (const Index feature : found.constant_features)
    constant.push_back(feature_name(data, feature));
  object["constant_features"] = std::move(constant);
  object["absent_features"] = found.absent_features;
  object["smallest_scale"] = {{"feature", feature_name(data, found.smallest_scale_feature)},
                              {"deviation", found.smallest_scale}};
  object["largest_scale"] = {{"feature", feature_name(data, found.largest_scale_feature)},
                             {"deviation", found.largest_scale}};
  object["duplicate_rows"] = found.duplicate_rows;
  object["contradictory_rows"] = found.contradictory_rows;
  object["empty_rows"] = found.empty_rows;
  object["weighted"] = !data.weight.empty();
  object["queries"] = !data.query.empty();
  object["advice"] = found.advice;
  return object;
}

std::string show_labels(const Description& found) {
  if (!found.labelled) return show_line("labels", "none");
  std::string text;
  if (found.numeric_labels)
    text += show_line(
        "labels", fmt::format("numbers from {} to {}, mean {}, deviation {}",
                              shortest(found.label_low), shortest(found.label_high),
                              show_number(found.label_mean), show_number(found.label_deviation)));
  else
    text += show_line("labels", "words");
  constexpr std::size_t most = 20;
  if (found.classes.empty() || found.classes.size() > most) {
    text += show_line("classes", found.classes.empty() ? "more than 1,000 distinct labels"
                                                       : show_count(found.classes.size()));
    return text;
  }
  bool first = true;
  for (const auto& [name, rows] : found.classes) {
    text +=
        show_line(first ? "classes" : "",
                  fmt::format("{:<12} {} ({:.1f}%)", name, show_counted(rows, "row"),
                              100.0 * static_cast<double>(rows) / static_cast<double>(found.rows)));
    first = false;
  }
  return text;
}

std::string show_description(const Dataset& data, const Description& found) {
  std::string text = show_line("rows", show_count(found.rows));
  text += show_line("features", show_count(found.features));
  text += show_line(
      "values", fmt::format("{} not zero ({:.3g}%), kept {} as {}, {}", show_count(found.nonzeros),
                            100 * found.density, found.sparse ? "sparse" : "dense",
                            found.floats ? "float" : "double", show_bytes(data.x.bytes())));
  text += show_labels(found);
  if (!found.constant_features.empty()) {
    std::vector<std::string> names;
    for (const Index feature : found.constant_features)
      names.push_back(feature_name(data, feature));
    text += show_line("constant", show_counted(names.size(), "feature") + ": " + show_names(names));
  }
  if (found.absent_features > 0)
    text +=
        show_line("absent", show_counted(found.absent_features, "feature") + " that no row has");
  if (found.largest_scale > 0)
    text += show_line("scale", fmt::format("deviations from {} (feature {}) to {} (feature {})",
                                           show_number(found.smallest_scale),
                                           feature_name(data, found.smallest_scale_feature),
                                           show_number(found.largest_scale),
                                           feature_name(data, found.largest_scale_feature)));
  text += show_line("repeated", show_counted(found.duplicate_rows, "row"));
  text += show_line("contrary", show_counted(found.contradictory_rows, "row") +
                                    " whose features also occur with another label");
  if (found.empty_rows > 0)
    text += show_line("empty", show_counted(found.empty_rows, "row") + " with zeros only");
  return text;
}

std::string show_mercer(const Kernel& kernel, const Mercer& mercer, const Asymmetry& asymmetry) {
  std::string text = show_line("kernel", show_kernel(kernel));
  text += show_line(
      "Mercer", fmt::format("{} on {}; eigenvalues, scaled to diagonal 1, from {} to {}",
                            mercer.holds ? "positive semi-definite" : "NOT positive semi-definite",
                            mercer.is_sampled()
                                ? fmt::format("a sample of {} rows", show_count(mercer.sample))
                                : fmt::format("all {}", show_counted(mercer.rows, "row")),
                            show_number(mercer.smallest), show_number(mercer.largest)));
  if (!mercer.holds)
    text += show_line(
        "", fmt::format("{:.3g}% of the spectrum is negative", 100 * mercer.negative_share));
  if (asymmetry.difference > 0)
    text += show_line("", fmt::format("K({0}, {1}) and K({1}, {0}) differ, by {2} of their size",
                                      asymmetry.row + 1, asymmetry.column + 1,
                                      show_number(asymmetry.difference)));
  return text;
}

int run_check(const CheckArguments& arguments) {
  if (arguments.kernel.chosen())
    arguments.kernel.check();
  else
    arguments.kernel.require_unused();
  const StartedThreads threads(arguments.threads);
  Dataset data = read(arguments.data, arguments.reading.make(), threads);
  if (arguments.kernel.chosen() && is_given(arguments.kernel.check()))
    naming(arguments.data, [&] { return take_serials(data); });
  const Description found = describe(data);
  std::optional<Kernel> kernel;
  Mercer mercer;
  Asymmetry asymmetry;
  if (arguments.kernel.chosen()) {
    kernel = arguments.kernel.make(data.x, std::nullopt);
    mercer = naming(arguments.data, [&] {
      const bool given = is_given(*kernel);
      if (given) asymmetry = asymmetry_of(data.x, threads);
      const std::size_t most = arguments.mercer == "full" ? data.rows()
                               : given                    ? mercer_rows
                                                          : eigenvalue_rows;
      return mercer_check(*kernel, data.x, most, arguments.seed, threads);
    });
  }

  if (arguments.json) {
    Json object = description_json(data, found);
    if (kernel)
      object["mercer"] = {{"kernel", kernel_json(*kernel)},
                          {"holds", mercer.holds},
                          {"sample", mercer.sample},
                          {"sampled", mercer.is_sampled()},
                          {"smallest_eigenvalue", mercer.smallest},
                          {"largest_eigenvalue", mercer.largest},
                          {"negative_share", mercer.negative_share},
                          {"asymmetry", asymmetry.difference}};
    print_json(object);
    return exit_ok;
  }
  std::string text = show_description(data, found);
  if (kernel) text += show_mercer(*kernel, mercer, asymmetry);
  for (const std::string& advice : found.advice) text += "- " + advice + "\n";
  print(text);
  return exit_ok;
}

}  // namespace

Verb add_check(CLI::App& program) {
  CLI::App* app = program.add_subcommand("check", "tell what is in a data file, and what is odd");
  app->set_help_flag("-h,--help", "show this help");
  auto arguments = std::make_shared<CheckArguments>();
  app->add_option("FILE", arguments->data, "a data file; - for standard input")->required();
  app->add_flag("--json", arguments->json, "print one JSON object");
  add_threads(*app, arguments->threads);
  add_seed(*app, arguments->seed, "seed of the sample of rows [0]");
  add_mercer(*app, arguments->mercer);
  arguments->kernel.add_to(*app, "");
  arguments->reading.add_to(*app, ReadingOptions::Weights::yes);
  app->footer("With --kernel it also answers whether the kernel matrix of (a sample of at most " +
              std::to_string(eigenvalue_rows) +
              ") rows is\npositive semi-definite; a precomputed matrix is looked at whole up to " +
              std::to_string(mercer_rows) + " rows.\n\n" +
              examples({"maxmargin check a9a.svm", "maxmargin check houses.csv --label price",
                        "maxmargin check a9a.svm --kernel sigmoid --gamma 0.1 --coef0 -1"}) +
              "\n" + exit_code_help);
  return {app, [arguments] { return run_check(*arguments); }};
}

}  // namespace maxmargin::cli
