#include "cli/options/kernel_options.hpp"

#include <fmt/format.h>

#include "cli/options/components.hpp"
#include "cli/terminal/help.hpp"
#include "maxmargin/train/stream/stream_settings.hpp"

namespace maxmargin::cli {

void KernelOptions::add_to(CLI::App& app, std::string preset) {
  name_ = std::move(preset);
  Choices kernels;
  for_each_nameable<Kernel>([&](const auto& kernel) { kernels.add(kernel.name, kernel.formula); });
  std::string help = "one of:" + kernels.text();
  if (chosen()) help += fmt::format("\n[{}]", name_);
  app.add_option("--kernel", name_, help)->type_name("NAME")->take_last()->group("Kernel");
  add_settings(app, settings_, "Kernel");
}

Kernel KernelOptions::check() const { return kernel_without_data(settings_, name_); }

void KernelOptions::require_unused() const {
  if (const std::string option = settings_.first_given(); !option.empty())
    throw Error(Fault::usage, option + " has no effect without --kernel", "add --kernel NAME");
}

Kernel KernelOptions::make(const Rows& rows, std::optional<ScalingKind> scaling) const {
  return kernel_for(settings_, name_, rows, scaling);
}

bool KernelOptions::learns_width() const {
  const std::string given = settings_.given("gamma").value_or("scale");
  return settings_.has(name_, "gamma") && (given == "scale" || given == "auto");
}

Kernel KernelOptions::make_without_data() const { return kernel_of_stream(settings_, name_); }

std::string show_kernel(const Kernel& kernel) {
  std::string text(name_of(kernel));
  for (const auto& [name, value] : shown_fields(kernel))
    text += fmt::format(", {} = {}", name, value);
  return text;
}

Json kernel_json(const Kernel& kernel) {
  Json object{{"name", name_of(kernel)}};
  visit_list(
      [&](const auto& chosen) {
        for_each_field(chosen, [&](const auto& declared, const auto& value) {
          if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>)
            object[std::string(declared.name)] = value;
          else
            object[std::string(declared.name)] = show_field(value);
        });
      },
      kernel);
  return object;
}

}  // namespace maxmargin::cli
