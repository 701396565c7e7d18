#pragma once

#include <string>
#include <string_view>

#include "maxmargin/problem/solution.hpp"
#include "maxmargin/structured/certificate.hpp"
#include "maxmargin/structured/tasks/task.hpp"

// The file of a structural machine is
//
//   maxmargin structured 1\n
//   header <bytes>\n
//   <header>        JSON, one member a line; ends with spaces and a newline at a multiple of 8
//   bytes <sections>      w, the planes' numbers, then the words of the vocabulary, one a line
//   <checksum>\n    32 hex digits: XXH3-128 of all bytes before

namespace maxmargin {

/// A trained structural machine: the weights that predict, and the planes that prove the gap.
struct StructuredModel {
  std::string program, task, solver;
  std::map<std::string, std::string> settings;  ///< of the task
  double C = 1;
  Rescaling rescaling = Rescaling::margin;
  Slack slack = Slack::linear;
  std::uint64_t seed = 0;
  Vocabulary vocabulary;
  std::vector<double> w;       ///< coefficients
  bool w_is_of_planes = true;  ///< w = sum a psi; false: w is the best one that the solver met
  Planes planes;
  StructuredCertificate certificate;
  Ended ended = Ended::stalled;
  std::uint64_t oracle_calls = 0, iterations = 0;
  double seconds = 0;
};

/// Writes the file whole or not at all.
void save(const StructuredModel& model, const std::string& path);

/// Whether the bytes at the start of a file are those of a structural machine.
bool begins_structured_model(std::string_view start);
bool is_structured_model(const std::string& path);

/// Reads a file whose bytes are not trusted: a consistent model or an Error, and no more memory
/// than the file's size justifies.
StructuredModel load_structured(const std::string& path);

std::string structured_bytes(const StructuredModel& model);
StructuredModel structured_from_bytes(std::string_view bytes, const std::string& name);

/// 32 hex digits, a hash of everything that predictions depend on.
std::string digest(const StructuredModel& model);

}  // namespace maxmargin
