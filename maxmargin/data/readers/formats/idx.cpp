#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/data/readers/row_reader.hpp"

// The idx format of MNIST: two zero bytes, the kind of the values, the number of dimensions, the
// dimensions, the values; everything big-endian. The first dimension counts the rows.

namespace maxmargin {
namespace {

constexpr std::size_t most_dimensions = 8;
constexpr std::uint64_t most_columns = 0xfffffffe;
// Values looked at to choose between dense and sparse rows, and held at a time.
constexpr std::size_t values_at_a_time = std::size_t{1} << 19;

struct IdxHeader {
  unsigned kind = 0;
  std::size_t rows = 0;
  std::size_t columns = 1;

  std::size_t value_bytes() const {
    return kind == 0x08 || kind == 0x09 ? 1 : kind == 0x0b ? 2 : kind == 0x0e ? 8 : 4;
  }
};

template <class Unsigned>
Unsigned big_endian(const char* at) {
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
    value = static_cast<Unsigned>((std::uint64_t{value} << 8) | static_cast<unsigned char>(at[i]));
  return value;
}

[[noreturn]] void broken(const std::string& file, const std::string& what,
                         const std::string& mend) {
  throw Error(Fault::data, {file, 0, 0}, what, mend);
}

IdxHeader read_header(Source& source) {
  std::array<char, 4> magic;
  if (source.read_all(magic.data(), 4) < 4 || magic[0] != 0 || magic[1] != 0)
    broken(source.name(), "is not an idx file (it does not begin with two zero bytes)",
           "name an idx file, or state another format");
  IdxHeader header;
  header.kind = static_cast<unsigned char>(magic[2]);
  const auto dimensions = static_cast<unsigned char>(magic[3]);
  constexpr unsigned kinds[] = {0x08, 0x09, 0x0b, 0x0c, 0x0d, 0x0e};
  if (std::find(std::begin(kinds), std::end(kinds), header.kind) == std::end(kinds))
    broken(source.name(), "has idx values of unknown kind " + std::to_string(header.kind),
           "use kinds 8, 9, 11, 12, 13 or 14");
  if (dimensions < 1 || dimensions > most_dimensions)
    broken(source.name(), "has " + std::to_string(dimensions) + " idx dimensions", "use 1 to 8");
  for (unsigned i = 0; i < dimensions; ++i) {
    std::array<char, 4> size;
    if (source.read_all(size.data(), 4) < 4)
      broken(source.name(), "ends inside the idx header", "copy or download it again");
    const std::uint64_t value = big_endian<std::uint32_t>(size.data());
    if (i == 0)
      header.rows = value;
    else
      header.columns *= value;
    if (header.columns > most_columns)
      broken(source.name(), "has more than 4294967294 values in a row", "use smaller rows");
  }
  return header;
}

/// Decodes `count` values.
void decode(unsigned kind, const char* from, std::size_t count, double* to) {
  const auto each = [&]<class Unsigned, class Value>() {
    for (std::size_t i = 0; i < count; ++i)
      to[i] =
          static_cast<double>(std::bit_cast<Value>(big_endian<Unsigned>(from + i * sizeof(Value))));
  };
  switch (kind) {
    case 0x08:
      return each.operator()<std::uint8_t, std::uint8_t>();
    case 0x09:
      return each.operator()<std::uint8_t, std::int8_t>();
    case 0x0b:
      return each.operator()<std::uint16_t, std::int16_t>();
    case 0x0c:
      return each.operator()<std::uint32_t, std::int32_t>();
    case 0x0d:
      return each.operator()<std::uint32_t, float>();
    default:
      return each.operator()<std::uint64_t, double>();
  }
}

/// The values of an idx file in order.
class IdxValues {
 public:
  explicit IdxValues(std::unique_ptr<Source> source)
      : source_(std::move(source)), header_(read_header(*source_)) {}

  const IdxHeader& header() const { return header_; }
  const std::string& name() const { return source_->name(); }

  /// Decodes the next `rows` rows, all of which the header promises.
  void read(std::size_t rows, Buffer<double>& values) {
    const std::size_t count = rows * header_.columns;
    const std::size_t size = count * header_.value_bytes();
    // Memory grows with what is there, not with what the header promises.
    const std::size_t first = source_->room(values_at_a_time);
    std::size_t got = 0;
    for (std::size_t wanted = 0; got == wanted && got < size;) {
      wanted = std::min(size, 2 * got + first);
      bytes_.resize_for_overwrite(wanted);
      got += source_->read_all(bytes_.data() + got, wanted - got);
    }
    if (got < size)
      broken(name(),
             "ends in row " + std::to_string(rows_read_ + got / (size / rows) + 1) + " of the " +
                 std::to_string(header_.rows) + " that its idx header promises",
             "copy or download it again");
    values.resize(count);
    decode(header_.kind, bytes_.data(), count, values.data());
    for (std::size_t k = 0; k < count; ++k)
      if (!std::isfinite(values[k]))
        broken(name(),
               "value " + std::to_string(k % header_.columns + 1) + " of row " +
                   std::to_string(rows_read_ + k / header_.columns + 1) + " is not a finite number",
               "remove the row or the value");
    rows_read_ += rows;
    if (rows_read_ == header_.rows && !source_->peek(1).empty())
      broken(name(), "has more values than its idx header promises", "copy or download it again");
  }

