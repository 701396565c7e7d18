#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace maxmargin {

/// Bytes in order from a file, standard input, memory or an archive.
class Source {
 public:
  explicit Source(std::string name) : name_(std::move(name)) {}
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// What to call it in a message.
  const std::string& name() const { return name_; }

  /// At least one byte and at most `most` (> 0); 0 at the end. The bytes before a fault are given
  /// out first; then every call throws Error.
  std::size_t read(char* to, std::size_t most);

  /// `most` bytes, fewer only at the end.
  std::size_t read_all(char* to, std::size_t most);

  /// How many bytes there are in all, where that is known before they are read.
  virtual std::optional<std::uint64_t> size() const { return std::nullopt; }

  /// How much room a buffer of at most `most` bytes needs: for all there is and one byte more,
  /// which shows that it ends. Large buffers cost small files more than their bytes do.
  std::size_t room(std::size_t most) const;

  /// The next bytes, up to `most` of them (fewer only at the end), without taking them.
  std::string_view peek(std::size_t most);

 private:
  /// As read(), which asks it for what is not known from peek().
  virtual std::size_t take(char* to, std::size_t most) = 0;

  std::string name_;
  std::vector<char> ahead_;
  std::size_t ahead_at_ = 0;
};

/// Opens a file, or standard input for "-", and unpacks gzip and zstd, recognised by their first
/// bytes. Archives of other kinds are an Error.
std::unique_ptr<Source> open_source(const std::string& path);

/// The same for bytes that outlive the source.
std::unique_ptr<Source> memory_source(std::span<const std::byte> bytes, const std::string& name);

/// Wraps a source whose bytes are a gzip or zstd archive; returns any other as it is.
std::unique_ptr<Source> unpacked(std::unique_ptr<Source> packed);

}  // namespace maxmargin
