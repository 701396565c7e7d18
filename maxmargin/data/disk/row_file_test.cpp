#include "maxmargin/data/disk/row_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "tests/made_data.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::row_file_test {
namespace {

namespace fs = std::filesystem;

class RowFileTest : public testing::Test {
 protected:
  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path().string();
};

std::vector<double> dense(const Rows& rows, std::size_t columns) {
  std::vector<double> values(rows.count * columns, 0.0);
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index j, double value) { values[i * columns + j] = value; });
  return values;
}

/// All that a pass gives out.
struct Seen {
  std::vector<double> values, label, weight;
  std::size_t floats = 0, chunks = 0;
};
Seen seen(const RowFile& file, std::size_t at_once) {
  Seen all;
  file.read(at_once, [&](std::span<const RowChunk> chunks) {
    EXPECT_LE(chunks.size(), at_once);
    for (const RowChunk& chunk : chunks) {
      EXPECT_EQ(chunk.number, all.chunks++);
      EXPECT_EQ(chunk.first_row, all.label.size());
      all.floats += chunk.floats != nullptr;
      for (std::size_t i = 0; i < chunk.rows; ++i) {
        all.label.push_back(chunk.label[i]);
        all.weight.push_back(chunk.weight != nullptr ? chunk.weight[i] : 1);
        for (std::size_t j = 0; j < file.columns(); ++j) {
          const std::size_t at = i * chunk.columns + j;
          all.values.push_back(j >= chunk.columns        ? 0
                               : chunk.floats != nullptr ? static_cast<double>(chunk.floats[at])
                                                         : chunk.doubles[at]);
        }
      }
    }
    return true;
  });
  return all;
}

TEST_F(RowFileTest, GivesBackWhatWasAppended) {
  for (const made::Storage storage :
       {made::Storage::dense_floats, made::Storage::dense_doubles, made::Storage::sparse})
    for (const bool weighted : {false, true}) {
      SCOPED_TRACE(made::name_of(storage));
      Rng rng(3);
      const Features x = made::features(1000, 7, storage, rng);
      std::vector<double> label(1000), weight;
      for (double& value : label) value = rng.normal();
      for (std::size_t i = 0; weighted && i < 1000; ++i) weight.push_back(rng.uniform());
      RowFile file(folder_, 4096);
      for (std::size_t at = 0; at < 1000; at += 130) {
        const std::size_t end = std::min<std::size_t>(1000, at + 130);
        const std::size_t count = end - at;
        file.append(x.view().slice(at, end), std::span(label).subspan(at, count),
                    weighted ? std::span<const double>(weight).subspan(at, count)
                             : std::span<const double>{});
      }
      file.finish();
      EXPECT_TRUE(fs::is_empty(folder_)) << "the scratch file has a name";
      for (const std::size_t at_once : {1, 3, 100}) {
        const Seen all = seen(file, at_once);
        EXPECT_EQ(all.values, dense(x, 7));
        EXPECT_EQ(all.label, label);
        EXPECT_EQ(all.weight, weighted ? weight : std::vector<double>(1000, 1.0));
        EXPECT_GT(all.chunks, 3u);
        EXPECT_EQ(all.floats, storage == made::Storage::dense_doubles ? 0 : all.chunks);
      }
      std::vector<double> labels;
      file.read_labels([&](std::span<const double> some, const double* weights) {
        EXPECT_EQ(weights != nullptr, weighted);
        labels.insert(labels.end(), some.begin(), some.end());
      });
      EXPECT_EQ(labels, label);
    }
}

TEST_F(RowFileTest, LaterRowsMayHaveMoreFeatures) {
  Rng rng(4);
  const Features narrow = made::features(500, 3, made::Storage::sparse, rng);
  const Features wide = made::features(500, 9, made::Storage::sparse, rng);
  const std::vector<double> label(500, 1.0);
  RowFile file(folder_, 4096);
  file.append(narrow, label, {});
  file.append(wide, label, {});
  file.finish();
  std::vector<double> expected = dense(narrow, 9);
  const std::vector<double> rest = dense(wide, 9);
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_EQ(file.columns(), 9u);
  EXPECT_EQ(seen(file, 4).values, expected);
}

TEST_F(RowFileTest, EndsEarlyWhenAsked) {
  Rng rng(5);
  RowFile file(folder_, 4096);
  file.append(made::features(2000, 5, made::Storage::dense_floats, rng),
              std::vector<double>(2000, 1.0), {});
  file.finish();
  int calls = 0;
  file.read(1, [&](std::span<const RowChunk>) { return ++calls < 3; });
  EXPECT_EQ(calls, 3);
}

std::string message_of(const std::function<void()>& act, Fault fault) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault);
    return error.what();
  }
  return "no error";
}

TEST_F(RowFileTest, AFolderThatIsNotThere) {
  const std::string message = message_of([&] { RowFile(folder_ + "/nowhere", 4096); }, Fault::io);
  EXPECT_NE(message.find("nowhere"), std::string::npos) << message;
  EXPECT_NE(message.find("--scratch"), std::string::npos) << message;
}

// A limit on the size of files stands in for a disk that is full.
TEST_F(RowFileTest, ADiskThatFillsUp) {
  Rng rng(6);
  const Features x = made::features(4000, 20, made::Storage::dense_floats, rng);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{65536, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = message_of(
      [&] {
        RowFile file(folder_, 16384);
        file.append(x, std::vector<double>(4000, 1.0), {});
        file.finish();
      },
      Fault::io);
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("cannot grow"), std::string::npos) << message;
  EXPECT_TRUE(fs::is_empty(folder_));
}

// The file has no name; its descriptor shows where it was.
TEST_F(RowFileTest, AScratchFileThatIsCutShort) {
  Rng rng(7);
  RowFile file(folder_, 16384);
  file.append(made::features(4000, 20, made::Storage::dense_floats, rng),
              std::vector<double>(4000, 1.0), {});
  file.finish();
  int cut = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code code;
    const std::string target = fs::read_symlink(entry.path(), code).string();
    if (!code && target.starts_with(folder_))
      cut +=
          truncate(entry.path().c_str(), static_cast<off_t>(file.bytes() / 2 / 4096 * 4096)) == 0;
  }
  ASSERT_EQ(cut, 1);
  const std::string message = message_of([&] { seen(file, 2); }, Fault::io);
  EXPECT_NE(message.find("cut short"), std::string::npos) << message;
}

}  // namespace
}  // namespace maxmargin::row_file_test
