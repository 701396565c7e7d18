#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "maxmargin/model/model.hpp"

// A model file, version 1, is
//
//   maxmargin model 1\n
//   header <bytes>\n
//   <header>            JSON, one member a line, so that `head` shows what is inside; ends with
//                       spaces and a newline at a multiple of 8 bytes from the start of the file
//   <sections>          the large arrays, little-endian, as the header's "sections" lists them
//   <checksum>\n        32 hex digits: XXH3-128 of all bytes before

namespace maxmargin {

/// Writes the model whole or not at all: a temporary file beside it, synced, then renamed.
void save(const Model& model, const std::string& path);

/// Reads a model file. Its bytes are not trusted: whatever they are, the result is a consistent
/// model or an Error, and no more memory is taken than the file's size justifies.
/// A file of a format that is not ours is given to `foreign`, where one knows it.
struct ForeignFormat {
  bool (*begins)(std::string_view start);
  Model (*read)(std::string_view text, const std::string& name);
};
Model load(const std::string& path, const ForeignFormat* foreign = nullptr);

/// The same from and to memory.
std::string to_bytes(const Model& model);
Model from_bytes(std::span<const std::byte> bytes, const std::string& name);

/// The 32 hex digits that end a model file, for all the bytes before them.
std::string checksum(std::span<const std::byte> bytes);

/// 32 hex digits over what decides predictions: the same model has the same digest.
std::string digest(const Model& model);

}  // namespace maxmargin
