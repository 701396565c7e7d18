#include "maxmargin/data/formula/expression.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/formula/formula.hpp"

namespace maxmargin {
namespace {

// Of features, in messages.
constexpr std::size_t most_names = 8;

double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double tangent(double x) { return std::tan(x); }
double arc_sine(double x) { return std::asin(x); }
double arc_cosine(double x) { return std::acos(x); }
double arc_tangent(double x) { return std::atan(x); }
double hyperbolic_sine(double x) { return std::sinh(x); }
double hyperbolic_cosine(double x) { return std::cosh(x); }
double hyperbolic_tangent(double x) { return std::tanh(x); }
double exponential(double x) { return std::exp(x); }
double logarithm(double x) { return std::log(x); }
double logarithm_2(double x) { return std::log2(x); }
double logarithm_10(double x) { return std::log10(x); }
double square_root(double x) { return std::sqrt(x); }
double cube_root(double x) { return std::cbrt(x); }
double size(double x) { return std::abs(x); }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double rounded_down(double x) { return std::floor(x); }
double rounded_up(double x) { return std::ceil(x); }
double rounded(double x) { return std::round(x); }
double sinus_cardinalis(double x) { return x == 0 ? 1 : std::sin(x) / x; }
double smaller(double x, double y) { return std::min(x, y); }
double larger(double x, double y) { return std::max(x, y); }

constexpr std::array one_argument{FormulaFunction1{"sin", sine},
                                  FormulaFunction1{"cos", cosine},
                                  FormulaFunction1{"tan", tangent},
                                  FormulaFunction1{"asin", arc_sine},
                                  FormulaFunction1{"acos", arc_cosine},
                                  FormulaFunction1{"atan", arc_tangent},
                                  FormulaFunction1{"sinh", hyperbolic_sine},
                                  FormulaFunction1{"cosh", hyperbolic_cosine},
                                  FormulaFunction1{"tanh", hyperbolic_tangent},
                                  FormulaFunction1{"exp", exponential},
                                  FormulaFunction1{"log", logarithm},
                                  FormulaFunction1{"log2", logarithm_2},
                                  FormulaFunction1{"log10", logarithm_10},
                                  FormulaFunction1{"sqrt", square_root},
                                  FormulaFunction1{"cbrt", cube_root},
                                  FormulaFunction1{"abs", size},
                                  FormulaFunction1{"sign", sign},
                                  FormulaFunction1{"floor", rounded_down},
                                  FormulaFunction1{"ceil", rounded_up},
                                  FormulaFunction1{"round", rounded},
                                  FormulaFunction1{"sinc", sinus_cardinalis}};
constexpr std::array two_arguments{FormulaFunction2{"min", smaller},
                                   FormulaFunction2{"max", larger}};

bool is_function(std::string_view name) {
  return std::ranges::any_of(one_argument, [&](const auto& f) { return f.name == name; }) ||
         std::ranges::any_of(two_arguments, [&](const auto& f) { return f.name == name; });
}

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_word(char c) {
  return starts_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

[[noreturn]] void refuse(const std::string& text, std::size_t at, const std::string& what,
                         const std::string& mend) {
  const std::string shown = text.size() <= 60 ? text : text.substr(0, 57) + "...";
  throw Error(Fault::usage, Place{{}, 1, at + 1},
              "in the expression '" + shown + "', column " + std::to_string(at + 1) + ": " + what,
              mend);
}

/// Reads a text from left to right and writes it anew with plain words for the features: what the
/// library behind it gets to see are numbers, operators and names that are known here.
class Reading {
 public:
  Reading(const std::string& text, std::span<const std::string> names, std::size_t features)
      : text_(text), names_(names), columns_(features) {}

  void run() {
    if (text_.size() > Expression::most_characters)
      throw Error(Fault::usage, "an expression has " + std::to_string(text_.size()) + " characters",
                  "the longest has " + std::to_string(Expression::most_characters));
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (std::isspace(static_cast<unsigned char>(c)) != 0)
        ++at_;
      else if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.')
        number();
      else if (starts_word(c))
        word();
      else if (c == '[')
        bracketed();
      else
        symbol();
    }
    if (prepared.empty())
      throw Error(Fault::usage, "an expression is empty", "write for example sin(x1)");
    if (!open_.empty())
      refuse(text_, open_.back(), "this parenthesis is not closed", "add the ) that is missing");
    place.push_back(text_.size());
  }

  std::string prepared;
  std::vector<std::size_t> place;  ///< in the text of each character of `prepared`, and of its end
  std::vector<Index> used;         ///< features, as they were met

 private:
  void put(std::string_view piece, std::size_t from) {
    prepared += piece;
    place.resize(prepared.size(), from);
  }

  void number() {
    const char* begin = text_.data() + at_;
    double value = 0;
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code != std::errc{})
      refuse(text_, at_, "this is not a number", "write for example 0.5 or 1e-3");
    if (end < text_.data() + text_.size() && (continues_word(*end) || *end == '.'))
      refuse(text_, static_cast<std::size_t>(end - text_.data()),
             "a number goes on with '" + std::string(1, *end) + "'", "put an operator between");
    put(std::string_view(begin, end), at_);
    put(" ", at_);
    at_ = static_cast<std::size_t>(end - text_.data());
  }

