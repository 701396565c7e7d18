#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <limits>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/read.hpp"

namespace maxmargin::idx_test {
namespace {

template <class Unsigned>
std::string big_endian(Unsigned value) {
  std::string bytes;
  for (int shift = 8 * (static_cast<int>(sizeof value) - 1); shift >= 0; shift -= 8)
    bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

std::string header(int kind, const std::vector<std::uint32_t>& dimensions) {
  std::string bytes{0, 0, static_cast<char>(kind), static_cast<char>(dimensions.size())};
  for (const std::uint32_t size : dimensions) bytes += big_endian(size);
  return bytes;
}

Dataset parse(const std::string& bytes, const ReadOptions& options = {}) {
  const Threads threads(1);
  return read_bytes(std::as_bytes(std::span(bytes)), "f", options, threads);
}

std::vector<double> values_of(const Dataset& data) {
  std::vector<double> values(data.rows() * data.x.columns());
  for (std::size_t i = 0; i < data.rows(); ++i)
    data.x.view().for_each(
        i, [&](Index feature, double value) { values[i * data.x.columns() + feature] = value; });
  return values;
}

std::string error_of(const std::string& bytes, const ReadOptions& options = {}) {
  try {
    parse(bytes, options);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    return error.what();
  }
}

TEST(Idx, EveryKindOfValue) {
  using Numbers = std::vector<double>;
  EXPECT_EQ(values_of(parse(header(0x08, {2, 1, 2}) + "\x01\x02\x03\xff")),
            (Numbers{1, 2, 3, 255}));
  EXPECT_EQ(values_of(parse(header(0x09, {1, 2}) + "\x01\xff")), (Numbers{1, -1}));
  EXPECT_EQ(values_of(parse(header(0x0b, {2}) + big_endian<std::uint16_t>(300) +
                            big_endian<std::uint16_t>(0xffff))),
            (Numbers{300, -1}));
  EXPECT_EQ(values_of(parse(header(0x0c, {1, 1}) + big_endian<std::uint32_t>(0xfffffffe))),
            (Numbers{-2}));
  EXPECT_EQ(values_of(parse(header(0x0d, {1, 1}) + big_endian(std::bit_cast<std::uint32_t>(1.5f)))),
            (Numbers{1.5}));
  EXPECT_EQ(values_of(parse(header(0x0e, {1, 1}) + big_endian(std::bit_cast<std::uint64_t>(0.1)))),
            (Numbers{0.1}));
}

TEST(Idx, MostlyZeroIsSparse) {
  const std::string zeros(7, '\0');
  EXPECT_TRUE(parse(header(0x08, {1, 8}) + zeros + "\x05").x.is_sparse());
  EXPECT_FALSE(parse(header(0x08, {1, 3}) + "\x05\x06\x07").x.is_sparse());
}

TEST(Idx, LabelsAreFoundBesideOrAsNamed) {
  const std::filesystem::path folder = testing::TempDir() + "/idx_labels";
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return (folder / name).string();
  };
  const std::string images =
      write("train-images-idx3-ubyte", header(0x08, {2, 1, 2}) + "\x01\x02\x03\x04");
  const std::string alone = write("pictures", header(0x08, {2, 1, 2}) + "\x01\x02\x03\x04");
  write("train-labels-idx1-ubyte", header(0x08, {2}) + "\x07\x09");
  const Threads threads(1);
  ReadOptions options;
  EXPECT_EQ(read(images, options, threads).y, (std::vector<double>{7, 9}));
  EXPECT_FALSE(read(alone, options, threads).labelled());
  options.labels = LabelKind::number;
  EXPECT_THROW(read(alone, options, threads), Error);
  options.label_file = (folder / "train-labels-idx1-ubyte").string();
  EXPECT_EQ(read(alone, options, threads).y, (std::vector<double>{7, 9}));
  options.labels = LabelKind::none;
  EXPECT_FALSE(read(images, options, threads).labelled());
  options.labels = LabelKind::any;
  options.label_file = write("few", header(0x08, {1}) + "\x07");
  EXPECT_THROW(read(images, options, threads), Error);
  options.label_file = (folder / "absent").string();
  EXPECT_THROW(read(images, options, threads), Error);
}

TEST(Idx, BadInputIsNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ReadOptions idx;
  idx.format = Format::idx;
  EXPECT_NE(error_of("1 1:1\n", idx).find("not an idx file"), std::string::npos);
  EXPECT_NE(error_of(std::string("\0\0\x07\x01", 4), idx).find("unknown kind 7"),
            std::string::npos);
  EXPECT_NE(error_of(std::string("\0\0\x08\0", 4), idx).find("0 idx dimensions"),
            std::string::npos);
  EXPECT_NE(error_of(header(0x08, {2, 3}).substr(0, 10)).find("inside the idx header"),
            std::string::npos);
  EXPECT_NE(error_of(header(0x08, {2, 2}) + "\x01\x02\x03").find("ends in row 2 of the 2"),
            std::string::npos);
  EXPECT_NE(error_of(header(0x08, {1, 2}) + "\x01\x02\x03").find("more values"), std::string::npos);
  EXPECT_NE(error_of(header(0x0e, {1, 2}) + big_endian<std::uint64_t>(0) +
                     big_endian(std::bit_cast<std::uint64_t>(nan)))
                .find("value 2 of row 1 is not a finite number"),
            std::string::npos);
  EXPECT_NE(error_of(header(0x08, {0, 2})).find("no rows"), std::string::npos);
  EXPECT_NE(error_of(header(0x08, {2, 0})).find("no values"), std::string::npos);
  // Sizes that only the header claims must not be allocated.
  EXPECT_NE(error_of(header(0x0e, {0xffffffff, 0xffff, 0xffff}) + "x").find("ends in row 1"),
            std::string::npos);
  EXPECT_NE(error_of(header(0x0e, {1, 0xffffffff, 0xffffffff})).find("4294967294"),
            std::string::npos);
  idx.columns = 3;
  EXPECT_NE(error_of(header(0x08, {1, 2}) + "\x01\x02", idx).find("2 features where 3"),
            std::string::npos);
}

}  // namespace
}  // namespace maxmargin::idx_test
