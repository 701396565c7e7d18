#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/terminal/output.hpp"
#include "maxmargin/data/scaling.hpp"
#include "maxmargin/kernel/kernels.hpp"
#include "maxmargin/train/settings.hpp"

namespace maxmargin::cli {

/// `--kernel` and the options of the kernels. `--gamma` may also be `scale` (the default) or
/// `auto`, which only the data can turn into numbers.
class KernelOptions {
 public:
  /// `preset`: the kernel when none is named; empty: none at all.
  void add_to(CLI::App& app, std::string preset);

  bool gives(std::string_view field) const { return settings_.given(field).has_value(); }
  bool chosen() const { return !name_.empty(); }
  const std::string& name() const { return name_; }
  /// Throws a usage Error for whatever is wrong without knowing the data; the kernel, as far as it
  /// is known without.
  Kernel check() const;
  /// Throws a usage Error when a kernel's option was given but no kernel.
  void require_unused() const;
  /// The kernel for this data, which will be scaled as given before it meets the kernel.
  Kernel make(const Rows& rows, std::optional<ScalingKind> scaling) const;
  /// Whether only data can tell the kernel's gamma.
  bool learns_width() const;
  /// The kernel where there is no data yet: a gamma that only data could tell is a usage Error.
  Kernel make_without_data() const;

 private:
  FieldSettings settings_ = kernel_settings("--");
  std::string name_;
};

/// "rbf, gamma = 0.008", with the formula.
std::string show_kernel(const Kernel& kernel);
Json kernel_json(const Kernel& kernel);

}  // namespace maxmargin::cli
