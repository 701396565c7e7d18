#include "maxmargin/model/model.hpp"

namespace maxmargin {

Texts recorded_options(const Model& model) {
  Texts all = model.task ? texts_of(*model.task) : Texts{};
  all.insert(all.end(), model.options.begin(), model.options.end());
  return all;
}

std::string task_name(const Model& model) {
  if (model.task) return std::string(name_of(*model.task));
  for (const auto& [name, value] : model.options)
    if (name == "task") return value;
  return {};
}

}  // namespace maxmargin
