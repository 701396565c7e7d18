#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "cli/options/reading.hpp"
#include "cli/svmstruct/text_model.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/file_name.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/signals.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/base/text.hpp"
#include "maxmargin/libsvm/text.hpp"
#include "maxmargin/model/file/file.hpp"

namespace maxmargin::cli {
namespace {

struct ConvertArguments {
  std::string model, output, to;
};

/// A structural machine as SVMstruct writes it.
int convert_structured(const ConvertArguments& arguments) {
  if (!arguments.to.empty() && arguments.to != "svmstruct")
    throw Error(Fault::usage,
                fmt::format("{} is a structural machine: --to {} has no place for it",
                            arguments.model, arguments.to),
                "choose --to svmstruct");
  const StructuredModel model = load_structured(arguments.model);
  const StopRequest request;
  naming(arguments.model, [&] { svmstruct::save_text_model(model, arguments.output); });
  return request.made() ? exit_stopped : exit_ok;
}

int run_convert(const ConvertArguments& arguments) {
  const std::array targets{"libsvm", "maxmargin", "svmstruct"};
  if (!arguments.to.empty() && std::ranges::find(targets, arguments.to) == targets.end())
    throw Error(Fault::usage, fmt::format("--to: unknown format '{}'", arguments.to),
                suggestion(arguments.to, {"libsvm", "maxmargin", "svmstruct"}));
  require_writable(arguments.output, {arguments.model});
  if (is_structured_model(arguments.model)) return convert_structured(arguments);
  if (arguments.to == "svmstruct")
    throw Error(Fault::usage, fmt::format("{} is no structural machine", arguments.model),
                "choose --to libsvm or --to maxmargin");
  const Model model = load_any(arguments.model);
  const bool from_libsvm = model_format(arguments.model) == ModelFormat::libsvm;
  const bool to_libsvm_text = arguments.to.empty() ? !from_libsvm : arguments.to == "libsvm";
  const StopRequest request;  // until the file is complete
  if (to_libsvm_text)
    save_libsvm(naming(arguments.model, [&] { return to_libsvm(model, Numbering::own); }),
                arguments.output);
  else
    save(model, arguments.output);
  return request.made() ? exit_stopped : exit_ok;
}

}  // namespace

Verb add_convert(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "convert",
      "turn a model of LIBSVM into one of maxmargin, or the other way round; a structural "
      "one into SVMstruct's");
  app->set_help_flag("-h,--help", "show this help");
  auto arguments = std::make_shared<ConvertArguments>();
  app->add_option("MODEL", arguments->model, "a model that 'maxmargin train' or svm-train wrote")
      ->required();
  app->add_option("-o,--output", arguments->output, "where the other model goes")
      ->type_name("FILE")
      ->required();
  app->add_option("--to", arguments->to, "libsvm, maxmargin or svmstruct [the one that it is not]")
      ->type_name("FORMAT")
      ->take_last();
  app->footer(examples({"maxmargin convert a9a.model -o a9a.libsvm",
                        "maxmargin convert old.libsvm -o new.model --to maxmargin",
                        "maxmargin convert rank.model -o rank.txt --to svmstruct"}) +
              "\n" + exit_code_help);
  return {app, [arguments] { return run_convert(*arguments); }};
}

}  // namespace maxmargin::cli
