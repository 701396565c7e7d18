#pragma once

#include <cstddef>
#include <memory_resource>

namespace maxmargin {

/// Memory for the arrays of one function, on the stack as long as they are short: what is done for
/// each of tens of thousands of small machines takes longer to get from the heap than to compute.
/// Give it to a std::pmr::vector as its allocator, and let that not outlive it.
class StackMemory {
 public:
  StackMemory() : resource_(bytes_, sizeof bytes_) {}
  StackMemory(const StackMemory&) = delete;

  template <class T>
  operator std::pmr::polymorphic_allocator<T>() {
    return &resource_;
  }

 private:
  alignas(std::max_align_t) std::byte bytes_[2048];
  std::pmr::monotonic_buffer_resource resource_;
};

}  // namespace maxmargin
