#include "maxmargin/data/readers/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "maxmargin/base/error.hpp"

namespace maxmargin {
namespace {

class FileSource final : public Source {
 public:
  explicit FileSource(const std::string& path)
      : Source(path == "-" ? "standard input" : path),
        file_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0)
      throw Error(Fault::io, {name(), 0, 0}, std::string("cannot be opened: ") + strerror(errno),
                  errno == ENOENT ? "check the path" : "check its permissions");
    struct stat status {};
    if (fstat(file_, &status) == 0 && S_ISDIR(status.st_mode)) {
      close_own();
      throw Error(Fault::io, {name(), 0, 0}, "is a directory", "name a file");
    }
    if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
  }
  ~FileSource() override { close_own(); }

  std::optional<std::uint64_t> size() const override { return size_; }

 private:
  void close_own() {
    if (file_ != STDIN_FILENO) close(file_);
  }

  std::size_t take(char* to, std::size_t most) override {
    while (true) {
      const ssize_t got = ::read(file_, to, std::min(most, std::size_t{1} << 30));
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR)
        throw Error(Fault::io, {name(), 0, 0}, std::string("cannot be read: ") + strerror(errno),
                    "check the file and its disk");
    }
  }

  int file_;
  std::optional<std::uint64_t> size_;
};

class MemorySource final : public Source {
 public:
  MemorySource(std::span<const std::byte> bytes, const std::string& name)
      : Source(name), bytes_(bytes), size_(bytes.size()) {}

  std::optional<std::uint64_t> size() const override { return size_; }

 private:
  std::size_t take(char* to, std::size_t most) override {
    const std::size_t size = std::min(most, bytes_.size());
    if (size > 0) std::memcpy(to, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return size;
  }

  std::span<const std::byte> bytes_;
  std::size_t size_;
};

}  // namespace

std::size_t Source::read(char* to, std::size_t most) {
  const std::size_t known = std::min(most, ahead_.size() - ahead_at_);
  if (known == 0) return take(to, most);
  std::copy_n(ahead_.data() + ahead_at_, known, to);
  ahead_at_ += known;
  return known;
}

std::size_t Source::room(std::size_t most) const {
  // Files that the system makes as they are read (/proc) state the size 0.
  const std::uint64_t known = size().value_or(0);
  return known > 0 && known < most ? static_cast<std::size_t>(known) + 1 : most;
}

std::size_t Source::read_all(char* to, std::size_t most) {
  std::size_t got = 0;
  while (got < most) {
    const std::size_t more = read(to + got, most - got);
    if (more == 0) break;
    got += more;
  }
  return got;
}

std::string_view Source::peek(std::size_t most) {
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_at_));
  ahead_at_ = 0;
  std::size_t size = ahead_.size();
  if (size < most) {
    // These bytes may be all: one more byte of room meets the end.
    const std::size_t wanted = std::min(most, size + room(most - size));
    ahead_.resize(wanted);
    try {
      for (std::size_t more = 1; size < wanted && more > 0; size += more)
        more = take(ahead_.data() + size, wanted - size);
    } catch (const Error&) {
      // Reading on meets it again.
      if (size == 0) throw;
    }
    ahead_.resize(size);
  }
  return {ahead_.data(), std::min(size, most)};
}

std::unique_ptr<Source> open_source(const std::string& path) {
  return unpacked(std::make_unique<FileSource>(path));
}

std::unique_ptr<Source> memory_source(std::span<const std::byte> bytes, const std::string& name) {
  return unpacked(std::make_unique<MemorySource>(bytes, name));
}

}  // namespace maxmargin
