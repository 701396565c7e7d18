#include "maxmargin/model/file/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "maxmargin/base/error.hpp"

namespace maxmargin {
namespace {

// Linux writes at most 2^31 - 4096 bytes at a time.
constexpr std::size_t most_at_once = std::size_t{1} << 30;

// What a file is shows within so many bytes.
constexpr std::size_t first_bytes = 40;

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : path;
}

[[noreturn]] void throw_unreadable(const std::string& path, int code) {
  throw Error(Fault::io, Place{path}, "cannot read: " + std::generic_category().message(code),
              "check the path and its permissions");
}

/// Reads up to the end or until `most` bytes are there.
void read_more(int file, const std::string& path, std::size_t most, Buffer<char>& content) {
  constexpr std::size_t step = std::size_t{1} << 20;
  while (content.size() < most) {
    const std::size_t before = content.size();
    content.resize(std::min(most, before + step));
    const ssize_t got = read(file, content.data() + before, content.size() - before);
    const int code = errno;
    content.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return;
    if (got < 0 && code != EINTR) throw_unreadable(path, code);
  }
}

}  // namespace

Buffer<char> read_whole_file(const std::string& path,
                             const std::function<void(std::string_view)>& accept) {
  struct File {
    int number;
    ~File() {
      if (number >= 0) close(number);
    }
  } file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status {};
  if (file.number < 0 || fstat(file.number, &status) != 0) throw_unreadable(path, errno);
  if (S_ISDIR(status.st_mode)) throw_unreadable(path, EISDIR);
  Buffer<char> content;
  read_more(file.number, path, first_bytes, content);
  accept({content.data(), content.size()});
  read_more(file.number, path, std::size_t{1} << 48, content);
  return content;
}

WholeFile::WholeFile(const std::string& path) : path_(path), target_(resolved(path)) {
  struct stat there {};
  const bool exists = stat(target_.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) {
    errno = EISDIR;
    fail("write");
  }
  if (exists && !S_ISREG(there.st_mode)) {
    file_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) fail("open");
    return;
  }
  open_temporary();
  if (exists) fchmod(file_, there.st_mode & 07777);
}

WholeFile::~WholeFile() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void WholeFile::open_temporary() {
  const std::string stem = directory_of(target_) + "/.maxmargin-" + std::to_string(getpid()) + "-";
  for (int attempt = 0; file_ < 0; ++attempt) {
    const std::string name = stem + std::to_string(attempt);
    file_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ >= 0) temporary_ = name;
    if (file_ < 0 && (errno != EEXIST || attempt > 1000)) fail("create a file beside it to write");
  }
}

void WholeFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file_, bytes.data(), std::min(bytes.size(), most_at_once));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("write");
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void WholeFile::commit(Sync sync) {
  const bool wait = sync == Sync::wait;
  // Pipes and devices cannot be synced, and need not be.
  if (wait && fsync(file_) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
    fail("write");
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0) fail("write");
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail("replace");
  temporary_.clear();
  if (!wait) return;
  // The name itself is only safe once the directory is.
  const int directory = open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  fsync(directory);
  close(directory);
}

void WholeFile::fail(const std::string& doing) {
  const int code = errno;
  if (file_ >= 0) close(file_);
  file_ = -1;
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
  std::string mend = "choose a path in a directory that exists and can be written";
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) mend = "make room or choose another disk";
  throw Error(Fault::io, Place{path_},
              "cannot " + doing + ": " + std::generic_category().message(code), mend);
}

}  // namespace maxmargin
