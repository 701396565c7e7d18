#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace maxmargin {

/// Raw memory. Large arrays are pages that grow in place or move without a copy (mremap), so that
/// growing never holds the content twice; fresh pages cost nothing until touched. Small ones come
/// from the heap. Fresh memory is aligned for every vector.
class Pages {
 public:
  Pages() = default;
  ~Pages();
  Pages(Pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        mapped_(other.mapped_) {}
  Pages& operator=(Pages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// What fresh memory holds: zeros, or anything, which the heap then may have at hand: fresh pages
  /// from the system cost more than computing what is written to them.
  enum class Fresh { zero, any };
  /// Throws std::bad_alloc when the system refuses.
  void resize(std::size_t bytes, Fresh fresh = Fresh::zero);

 private:
  void release();

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool mapped_ = false;
};

/// A growing array of plain values on Pages, for the large arrays (data, kernel cache) where
/// std::vector would need twice the memory while it grows.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) { resize(size); }
  explicit Buffer(std::span<const T> values) { append(values); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return reinterpret_cast<T*>(pages_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(pages_.data()); }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  operator std::span<const T>() const { return {data(), size_}; }

  /// New elements are zero unless the buffer was larger before.
  void resize(std::size_t size) {
    if (size * sizeof(T) > pages_.bytes()) pages_.resize(size * sizeof(T));
    size_ = size;
  }
  /// New elements may be anything.
  void resize_for_overwrite(std::size_t size) {
    if (size * sizeof(T) > pages_.bytes()) pages_.resize(size * sizeof(T), Pages::Fresh::any);
    size_ = size;
  }
  void push_back(T value) {
    reserve_for(1);
    data()[size_++] = value;
  }
  void append(std::span<const T> values) {
    reserve_for(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) data()[size_ + i] = values[i];
    size_ += values.size();
  }
  /// How many elements it can have without more memory.
  std::size_t room() const { return pages_.bytes() / sizeof(T); }
  /// Makes room for so many elements, and some more if it has to grow.
  void reserve(std::size_t size) {
    if (size > size_) reserve_for(size - size_);
  }
  /// Gives back the memory behind the last element.
  void fit() { pages_.resize(size_ * sizeof(T)); }

 private:
  void reserve_for(std::size_t more) {
    const std::size_t wanted = (size_ + more) * sizeof(T);
    // Untouched pages are free, so growing by half wastes addresses, not memory.
    if (wanted > pages_.bytes()) pages_.resize(wanted + wanted / 2 + 4096);
  }

  Pages pages_;
  std::size_t size_ = 0;
};

/// The most memory this process has held so far, in bytes.
std::size_t peak_memory_bytes();

/// The memory this machine, or the control group of this process, can give, in bytes.
std::size_t available_memory_bytes();

}  // namespace maxmargin
