#pragma once

#include <span>
#include <string>
#include <vector>

namespace maxmargin {

struct FormulaFunction1 {
  const char* name;
  double (*function)(double);
};
struct FormulaFunction2 {
  const char* name;
  double (*function)(double, double);
};

/// A formula of plain words, numbers and operators, ready to be evaluated by muParser. Its library
/// is loaded at the first one: a program that has no formula does not wait for it.
class Formula {
 public:
  /// What is wrong with a text, and where; `wrong` is empty for none.
  struct Mistake {
    std::string wrong;
    std::size_t at = 0;
  };

  /// `words` are the variables. Throws Error where the library is not there.
  Formula(const std::string& text, std::span<const std::string> words,
          std::span<const FormulaFunction1> one, std::span<const FormulaFunction2> two);
  ~Formula();
  Formula(const Formula&) = delete;
  Formula& operator=(const Formula&) = delete;

  /// Evaluates it once to see.
  Mistake mistake();

  std::vector<double> values;  ///< of the variables
  double operator()();

 private:
  void* parser_;
};

}  // namespace maxmargin
