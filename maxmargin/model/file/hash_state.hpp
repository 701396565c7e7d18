#pragma once

#include <xxhash.h>

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>

namespace maxmargin {

/// XXH3-128 of bytes that come piece by piece.
class HashState {
 public:
  HashState() : state_(XXH3_createState(), &XXH3_freeState) {
    if (!state_) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }

  void add(std::span<const std::byte> bytes) {
    if (!bytes.empty()) XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
  }

  /// 32 hex digits, the same on every machine.
  std::string hex() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
    std::string text;
    for (const unsigned char byte : canonical.digest) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

}  // namespace maxmargin
