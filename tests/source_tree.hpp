#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/paths.hpp"

namespace maxmargin::testing_tree {

namespace fs = std::filesystem;

/// The files below a folder of the project that have one of the extensions, sorted.
inline std::vector<fs::path> files(const std::string& folder,
                                   const std::vector<std::string>& extensions) {
  std::vector<fs::path> found;
  if (!fs::exists(source_dir() / folder)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(source_dir() / folder))
    if (entry.is_regular_file() &&
        std::ranges::count(extensions, entry.path().extension().string()) > 0)
      found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

inline std::vector<std::string> lines(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

/// The path as it is written in messages.
inline std::string shown(const fs::path& path) { return fs::relative(path, source_dir()).string(); }

}  // namespace maxmargin::testing_tree
