#pragma once

#include <string>

#include "maxmargin/base/error.hpp"

namespace maxmargin::cli {

/// Calls `act` on data of a file, and adds the file's name to an Error about the data that has
/// none. Returns what `act` returns.
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
