#include "maxmargin/model/file/file.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <functional>
#include <memory>
#include <new>

#include "maxmargin/data/like.hpp"
#include "maxmargin/model/file/consistency.hpp"
#include "maxmargin/model/file/hash_state.hpp"
#include "maxmargin/model/file/header.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin {
namespace {

static_assert(std::endian::native == std::endian::little,
              "sections are copied as they are; a big-endian machine must swap their bytes");

constexpr std::string_view magic = "maxmargin model ";
// Models with unpenalised functions besides the bias have version 2, those whose scaling lists its
// features version 3: a program that knows only an earlier one would not look for them.
constexpr std::uint64_t plain_version = 1, functions_version = 2, newest_version = 3;
std::uint64_t version_of(const Model& model) {
  if (model.scaling.lists_features()) return newest_version;
  return model.functions.empty() ? plain_version : functions_version;
}
constexpr std::string_view header_word = "header ";
constexpr std::size_t checksum_size = 33;  // 32 hex digits and the end of the line
constexpr std::size_t alignment = 8;

using Sink = std::function<void(std::span<const std::byte>)>;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The first lines up to the sections, which begin at a multiple of `alignment`.
std::string opening(const Model& model) {
  std::string header = header_text(model);
  const std::string first = std::string(magic) + std::to_string(version_of(model)) + "\n";
  while (true) {
    const std::string second = std::string(header_word) + std::to_string(header.size() + 1) + "\n";
    if ((first.size() + second.size() + header.size() + 1) % alignment == 0)
      return header.insert(0, first + second) += '\n';
    header += ' ';
  }
}

void write_support_start(const Rows& rows, const Sink& sink) {
  if (!rows.sparse()) return;
  if (rows.start[0] == 0) return sink(std::as_bytes(std::span(rows.start, rows.count + 1)));
  for (std::size_t i = 0; i <= rows.count; ++i) {
    const std::uint64_t offset = rows.start[i] - rows.start[0];
    sink(std::as_bytes(std::span(&offset, 1)));
  }
}

/// Everything but the checksum, in the order of SectionSizes::sections().
void write_content(const Model& model, const Sink& sink) {
  const auto put = [&](const auto& values) { sink(std::as_bytes(std::span(values))); };
  sink(bytes_of(opening(model)));
  const Rows rows = model.support;
  const std::uint64_t stored = sizes_of(model).stored;
  const std::uint64_t first = rows.first();
  write_support_start(rows, sink);
  put(model.support_row);
  for (const Machine& machine : model.machines) put(machine.coefficient);
  for (const Machine& machine : model.machines) put(machine.lambda);
  put(model.scaling.offset);
  put(model.scaling.factor);
  if (stored > 0 && rows.floats != nullptr) put(std::span(rows.floats + first, stored));
  if (stored > 0 && rows.floats == nullptr) put(std::span(rows.doubles + first, stored));
  if (stored > 0 && rows.sparse()) put(std::span(rows.index + first, stored));
  put(model.scaling.feature);
  for (const Machine& machine : model.machines) put(machine.support);
}

void write_file(const Model& model, const Sink& sink) {
  check_model(model, "the model");
  HashState hash;
  // There may be millions of small arrays, and each call of the system takes its time.
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::vector<std::byte> gathered;
  const auto pass = [&](std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    hash.add(bytes);
    sink(bytes);
  };
  const auto flush = [&] {
    pass(gathered);
    gathered.clear();
  };
  write_content(model, [&](std::span<const std::byte> bytes) {
    if (gathered.size() + bytes.size() > piece) flush();
    if (bytes.size() > piece)
      pass(bytes);
    else
      gathered.insert(gathered.end(), bytes.begin(), bytes.end());
  });
  flush();
  sink(bytes_of(hash.hex() + "\n"));
}

/// Reads one thing after the other from the bytes.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, const std::string& name)
      : rest_(bytes), name_(name) {}

