#include "maxmargin/train/recorded.hpp"

namespace maxmargin {

Texts recorded(const TrainOptions& options) {
  Texts list{{"kernel", std::string(name_of(options.kernel))}};
  visit_list([&](const auto& kernel) { add_field_texts(kernel, list); }, options.kernel);
  if (options.l1) list.emplace_back("regulariser", "l1");
  if (options.approximate) {
    list.emplace_back("approximate", to_string(options.approximate->selection));
    if (options.approximate->rank > 0)
      list.emplace_back("rank", std::to_string(options.approximate->rank));
    if (options.approximate->residual > 0)
      list.emplace_back("residual", shortest(options.approximate->residual));
    if (options.true_gap > 0) list.emplace_back("true-gap", shortest(options.true_gap));
  }
  list.emplace_back("tolerance", shortest(options.stop.kkt));
  list.emplace_back("gap", shortest(options.stop.relative_gap));
  return list;
}

TrainOptions options_of_model(const Model& model) {
  if (!model.task)
    throw Error(Fault::data, "the model does not say which task it was trained for",
                "give a model that 'maxmargin train' wrote");
  TrainOptions options;
  options.task = *model.task;
  options.kernel = model.kernel;
  options.functions = model.functions;
  options.seed = model.seed;
  if (!model.scaling.factor.empty()) options.scaling = model.scaling.kind;
  for (const auto& [name, text] : model.options) {
    if (name == own_cost_name)
      throw Error(Fault::usage, "the model's cost is a function of the program that trained it",
                  "train with one of the costs that have a name");
    if (name == "tolerance") options.stop.kkt = parse_number(name, text, positive);
    if (name == "gap") options.stop.relative_gap = parse_number(name, text, positive);
  }
  return options;
}

}  // namespace maxmargin
