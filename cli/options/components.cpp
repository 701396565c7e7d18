#include "cli/options/components.hpp"

#include <algorithm>
#include <cctype>

namespace maxmargin::cli {

void add_settings(CLI::App& app, FieldSettings& settings, const std::string& group) {
  for (Setting& each : settings.list()) {
    if (each.is_flag) {
      app.add_flag_callback(
             each.option, [&each] { each.given = each.flag_means; }, each.help_text())
          ->group(group);
      continue;
    }
    std::string value_name = each.name;
    std::transform(value_name.begin(), value_name.end(), value_name.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    app.add_option_function<std::string>(
           each.option, [&each](const std::string& text) { each.given = text; }, each.help_text())
        ->type_name(value_name)
        ->take_last()
        ->group(group);
  }
}

}  // namespace maxmargin::cli
