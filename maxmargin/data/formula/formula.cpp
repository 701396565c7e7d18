#include "maxmargin/data/formula/formula.hpp"

#include <dlfcn.h>
#include <muParserDLL.h>
#include <muParserError.h>

#include <type_traits>

#include "maxmargin/base/error.hpp"

namespace maxmargin {
namespace {

constexpr const char* library_name = "libmuparser.so.2";

/// The C interface of the library, under its own names.
struct Library {
  decltype(&mupCreate) create;
  decltype(&mupRelease) release;
  decltype(&mupClearFun) clear_functions;
  decltype(&mupClearConst) clear_constants;
  decltype(&mupDefineFun1) define_1;
  decltype(&mupDefineFun2) define_2;
  decltype(&mupDefineVar) define_variable;
  decltype(&mupSetExpr) set_text;
  decltype(&mupEval) evaluate;
  decltype(&mupEvalMulti) evaluate_all;
  decltype(&mupError) failed;
  decltype(&mupGetErrorCode) error_code;
  decltype(&mupGetErrorPos) error_place;
};

[[noreturn]] void fail() {
  const char* reason = dlerror();
  throw Error(Fault::io, std::string("muParser cannot be used: ") + (reason ? reason : "unknown"),
              "install libmuparser2v5");
}

const Library& library() {
  static const Library one = [] {
    void* opened = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) fail();
    const auto find = [&](const char* name, auto& function) {
      void* found = dlsym(opened, name);
      if (found == nullptr) fail();
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    };
    Library all{};
    find("mupCreate", all.create);
    find("mupRelease", all.release);
    find("mupClearFun", all.clear_functions);
    find("mupClearConst", all.clear_constants);
    find("mupDefineFun1", all.define_1);
    find("mupDefineFun2", all.define_2);
    find("mupDefineVar", all.define_variable);
    find("mupSetExpr", all.set_text);
    find("mupEval", all.evaluate);
    find("mupEvalMulti", all.evaluate_all);
    find("mupError", all.failed);
    find("mupGetErrorCode", all.error_code);
    find("mupGetErrorPos", all.error_place);
    return all;
  }();
  return one;
}

std::string explained(int code) {
  switch (code) {
    case mu::ecUNEXPECTED_EOF:
      return "something is missing at the end";
    case mu::ecTOO_MANY_PARAMS:
      return "a function has too many arguments";
    case mu::ecTOO_FEW_PARAMS:
      return "a function has too few arguments";
    case mu::ecUNEXPECTED_OPERATOR:
      return "an operator stands where a value should";
    case mu::ecUNEXPECTED_PARENS:
      return "a parenthesis stands where it should not";
    case mu::ecUNEXPECTED_ARG_SEP:
      return "a comma stands where it should not";
    default:
      return "an operator is missing, or a value";
  }
}

}  // namespace

Formula::Formula(const std::string& text, std::span<const std::string> words,
                 std::span<const FormulaFunction1> one, std::span<const FormulaFunction2> two)
    : values(words.size(), 0.0), parser_(library().create(muBASETYPE_FLOAT)) {
  const Library& use = library();
  use.clear_functions(parser_);
  use.clear_constants(parser_);
  for (const auto& each : one) use.define_1(parser_, each.name, each.function, 1);
  for (const auto& each : two) use.define_2(parser_, each.name, each.function, 1);
  for (std::size_t j = 0; j < words.size(); ++j)
    use.define_variable(parser_, words[j].c_str(), &values[j]);
  use.set_text(parser_, text.c_str());
}

Formula::~Formula() { library().release(parser_); }

Formula::Mistake Formula::mistake() {
  const Library& use = library();
  int results = 0;
  if (!use.failed(parser_)) use.evaluate_all(parser_, &results);
  if (use.failed(parser_)) {
    const int place = use.error_place(parser_);
    return {explained(use.error_code(parser_)), static_cast<std::size_t>(place < 0 ? 0 : place)};
  }
  if (results != 1) return {"it has " + std::to_string(results) + " values", 0};
  return {};
}

double Formula::operator()() { return library().evaluate(parser_); }

}  // namespace maxmargin
