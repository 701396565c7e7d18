#include "maxmargin/data/readers/source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "maxmargin/base/error.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::source_test {
namespace {

constexpr std::size_t large = std::size_t{1} << 20;

std::string rest_of(Source& source) {
  std::string text(1000, '\0');
  text.resize(source.read_all(text.data(), text.size()));
  return text;
}

TEST(Source, NeedsNoMoreRoomThanThereAreBytes) {
  const TemporaryFolder folder;
  const std::string path = folder / "some", text = "1 1:2\n";
  std::ofstream(path) << text;
  const auto file = open_source(path);
  const auto memory = memory_source(std::as_bytes(std::span(text)), "memory");
  for (Source* source : {file.get(), memory.get()}) {
    // One more byte shows that they end.
    EXPECT_EQ(source->room(large), text.size() + 1);
    EXPECT_EQ(source->room(3), 3u);
    EXPECT_EQ(source->peek(large), text);
    EXPECT_EQ(rest_of(*source), text);
    EXPECT_EQ(source->peek(large), "");
  }
  // Files of the system say that they are empty.
  const auto made = open_source("/proc/self/status");
  EXPECT_EQ(made->room(large), large);
  EXPECT_GT(made->peek(large).size(), 100u);
}

TEST(Source, HasWhatWasWrittenAfterItWasOpened) {
  const TemporaryFolder folder;
  const std::string path = folder / "grows";
  std::ofstream(path) << "first\n";
  const auto source = open_source(path);
  EXPECT_EQ(source->peek(5), "first");
  std::ofstream(path, std::ios::app) << std::string(500, 'x');
  EXPECT_EQ(source->peek(2), "fi");
  EXPECT_EQ(rest_of(*source), "first\n" + std::string(500, 'x'));
}

}  // namespace
}  // namespace maxmargin::source_test
