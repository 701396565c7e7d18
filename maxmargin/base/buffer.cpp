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

// From these sizes on arrays have pages of their own. Beyond the second one the heap would have
// none at hand either: it gives them back at once.
constexpr std::size_t mapped_from = std::size_t{1} << 20;
constexpr std::size_t mapped_from_if_any = std::size_t{32} << 20;
// From this size on, 2 MB pages save most of the page faults.
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t whole_pages(std::size_t bytes) {
  // Arrays of whole large pages are also placed where these begin.
  const std::size_t page =
      bytes >= 2 * huge_page ? huge_page : static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
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
std::byte* heap_copy(const std::byte* data, std::size_t bytes, std::size_t wanted,
                     Pages::Fresh fresh) {
  const std::size_t size = wanted + 2 * alignment;
  void* given = fresh == Pages::Fresh::zero ? std::calloc(size, 1) : std::malloc(size);
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
  if (mapped_)
    munmap(data_, bytes_);
  else
    free_heap(data_);
  data_ = nullptr;
  bytes_ = 0;
}

void Pages::resize(std::size_t bytes, Fresh fresh) {
  if (bytes > (std::size_t{1} << 62)) throw std::bad_alloc();
  const bool to_map = bytes >= (fresh == Fresh::zero ? mapped_from : mapped_from_if_any);
  const std::size_t wanted = to_map ? whole_pages(bytes) : (bytes + 63) / 64 * 64;
  if (wanted == bytes_) return;
  if (wanted == 0) return release();
  if (to_map && (mapped_ || data_ == nullptr)) {
    data_ = map_pages(data_, bytes_, wanted);
  } else {
    std::byte* grown =
        to_map ? map_pages(nullptr, 0, wanted) : heap_copy(data_, bytes_, wanted, fresh);
    if (to_map) std::copy(data_, data_ + std::min(bytes_, wanted), grown);
    release();
    data_ = grown;
  }
  bytes_ = wanted;
  mapped_ = to_map;
}

std::size_t peak_memory_bytes() {
  // What getrusage tells begins with the peak of the process that started this one.
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::size_t kilobytes = 0; word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
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
