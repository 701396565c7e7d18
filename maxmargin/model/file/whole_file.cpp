#include "maxmargin/model/file/whole_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <system_error>
#include <utility>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/requests_blocked.hpp"

namespace maxmargin {
namespace {

// Linux writes at most 2^31 - 4096 bytes at a time.
constexpr std::size_t most_at_once = std::size_t{1} << 30;

constexpr std::size_t read_at_once = std::size_t{1} << 20;

// What a file is shows within so many bytes.
constexpr std::size_t first_bytes = 40;

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Where links lead, also to where nothing is yet.
std::string resolved(std::string path) {
  constexpr int most_links = 40;  // as the kernel has it
  for (int link = 0; link < most_links; ++link) {
    std::string to(PATH_MAX, '\0');
    const ssize_t length = readlink(path.c_str(), to.data(), to.size());
    if (length < 0) break;
    to.resize(static_cast<std::size_t>(length));
    path = to.starts_with('/') ? to : directory_of(path) + "/" + to;
  }
  return path;
}

constexpr std::string_view temporary_start = ".maxmargin-";
// A file without a name gets one by this path alone.
std::string descriptor_path(int file) { return "/proc/self/fd/" + std::to_string(file); }

/// Nobody has write permission: then root does not overwrite it either.
bool is_protected(const std::string& path, mode_t mode) {
  errno = EACCES;
  return (mode & 0222) == 0 || faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0;
}

/// Removes an abandoned file: whoever still writes it holds a lock, or has just made it.
void remove_abandoned(int directory, const char* name) {
  constexpr std::time_t young = 60;  // seconds
  const int file =
      openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
      status.st_mtime < std::time(nullptr) - young && flock(file, LOCK_EX | LOCK_NB) == 0)
    unlinkat(directory, name, 0);
  close(file);
}

/// What processes that were killed have left in a directory.
void sweep(const std::string& path) {
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory))
    if (std::string_view(entry->d_name).starts_with(temporary_start))
      remove_abandoned(dirfd(directory), entry->d_name);
  closedir(directory);
}

[[noreturn]] void throw_unreadable(const std::string& path, int code) {
  throw Error(Fault::io, Place{path}, "cannot read: " + std::generic_category().message(code),
              "check the path and its permissions");
}

/// Reads up to the end or until `most` bytes are there, `step` at first: what is expected.
void read_more(int file, const std::string& path, std::size_t most, std::size_t step,
               Buffer<char>& content) {
  while (content.size() < most) {
    const std::size_t before = content.size();
    content.resize(std::min(most, before + step));
    const std::size_t asked = content.size() - before;
    const ssize_t got = read(file, content.data() + before, asked);
    const int code = errno;
    content.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return;
    if (got < 0 && code != EINTR) throw_unreadable(path, code);
    if (static_cast<std::size_t>(got) == asked) step = read_at_once;
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
  read_more(file.number, path, first_bytes, first_bytes, content);
  accept({content.data(), content.size()});
  // One byte more than the file has: its end is seen without another buffer.
  const auto size = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  const std::size_t step =
      S_ISREG(status.st_mode) && size >= content.size() ? size - content.size() + 1 : read_at_once;
  read_more(file.number, path, std::size_t{1} << 48, step, content);
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
  if (exists && is_protected(target_, there.st_mode)) fail("replace, it is protected");
  open_temporary();
  if (!exists) return;
  // Owner first: changing it takes bits away.
  if ((there.st_uid != geteuid() || there.st_gid != getegid()) &&
      fchown(file_, there.st_uid, there.st_gid) != 0)
    errno = 0;  // then it is the file of whoever wrote it
  fchmod(file_, there.st_mode & 07777);
}

WholeFile::~WholeFile() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void WholeFile::open_temporary() {
  const std::string directory = directory_of(target_);
  file_ = open(directory.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  nameless_ = file_ >= 0;
  if (nameless_ && access(descriptor_path(file_).c_str(), F_OK) != 0) {
    close(file_);
    file_ = -1;
    nameless_ = false;
  }
  if (!nameless_) open_named();
  flock(file_, LOCK_EX | LOCK_NB);
}

std::string WholeFile::next_name() {
  return directory_of(target_) + "/" + std::string(temporary_start) + std::to_string(getpid()) +
         "-" + std::to_string(names_tried_++);
}

// A thousand files of other processes with this number: something else is wrong.
constexpr int most_names = 1000;

void WholeFile::open_named() {
  while (file_ < 0) {
    std::string name = next_name();
    file_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ >= 0) temporary_ = std::move(name);  // a copy might find no memory
    if (file_ < 0 && (errno != EEXIST || names_tried_ > most_names))
      fail("create a file beside it to write");
  }
}

/// Links the file to the name of the target. Where something stands there, it gets another name,
/// and commit() renames it.
void WholeFile::give_name() {
  const std::string from = descriptor_path(file_);
  const auto link = [&](const std::string& to) {
    return linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (link(target_)) {
    nameless_ = false;
    return;
  }
  while (nameless_) {
    if (errno != EEXIST || names_tried_ > most_names) fail("write");
    std::string name = next_name();
    if (!link(name)) continue;
    nameless_ = false;
    temporary_ = std::move(name);
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
  {
    const RequestsBlocked blocked;  // between two names nothing may be left
    if (nameless_) give_name();
    const int closed = close(file_);
    file_ = -1;
    if (closed != 0) fail("write");
    if (!temporary_.empty() && rename(temporary_.c_str(), target_.c_str()) != 0) fail("replace");
    temporary_.clear();
  }
  struct stat there {};
  if (stat(target_.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) return;
  sweep(directory_of(target_));
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
  if (code == ENOSPC || code == EDQUOT) mend = "make room or choose another disk";
  if (code == EFBIG) mend = "allow larger files (ulimit -f)";
  if (code == EACCES && doing.starts_with("replace"))
    mend = "remove it first, or choose another name";
  throw Error(Fault::io, Place{path_},
              "cannot " + doing + ": " + std::generic_category().message(code), mend);
}

}  // namespace maxmargin
