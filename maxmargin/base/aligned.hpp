#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace maxmargin {

template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};

  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), line));
  }
  void deallocate(T* data, std::size_t) { ::operator delete(data, line); }
  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }
};

/// A vector that starts at a cache line, as aligned vector loads want it.
template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace maxmargin
