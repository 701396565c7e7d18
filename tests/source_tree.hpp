#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <typeinfo>
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

/// The pages of documentation.
inline std::vector<fs::path> pages() {
  std::vector<fs::path> result = files("docs", {".md"});
  for (const char* name : {"README.md", "CONTRIBUTING.md", "maxmargin/README.md"})
    result.push_back(source_dir() / name);
  return result;
}

/// The path as it is written in messages.
inline std::string shown(const fs::path& path) { return fs::relative(path, source_dir()).string(); }

/// The classes that are derived from one, at however many removes, and the files that have them.
/// Those that a test makes for itself, and those of programs that measure, are left out.
inline std::map<std::string, std::string> classes_derived_from(const std::string& base) {
  static const std::regex head(
      "\\b(?:class|struct)\\s+(\\w+)(?:\\s+final)?\\s*:([^:{};()][^{};()]*)\\{");
  struct Class {
    std::string name, bases, path;
  };
  std::vector<Class> all;
  for (const char* folder : {"maxmargin", "capi", "cli", "tests"})
    for (const fs::path& path : files(folder, {".cpp", ".hpp"})) {
      if (path.stem().string().ends_with("_test")) continue;
      std::string code;
      for (const std::string& line : lines(path)) code += line.substr(0, line.find("//")) + " ";
      for (std::sregex_iterator at(code.begin(), code.end(), head), end; at != end; ++at)
        all.push_back({(*at)[1], (*at)[2], shown(path)});
    }
  std::map<std::string, std::string> found;
  for (std::size_t before = 0, round = 0; round == 0 || found.size() > before; ++round) {
    before = found.size();
    for (const Class& each : all) {
      static const std::regex word("\\w+");
      for (std::sregex_iterator at(each.bases.begin(), each.bases.end(), word), end; at != end;
           ++at)
        if (at->str() == base || found.contains(at->str())) found.emplace(each.name, each.path);
    }
  }
  return found;
}

/// Whether a type is this class, in whatever namespace: as GCC and Clang write names.
inline bool is_class(const std::type_info& type, const std::string& name) {
  return std::string(type.name()).find(std::to_string(name.size()) + name) != std::string::npos;
}

}  // namespace maxmargin::testing_tree
