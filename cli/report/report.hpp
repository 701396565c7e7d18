#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/output.hpp"
#include "maxmargin/certify/certify.hpp"
#include "maxmargin/model/model.hpp"

namespace maxmargin::cli {

/// The certificate's numbers as keys of an object.
void put(Json& object, const Certificate& certificate);

/// One machine of a model: its classes, support vectors, how it ended, its certificate.
Json machine_json(const Model& model, const Machine& machine);

/// The unpenalised functions of a model with a machine's coefficients.
Json functions_json(const Model& model, const Machine& machine);
std::string show_functions(const Model& model, const Machine& machine);

/// "setosa against virginica", "setosa against the rest"; empty for regression and novelty.
std::string machine_name(const Model& model, const Machine& machine);

/// How many machines there was no time for, and their certificate together.
Json untrained_json(const Model& model);
/// The same as a line; empty where there are none.
std::string show_untrained(const Model& model);
/// The certificate as text, one aligned line per number.
std::string show_certificate(const Certificate& certificate);

/// The calibration of a model.
Json calibration_json(const Model& model);
std::string show_calibration(const Model& model);

/// "  name       value", aligned.
std::string show_line(std::string_view name, std::string_view value);

/// A table with a header; the first column is aligned to the left, the others to the right.
std::string show_table(const std::vector<std::vector<std::string>>& rows);

/// The first names of a list: "a, b, c ... (26 in all)".
std::string show_names(const std::vector<std::string>& names);

/// The share of values that are not zero.
double density(const Rows& rows);

/// "classification", "regression" or "novelty detection".
std::string_view show_outcome(Outcome outcome);

}  // namespace maxmargin::cli
