#include "maxmargin/task/task.hpp"

namespace maxmargin {

Outcome outcome_of(const Task& task) {
  return visit_list([](const auto& chosen) { return chosen.outcome; }, task);
}

namespace {

template <class Chosen>
Loss own_loss(const Chosen& task) {
  if constexpr (requires { task.hard_margin; })
    if (task.hard_margin)
      throw Error(Fault::usage, "a hard margin has no cost", "leave one of the two out");
  return OwnLoss{task.own, Chosen::outcome == Outcome::classes};
}

}  // namespace

Loss loss_of(const Task& task) {
  return visit_list(
      [](const auto& chosen) -> Loss {
        if constexpr (requires { chosen.hard_margin; })
          if (chosen.hard_margin && !std::holds_alternative<Hinge>(chosen.loss))
            throw Error(Fault::usage, "a hard margin has no loss",
                        "leave --loss or --hard-margin out");
        if constexpr (requires { chosen.own; })
          if (chosen.own) return own_loss(chosen);
        if constexpr (requires { chosen.loss; })
          return visit_list([](const auto& loss) -> Loss { return loss; }, chosen.loss);
        else
          return chosen.objective();
      },
      task);
}

Bias bias_of(const Task& task) {
  return visit_list(
      [](const auto& chosen) {
        if constexpr (requires { chosen.bias; }) return chosen.bias;
        return Bias::unpenalised;
      },
      task);
}

std::optional<double> cost_of(const Task& task) {
  return visit_list(
      [](const auto& chosen) -> std::optional<double> {
        if constexpr (requires { chosen.hard_margin; })
          if (chosen.hard_margin) return std::nullopt;
        if constexpr (requires { chosen.cost; }) return chosen.cost;
        return std::nullopt;
      },
      task);
}

bool is_one_problem(const Task& task) {
  return visit_list(
      [](const auto& chosen) {
        if constexpr (requires { chosen.multiclass; }) return is_one_problem(chosen.multiclass);
        return false;
      },
      task);
}

}  // namespace maxmargin
