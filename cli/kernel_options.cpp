#include "cli/kernel_options.hpp"

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/train/train.hpp"

namespace maxmargin::cli {
namespace {

constexpr std::string_view gamma = "gamma";

/// gamma_scale() of the rows as they will be after scaling.
double scaled_gamma(const Rows& rows, std::optional<ScalingKind> scaling) {
  if (!scaling) return gamma_scale(rows);
  Features copy = rows.sparse() ? Features::sparse(rows.columns) : Features::dense(rows.columns);
  copy.append(rows);
  apply(learn_scaling(rows, *scaling, available_memory_bytes() / 2), copy);
  return gamma_scale(copy);
}

}  // namespace

KernelOptions::KernelOptions() {
  fields_.describe_default(gamma,
                           "scale, which is 1 / (features * variance); auto is 1 / features");
}

void KernelOptions::add_to(CLI::App& app, std::string preset) {
  name_ = std::move(preset);
  std::string help = "one of:";
  for_each_nameable<Kernel>(
      [&](const auto& kernel) { help += fmt::format("\n{:<13} {}", kernel.name, kernel.formula); });
  if (chosen()) help += fmt::format("\n[{}]", name_);
  app.add_option("--kernel", name_, help)->type_name("NAME")->take_last()->group("Kernel");
  fields_.add_to(app, "Kernel");
}

Kernel KernelOptions::check() const {
  ComponentOptions<Kernel> fields = fields_;
  const auto given = fields.given(gamma);
  if (given == "scale" || given == "auto") fields.give(gamma, "1");
  return fields.make(name_);
}

void KernelOptions::require_unused() const {
  if (const std::string option = fields_.first_given(); !option.empty())
    throw Error(Fault::usage, option + " has no effect without --kernel", "add --kernel NAME");
}

Kernel KernelOptions::make(const Rows& rows, std::optional<ScalingKind> scaling) const {
  ComponentOptions<Kernel> fields = fields_;
  if (fields.has(name_, gamma)) {
    const std::string given = fields.given(gamma).value_or("scale");
    if (given == "scale")
      fields.give(gamma, shortest(scaled_gamma(rows, scaling)));
    else if (given == "auto")
      fields.give(gamma,
                  shortest(1.0 / static_cast<double>(std::max<std::size_t>(1, rows.columns))));
  }
  return fields.make(name_);
}

Kernel KernelOptions::make_without_data() const {
  const std::string given = fields_.given(gamma).value_or("scale");
  if (fields_.has(name_, gamma) && (given == "scale" || given == "auto"))
    throw Error(Fault::usage, fmt::format("kernel {} needs --gamma: there is no data yet", name_),
                "give a number; 1 / (features * variance) is a start");
  return fields_.make(name_);
}

std::string show_kernel(const Kernel& kernel) {
  std::string text(name_of(kernel));
  for (const auto& [name, value] : shown_fields(kernel))
    text += fmt::format(", {} = {}", name, value);
  return text;
}

Json kernel_json(const Kernel& kernel) {
  Json object{{"name", name_of(kernel)}};
  std::visit(
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
