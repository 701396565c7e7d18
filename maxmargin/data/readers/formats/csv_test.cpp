#include <gtest/gtest.h>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/readers/read.hpp"
#include "tests/bad_text.hpp"

namespace maxmargin::csv_test {
namespace {

Dataset parse(const std::string& text, const ReadOptions& options = {}, int threads = 1) {
  return made::parsed(text, options, Format::csv, threads);
}

std::vector<double> values_of(const Dataset& data) {
  std::vector<double> values;
  for (std::size_t i = 0; i < data.rows(); ++i)
    data.x.view().for_each(i, [&](Index, double value) { values.push_back(value); });
  return values;
}

using Numbers = std::vector<double>;
using Words = std::vector<std::string>;

TEST(Csv, HeaderAndLabelByUsualName) {
  const Dataset data = parse("width,Class,height\n1,red,2\n3,blue,4\r\n\n5,red,6.5");
  EXPECT_FALSE(data.x.is_sparse());
  EXPECT_EQ(data.x.columns(), 2u);
  EXPECT_EQ(data.feature_names, (Words{"width", "height"}));
  EXPECT_EQ(data.words, (Words{"blue", "red"}));
  EXPECT_EQ(data.y, (Numbers{1, 0, 1}));
  EXPECT_EQ(values_of(data), (Numbers{1, 2, 3, 4, 5, 6.5}));
}

TEST(Csv, WithoutHeaderTheFirstColumnIsTheLabel) {
  const Dataset data = parse("1,2,3\n-1, 5 ,6\n");
  EXPECT_EQ(data.y, (Numbers{1, -1}));
  EXPECT_EQ(values_of(data), (Numbers{2, 3, 5, 6}));
  EXPECT_TRUE(data.feature_names.empty());
  EXPECT_EQ(parse("a,2,3\nb,5,6\n").rows(), 2u) << "a word as label is no header";
  EXPECT_EQ(parse("a,x,3\nb,5,6\n").rows(), 1u) << "a word as feature is one";
  EXPECT_EQ(parse("y,0,1\nb,5,6\n").rows(), 1u) << "the usual name of a label is one";
}

TEST(Csv, HeaderAsStated) {
  ReadOptions options;
  options.header = ReadOptions::Header::yes;
  EXPECT_EQ(parse("1,2,3\n4,5,6\n", options).rows(), 1u);
  options.header = ReadOptions::Header::no;
  EXPECT_THROW(parse("a,b,c\n4,5,6\n", options), Error);
}

TEST(Csv, ColumnsByNameAndNumber) {
  const std::string text = "a,b,w,c\n1,x,0.5,2\n3,y,2,4\n";
  ReadOptions options;
  options.label_column = "b";
  options.weight_column = "3";
  const Dataset data = parse(text, options);
  EXPECT_EQ(data.words, (Words{"x", "y"}));
  EXPECT_EQ(data.weight, (Numbers{0.5, 2}));
  EXPECT_EQ(values_of(data), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(data.feature_names, (Words{"a", "c"}));
  options.label_column = "2";
  options.weight_column = "w";
  EXPECT_EQ(content_hash(parse(text, options)), content_hash(data));
}

TEST(Csv, NoLabels) {
  ReadOptions options;
  options.labels = LabelKind::none;
  const Dataset data = parse("1,2\n3,4\n", options);
  EXPECT_FALSE(data.labelled());
  EXPECT_EQ(values_of(data), (Numbers{1, 2, 3, 4}));
  options.label_column = "k";
  EXPECT_EQ(values_of(parse("a,k\n1,\n3,x\n", options)), (Numbers{1, 3}));
}

TEST(Csv, QuotedFields) {
  const Dataset data = parse("\"the \"\"label\"\"\nof it\",a\n\"x,1\",\"2\"\n\"two\nlines\", 3\n");
  EXPECT_EQ(data.feature_names, Words{"a"});
  EXPECT_EQ(data.words, (Words{"two\nlines", "x,1"}));
  EXPECT_EQ(values_of(data), (Numbers{2, 3}));
}

TEST(Csv, TabsSeparateToo) {
  ReadOptions options;
  options.format = Format::tsv;
  const Dataset data = parse("label\ta\tb\nx y\t1\t2\n", options);
  EXPECT_EQ(data.words, Words{"x y"});
  EXPECT_EQ(values_of(data), (Numbers{1, 2}));
}

TEST(Csv, BadInputIsNamedWithItsPlace) {
  using namespace std::string_literals;
  const std::string head = "label,width,height\n1,2,3\n";
  const std::vector<made::BadText> cases = {
      {head + "1,,3\n", 3, 3, "an empty field in column 2 ('width')"},
      {head + "1,2,\n", 3, 5, "an empty field in column 3 ('height')"},
      {head + "1,NA,3\n", 3, 3, "'NA' in column 2"},
      {head + "1,2,nan\n", 3, 5, "'nan' in column 3"},
      {head + "1,inf,3\n", 3, 3, "not a finite number"},
      {head + "1,1e999,3\n", 3, 3, "too large"},
      {head + "1,abc,3\n", 3, 3, "'abc' in column 2 ('width') is not a number"},
      {head + "1,2\n", 3, 4, "2 fields in this row where 3 are expected"},
      {head + "1,2,3,4\n", 3, 7, "more than 3 fields"},
      {head + ",2,3\n", 3, 1, "label '' is missing"},
      {head + "NA,2,3\n", 3, 1, "label 'NA'"},
      {head + "1,2\"3,4\n", 3, 4, "a quote inside a field"},
      {head + "\"a\"b,2,3\n", 3, 4, "text behind a closing quote"},
      {head + "\"a,2,3\n1,2,3\n", 3, 1, "never closed"},
      {head + "\"a\nb\",2,x\n", 4, 6, "'x' in column 3"},
      {head + "1,\0\1,3\n"s, 3, 3, "\\x00\\x01"},
      {"\x7f"
       "ELF,\x01,\x02\n",
       1, 1, "not text"},
      {"\n\r\n\na,\x01\n", 4, 3, "not text"},
      {"label\n1\n", 1, 1, "no feature columns"}};
  made::expect_places(cases, Format::csv);
}

TEST(Csv, BadWeightsAndColumnNames) {
  ReadOptions options;
  options.weight_column = "w";
  for (const char* weight : {"-1", "nan", "inf", "", "x", "1e400"}) {
    try {
      parse(std::string("label,w,a\n1,1,1\n1,") + weight + ",2\n", options);
      ADD_FAILURE() << weight;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_EQ(error.place().line, 3u);
      EXPECT_EQ(error.place().column, 3u);
    }
  }
  const auto usage = [](const ReadOptions& wrong) {
    try {
      parse("label,w,a\n1,1,1\n", wrong);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage) << error.what();
    }
  };
  options.weight_column = "weight";
  usage(options);
  options.weight_column = "4";
  usage(options);
  options.weight_column = options.label_column = "w";
  usage(options);
}

TEST(Csv, DenseRowsMustHaveTheColumnsOfAModel) {
  ReadOptions options;
  options.columns = 2;
  EXPECT_EQ(parse("1,2,3\n", options).x.columns(), 2u);
  EXPECT_THROW(parse("1,2\n", options), Error);
}

TEST(Csv, SameRowsForAnyBlocksAndThreads) {
  Rng rng(3);
  for (int round = 0; round < 20; ++round) {
    std::string text = "\n\nkind,\"a\"\"\n,b\",c\n";
    for (int i = 0; i < 50; ++i) {
      const auto form = rng.below(4);
      text += form == 0 ? "\"x\n,\"\"y\"" : form == 1 ? "\"\n\"" : "word" + std::to_string(form);
      for (int j = 0; j < 2; ++j)
        text += rng.below(5) == 0 ? ",\"" + std::to_string(rng.normal()) + "\""
                                  : "," + std::to_string(rng.normal());
      text += rng.below(3) == 0 ? "\r\n" : "\n";
    }
    const Dataset whole = parse(text);
    EXPECT_EQ(whole.rows(), 50u);
    EXPECT_EQ(whole.feature_names, (Words{"a\"\n,b", "c"}));
    for (const std::size_t bytes : {1, 13, 200})
      for (const int threads : {1, 3}) {
        ReadOptions options;
        options.block_bytes = bytes;
        const Dataset data = parse(text, options, threads);
        EXPECT_EQ(values_of(data), values_of(whole));
        EXPECT_EQ(data.y, whole.y);
        EXPECT_EQ(data.words, whole.words);
        EXPECT_EQ(data.feature_names, whole.feature_names);
      }
  }
}

TEST(Csv, SameOutcomeForAnyBlocksAndThreads) {
  Rng rng(5);
  const std::string letters = "1,2.5\"\r\n\n,x";
  for (int round = 0; round < 60; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) text += letters[rng.below(letters.size())];
    const auto outcome = [&](std::size_t bytes, int threads) -> std::string {
      ReadOptions options;
      options.block_bytes = bytes;
      options.labels = round % 2 == 0 ? LabelKind::any : LabelKind::none;
      try {
        return content_hash(parse(text, options, threads));
      } catch (const Error& error) {
        return error.what();
      }
    };
    const std::string whole = outcome(0, 1);
    for (const std::size_t bytes : {1, 9})
      for (const int threads : {1, 3}) EXPECT_EQ(outcome(bytes, threads), whole) << text;
  }
}

}  // namespace
}  // namespace maxmargin::csv_test
