#pragma once

#include <string>

#include "maxmargin/base/error.hpp"

namespace maxmargin::cli {

/// Does something with data of a file; an Error about the data that knows no place gets the file's
/// name. Returns what `act` returns.
template <class Act>
auto naming(const std::string& file, Act&& act) {
  try {
    return act();
  } catch (const Error& error) {
    if (error.fault() != Fault::data || !error.place().file.empty()) throw;
    throw Error(Fault::data, Place{file == "-" ? "standard input" : file}, error.what());
  }
}

}  // namespace maxmargin::cli
