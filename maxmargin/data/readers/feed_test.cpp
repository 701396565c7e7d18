#include "maxmargin/data/readers/feed.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::feed_test {
namespace {

/// A row as text: its label, its features, its id.
std::string text_of(const FeedBatch& batch, std::size_t row) {
  std::string text;
  const Label& label = batch.labels[row];
  if (label.word == no_label)
    text = "?";
  else
    text = label.word == no_word ? shortest(label.number) : batch.words[label.word];
  if (!batch.is_late_label)
    batch.rows.for_each(row, [&](Index feature, double value) {
      if (value != 0) text += " " + std::to_string(feature + 1) + ":" + shortest(value);
    });
  if (batch.is_late_label) text += " late";
  if (!batch.ids.empty()) text += " #" + batch.ids[row];
  return text;
}

void drain(Feed& feed, std::vector<std::string>& seen, std::size_t lines = 1000) {
  FeedBatch batch;
  while (feed.next(batch, lines)) {
    if (batch.is_late_label) seen.push_back(text_of(batch, 0));
    for (std::size_t i = 0; i < batch.rows.count; ++i) seen.push_back(text_of(batch, i));
    if (batch.fault) seen.push_back("fault " + std::to_string(batch.fault->place().line));
  }
}

std::vector<std::string> rows_of(const std::string& text, FeedOptions options,
                                 std::size_t piece = 1000000) {
  Feed feed("rows", options);
  std::vector<std::string> seen;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    feed.append(std::string_view(text).substr(at, piece));
    drain(feed, seen);
  }
  feed.finish();
  drain(feed, seen);
  return seen;
}

using Lines = std::vector<std::string>;

TEST(Feed, GivesTheSameRowsHoweverTheTextIsCut) {
  const std::string libsvm = "+1 1:0.5 3:2\n\n# nothing\n? 2:1\n3:4 # no label\nname 1:1\r\n-1";
  const Lines expected{"1 1:0.5 3:2", "? 2:1", "? 3:4", "name 1:1", "-1"};
  const std::string csv = "\na,b,class\n1,0,x\n2,3,\n\"4\",5,\"a \"\"b\"\n6,7,?\n";
  const Lines records{"x 1:1", "? 1:2 2:3", "a \"b 1:4 2:5", "? 1:6 2:7"};
  for (std::size_t piece = 1; piece < 60; ++piece) {
    EXPECT_EQ(rows_of(libsvm, {}, piece), expected) << piece;
    EXPECT_EQ(rows_of(csv, {}, piece), records) << piece;
  }
  // All rows have a qid, or none: of all, not of those that came together.
  const std::string queries = "1 1:1\n2 qid:3 1:1\n3 1:2\n",
                    others = "1 qid:x 1:1\n1 1:1\n2 qid:1 1:1\n";
  for (std::size_t piece = 1; piece < 60; ++piece) {
    EXPECT_EQ(rows_of(queries, {}, piece), (Lines{"1 1:1", "fault 2", "3 1:2"})) << piece;
    EXPECT_EQ(rows_of(others, {}, piece), (Lines{"fault 1", "1 1:1", "fault 3"})) << piece;
  }
  FeedOptions tabs;
  tabs.read.format = Format::tsv;
  EXPECT_EQ(rows_of("1\t2\t3\n-1\t0\t5", tabs), (Lines{"1 1:2 2:3", "-1 2:5"}));
}

TEST(Feed, TellsTheLineOfWhatCannotBeReadAndGoesOnBehindIt) {
  const std::string text = "+1 1:1\n+1 1:x\n-1 2:2\n+1 5:1 4:1\n+1 1:1e999\n-1 0:1\n-1 3:3\n";
  const Lines expected{"1 1:1", "fault 2", "-1 2:2", "fault 4", "fault 5", "fault 6", "-1 3:3"};
  for (const std::size_t piece : {3u, 1000u}) EXPECT_EQ(rows_of(text, {}, piece), expected);
  EXPECT_EQ(rows_of("y,a\n1,2\n1,2,3\nz,4\n1,nan\n", {}),
            (Lines{"1 1:2", "fault 3", "z 1:4", "fault 5"}));
}

