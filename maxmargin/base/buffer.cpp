#include "maxmargin/base/buffer.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <string>

namespace maxmargin {
namespace {

// From this size on, 2 MB pages save most of the page faults.
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

void Pages::resize(std::size_t bytes) {
  if (bytes > (std::size_t{1} << 62)) throw std::bad_alloc();
  const std::size_t wanted = whole_pages(bytes);
  if (wanted == bytes_) return;
  if (wanted == 0) {
    munmap(data_, bytes_);
    data_ = nullptr;
    bytes_ = 0;
    return;
  }
  void* grown = data_ == nullptr ? mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                 : mremap(data_, bytes_, wanted, MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(grown);
  bytes_ = wanted;
  if (wanted >= 8 * huge_page) madvise(data_, bytes_, MADV_HUGEPAGE);
}

std::size_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

std::size_t available_memory_bytes() {
  std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  std::size_t most = 0;
  if (limit >> most && most > 0) bytes = std::min(bytes, most);
  return bytes;
}

}  // namespace maxmargin
