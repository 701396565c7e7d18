#include "cli/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal/units.hpp"

namespace maxmargin::cli {

void put(Json& object, const Certificate& certificate) {
  object["primal"] = certificate.primal;
  object["dual"] = certificate.dual;
  object["gap"] = certificate.gap;
  object["relative_gap"] = certificate.relative_gap;
  object["kkt"] = certificate.kkt;
  object["equality_residual"] = certificate.equality_residual;
  object["bound_residual"] = certificate.bound_residual;
  object["rounding"] = certificate.rounding;
  object["best_primal"] = certificate.best_primal;
  object["best_dual"] = certificate.best_dual;
  object["mercer"] = certificate.mercer;
  if (certificate.sampled) object["mercer_sampled"] = true;
}

Json machine_json(const Model& model, const Machine& machine) {
  Json object = Json::object();
  const auto name = [&](int number) -> Json {
    if (number < 0 || static_cast<std::size_t>(number) >= model.classes.size()) return nullptr;
    return model.classes[static_cast<std::size_t>(number)];
  };
  if (model.outcome == Outcome::classes) {
    object["positive"] = name(machine.positive);
    object["negative"] = name(machine.negative);
  }
  object["support_vectors"] = machine.support.size();
  object["bias"] = machine.bias();
  if (!model.functions.empty()) object["functions"] = functions_json(model, machine);
  if (machine.width != 0)
    object[model.outcome == Outcome::number ? "epsilon" : "margin"] = machine.width;
  object["ended"] = to_string(machine.ended);
  object["iterations"] = machine.iterations;
  put(object, machine.certificate);
  return object;
}

Json functions_json(const Model& model, const Machine& machine) {
  Json list = Json::array();
  for (std::size_t r = 0; r < model.functions.size(); ++r)
    list.push_back({{"kind", to_string(model.functions[r].kind)},
                    {"function", model.functions[r].text},
                    {"coefficient", machine.lambda[r + 1]}});
  return list;
}

std::string show_functions(const Model& model, const Machine& machine) {
  std::string text;
  for (std::size_t r = 0; r < model.functions.size(); ++r)
    text += show_line(r == 0 ? "functions" : "",
                      fmt::format("{:+.6g} {}", machine.lambda[r + 1], model.functions[r].text));
  return text;
}

std::string machine_name(const Model& model, const Machine& machine) {
  const auto name = [&](int number) -> std::string {
    if (number < 0 || static_cast<std::size_t>(number) >= model.classes.size()) return "the rest";
    return model.classes[static_cast<std::size_t>(number)];
  };
  if (machine.positive == Machine::nobody) return std::string(show_outcome(model.outcome));
  return name(machine.positive) + " against " + name(machine.negative);
}

Json untrained_json(const Model& model) {
  const Certificate certificate = certificate_of_untrained(model);
  return {{"machines", untrained_machines(model)},
          {"ended", to_string(model.untrained.ended)},
          {"primal", certificate.primal},
          {"dual", certificate.dual}};
}

std::string show_untrained(const Model& model) {
  if (model.untrained.none()) return {};
  const Certificate certificate = certificate_of_untrained(model);
  return show_line(
      "untrained",
      fmt::format("{} ({}): they have no vote, and are certified as f = 0 (primal {:.8g}, dual {})",
                  show_counted(untrained_machines(model), "machine"),
                  to_string(model.untrained.ended), certificate.primal, certificate.dual));
}

std::string show_certificate(const Certificate& certificate) {
  std::string text;
  text += show_line("primal", fmt::format("{:.10g}", certificate.primal));
  text += show_line("dual", fmt::format("{:.10g}", certificate.dual));
  text += show_line(
      "gap", fmt::format("{:.3g} (relative {:.3g})", certificate.gap, certificate.relative_gap));
  text += show_line("KKT", fmt::format("{:.3g}", certificate.kkt));
  if (!certificate.mercer)
    text += show_line("", "the kernel is not positive semi-definite: the gap is no bound");
  if (certificate.sampled)
    text +=
        show_line("", "sampled: K is positive semi-definite on a sample of rows (--mercer full)");
  return text;
}

Json calibration_json(const Model& model) {
  const Calibration& calibration = model.calibration;
  if (calibration.none()) return nullptr;
  Json object{{"folds", calibration.folds}, {"weight", calibration.weight}};
  if (model.outcome == Outcome::classes) {
    object["sigmoids"] = Json::array();
    for (const PlattSigmoid& sigmoid : calibration.sigmoid)
      object["sigmoids"].push_back({{"slope", sigmoid.slope}, {"offset", sigmoid.offset}});
  }
  if (model.outcome == Outcome::number) object["noise"] = calibration.noise;
  if (model.outcome != Outcome::classes) object["quantiles"] = calibration.marks;
  return object;
}

std::string show_calibration(const Model& model) {
  const Calibration& calibration = model.calibration;
  if (calibration.none()) return show_line("calibrated", "no");
  std::string text;
  if (model.outcome == Outcome::number) {
    const auto [lower, upper] = calibration.interval(0.9);
    text = fmt::format("noise {} (Laplace), 90% of errors from {} to {}",
                       show_number(calibration.noise), show_number(lower), show_number(upper));
  } else {
    text = model.outcome == Outcome::classes ? "sigmoids of the decision values" : "p-values";
  }
  return show_line("calibrated", fmt::format("{}, from {} folds", text, calibration.folds));
}

std::string show_line(std::string_view name, std::string_view value) {
  return fmt::format("  {:<10} {}\n", name, value);
}

std::string show_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i == 0 ? fmt::format(" {:<{}}", row[i], widths[i])
                     : fmt::format("  {:>{}}", row[i], widths[i]);
    text += line + "\n";
  }
  return text;
}

std::string show_names(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += fmt::format(" ... ({} in all)", names.size());
  return text;
}

double density(const Rows& rows) {
  std::uint64_t nonzeros = 0;
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index, double value) { nonzeros += value != 0; });
  const double all = static_cast<double>(rows.count) * static_cast<double>(rows.columns);
  return all > 0 ? static_cast<double>(nonzeros) / all : 0;
}

std::string_view show_outcome(Outcome outcome) {
  switch (outcome) {
    case Outcome::classes:
      return "classification";
    case Outcome::number:
      return "regression";
    case Outcome::novelty:
      return "novelty detection";
  }
  return "";
}

}  // namespace maxmargin::cli