TEST(Feed, ALineWithoutAnEndTakesBoundedMemory) {
  FeedOptions options;
  options.most_bytes = 100;
  Feed feed("rows", options);
  std::vector<std::string> seen;
  feed.append("+1 1:1\n");
  for (int k = 0; k < 1000; ++k) {
    feed.append("+1 1:1 1:1 1:1 1:1 ");
    drain(feed, seen);
    ASSERT_LE(feed.waiting_bytes(), 200u);
  }
  feed.append("\n-1 2:2\n");
  drain(feed, seen);
  EXPECT_EQ(seen, (Lines{"1 1:1", "fault 2", "-1 2:2"}));
  EXPECT_EQ(feed.line(), 4u);
}

TEST(Feed, KnowsWhereARowStands) {
  const std::string text = "# head\n+1 1:1\n\n-1 2:2\n+1 3:3\n";
  Feed feed("rows", {});
  feed.append(text);
  FeedBatch batch;
  ASSERT_TRUE(feed.next(batch, 1000));
  ASSERT_EQ(batch.rows.count, 3u);
  EXPECT_EQ(feed.position_of(1).line, 4u);
  EXPECT_EQ(text.substr(feed.position_of(1).begin, 7), "-1 2:2\n");
  EXPECT_EQ(text.substr(feed.position_of(1).end, 7), "+1 3:3\n");
  EXPECT_EQ(feed.position_of(1).end_line, 5u);
  EXPECT_EQ(feed.offset(), text.size());

  Feed rest("rows", {});
  const auto place = feed.position_of(1);
  rest.start_at(text, place.end_line, place.end);
  rest.append(text.substr(place.end));
  ASSERT_TRUE(rest.next(batch, 1000));
  EXPECT_EQ(text_of(batch, 0), "1 3:3");
  EXPECT_EQ(rest.position_of(0).line, 5u);
}

TEST(Feed, RowsHaveIdsAndLabelsMayComeLate) {
  FeedOptions options;
  options.ids = true;
  EXPECT_EQ(rows_of("? 1:1 # a\n+1 2:1 #b \n-1 # a\nword # c\n2:1\n", options),
            (Lines{"? 1:1 #a", "1 2:1 #b", "-1 late #a", "word late #c", "? 2:1 #"}));
  options.read.id_column = "key";
  EXPECT_EQ(rows_of("key,x,z,label\na,1,0,\nb,2,3,5\na,,,7\n", options),
            (Lines{"? 1:1 #a", "5 1:2 2:3 #b", "7 late #a"}));
}

TEST(Feed, RefusesWhatIsNoText) {
  for (const std::string head : {"\x1f\x8b\x08\x00", "\x28\xb5\x2f\xfd", "\xff\xfe+\x00"}) {
    Feed feed("rows", {});
    feed.append(head);
    FeedBatch batch;
    EXPECT_THROW(feed.next(batch, 10), Error);
  }
  // Marks stand in front of all: behind them the same bytes are part of a line that is wrong.
  FeedOptions libsvm;
  libsvm.read.format = Format::libsvm;
  for (std::size_t piece = 1; piece < 9; ++piece) {
    EXPECT_EQ(rows_of("\xef\xbb\xbf+1 1:1\n", {}, piece), (Lines{"1 1:1"})) << piece;
    EXPECT_EQ(rows_of("\xef\xbb\xbf\n\xfe\xff 1:1 x\n+1 1:1\n", libsvm, piece),
              (Lines{"fault 2", "1 1:1"}))
        << piece;
  }
}

TEST(Feed, AnyBytesGiveRowsOrFaults) {
  Rng rng(1);
  const std::string alphabet("+-10.:#,\"\n\r\t eq?ax\0\xff", 20);
  for (int trial = 0; trial < 300; ++trial) {
    std::string text;
    for (std::size_t k = 0, n = rng.below(120); k < n; ++k) text += alphabet[rng.below(20)];
    for (const bool ids : {false, true}) {
      FeedOptions options;
      options.ids = ids;
      options.most_bytes = 64;
      const auto all = [&](std::size_t piece) -> Lines {
        try {
          return rows_of(text, options, piece);
        } catch (const Error&) {
          return {"refused"};
        }
      };
      EXPECT_NO_FATAL_FAILURE(all(7));
      all(1);
      all(1000);
    }
  }
}

}  // namespace
}  // namespace maxmargin::feed_test
