#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// Writes the model whole or not at all: a temporary file beside it, synced, then renamed.
void save(const Model& model, const std::string& path);

/// Reads a model file. Its bytes are not trusted: whatever they are, the result is a consistent
/// model or an Error, and no more memory is taken than the file's size justifies.
Model load(const std::string& path);

/// The same from and to memory.
std::string to_bytes(const Model& model);
Model from_bytes(std::span<const std::byte> bytes, const std::string& name);

/// 32 hex digits over what decides predictions: the same model has the same digest.
std::string digest(const Model& model);

}  // namespace maxmargin
