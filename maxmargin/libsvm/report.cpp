#include "maxmargin/libsvm/report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace maxmargin {
namespace {

// Dividing by the margin of nu-SVC may round a coefficient off its bound.
constexpr double nearly = 1 - 1e-12;

/// As printf has it, whatever the locale.
void add_six_digits(double value, std::chars_format format, std::string& text) {
  std::array<char, 400> digits;  // the largest double has 309 digits before the point
  const char* end = std::to_chars(digits.data(), &digits.back(), value, format, 6).ptr;
  text.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}
void add_fixed(std::string_view name, double value, std::string& text) {
  text += name;
  add_six_digits(value, std::chars_format::fixed, text);
}
void add_count(std::string_view name, std::uint64_t value, std::string& text) {
  std::array<char, 20> digits;
  text += name;
  const char* end = std::to_chars(digits.begin(), digits.end(), value).ptr;
  text.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

}  // namespace

std::string general(double value) {
  std::string text;
  add_six_digits(value, std::chars_format::general, text);
  return text;
}

std::size_t iterations_per_dot(std::size_t rows) { return std::clamp<std::size_t>(rows, 1, 1000); }

/// Sums over the coefficients of one machine.
struct LibsvmReporter::Coefficients {
  std::size_t count = 0, at_bound = 0;
  double sum = 0;

  void add(double coefficient, double bound) {
    const double size = std::abs(coefficient);
    if (size == 0) return;
    ++count;
    at_bound += size >= nearly * bound;
    sum += size;
  }
};

LibsvmReporter::LibsvmReporter(const LibsvmModel& model, const Say& say)
    : model_(model), say_(say) {
  begin_.reserve(model.sizes.size());
  std::size_t begin = 0;
  for (const std::size_t size : model.sizes) {
    begin_.push_back(begin);
    begin += size;
  }
}

LibsvmReporter::Coefficients LibsvmReporter::of_pair(std::size_t i, std::size_t j,
                                                     const LibsvmReport& report) const {
  Coefficients result;
  if (model_.labels.empty()) {
    for (const double coefficient : model_.coefficients) result.add(coefficient, report.cost_first);
    return result;
  }
  const auto add = [&](std::size_t of, std::size_t column, double bound) {
    for (std::size_t k = begin_[of]; k < begin_[of] + model_.sizes[of]; ++k)
      result.add(model_.coefficients[k * model_.columns() + column], bound);
  };
  add(i, j - 1, report.cost_first);
  add(j, i, report.cost_second);
  return result;
}

void LibsvmReporter::add(std::size_t i, std::size_t j, const LibsvmReport& report) {
  const Coefficients found = of_pair(i, j, report);
  const std::size_t dots = report.iterations / iterations_per_dot(report.rows);
  text_.append(dots - std::min(report.dots, dots), '.');
  add_count("*\noptimization finished, #iter = ", report.iterations, text_);
  const double share = found.sum / (report.cost_first * static_cast<double>(report.rows));
  switch (model_.type) {
    case LibsvmType::c_svc:
      if (report.cost_first == report.cost_second) add_fixed("\nnu = ", share, text_);
      break;
    case LibsvmType::epsilon_svr:
      add_fixed("\nnu = ", share, text_);
      break;
    case LibsvmType::nu_svc:
      add_fixed("\nC = ", 1 / report.width, text_);
      break;
    case LibsvmType::nu_svr:
      add_fixed("\nepsilon = ", report.width, text_);
      break;
    case LibsvmType::one_class:
      break;
  }
  add_fixed("\nobj = ", report.objective, text_);
  add_fixed(", rho = ", report.rho, text_);
  add_count("\nnSV = ", found.count, text_);
  add_count(", nBSV = ", found.at_bound, text_);
  text_ += '\n';
  constexpr std::size_t piece = std::size_t{1} << 14;
  if (text_.size() < piece) return;
  say_(text_);
  text_.clear();
}

void LibsvmReporter::add(const std::string& lines) { text_ += lines; }

void LibsvmReporter::end() {
  if (!model_.labels.empty()) add_count("Total nSV = ", model_.vectors(), text_);
  if (!model_.labels.empty()) text_ += '\n';
  say_(text_);
  text_.clear();
}

std::string warning_of(Ended ended, double violation) {
  return "WARNING: " + std::string(to_string(ended)) + " at a violation of " + general(violation) +
         "\n";
}

}  // namespace maxmargin
