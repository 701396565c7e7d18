#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "maxmargin/base/buffer.hpp"

namespace maxmargin {

/// The bytes of a file. `accept` sees the first of them, before the rest is read, and throws if the
/// file cannot be what it should: then it is refused however long it is.
Buffer<char> read_whole_file(const std::string& path,
                             const std::function<void(std::string_view)>& accept);

/// Whether a file is to survive a loss of power from the moment it has its name. Waiting for the
/// disk takes longer than a small problem does.
enum class Sync { wait, leave };

/// A file that appears whole or not at all: written without a name, or under another one in the
/// same directory where the file system knows no files without names, synced, then given its name.
/// What stood there before stays until commit(). A symbolic link is followed, also to where nothing
/// is yet. A device or pipe is written directly. Every failure is an Error (Fault::io) and leaves
/// nothing behind; what a killed process left is removed by the next commit() in that directory.
class WholeFile {
 public:
  explicit WholeFile(const std::string& path);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit(Sync sync = Sync::wait);

  /// What has to be removed should the process end before commit(); empty: nothing.
  const std::string& temporary() const { return temporary_; }

 private:
  [[noreturn]] void fail(const std::string& doing);
  void open_temporary();
  void open_named();
  void give_name();
  std::string next_name();

  std::string path_;       ///< as the user wrote it
  std::string target_;     ///< where a symbolic link leads
  std::string temporary_;  ///< empty: written directly or without a name, or has its name
  bool nameless_ = false;  ///< has no name yet
  int names_tried_ = 0;
  int file_ = -1;
};

}  // namespace maxmargin
