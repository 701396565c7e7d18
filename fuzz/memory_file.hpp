#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <span>
#include <string>

namespace maxmargin {

/// Bytes as a file that is nowhere on the disk.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes) : number_(memfd_create("fuzz", 0)) {
    if (number_ < 0 || write(number_, bytes.data(), bytes.size()) < 0) std::abort();
  }
  ~MemoryFile() { close(number_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

}  // namespace maxmargin
