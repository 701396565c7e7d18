#include "maxmargin/online/checkpoint.hpp"

#include <charconv>

#include "maxmargin/base/error.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin {
namespace {

constexpr std::string_view magic = "maxmargin stream ";
constexpr std::string_view version = "2\n";
constexpr std::size_t checksum_size = 33;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void check_start(std::string_view start, const std::string& path) {
  if (!start.starts_with(magic))
    throw Error(Fault::data, Place{path}, "this is not a checkpoint of a stream",
                "give a file that `maxmargin stream --checkpoint` wrote");
  start.remove_prefix(magic.size());
  if (!start.starts_with(version))
    throw Error(Fault::data, Place{path},
                "this checkpoint has version " +
                    std::string(start.substr(0, std::min<std::size_t>(start.find('\n'), 10))) +
                    " of the format, this program knows version 2",
                "use the program that wrote it or a newer one");
}

}  // namespace

void save_checkpoint(const std::string& path, std::string_view state) {
  std::string text = std::string(magic) + std::string(version);
  text += state;
  text += checksum(bytes_of(text)) + "\n";
  WholeFile file(path);
  file.write(bytes_of(text));
  file.commit();
}

std::string load_checkpoint(const std::string& path) {
  const Buffer<char> content =
      read_whole_file(path, [&](std::string_view start) { check_start(start, path); });
  const std::string_view text(content.data(), content.size());
  const std::size_t first = magic.size() + version.size();
  const bool whole = text.size() >= first + checksum_size &&
                     text.substr(text.size() - checksum_size) ==
                         checksum(bytes_of(text.substr(0, text.size() - checksum_size))) + "\n";
  if (!whole)
    throw Error(Fault::data, Place{path},
                "this checkpoint is damaged: its checksum does not match its content",
                "start from another one, or without --resume");
  return std::string(text.substr(first, text.size() - first - checksum_size));
}

}  // namespace maxmargin
