#include "maxmargin/libsvm/report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace maxmargin {
namespace {

// Dividing by the margin of nu-SVC may round a bound.
constexpr double nearly = 1 - 1e-12;

/// Sums over the coefficients of one machine.
struct Coefficients {
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

Coefficients of_pair(const LibsvmModel& model, std::size_t i, std::size_t j,
                     const LibsvmReport& report) {
  Coefficients result;
  if (model.labels.empty()) {
    for (const double coefficient : model.coefficients) result.add(coefficient, report.cost_first);
    return result;
  }
  std::size_t begin = 0;
  for (std::size_t of = 0; of < model.sizes.size(); begin += model.sizes[of++]) {
    if (of != i && of != j) continue;
    const std::size_t column = of == i ? j - 1 : i;
    const double bound = of == i ? report.cost_first : report.cost_second;
    for (std::size_t k = begin; k < begin + model.sizes[of]; ++k)
      result.add(model.coefficients[k * model.columns() + column], bound);
  }
  return result;
}

/// As printf has it, whatever the locale.
std::string with_six_digits(double value, std::chars_format format) {
  std::array<char, 400> text;  // the largest double has 309 digits before the point
  return {text.data(), std::to_chars(text.data(), &text.back(), value, format, 6).ptr};
}
std::string fixed(double value) { return with_six_digits(value, std::chars_format::fixed); }

}  // namespace

std::string general(double value) { return with_six_digits(value, std::chars_format::general); }

std::size_t iterations_per_dot(std::size_t rows) { return std::clamp<std::size_t>(rows, 1, 1000); }

std::string report_lines(const LibsvmModel& model, std::size_t i, std::size_t j,
                         const LibsvmReport& report, std::size_t dots) {
  const Coefficients found = of_pair(model, i, j, report);
  const std::size_t all_dots = report.iterations / iterations_per_dot(report.rows);
  std::string text(all_dots - std::min(dots, all_dots), '.');
  text += "*\noptimization finished, #iter = " + std::to_string(report.iterations) + "\n";
  const double share = found.sum / (report.cost_first * static_cast<double>(report.rows));
  switch (model.type) {
    case LibsvmType::c_svc:
      if (report.cost_first == report.cost_second) text += "nu = " + fixed(share) + "\n";
      break;
    case LibsvmType::epsilon_svr:
      text += "nu = " + fixed(share) + "\n";
      break;
    case LibsvmType::nu_svc:
      text += "C = " + fixed(1 / report.width) + "\n";
      break;
    case LibsvmType::nu_svr:
      text += "epsilon = " + fixed(report.width) + "\n";
      break;
    case LibsvmType::one_class:
      break;
  }
  text += "obj = " + fixed(report.objective) + ", rho = " + fixed(report.rho) +
          "\nnSV = " + std::to_string(found.count) + ", nBSV = " + std::to_string(found.at_bound) +
          "\n";
  return text;
}

}  // namespace maxmargin
