#include "maxmargin/base/error.hpp"

namespace maxmargin {
namespace {

std::string compose(const Place& place, std::string_view what, std::string_view mend) {
  std::string text;
  if (!place.file.empty()) {
    text += place.file;
    if (place.line > 0) text += ":" + std::to_string(place.line);
    if (place.line > 0 && place.column > 0) text += ":" + std::to_string(place.column);
    text += ": ";
  }
  text += what;
  if (!mend.empty()) {
    text += "; ";
    text += mend;
  }
  return text;
}

}  // namespace

Error::Error(Fault fault, Place place, std::string_view what, std::string_view mend)
    : std::runtime_error(compose(place, what, mend)), fault_(fault), place_(std::move(place)) {}

}  // namespace maxmargin
