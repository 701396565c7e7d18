#include "maxmargin/data/content_hash.hpp"

#include <xxhash.h>

#include <new>
#include <vector>

namespace maxmargin {

/// XXH3-128 of whatever is added.
struct ContentHash::State {
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash{XXH3_createState(),
                                                                &XXH3_freeState};
  std::vector<Index> features;
  std::vector<double> values;

  template <class T>
  void add(const T* from, std::size_t count) {
    if (count > 0) XXH3_128bits_update(hash.get(), from, count * sizeof(T));
  }
  void add(std::uint64_t value) { add(&value, 1); }
};

ContentHash::ContentHash(std::uint64_t rows) : state_(std::make_unique<State>()) {
  if (!state_->hash) throw std::bad_alloc();
  XXH3_128bits_reset(state_->hash.get());
  state_->add(rows);
}

ContentHash::~ContentHash() = default;

void ContentHash::add(const Rows& rows) {
  auto& features = state_->features;
  auto& values = state_->values;
  for (std::size_t i = 0; i < rows.count; ++i) {
    const std::size_t most = rows.stored(i);
    if (features.size() < most) {
      features.resize(most);
      values.resize(most);
    }
    std::uint64_t size = 0;
    rows.for_each(i, [&](Index feature, double value) {
      features[size] = feature;
      values[size] = value;
      size += value != 0;
    });
    state_->add(size);
    state_->add(features.data(), size);
    state_->add(values.data(), size);
  }
}

void ContentHash::begin_labels(Labels kind) { state_->add(static_cast<std::uint64_t>(kind)); }

void ContentHash::add_number(double number) {
  number += 0.0;
  state_->add(&number, 1);
}

void ContentHash::add_word(const std::string& word) {
  state_->add(word.size());
  state_->add(word.data(), word.size());
}

void ContentHash::begin_weights(bool any) { state_->add(any ? 1 : 0); }

std::string ContentHash::text() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->hash.get());
  std::string digits;
  for (const std::uint64_t half : {hash.high64, hash.low64})
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[half >> shift & 15];
  return digits;
}

}  // namespace maxmargin
