#include "maxmargin/data/readers/read.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"

namespace maxmargin::read_test {
namespace {

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstandard(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

Dataset parse(const std::string& bytes, const ReadOptions& options = {},
              const std::string& name = "f") {
  const Threads threads(2);
  return read_bytes(std::as_bytes(std::span(bytes)), name, options, threads);
}

std::string written(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string some_rows(std::size_t count) {
  Rng rng(11);
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += (rng.below(2) ? "+1 " : "-1 ") + std::to_string(1 + rng.below(9)) + ":" +
            std::to_string(rng.normal()) + " 10:" + std::to_string(rng.normal()) + "\n";
  return text;
}

TEST(Read, ArchivesAreRecognisedAndMayHaveSeveralParts) {
  const std::string text = some_rows(30000);  // larger than the buffers of the unpackers
  const std::string hash = content_hash(parse(text));
  const std::size_t half = text.size() / 2;
  EXPECT_EQ(content_hash(parse(gzipped(text))), hash);
  EXPECT_EQ(content_hash(parse(zstandard(text))), hash);
  EXPECT_EQ(content_hash(parse(gzipped(text.substr(0, half)) + gzipped(text.substr(half)))), hash);
  EXPECT_EQ(content_hash(parse(zstandard(text.substr(0, half)) + zstandard(text.substr(half)))),
            hash);
  EXPECT_EQ(content_hash(parse(gzipped(text) + std::string(512, '\0'))), hash) << "padding";
  const std::string skippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  EXPECT_EQ(content_hash(parse(skippable + zstandard(text))), hash);
  const Threads threads(1);
  EXPECT_EQ(content_hash(read(written("rows.gz", gzipped(text)), {}, threads)), hash);
}

TEST(Read, BrokenArchivesAreNamed) {
  const std::string text = some_rows(500);
  for (const auto& pack : {gzipped, zstandard}) {
    const std::string packed = pack(text);
    for (const std::size_t left : {packed.size() - 1, packed.size() / 2, std::size_t{12}}) {
      try {
        parse(packed.substr(0, left));
        ADD_FAILURE() << left;
      } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::data);
        EXPECT_NE(std::string(error.what()).find("truncated"), std::string::npos) << error.what();
      }
    }
    std::string damaged = packed;
    for (std::size_t i = damaged.size() / 3; i < damaged.size() / 3 + 20; ++i) damaged[i] ^= 0x55;
    EXPECT_THROW(parse(damaged), Error);
    EXPECT_THROW(parse(packed + "garbage behind it"), Error);
  }
  try {
    parse(std::string("\x28\xb5\x2f\xfd\0\xa8\1\0\0\0", 10));  // a window of 2 GB
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--long"), std::string::npos) << error.what();
  }
  for (const std::string& other : {std::string("BZh91AY&SY"), std::string("PK\x03\x04zip"),
                                   std::string("\xfd"
                                               "7zXZ\0xz",
                                               8)}) {
    try {
      parse(other);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("unpack"), std::string::npos) << error.what();
    }
  }
}

// A fault of the archive behind a fault of the text does not hide it, however much is read at once.
TEST(Read, FaultsComeInOrderOfTheFile) {
  std::string text = some_rows(60000);
  text.replace(text.find('\n') + 1, 2, "\x01\x01");
  for (const auto& pack : {gzipped, zstandard})
    for (const std::size_t block : {0, 100, 100000000}) {
      const std::string packed = pack(text);
      ReadOptions options;
      options.block_bytes = block;
      try {
        parse(packed.substr(0, packed.size() - 10), options);
        ADD_FAILURE();
      } catch (const Error& error) {
        EXPECT_EQ(error.place().line, 2u) << error.what();
      }
    }
}

TEST(Read, FormatIsRecognised) {
  const auto sparse = [](const std::string& text, const std::string& name = "f") {
    return parse(text, {}, name).x.is_sparse();
  };
  EXPECT_TRUE(sparse("1 1:2\n"));
  EXPECT_TRUE(sparse("# a,b\n\n1,3\t1:2\n"));
  EXPECT_TRUE(sparse("1 # 3,4\n1 2:5\n"));
  EXPECT_TRUE(sparse("5\n"));
  EXPECT_TRUE(sparse("1 qid:4 # x,y\n"));
  EXPECT_FALSE(sparse("1,2,3\n"));
  EXPECT_FALSE(sparse("when,x\nnoon,4\n"));
  EXPECT_FALSE(sparse("1\t2\t3\n"));
  EXPECT_FALSE(sparse("a b\tc\n1\t2\n"));
  EXPECT_FALSE(sparse("2020-01-01 12:30:00,4\n"));
  EXPECT_EQ(parse("1\t2,5\n", {}, "x.csv").words, (std::vector<std::string>{"1\t2"}));
  EXPECT_EQ(parse("\xef\xbb\xbfx,y\n1,2\n").feature_names, (std::vector<std::string>{"x"}));
}

TEST(Read, PathsThatCannotBeRead) {
  const Threads threads(1);
  const auto fault = [&](const std::string& path) {
    try {
      read(path, {}, threads);
    } catch (const Error& error) {
      EXPECT_EQ(error.place().file, path);
      return error.fault();
    }
    return Fault::usage;
  };
  EXPECT_EQ(fault(testing::TempDir() + "/absent/file"), Fault::io);
  EXPECT_EQ(fault(testing::TempDir()), Fault::io);
  for (const char* nothing : {"", "\n\n", "# only\n# comments", "\xef\xbb\xbf"}) {
    const std::string path = written("nothing", nothing);
    EXPECT_EQ(fault(path), Fault::data);
    Reader reader(path, {}, threads);
    EXPECT_THROW(reader.next(10), Error);
  }
  EXPECT_EQ(fault(written("header.csv", "a,b,c\n")), Fault::data);
  EXPECT_EQ(fault(written("wide", std::string("\xff\xfe\x31\0\x20\0", 6))), Fault::data);
}

TEST(Read, StandardInput) {
  const std::string path = written("input", "1 1:5\n");
  const int saved = dup(STDIN_FILENO);
  ASSERT_NE(freopen(path.c_str(), "r", stdin), nullptr);
  const Threads threads(1);
  EXPECT_EQ(read("-", {}, threads).rows(), 1u);
  dup2(saved, STDIN_FILENO);
  close(saved);
}

TEST(Read, WeightFile) {
  const Threads threads(1);
  const std::string data = written("data", "1 1:1\n2 1:2\n3 1:3\n");
  const auto weighted = [&](const std::string& text) {
    ReadOptions options;
    options.weight_file = written("weights", text);
    const auto whole = read(data, options, threads).weight;
    Reader reader(data, options, threads);
    std::vector<double> pieces;
    for (Dataset batch = reader.next(2); batch.rows() > 0; batch = reader.next(2))
      pieces.insert(pieces.end(), batch.weight.begin(), batch.weight.end());
    EXPECT_EQ(pieces, whole);
    return whole;
  };
  EXPECT_EQ(weighted("1\n# half\n 0.5 \r\n\n0"), (std::vector<double>{1, 0.5, 0}));
  const std::pair<const char*, std::size_t> bad[] = {
      {"1\n2\n", 2},        {"1\n2\n3\n4\n", 4},    {"1\n-2\n3\n", 2},    {"1\n1\nnan\n", 3},
      {"1 2\n3\n4\n", 2},   {"1\n\nx\n", 3},        {"1e999\n1\n1\n", 1}, {"1\n2 3\n4\n", 2},
      {"1 2 3\n4\n5\n", 1}, {"1 2\n3 -4\n5 6\n", 2}};
  for (const auto& [text, line] : bad) {
    try {
      weighted(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_EQ(error.place().line, line) << error.what();
    }
  }
  ReadOptions both;
  both.weight_file = data;
  both.weight_column = "1";
  EXPECT_THROW(read(data, both, threads), Error);
}

/// All batches of a file, joined.
Dataset streamed(const std::string& path, const ReadOptions& options, std::size_t rows,
                 const Threads& threads) {
  Reader reader(path, options, threads);
  Dataset all;
  for (Dataset batch = reader.next(rows); batch.rows() > 0; batch = reader.next(rows)) {
    if (all.rows() == 0)
      all.x = batch.x.is_sparse() ? Features::sparse(0) : Features::dense(batch.x.columns());
    EXPECT_LE(batch.rows(), rows);
    all.x.append(batch.x.view());
    all.y.insert(all.y.end(), batch.y.begin(), batch.y.end());
    all.words = batch.words;
  }
  return all;
}

TEST(Read, BatchesAreTheWholeFile) {
  std::string words = "a 1:1\n", csv = "y,p,q\n", idx("\0\0\x08\x02\0\0\0\xc8\0\0\0\x02", 12);
  Rng rng(4);
  for (int i = 0; i < 200; ++i) {
    words += std::string(1, static_cast<char>('a' + rng.below(20))) +
             " 3:" + std::to_string(rng.normal()) + "\n";
    csv += std::to_string(rng.below(3)) + "," + std::to_string(rng.normal()) + ",1\n";
    idx += static_cast<char>(rng.below(256));
    idx += static_cast<char>(rng.below(256));
  }
  for (const std::string& bytes : {some_rows(200), words, csv, idx}) {
    const std::string path = written("batches", bytes);
    for (const int count : {1, 3}) {
      const Threads threads(count);
      const std::string hash = content_hash(read(path, {}, threads));
      for (const std::size_t rows : {1, 7, 1000})
        for (const std::size_t block : {20, 500, 0}) {
          ReadOptions options;
          options.block_bytes = block;
          EXPECT_EQ(content_hash(streamed(path, options, rows, threads)), hash);
        }
    }
  }
}

TEST(Read, BatchesDoNotGuessTheBaseTwice) {
  const Threads threads(1);
  const std::string path = written("late_zero", "1 1:1\n1 2:1\n1 0:1\n");
  ReadOptions options;
  options.block_bytes = 7;
  EXPECT_THROW(streamed(path, options, 1, threads), Error);
  options.base = ReadOptions::Base::zero;
  EXPECT_EQ(streamed(path, options, 1, threads).x.columns(), 3u);
}

TEST(Read, LabelsTurningIntoWordsEndABatch) {
  const Threads threads(1);
  ReadOptions options;
  options.block_bytes = 6;
  Reader reader(written("late_word", "1 1:1\n2 1:1\nx 1:1\n1 1:1\n"), options, threads);
  const Dataset first = reader.next(10), second = reader.next(10);
  EXPECT_TRUE(first.words.empty());
  EXPECT_EQ(first.y, (std::vector<double>{1, 2}));
  EXPECT_EQ(second.words, (std::vector<std::string>{"x", "1"}));
  EXPECT_EQ(second.y, (std::vector<double>{0, 1}));
  EXPECT_EQ(reader.next(10).rows(), 0u);
  EXPECT_EQ(reader.next(10).rows(), 0u);
}

}  // namespace
}  // namespace maxmargin::read_test
