#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/readers/read.hpp"
#include "tests/bad_text.hpp"

namespace maxmargin::libsvm_test {
namespace {

Dataset parse(const std::string& text, const ReadOptions& options = {}, int threads = 1) {
  return made::parsed(text, options, Format::libsvm, threads);
}

using Row = std::map<Index, double>;

std::vector<Row> rows_of(const Dataset& data) {
  std::vector<Row> rows(data.rows());
  for (std::size_t i = 0; i < rows.size(); ++i)
    data.x.view().for_each(i, [&](Index feature, double value) { rows[i][feature] = value; });
  return rows;
}

TEST(Libsvm, ReadsWhatTheFormatAllows) {
  const Dataset data = parse(
      "# a comment\n"
      "\n"
      "+1 1:0.5 3:-2 # trailing comment\r\n"
      "  -1.0\t2:1e-3\t10:7  \n"
      "   \t \r\n"
      "1 # only a label\n"
      "1#no blank\n"
      "-1 2:0 4:-0 5:1#no blank");
  EXPECT_TRUE(data.x.is_sparse());
  EXPECT_EQ(data.x.columns(), 10u);
  EXPECT_EQ(data.y, (std::vector<double>{1, -1, 1, 1, -1}));
  EXPECT_TRUE(data.words.empty());
  EXPECT_TRUE(data.query.empty());
  EXPECT_EQ(rows_of(data),
            (std::vector<Row>{{{0, 0.5}, {2, -2}}, {{1, 1e-3}, {9, 7}}, {}, {}, {{4, 1}}}));
}

TEST(Libsvm, RepeatedValuesAreReadAsTheyStand) {
  // Texts that begin alike, with and without gaps between the features.
  const std::vector<std::string> texts{"1",       "1.5",      "-1",         "12345.5", "123456.5",
                                       "1e2",     "1.",       "12345678.5", "-0.25",   "0",
                                       "1234567", "12345678", "+1"};
  const std::vector<std::string> blanks{" ", "  ", "\t", " \t"};
  Rng rng(3);
  std::string file;
  std::vector<Row> expected;
  for (int line = 0; line < 300; ++line) {
    file += "1";
    Row& row = expected.emplace_back();
    for (Index feature = 0; feature < 20; ++feature) {
      if (line % 2 == 0 && rng.below(3) == 0) continue;
      const std::string& text = texts[rng.below(2) == 0 ? 0 : rng.below(texts.size())];
      file += blanks[rng.below(3) == 0 ? rng.below(blanks.size()) : 0];
      file += std::to_string(feature + 1) + ':' + text;
      if (const double value = std::strtod(text.c_str(), nullptr); value != 0) row[feature] = value;
    }
    file += std::vector<std::string>{"\n", "\r\n", " \n", "#\n"}[rng.below(4)];
  }
  EXPECT_EQ(rows_of(parse(file)), expected);
  for (const std::string wrong : {"1x", "1\r", "1:", "1\v2", "11\f"})
    EXPECT_THROW(parse("1 1:1 2:1 3:" + wrong + " 4:1\n"), Error) << wrong;
}

TEST(Libsvm, CountsFromZeroIfAZeroOccurs) {
  const std::string from_one = "1 1:5\n2 3:6\n", from_zero = from_one + "1 0:7 1:8\n";
  EXPECT_EQ(parse(from_one).x.columns(), 3u);
  EXPECT_EQ(rows_of(parse(from_one))[1], (Row{{2, 6}}));
  const Dataset zero = parse(from_zero);
  EXPECT_EQ(zero.x.columns(), 4u);
  EXPECT_EQ(rows_of(zero), (std::vector<Row>{{{1, 5}}, {{3, 6}}, {{0, 7}, {1, 8}}}));
  ReadOptions options;
  options.base = ReadOptions::Base::zero;
  EXPECT_EQ(rows_of(parse(from_one, options))[0], (Row{{1, 5}}));
  EXPECT_EQ(parse(from_one, options).x.columns(), 4u);
  options.base = ReadOptions::Base::one;
  EXPECT_EQ(rows_of(parse(from_one, options))[0], (Row{{0, 5}}));
  EXPECT_THROW(parse(from_zero, options), Error);
}

TEST(Libsvm, WidensToTheColumnsOfAModel) {
  ReadOptions options;
  options.columns = 100;
  EXPECT_EQ(parse("1 1:1\n", options).x.columns(), 100u);
  EXPECT_EQ(parse("1 200:1\n", options).x.columns(), 200u);
}

TEST(Libsvm, LargeIndicesTakeNoMemory) {
  const Dataset data = parse("1 1:1 4294967294:2\n");
  EXPECT_EQ(data.x.columns(), 4294967294u);
  EXPECT_EQ(rows_of(data)[0], (Row{{0, 1}, {4294967293u, 2}}));
  const Dataset zero = parse("1 0:1 4294967294:2\n");
  EXPECT_EQ(zero.x.columns(), 4294967295u);
}

TEST(Libsvm, LabelsMayBeWords) {
  const Dataset data = parse("setosa 1:1\nvirginica 1:2\nsetosa\n");
  EXPECT_EQ(data.words, (std::vector<std::string>{"setosa", "virginica"}));
  EXPECT_EQ(data.y, (std::vector<double>{0, 1, 0}));
}

TEST(Libsvm, NumbersBecomeWordsBesideWords) {
  const Dataset data = parse("+1 1:1\n1.0 1:2\n1,3 1:1\nb 1:1\n1 1:1\n");
  EXPECT_EQ(data.words, (std::vector<std::string>{"1", "1,3", "b"}));
  EXPECT_EQ(data.y, (std::vector<double>{0, 0, 1, 2, 0}));
}

TEST(Libsvm, QueriesAreKept) {
  const Dataset data = parse("1 qid:3 1:1\n0 qid:3\n2 qid:12 2:1\n");
  EXPECT_EQ(data.query, (std::vector<std::int64_t>{3, 3, 12}));
}

TEST(Libsvm, LabelsMayBeAbsentWhereNoneAreWanted) {
  ReadOptions options;
  options.labels = LabelKind::none;
  const Dataset data = parse("1:1 2:2\n1 1:5\nx\n", options);
  EXPECT_FALSE(data.labelled());
  EXPECT_EQ(rows_of(data), (std::vector<Row>{{{0, 1}, {1, 2}}, {{0, 5}}, {}}));
}

TEST(Libsvm, FloatsStayFloats) {
  EXPECT_NE(parse("1 1:0.5 2:3\n").x.view().floats, nullptr);
  EXPECT_NE(parse("1 1:0.5\n1 1:0.1\n").x.view().doubles, nullptr);
}

TEST(Libsvm, BadInputIsNamedWithItsPlace) {
  using namespace std::string_literals;
  const std::string good = "1 1:1\n";
  const std::vector<made::BadText> cases = {
      {good + "1 1:nan\n", 2, 3, "'nan' is not a finite number"},
      {good + "1 1:-inf\n", 2, 3, "not a finite number"},
      {good + "1 1:1e400\n", 2, 3, "'1e400' is too large"},
      {good + "1 -3:1\n", 2, 3, "'-3' is negative"},
      {good + "1 2:1 2:2\n", 2, 7, "'2' is repeated"},
      {good + "1 3:1 2:2\n", 2, 7, "'2' comes after 3"},
      {good + "1 4294967295:1\n", 2, 3, "too large"},
      {good + "1 99999999999999999999:1\n", 2, 3, "too large"},
      {good + "1 5\n", 2, 3, "'5' has no colon"},
      {good + "1 5:1 7 8:1\n", 2, 7, "'7' has no colon"},
      {good + "1 5:\n", 2, 3, "has no value"},
      {good + "1 5: 3\n", 2, 3, "has no value"},
      {good + "1 :3\n", 2, 3, "not a whole number"},
      {good + "1 a:3\n", 2, 3, "'a' is not a whole number"},
      {good + "1 1.5:3\n", 2, 3, "not a whole number"},
      {good + "1 1:x\n", 2, 3, "'x' is not a number"},
      {good + "1 1:1x\n", 2, 3, "'1x' is not a number"},
      {good + "1 1:2:3\n", 2, 3, "'2:3' is not a number"},
      {good + "1 1:0x10\n", 2, 3, "not a number"},
      {good + "1:5 2:1\n", 2, 1, "label is missing"},
      {good + "nan 1:1\n", 2, 1, "label 'nan'"},
      {good + "1e999 1:1\n", 2, 1, "too large"},
      {good + "1 1:1\0 2:2\n"s, 2, 3, "\\x00"},
      {"\x01\x02\x03\xff\n", 1, 1, "not text"},
      {good + "1 \x1b[0m\n", 2, 3, "\\x1b"},
      {good + "1 qid:1 1:1\n", 2, 1, "earlier rows have none"},
      {"1 qid:1\n1 qid:x\n", 2, 3, "not a whole number"},
      {"1 qid:1\n1 qid:-1\n", 2, 3, "not a whole number"},
      {"1 qid:1\n1 1:1\n", 2, 1, "earlier rows have one"},
      {"1 qid:1 qid:2\n", 1, 9, "in front of the features"},
      {"\n\n# c\n1 1:2 1:3", 4, 7, "repeated"}};
  made::expect_places(cases, Format::libsvm);
}

TEST(Libsvm, WordsAreRefusedWhereNumbersAreNeeded) {
  ReadOptions options;
  options.labels = LabelKind::number;
  try {
    parse("1 1:1\nred 1:1\n", options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.place().line, 2u);
    EXPECT_EQ(error.place().column, 1u);
    EXPECT_NE(std::string(error.what()).find("'red'"), std::string::npos);
  }
}

std::string random_text(Rng& rng, std::size_t rows) {
  std::string text;
  const bool words = rng.below(2) == 0, queries = rng.below(2) == 0;
  const Index first = static_cast<Index>(rng.below(2));
  for (std::size_t i = 0; i < rows; ++i) {
    text += words && rng.below(3) == 0 ? "w" + std::to_string(rng.below(5))
                                       : std::to_string(rng.below(4));
    if (queries) text += " qid:" + std::to_string(i / 3);
    for (Index j = first; j < 40; ++j) {
      if (rng.below(5) != 0) continue;
      char value[40];
      std::snprintf(value, sizeof value, " %u:%.*g", j, static_cast<int>(1 + rng.below(17)),
                    rng.normal());
      text += value;
    }
    text += rng.below(4) == 0 ? "  # comment\r\n" : "\n";
    if (rng.below(6) == 0) text += "\n";
  }
  return text;
}

TEST(Libsvm, SameRowsForAnyBlocksAndThreads) {
  Rng rng(7);
  for (int round = 0; round < 20; ++round) {
    const std::string text = random_text(rng, 60);
    const Dataset whole = parse(text);
    for (const std::size_t bytes : {1, 17, 100, 1000})
      for (const int threads : {1, 3}) {
        ReadOptions options;
        options.block_bytes = bytes;
        const Dataset data = parse(text, options, threads);
        EXPECT_EQ(rows_of(data), rows_of(whole));
        EXPECT_EQ(data.y, whole.y);
        EXPECT_EQ(data.words, whole.words);
        EXPECT_EQ(data.query, whole.query);
        EXPECT_EQ(data.x.columns(), whole.x.columns());
        EXPECT_EQ(content_hash(data), content_hash(whole));
      }
  }
}

std::string outcome(const std::string& text, std::size_t block_bytes, int threads) {
  ReadOptions options;
  options.block_bytes = block_bytes;
  try {
    return content_hash(parse(text, options, threads));
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Libsvm, SameFirstErrorForAnyBlocksAndThreads) {
  Rng rng(8);
  for (int round = 0; round < 30; ++round) {
    std::string text = random_text(rng, 40);
    for (int i = 0; i < 3; ++i) text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    const std::string whole = outcome(text, 0, 1);
    for (const std::size_t bytes : {1, 50, 400})
      for (const int threads : {1, 3}) EXPECT_EQ(outcome(text, bytes, threads), whole);
  }
}

// Which of several faults is told must not depend on whether the rows before are in the same block.
TEST(Libsvm, SameErrorOfAQidForAnyBlocks) {
  Rng rng(9);
  const std::string queries[] = {"", "", "qid:1 ", "qid:2 ", "qid: ", "qid:x ", "qid:-1 "};
  const std::string features[] = {"", "1:1", "1:x", "2:1 1:1"};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int row = 0; row < 4; ++row)
      text += "1 " + queries[rng.below(7)] + features[rng.below(4)] + "\n";
    for (const std::size_t bytes : {1, 9, 20})
      EXPECT_EQ(outcome(text, bytes, 1), outcome(text, 0, 1)) << text;
  }
}

}  // namespace
}  // namespace maxmargin::libsvm_test