  std::size_t size() const { return rest_.size(); }
  std::string_view text(std::size_t size) {
    if (size > rest_.size()) throw_damaged(name_, "it ends too early");
    const std::string_view taken(reinterpret_cast<const char*>(rest_.data()), size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  void drop_back(std::size_t size) { rest_ = rest_.first(rest_.size() - size); }
  bool skip(std::string_view word) {
    if (rest_.size() < word.size() || std::memcmp(rest_.data(), word.data(), word.size()) != 0)
      return false;
    rest_ = rest_.subspan(word.size());
    return true;
  }
  /// Decimal digits and the end of the line.
  std::uint64_t number_line() {
    const char* begin = reinterpret_cast<const char*>(rest_.data());
    std::uint64_t value = 0;
    const auto [end, fault] =
        std::from_chars(begin, begin + std::min<std::size_t>(size(), 21), value);
    if (fault != std::errc{}) throw_damaged(name_, "a number is missing at its start");
    rest_ = rest_.subspan(static_cast<std::size_t>(end - begin));
    if (!skip("\n")) throw_damaged(name_, "an end of line is missing at its start");
    return value;
  }
  /// An array of plain numbers, where it stands. The caller has made sure of the alignment.
  template <class T>
  std::span<const T> array(std::uint64_t count) {
    if (count > rest_.size() / sizeof(T)) throw_damaged(name_, "it ends too early");
    const std::span<const T> taken(reinterpret_cast<const T*>(rest_.data()), count);
    rest_ = rest_.subspan(count * sizeof(T));
    return taken;
  }
  template <class T>
  void array(std::uint64_t count, std::vector<T>& into) {
    const auto taken = array<T>(count);
    into.assign(taken.begin(), taken.end());
  }

 private:
  std::span<const std::byte> rest_;
  const std::string& name_;
};

Features make_features(const Rows& rows) {
  Features made = none_like(rows);
  if (rows.count > 0) made.append(rows);
  made.fit();
  return made;
}

/// Fills the arrays of a model from the sections, in the order of SectionSizes::sections().
Model take_sections(ModelHeader header, ByteReader front, const std::string& name) {
  Model model = std::move(header.model);
  const SectionSizes& sizes = header.sizes;
  Rows rows;
  rows.count = sizes.vectors;
  rows.columns = sizes.columns;
  if (sizes.sparse) rows.start = front.array<std::uint64_t>(sizes.vectors + 1).data();
  front.array(sizes.vectors, model.support_row);
  for (std::size_t m = 0; m < model.machines.size(); ++m)
    front.array(sizes.support[m], model.machines[m].coefficient);
  for (std::size_t m = 0; m < model.machines.size(); ++m)
    front.array(sizes.lambda[m], model.machines[m].lambda);
  front.array(sizes.scaled, model.scaling.offset);
  front.array(sizes.scaled, model.scaling.factor);
  if (sizes.doubles)
    rows.doubles = front.array<double>(sizes.stored).data();
  else
    rows.floats = front.array<float>(sizes.stored).data();
  if (sizes.sparse) rows.index = front.array<Index>(sizes.stored).data();
  if (sizes.lists_scaled) front.array(sizes.scaled, model.scaling.feature);
  for (std::size_t m = 0; m < model.machines.size(); ++m)
    front.array(sizes.support[m], model.machines[m].support);
  if (front.size() != 0) throw_damaged(name, "it goes on behind its end");
  check_rows(rows, sizes.stored, name);
  model.support = make_features(rows);
  return model;
}

std::uint64_t check_version(ByteReader& front, const std::string& name) {
  if (!front.skip(magic))
    throw Error(Fault::data, Place{name}, "this is not a maxmargin model",
                "give a file that `maxmargin train` wrote");
  const std::uint64_t written = front.number_line();
  if (written < plain_version || written > newest_version)
    throw Error(Fault::data, Place{name},
                "this model has version " + std::to_string(written) +
                    " of the format, this program knows versions 1 to " +
                    std::to_string(newest_version),
                "use the program that wrote it or a newer one");
  return written;
}

/// `bytes` starts at a multiple of `alignment` in memory.
Model read_aligned(std::span<const std::byte> bytes, const std::string& name) {
  ByteReader front(bytes, name);
  const std::uint64_t version = check_version(front, name);
  if (front.size() < checksum_size) throw_damaged(name, "it ends too early");
  const auto content = bytes.first(bytes.size() - checksum_size);
  const std::string expected = checksum(content) + "\n";
  if (std::memcmp(bytes.data() + content.size(), expected.data(), checksum_size) != 0)
    throw_damaged(name, "its checksum does not match its content");

  front.drop_back(checksum_size);
  if (!front.skip(header_word)) throw_damaged(name, "it has no header");
  const std::string text(front.text(front.number_line()));
  if ((content.size() - front.size()) % alignment != 0)
    throw_damaged(name, "its header has a wrong length");
  Model model = take_sections(read_header(text, front.size(), name), front, name);
  if (version != version_of(model))
    throw_damaged(name, "its version does not fit to what is in it");
  check_model(model, name);
  return model;
}

}  // namespace

std::string checksum(std::span<const std::byte> bytes) {
  HashState hash;
  hash.add(bytes);
  return hash.hex();
}

void save(const Model& model, const std::string& path) {
  WholeFile file(path);
  write_file(model, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit();
}

std::string to_bytes(const Model& model) {
  std::string bytes;
  write_file(model, [&](std::span<const std::byte> more) {
    bytes.append(reinterpret_cast<const char*>(more.data()), more.size());
  });
  return bytes;
}

Model load(const std::string& path, const ForeignFormat* format) {
  try {
    bool foreign = false;
    const Buffer<char> content = read_whole_file(path, [&](std::string_view start) {
      foreign = format && format->begins(start);
      if (foreign) return;
      ByteReader front(bytes_of(start), path);
      check_version(front, path);
    });
    const std::string_view text(content.data(), content.size());
    if (foreign) {
      Model model = format->read(text, path);
      check_model(model, path);
      return model;
    }
    return read_aligned(bytes_of(text), path);
  } catch (const std::bad_alloc&) {
    throw Error(Fault::io, Place{path}, "there is not enough memory to read this model",
                "use a machine with more memory");
  }
}

Model from_bytes(std::span<const std::byte> bytes, const std::string& name) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0)
    return read_aligned(bytes, name);
  std::vector<std::uint64_t> aligned((bytes.size() + alignment - 1) / alignment);
  if (!bytes.empty()) std::memcpy(aligned.data(), bytes.data(), bytes.size());
  return read_aligned(std::as_bytes(std::span(aligned)).first(bytes.size()), name);
}

}  // namespace maxmargin