  void word() {
    const std::size_t from = at_;
    while (at_ < text_.size() && continues_word(text_[at_])) ++at_;
    const std::string_view name = std::string_view(text_).substr(from, at_ - from);
    std::size_t next = at_;
    while (next < text_.size() && text_[next] == ' ') ++next;
    if (next < text_.size() && text_[next] == '(') {
      if (!is_function(name))
        refuse(text_, from, "there is no function '" + std::string(name) + "'",
               "known are " + list_of_functions());
      put(name, from);
      return;
    }
    if (const auto feature = feature_named(name)) return put_feature(*feature, from);
    if (name == "pi") return put("(3.14159265358979323846)", from);
    if (name == "e") return put("(2.71828182845904523536)", from);
    refuse(text_, from, "there is no feature '" + std::string(name) + "'", known_features());
  }

  void bracketed() {
    const std::size_t from = at_, end = text_.find(']', at_);
    if (end == std::string::npos)
      refuse(text_, from, "this bracket is not closed", "add the ] that is missing");
    const std::string name = text_.substr(from + 1, end - from - 1);
    at_ = end + 1;
    const auto feature = feature_named(name);
    if (!feature) refuse(text_, from, "there is no feature '" + name + "'", known_features());
    put_feature(*feature, from);
  }

  void symbol() {
    const char c = text_[at_];
    if (c == '(') {
      open_.push_back(at_);
      if (open_.size() > Expression::most_nested)
        refuse(text_, at_, "parentheses are nested too deeply", "write it more simply");
    } else if (c == ')') {
      if (open_.empty())
        refuse(text_, at_, "this parenthesis was not opened", "leave it out, or open it");
      open_.pop_back();
    } else if (c == ',') {
      if (open_.empty())
        refuse(text_, at_, "a comma stands between arguments of a function",
               "write a decimal point as 0.5; give several functions one by one");
    } else if (c == '<' || c == '>' || c == '=' || c == '!') {
      const bool doubled = at_ + 1 < text_.size() && text_[at_ + 1] == '=';
      if (!doubled && (c == '=' || c == '!'))
        refuse(text_, at_, "'" + std::string(1, c) + "' is not an operator",
               "to compare, write == or !=");
      put(std::string_view(text_).substr(at_, doubled ? 2 : 1), at_);
      at_ += doubled ? 2 : 1;
      return;
    } else if (std::string_view("+-*/^").find(c) == std::string_view::npos) {
      refuse(text_, at_, "'" + std::string(1, c) + "' is not an operator", "known are + - * / ^");
    }
    put(std::string_view(text_).substr(at_, 1), at_);
    ++at_;
  }

  std::optional<Index> feature_named(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    if (found != names_.end()) return static_cast<Index>(found - names_.begin());
    if (name.size() < 2 || name[0] != 'x') return std::nullopt;
    std::size_t number = 0;
    const auto [end, code] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
    if (code != std::errc{} || end != name.data() + name.size()) return std::nullopt;
    if (number == 0 || number > columns_) return std::nullopt;
    return static_cast<Index>(number - 1);
  }

  void put_feature(Index feature, std::size_t from) {
    used.push_back(feature);
    put("v" + std::to_string(feature) + " ", from);
  }

  std::string known_features() const {
    if (columns_ == 0) return "the data has no features";
    std::string text =
        columns_ == 1 ? "there is x1" : "there are x1 to x" + std::to_string(columns_);
    // Columns that are called x1, x2, ... have been told.
    std::string others;
    std::size_t count = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == "x" + std::to_string(i + 1)) continue;
      if (++count <= most_names) others += (count > 1 ? ", " : "") + names_[i];
    }
    if (count == 0) return text;
    return text + ", also called " + others + (count > most_names ? " ..." : "");
  }

  static std::string list_of_functions() {
    std::string text;
    for (const std::string& name : expression_functions())
      text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  const std::string& text_;
  std::span<const std::string> names_;
  std::size_t columns_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_;  // places of the parentheses that are open
};

Formula formula_of(const std::string& prepared, std::span<const Index> features) {
  std::vector<std::string> words;
  for (const Index feature : features) words.push_back("v" + std::to_string(feature));
  return Formula(prepared, words, one_argument, two_arguments);
}

}  // namespace

std::vector<std::string> expression_functions() {
  std::vector<std::string> names;
  for (const FormulaFunction1& each : one_argument) names.emplace_back(each.name);
  for (const FormulaFunction2& each : two_arguments) names.emplace_back(each.name);
  return names;
}

Expression::Expression(std::string text, std::span<const std::string> names, std::size_t features)
    : text_(std::move(text)) {
  Reading reading(text_, names, features);
  reading.run();
  prepared_ = std::move(reading.prepared);
  features_ = std::move(reading.used);
  std::ranges::sort(features_);
  features_.erase(std::unique(features_.begin(), features_.end()), features_.end());
  const Formula::Mistake mistake = formula_of(prepared_, features_).mistake();
  if (mistake.wrong.empty()) return;
  refuse(text_, reading.place[std::min(mistake.at, reading.place.size() - 1)], mistake.wrong,
         "mend the expression");
}

std::vector<double> Expression::evaluate(std::size_t rows, std::span<const double> values) const {
  Formula formula = formula_of(prepared_, features_);
  const std::size_t width = features_.size();
  std::vector<double> result(rows);
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                formula.values.begin());
    result[i] = formula();
  }
  return result;
}

}  // namespace maxmargin
