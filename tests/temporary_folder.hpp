#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

namespace maxmargin {

/// An empty folder that is gone, with all that is in it, at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    // mkdtemp puts letters of its own in the place of these.
    std::string pattern = testing::TempDir() + "/maxmargin-" + std::string(6, 'X');
    if (mkdtemp(pattern.data()) == nullptr)
      throw std::filesystem::filesystem_error("cannot make a folder", pattern,
                                              std::error_code(errno, std::generic_category()));
    path_ = std::filesystem::canonical(pattern);
  }
  ~TemporaryFolder() {
    std::error_code ignored;  // a test that failed may have left anything
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// How many files there are in it.
  std::size_t files() const {
    const std::filesystem::directory_iterator all(path_);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace maxmargin
