// Reads the input as an expression over three columns, as it may come from a model file. What is
// accepted must be evaluated, and to the same value each time.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/formula/expression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace maxmargin;
  static const std::vector<std::string> names = {"age", "floor area", "e"};
  try {
    const Expression expression(std::string(reinterpret_cast<const char*>(data), size), names, 3);
    const std::vector<double> values(2 * expression.features().size(), 0.75);
    const std::vector<double> found = expression.evaluate(2, values);
    if (found.size() != 2) std::abort();
    if (found[0] != found[1] && !(std::isnan(found[0]) && std::isnan(found[1]))) std::abort();
  } catch (const Error& error) {
    if (error.fault() != Fault::usage) std::abort();
  }
  return 0;
}
