#pragma once

#include <string>

#include "cli/terminal/output.hpp"
#include "maxmargin/certify/certify.hpp"
#include "maxmargin/online/progressive.hpp"

namespace maxmargin::cli::streaming {

/// What a report says.
struct Snapshot {
  Outcome outcome = Outcome::classes;
  std::uint64_t rows = 0, faults = 0, late = 0, waiting = 0, expired = 0, doubtful = 0;
  double seconds = 0, rows_per_second = 0;
  Tally overall, since_last, window;
  std::size_t terms = 0, classes = 0;
  std::uint64_t updates = 0;
  double dropped = 0;
  bool truncates = false;
  Bound horizon_bound, risk_bound;
  std::optional<Certificate> certificate;
};

/// Reports for people, a table, or for programs, a JSON object a line.
class Reports {
 public:
  enum class To { standard_output, standard_error };
  Reports(bool json, bool quiet, To to) : json_(json), quiet_(quiet), to_(to) {}

  void report(const Snapshot& now);
  void notice(const DriftNotice& drift, const DriftTest& test);
  void finish(const Snapshot& now, const std::string& model);
  /// Any other object, as JSON, or its text.
  void say(const Json& object, const std::string& text);

 private:
  void write(std::string_view text) const;

  bool json_, quiet_;
  To to_;
  bool has_header_ = false;
};

}  // namespace maxmargin::cli::streaming
