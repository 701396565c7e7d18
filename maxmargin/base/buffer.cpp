#include "maxmargin/base/buffer.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <string>

namespace maxmargin {
namespace {

// From this size on arrays have pages of their own: whole ones, so that a size tells.
constexpr std::size_t mapped_from = std::size_t{1} << 20;
// From this size on, 2 MB pages save most of the page faults.
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

namespace {

std::byte* map_pages(std::byte* data, std::size_t bytes, std::size_t wanted) {
  void* grown = data == nullptr ? mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                : mremap(data, bytes, wanted, MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) throw std::bad_alloc();
  if (wanted >= 2 * huge_page) madvise(grown, wanted, MADV_HUGEPAGE);
  return static_cast<std::byte*>(grown);
}

// Enough for every vector; what the heap gave is noted in front of the array.
constexpr std::size_t alignment = 64;

/// From the heap: no call of the system, and no page fault, for arrays that come and go. Cleared by
/// the heap, which knows what has never been touched.
std::byte* heap_copy(const std::byte* data, std::size_t bytes, std::size_t wanted) {
  void* given = std::calloc(wanted + 2 * alignment, 1);
  if (given == nullptr) throw std::bad_alloc();
  const std::size_t past = reinterpret_cast<std::uintptr_t>(given) % alignment;
  std::byte* grown = static_cast<std::byte*>(given) + (2 * alignment - past);
  std::memcpy(grown - sizeof(given), &given, sizeof(given));
  std::copy(data, data + std::min(bytes, wanted), grown);
  return grown;
}

void free_heap(const std::byte* data) {
  void* given = nullptr;
  std::memcpy(&given, data - sizeof(given), sizeof(given));
  std::free(given);
}

}  // namespace

Pages::~Pages() { release(); }

void Pages::release() {
  if (data_ == nullptr) return;
  if (bytes_ < mapped_from)
    free_heap(data_);
  else
    munmap(data_, bytes_);
  data_ = nullptr;
  bytes_ = 0;
}

void Pages::resize(std::size_t bytes) {
  if (bytes > (std::size_t{1} << 62)) throw std::bad_alloc();
  const std::size_t wanted = bytes < mapped_from ? (bytes + 63) / 64 * 64 : whole_pages(bytes);
  if (wanted == bytes_) return;
  if (wanted == 0) return release();
  const bool was_mapped = bytes_ >= mapped_from, is_mapped = wanted >= mapped_from;
  if (is_mapped && (was_mapped || data_ == nullptr)) {
    data_ = map_pages(data_, bytes_, wanted);
  } else {
    std::byte* grown = is_mapped ? map_pages(nullptr, 0, wanted) : heap_copy(data_, bytes_, wanted);
    if (is_mapped) std::copy(data_, data_ + bytes_, grown);
    release();
    data_ = grown;
  }
  bytes_ = wanted;
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
