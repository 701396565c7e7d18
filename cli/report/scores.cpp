#include "cli/report/scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "cli/report/report.hpp"
#include "cli/terminal/units.hpp"

namespace maxmargin::cli {

Scores::Scores(const Model& model) : outcome_(model.outcome) {
  for (std::size_t k = 0; k < model.classes.size(); ++k) {
    const auto number = static_cast<double>(k);
    by_name_.emplace(model.classes[k], number);
    if (model.numeric_classes)
      by_value_.emplace(std::strtod(model.classes[k].c_str(), nullptr), number);
  }
}

double Scores::class_of(const Dataset& batch, std::size_t row) const {
  constexpr double unknown = -1;
  const double y = batch.y[row];
  if (batch.words.empty() && !by_value_.empty()) {
    const auto found = by_value_.find(y);
    return found == by_value_.end() ? unknown : found->second;
  }
  const auto found =
      by_name_.find(batch.words.empty() ? shortest(y) : batch.words[static_cast<std::size_t>(y)]);
  return found == by_name_.end() ? unknown : found->second;
}

void Scores::add(const Dataset& batch, std::size_t row, double predicted) {
  ++rows_;
  if (outcome_ == Outcome::novelty && predicted < 0) ++novel_;
  if (!batch.labelled()) return;
  ++labelled_;
  switch (outcome_) {
    case Outcome::classes:
      correct_ += class_of(batch, row) == predicted;
      break;
    case Outcome::novelty: {
      const double y = batch.words.empty() ? batch.y[row] : 0;
      normal_labels_ += y == 1;
      novel_labels_ += y == -1;
      correct_ += y == predicted;
      break;
    }
    case Outcome::number:
      agreement_.add(predicted, batch.y[row]);
      break;
  }
}

void Scores::add_beside(const Dataset& batch, std::size_t row, std::span<const double> beside) {
  if (!batch.labelled()) return;
  if (outcome_ == Outcome::classes) {
    const double number = class_of(batch, row);
    if (number < 0) return;
    const double p = beside[static_cast<std::size_t>(number)];
    beside_ -= std::log(std::max(p, std::numeric_limits<double>::min()));
  } else if (outcome_ == Outcome::number) {
    beside_ += beside[0] <= batch.y[row] && batch.y[row] <= beside[1];
  } else {
    return;
  }
  ++judged_beside_;
}

Json Scores::json() const {
  Json object{{"rows", rows_}, {"labelled", labelled()}};
  const auto n = static_cast<double>(labelled_);
  if (outcome_ == Outcome::novelty) {
    object["novel"] = novel_;
    object["novel_share"] =
        rows_ > 0 ? static_cast<double>(novel_) / static_cast<double>(rows_) : 0;
  }
  const bool judged = outcome_ == Outcome::classes ||
                      (outcome_ == Outcome::novelty && normal_labels_ > 0 && novel_labels_ > 0 &&
                       normal_labels_ + novel_labels_ == labelled_);
  if (labelled() && judged) {
    object["correct"] = correct_;
    object["accuracy"] = static_cast<double>(correct_) / n;
  }
  if (labelled() && outcome_ == Outcome::number) {
    object["mean_squared_error"] = agreement_.mean_squared_error();
    object["mean_absolute_error"] = agreement_.mean_absolute_error();
    object["squared_correlation"] = agreement_.squared_correlation();
  }
  if (judged_beside_ > 0)
    object[outcome_ == Outcome::classes ? "log_loss" : "covered"] =
        beside_ / static_cast<double>(judged_beside_);
  return object;
}

std::string Scores::summary() const {
  const Json object = json();
  std::string text;
  if (object.contains("novel"))
    text +=
        fmt::format("novel rows: {:.4g}% ({} of {})\n", 100 * object["novel_share"].get<double>(),
                    show_count(novel_), show_count(rows_));
  if (object.contains("accuracy"))
    text += fmt::format("accuracy: {:.4f}% ({} of {})\n", 100 * object["accuracy"].get<double>(),
                        show_count(correct_), show_count(labelled_));
  if (object.contains("mean_squared_error"))
    text += fmt::format(
        "mean squared error: {}\nmean absolute error: {}\nsquared correlation: {}\n",
        show_number(agreement_.mean_squared_error()), show_number(agreement_.mean_absolute_error()),
        show_number(agreement_.squared_correlation()));
  if (object.contains("log_loss"))
    text += fmt::format("log loss: {}\n", show_number(object["log_loss"].get<double>()));
  if (object.contains("covered"))
    text += fmt::format("within the interval: {:.4g}%\n", 100 * object["covered"].get<double>());
  return text;
}

}  // namespace maxmargin::cli
