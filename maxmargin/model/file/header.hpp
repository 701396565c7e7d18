#pragma once

#include <string>
#include <vector>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// One of the large arrays behind the header of a model file.
struct FileSection {
  std::string name;
  std::string type;  ///< u64, u32, f64 or f32; little-endian
  std::uint64_t count = 0;
  friend bool operator==(const FileSection&, const FileSection&) = default;
};

/// What the header tells about the arrays behind it.
struct SectionSizes {
  std::uint64_t vectors = 0;  ///< support vectors
  std::uint64_t columns = 0;  ///< their features
  std::uint64_t stored = 0;   ///< their stored values
  bool sparse = false;
  bool doubles = false;
  std::uint64_t scaled = 0;            ///< features of the scaling
  bool lists_scaled = false;           ///< whether it says which
  std::vector<std::uint64_t> support;  ///< of each machine
  std::vector<std::uint64_t> lambda;   ///< of each machine

  /// The arrays that follow, those of 8-byte numbers first, so that all are aligned.
  std::vector<FileSection> sections() const;
};
SectionSizes sizes_of(const Model& model);

/// The header's text: JSON, one member a line.
std::string header_text(const Model& model);

/// A model without its arrays (machines have the right number and everything but support,
/// coefficient and lambda), and the sizes of those. Throws Error on anything that does not fit,
/// arrays larger than `most_bytes` included.
struct ModelHeader {
  Model model;
  SectionSizes sizes;
};
ModelHeader read_header(const std::string& text, std::uint64_t most_bytes, const std::string& name);

}  // namespace maxmargin
