#include "tests/paths.hpp"

#include <cstdlib>

namespace maxmargin {

std::filesystem::path source_dir() { return MAXMARGIN_SOURCE_DIR; }

std::filesystem::path program() { return MAXMARGIN_PROGRAM; }

std::filesystem::path data_dir() {
  const char* set = std::getenv("MAXMARGIN_DATA");
  return set != nullptr ? std::filesystem::path(set) : source_dir() / "../shared/data";
}

}  // namespace maxmargin
