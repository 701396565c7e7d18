#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "maxmargin/base/error.hpp"

// State as bytes and back. Writer and reader have the same operators, so that one function template
// that passes all members to an archive serves both directions.

namespace maxmargin {

class StateWriter {
 public:
  static constexpr bool reads = false;

  template <class T>
  requires std::is_arithmetic_v<T>
  void operator()(const T& value) { append(&value, sizeof value); }
  void operator()(const std::string& text) {
    size(text.size());
    append(text.data(), text.size());
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void operator()(const std::vector<T>& values) {
    size(values.size());
    append(values.data(), values.size() * sizeof(T));
  }
  template <class T>
  requires(!std::is_arithmetic_v<T>) void operator()(const std::vector<T>& values) {
    size(values.size());
    for (const T& each : values) (*this)(each);
  }
  /// Anything with pass(archive).
  template <class T>
  requires requires(T value, StateWriter& writer) { value.pass(writer); }
  void operator()(const T& value) { const_cast<T&>(value).pass(*this); }

  std::string take() { return std::move(bytes_); }

 private:
  void size(std::size_t count) { (*this)(static_cast<std::uint64_t>(count)); }
  void append(const void* data, std::size_t bytes) {
    if (bytes > 0) bytes_.append(static_cast<const char*>(data), bytes);
  }

  std::string bytes_;
};

/// Reads bytes that may be damaged: sizes are checked against the bytes that are left before memory
/// is allocated.
class StateReader {
 public:
  static constexpr bool reads = true;

  StateReader(std::span<const std::byte> bytes, const std::string& name)
      : rest_(bytes), name_(name) {}

  template <class T>
  requires std::is_arithmetic_v<T>
  void operator()(T& value) {
    if constexpr (std::same_as<T, bool>) {
      std::uint8_t byte = 0;
      take(&byte, 1);
      demand(byte <= 1, "a yes or no is neither");
      value = byte == 1;
    } else {
      take(&value, sizeof value);
    }
  }
  void operator()(std::string& text) {
    text.resize(size(1));
    take(text.data(), text.size());
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void operator()(std::vector<T>& values) {
    values.resize(size(sizeof(T)));
    take(values.data(), values.size() * sizeof(T));
  }
  template <class T>
  requires(!std::is_arithmetic_v<T>) void operator()(std::vector<T>& values) {
    // Every such element has at least 8 bytes in the file.
    values.resize(size(8));
    for (T& each : values) (*this)(each);
  }
  template <class T>
  requires requires(T value, StateReader& reader) { value.pass(reader); }
  void operator()(T& value) { value.pass(*this); }

  void demand(bool good, const char* otherwise) const {
    if (!good) damaged(otherwise);
  }
  void end() const { demand(rest_.empty(), "it goes on behind its end"); }
  const std::string& name() const { return name_; }

  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(Fault::data, Place{name_}, "this checkpoint is damaged: " + what,
                "start from another one, or without --resume");
  }

 private:
  std::size_t size(std::size_t bytes_each) {
    std::uint64_t count = 0;
    take(&count, sizeof count);
    demand(count <= rest_.size() / bytes_each, "it ends too early");
    return static_cast<std::size_t>(count);
  }
  void take(void* to, std::size_t bytes) {
    demand(bytes <= rest_.size(), "it ends too early");
    if (bytes > 0) std::memcpy(to, rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
  }

  std::span<const std::byte> rest_;
  const std::string& name_;
};

}  // namespace maxmargin
