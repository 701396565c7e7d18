#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/read.hpp"

namespace maxmargin::made {

/// A data set from text, in a format unless the options name one.
inline Dataset parsed(const std::string& text, ReadOptions options, Format format,
                      int threads = 1) {
  if (options.format == Format::automatic) options.format = format;
  const Threads crew(threads);
  return read_bytes(std::as_bytes(std::span(text)), "f", options, crew);
}

/// A text that is refused, where, and a part of what is said.
struct BadText {
  std::string text;
  std::size_t line, column;
  std::string says;
};

/// Each is an Error that names place and mend, in one block and in many.
inline void expect_places(const std::vector<BadText>& cases, Format format) {
  for (const BadText& bad : cases)
    for (const std::size_t bytes : {0, 1}) {
      ReadOptions options;
      options.block_bytes = bytes;
      try {
        parsed(bad.text, options, format, bytes == 0 ? 1 : 3);
        ADD_FAILURE() << "accepted: " << bad.text;
      } catch (const Error& error) {
        const std::string said = error.what();
        EXPECT_EQ(error.fault(), Fault::data);
        EXPECT_EQ(error.place().file, "f");
        EXPECT_EQ(error.place().line, bad.line) << said;
        EXPECT_EQ(error.place().column, bad.column) << said;
        EXPECT_NE(said.find(bad.says), std::string::npos) << said;
        EXPECT_NE(said.find("; "), std::string::npos) << "no mend";
      }
    }
}

}  // namespace maxmargin::made
