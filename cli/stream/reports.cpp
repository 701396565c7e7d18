#include "cli/stream/reports.hpp"

#include <fmt/format.h>

#include "cli/report/report.hpp"
#include "cli/terminal/units.hpp"

namespace maxmargin::cli::streaming {
namespace {

/// What is wrong with a share of the rows, by the kind of machine.
std::string_view error_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::classes:
      return "error";
    case Outcome::number:
      return "rmse";
    case Outcome::novelty:
      return "alarm_rate";
  }
  return {};
}

double error_of(const Tally& tally, Outcome outcome) {
  if (outcome != Outcome::number) return tally.per_row(tally.errors);
  return std::sqrt(tally.per_row(tally.squares));
}

Json bound_json(const Bound& bound) {
  return bound.value ? Json(*bound.value) : Json{{"none", bound.why_not}};
}

Json snapshot_json(const char* event, const Snapshot& now) {
  const std::string error(error_name(now.outcome));
  Json object{{"event", event}, {"rows", now.rows}, {"learned", now.overall.rows}};
  object["loss"] = now.overall.per_row(now.overall.loss);
  object["loss_since_last"] = now.since_last.per_row(now.since_last.loss);
  object["loss_window"] = now.window.per_row(now.window.loss);
  object[error] = error_of(now.overall, now.outcome);
  object[error + "_since_last"] = error_of(now.since_last, now.outcome);
  object[error + "_window"] = error_of(now.window, now.outcome);
  if (now.outcome == Outcome::number)
    object["mean_absolute_error"] = now.overall.per_row(now.overall.absolutes);
  if (now.outcome == Outcome::classes) object["classes"] = now.classes;
  object["support_vectors"] = now.terms;
  object["update_rate"] = now.overall.per_row(static_cast<double>(now.updates));
  if (now.truncates) {
    object["truncation_bound"] = now.dropped;
    object["horizon_bound"] = bound_json(now.horizon_bound);
    object["doubtful"] = now.doubtful;
  }
  object["risk_lower_bound"] = bound_json(now.risk_bound);
  if (now.certificate) {
    object["certificate"] = Json::object();
    put(object["certificate"], *now.certificate);
  }
  object["faults"] = now.faults;
  object["late_labels"] = now.late;
  object["waiting"] = now.waiting;
  object["expired"] = now.expired;
  object["seconds"] = now.seconds;
  object["rows_per_second"] = now.rows_per_second;
  return object;
}

std::string line_of(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void Reports::write(std::string_view text) const {
  if (to_ == To::standard_output)
    print(text);
  else
    fmt::print(stderr, "{}", text);
}

void Reports::report(const Snapshot& now) {
  if (json_) return write(line_of(snapshot_json("report", now)));
  if (quiet_) return;
  const std::string error(error_name(now.outcome));
  constexpr const char* layout = "{:>12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>8} {:>10}\n";
  if (!has_header_)
    write(fmt::format(layout, "rows", "loss", "since last",
                      error == "alarm_rate" ? "alarms" : error, "since last", "window", "support",
                      "updates", "rows/s"));
  has_header_ = true;
  const auto number = [](double value) { return fmt::format("{:.5g}", value); };
  const auto& all = now.overall;
  write(fmt::format(layout, show_count(now.rows), number(all.per_row(all.loss)),
                    number(now.since_last.per_row(now.since_last.loss)),
                    number(error_of(all, now.outcome)),
                    number(error_of(now.since_last, now.outcome)),
                    number(error_of(now.window, now.outcome)), show_count(now.terms),
                    fmt::format("{:.1f}%", 100 * all.per_row(static_cast<double>(now.updates))),
                    fmt::format("{:.3g}", now.rows_per_second)));
}

void Reports::notice(const DriftNotice& drift, const DriftTest& test) {
  say({{"event", "drift"},
       {"row", drift.row},
       {"test", "ADWIN cut"},
       {"level", test.level()},
       {"window", test.window()},
       {"before", drift.before},
       {"error_window", drift.window},
       {"bound", drift.bound}},
      fmt::format("drift: the error of the {} rows up to row {} is {:.4g}, before it was {:.4g} "
                  "(ADWIN's cut at level {}: more than {:.4g} apart)\n",
                  show_count(test.window()), show_count(drift.row), drift.window, drift.before,
                  test.level(), drift.bound));
}

void Reports::finish(const Snapshot& now, const std::string& model) {
  if (json_) {
    Json object = snapshot_json("end", now);
    object["model"] = model.empty() ? Json(nullptr) : Json(model);
    return write(line_of(object));
  }
  if (quiet_) return;
  std::string text;
  text += show_line("rows",
                    fmt::format("{}, {} learned, {} that could not be read", show_count(now.rows),
                                show_count(now.overall.rows), show_count(now.faults)));
  text += show_line("loss", fmt::format("{:.6g} a row, said before learning",
                                        now.overall.per_row(now.overall.loss)));
  text += show_line(error_name(now.outcome) == "alarm_rate" ? "alarms" : error_name(now.outcome),
                    fmt::format("{:.6g}", error_of(now.overall, now.outcome)));
  if (now.terms > 0) text += show_line("support", show_counted(now.terms, "vector"));
  if (now.truncates)
    text += show_line(
        "truncation",
        fmt::format("|f - f untruncated|(x) <= {:.4g} sqrt(k(x,x)); the horizon's bound: {}",
                    now.dropped,
                    now.horizon_bound.value ? fmt::format("{:.4g}", *now.horizon_bound.value)
                                            : "none, " + now.horizon_bound.why_not));
  if (now.certificate) text += show_certificate(*now.certificate);
  if (now.risk_bound.value)
    text += show_line("best machine",
                      fmt::format("no risk below {:.6g} on these rows", *now.risk_bound.value));
  text += show_line("time", fmt::format("{}, {:.3g} rows a second", show_seconds(now.seconds),
                                        now.rows_per_second));
  if (!model.empty()) text += show_line("model", model);
  write(text);
}

void Reports::say(const Json& object, const std::string& text) {
  if (json_)
    write(line_of(object));
  else if (!quiet_)
    write(text);
}

}  // namespace maxmargin::cli::streaming
