#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>

// Where things are that tests look at. The paths are compiled into paths.cpp alone, so that a
// compiler cache knows all other tests in whatever directory they are.
namespace maxmargin {

std::filesystem::path source_dir();
/// The program `maxmargin` of this build.
std::filesystem::path program();
/// Real data sets: MAXMARGIN_DATA, or a folder `shared/data` beside the project. It may not be
/// there: a test that needs it is skipped then, and says so.
std::filesystem::path data_dir();

/// All that a file has.
inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace maxmargin
