#include "maxmargin/model/model.hpp"

namespace maxmargin {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::classes:
      return "classes";
    case Outcome::number:
      return "number";
    case Outcome::novelty:
      return "novelty";
  }
  return "unknown";
}

std::string_view to_string(Multiclass multiclass) {
  switch (multiclass) {
    case Multiclass::one_vs_one:
      return "one-vs-one";
    case Multiclass::one_vs_rest:
      return "one-vs-rest";
    case Multiclass::crammer_singer:
      return "crammer-singer";
  }
  return "unknown";
}

}  // namespace maxmargin