 private:
  std::unique_ptr<Source> source_;
  IdxHeader header_;
  std::size_t rows_read_ = 0;
  Buffer<char> bytes_;
};

/// Where the labels of "train-images-idx3-ubyte.gz" usually are; empty: nowhere.
std::string label_file_beside(const std::string& path) {
  if (path.empty() || path == "-") return {};
  const std::filesystem::path images(path);
  std::string name = images.filename().string();
  const std::size_t word = name.rfind("images");
  if (word == std::string::npos) return {};
  name.replace(word, 6, "labels");
  for (const std::string_view kind : {"idx2", "idx3", "idx4"})
    if (const std::size_t at = name.rfind(kind); at != std::string::npos)
      name.replace(at, 4, "idx1");
  std::string bare = name;
  for (const std::string_view packed : {".gz", ".zst", ".zstd"})
    if (bare.ends_with(packed)) bare.resize(bare.size() - packed.size());
  for (const std::string& candidate : {name, bare, bare + ".zst", bare + ".gz", bare + ".zstd"}) {
    const auto beside = images.parent_path() / candidate;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(beside, ignored)) return beside.string();
  }
  return {};
}

class IdxReader final : public RowReader {
 public:
  IdxReader(std::unique_ptr<Source> source, const ReadOptions& options, const std::string& path)
      : images_(std::move(source)) {
    const IdxHeader& header = images_.header();
    if (header.columns < options.columns)
      broken(images_.name(),
             "has " + std::to_string(header.columns) + " features where " +
                 std::to_string(options.columns) + " are needed",
             "use data with the features of the model");
    if (header.columns == 0) broken(images_.name(), "has no values in a row", "check the file");
    if (options.labels == LabelKind::none) return;
    const std::string file =
        options.label_file.empty() ? label_file_beside(path) : options.label_file;
    if (!file.empty()) open_labels(file);
    if (!labels_ && options.labels == LabelKind::number)
      broken(images_.name(), "has no label file beside it", "name its label file");
  }

  bool advance() override {
    const IdxHeader& header = images_.header();
    const std::size_t fit = std::max<std::size_t>(1, values_at_a_time / header.columns);
    const std::size_t rows = std::min(fit, header.rows - done_);
    if (rows == 0) return false;
    images_.read(rows, values_);
    if (!builder_) {
      const auto nonzeros = values_.size() - static_cast<std::size_t>(
                                                 std::count(values_.begin(), values_.end(), 0.0));
      builder_.emplace(images_.name(), 2 * nonzeros < values_.size(), header.columns);
    }
    append_rows(rows);
    if (labels_) {
      labels_->read(rows, values_);
      builder_->labels().append({values_.data(), rows});
    }
    done_ += rows;
    return true;
  }

  std::size_t ready() const override { return builder_ ? builder_->rows() : 0; }

  Dataset take() override { return builder_ ? builder_->take() : Dataset{}; }

 private:
  /// Appends the rows in `values_`.
  void append_rows(std::size_t rows) {
    Rows view;
    view.count = rows;
    view.columns = images_.header().columns;
    view.doubles = values_.data();
    if (builder_->features().is_sparse()) {
      start_.resize(rows + 1);
      index_.resize(values_.size());
      std::uint64_t size = 0;
      for (std::size_t i = 0, k = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < view.columns; ++j, ++k) {
          index_[size] = static_cast<Index>(j);
          values_[size] = values_[k];
          size += values_[k] != 0;
        }
        start_[i + 1] = size;
      }
      view.start = start_.data();
      view.index = index_.data();
    }
    builder_->features().append(view);
  }

  void open_labels(const std::string& file) {
    labels_.emplace(open_source(file));
    const IdxHeader& header = labels_->header();
    if (header.columns != 1)
      broken(labels_->name(), "has more than one label for each row",
             "name an idx file with one dimension");
    if (header.rows != images_.header().rows)
      broken(labels_->name(),
             "has " + std::to_string(header.rows) + " labels for " +
                 std::to_string(images_.header().rows) + " rows of " + images_.name(),
             "name the label file that belongs to the rows");
  }

  IdxValues images_;
  std::optional<IdxValues> labels_;
  std::optional<DatasetBuilder> builder_;
  Buffer<double> values_;
  Buffer<std::uint64_t> start_;
  Buffer<Index> index_;
  std::size_t done_ = 0;
};

}  // namespace

std::unique_ptr<RowReader> idx_reader(std::unique_ptr<Source> source, const ReadOptions& options,
                                      const std::string& path) {
  return std::make_unique<IdxReader>(std::move(source), options, path);
}

}  // namespace maxmargin
