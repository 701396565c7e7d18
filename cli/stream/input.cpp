#include "cli/stream/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "maxmargin/base/error.hpp"

namespace maxmargin::cli::streaming {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
constexpr int read_patience = 100;  // milliseconds, after which signals are looked for again

[[noreturn]] void fail_to_read(const std::string& name) {
  throw Error(Fault::io, Place{name}, fmt::format("cannot read: {}", std::strerror(errno)),
              "check the path and its permissions");
}

class DescriptorInput final : public Input {
 public:
  DescriptorInput(int descriptor, std::string name, AtEnd at_end)
      : descriptor_(descriptor), name_(std::move(name)), at_end_(at_end) {}
  ~DescriptorInput() override {
    if (descriptor_ > STDERR_FILENO) close(descriptor_);
  }

  Got read(std::string& chunk) override {
    pollfd waiting{descriptor_, POLLIN, 0};
    const int ready = poll(&waiting, 1, paused_ ? read_patience : 0);
    if (ready <= 0) {
      if (ready < 0 && errno != EINTR) fail_to_read(name_);
      paused_ = true;
      return Got::pause;
    }
    chunk.resize(chunk_bytes);
    const ssize_t got = ::read(descriptor_, chunk.data(), chunk.size());
    if (got < 0 && errno != EINTR && errno != EAGAIN) fail_to_read(name_);
    chunk.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    if (got > 0) {
      offset_ += static_cast<std::uint64_t>(got);
      paused_ = false;
      return Got::bytes;
    }
    if (got == 0 && at_end_ == AtEnd::stop) return Got::end;
    // A regular file is always ready: wait here for it to grow.
    check_not_shorter();
    if (paused_) poll(nullptr, 0, read_patience);
    paused_ = true;
    return Got::pause;
  }

  void seek(std::uint64_t offset) {
    if (lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0) fail_to_read(name_);
    offset_ = offset;
  }

 private:
  void check_not_shorter() const {
    struct stat status {};
    if (fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) &&
        static_cast<std::uint64_t>(status.st_size) < offset_)
      throw Error(Fault::data, Place{name_}, "the file has become shorter while it was followed",
                  "append to it only, or start again");
  }

  int descriptor_;
  std::string name_;
  AtEnd at_end_;
  bool paused_ = false;
  std::uint64_t offset_ = 0;
};

class SourceInput final : public Input {
 public:
  SourceInput(const std::string& path, std::uint64_t offset) : source_(open_source(path)) {
    std::string chunk(chunk_bytes, '\0');
    while (offset > 0) {
      const std::size_t got =
          source_->read(chunk.data(), std::min<std::uint64_t>(offset, chunk_bytes));
      if (got == 0)
        throw Error(Fault::data, Place{path}, "the file is shorter than the checkpoint has read",
                    "give the file that the checkpoint was made from");
      offset -= got;
    }
  }
  Got read(std::string& chunk) override {
    chunk.resize(chunk_bytes);
    chunk.resize(source_->read(chunk.data(), chunk.size()));
    return chunk.empty() ? Got::end : Got::bytes;
  }

 private:
  std::unique_ptr<Source> source_;
};

}  // namespace

std::unique_ptr<Input> standard_input() {
  return std::make_unique<DescriptorInput>(STDIN_FILENO, "standard input", AtEnd::stop);
}

std::unique_ptr<Input> file_input(const std::string& path, std::uint64_t offset, AtEnd at_end) {
  struct stat status {};
  const bool pipe = stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
  if (at_end == AtEnd::stop && !pipe) return std::make_unique<SourceInput>(path, offset);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_to_read(path);
  auto input = std::make_unique<DescriptorInput>(descriptor, path, at_end);
  if (offset > 0) input->seek(offset);
  return input;
}

std::string head_of(const std::string& path) {
  const auto source = open_source(path);
  return std::string(source->peek(chunk_bytes));
}

}  // namespace maxmargin::cli::streaming
