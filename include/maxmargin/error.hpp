#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace maxmargin {

/// The cause of an error: options, data, or a file system; each has an exit code of the program.
enum class Fault { usage, data, io };

/// Where in the input something is wrong. Line and column count from 1; 0: unknown.
struct Place {
  std::string file;
  std::size_t line = 0;
  std::size_t column = 0;
};

/// The one exception of maxmargin: bad input, found before work starts. It says where, what, and
/// how to mend it: `train.svm:812:17: 'nan' is not a finite number; remove the row or the value`.
///
///   try {
///     const auto data = maxmargin::Dataset::read("train.svm");
///   } catch (const maxmargin::Error& error) {
///     std::cerr << error.what() << "\n";
///     if (error.place().line > 0) open_editor(error.place().file, error.place().line);
///   }
class Error : public std::runtime_error {
 public:
  Error(Fault fault, Place place, std::string_view what, std::string_view mend = {});
  Error(Fault fault, std::string_view what, std::string_view mend = {})
      : Error(fault, Place{}, what, mend) {}

  Fault fault() const { return fault_; }
  const Place& place() const { return place_; }

 private:
  Fault fault_;
  Place place_;
};

}  // namespace maxmargin
