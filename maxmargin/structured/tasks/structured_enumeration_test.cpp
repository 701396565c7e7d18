// Oracles whose second oracle is another order of dynamic programming, against all structures; and
// files of the tasks that are wrong.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "maxmargin/base/error.hpp"
#include "maxmargin/structured/tasks/alignment/alignment.hpp"
#include "maxmargin/structured/tasks/binary_field.hpp"
#include "maxmargin/structured/tasks/plan/plan.hpp"
#include "maxmargin/structured/train.hpp"
#include "tests/enumerated_structures.hpp"
#include "tests/structured_samples.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::structured_enumeration_test {
namespace {

class StructuredEnumeration : public testing::Test {
 protected:
  std::unique_ptr<StructuredData> read(const std::string& task, const std::string& text,
                                       const std::map<std::string, std::string>& given = {},
                                       const Vocabulary* known = nullptr) const {
    const std::string path = folder_ / "data";
    std::ofstream(path) << text;
    const StructuredTask* found = structured_task_named(task);
    return found->read(path, found->settings(given), known, Threads(1));
  }
  std::string complaint(const std::string& task, const std::string& text) const {
    try {
      read(task, text);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  }
  void expect_complaints(const std::string& task,
                         const std::vector<std::pair<std::string, std::string>>& cases) const {
    for (const auto& [text, words] : cases) {
      const std::string said = complaint(task, text);
      EXPECT_NE(said.find(words), std::string::npos) << said;
    }
  }
  /// All strings up to a length over some labels that are structures of an example, after `front`.
  static std::vector<Structure> structures(const Oracle& oracle, std::size_t i, std::size_t longest,
                                           std::int32_t labels,
                                           const std::vector<Structure>& fronts = {{}}) {
    std::vector<Structure> all;
    std::function<void(Structure&)> grow = [&](Structure& y) {
      if (oracle.is_structure(i, y)) all.push_back(y);
      if (y.size() == longest) return;
      for (std::int32_t label = 0; label < labels; ++label) {
        y.push_back(label);
        grow(y);
        y.pop_back();
      }
    };
    for (Structure front : fronts) grow(front);
    return all;
  }
  static void expect_best(const Oracle& oracle, std::size_t i, const std::vector<Structure>& all) {
    ASSERT_FALSE(all.empty());
    Rng rng(i + 1);
    for (const Ask ask : {Ask::best, Ask::margin})
      for (int k = 0; k < 5; ++k) {
        std::vector<double> w(oracle.dimensions());
        for (double& each : w) each = rng.normal();
        const Structure best = enumerated::best_of(oracle, i, all, w, ask);
        EXPECT_NEAR(enumerated::asked(oracle, i, oracle.most_violated(i, w, ask), w, ask),
                    enumerated::asked(oracle, i, best, w, ask), 1e-10);
      }
  }
  const TemporaryFolder folder_;
};

TEST_F(StructuredEnumeration, AlignmentsAreTheBestOfAll) {
  for (const std::string mode : {"global", "local"}) {
    const auto data =
        read("alignment",
             mode == "local" ? "acGT\nGTc\n\nCG-a\nCGT\n" : "AC-G\nA-TG\n\nGG\nG-\n\nACT\nAGT\n",
             {{"mode", mode}});
    const Oracle& oracle = data->oracle();
    for (std::size_t i = 0; i < oracle.examples(); ++i) {
      std::vector<Structure> starts;
      for (std::int32_t a = 0; a <= 4; ++a)
        for (std::int32_t b = 0; b <= 4; ++b) starts.push_back({a, b});
      expect_best(oracle, i, structures(oracle, i, 9, 3, starts));
    }
  }
}

TEST_F(StructuredEnumeration, WalksAreTheBestOfAll) {
  for (const std::string steps : {"0", "6"}) {
    const auto data = read("plan", structured_samples::graph_text(), {{"steps", steps}});
    const Oracle& oracle = data->oracle();
    for (std::size_t i = 0; i < oracle.examples(); ++i)
      expect_best(oracle, i, structures(oracle, i, 6, 6));
  }
}

TEST_F(StructuredEnumeration, TreesAreTheBestOfAll) {
  const auto data =
      read("parse", "(A (B x) (A (B x) (A y)))\n(A (A (B x) (A y)) (B x))\n(A (B y) (B x))\n",
           {{"min-count", "1"}});
  const Oracle& oracle = data->oracle();
  for (std::size_t i = 0; i < oracle.examples(); ++i) {
    const std::size_t longest = oracle.truth(i).size();
    expect_best(oracle, i, structures(oracle, i, longest, 4));
  }
}

// With the share of wrong labels as loss, a whole sample is the usual machine.
TEST_F(StructuredEnumeration, ASampleIsTheMachineOfItsRows) {
  const auto data = read("sample", structured_samples::sample_text(25), {{"loss", "error"}});
  Stop stop;
  stop.relative_gap = 1e-9;
  const Threads threads(1);
  const SolvedStructured solved = solve({data->oracle(), 5}, BlockPlanes{}, stop, {threads});
  const std::vector<double>& w = solved.w.coefficients();
  double objective = solved.w.squared_norm() / 2;
  std::string lines;
  data->print(0, data->oracle().truth(0), w, lines);
  std::istringstream scores(lines);
  const Structure truth = data->oracle().truth(0);
  for (const std::int32_t positive : truth) {
    double f = 0;
    scores >> f;
    objective += 5.0 / 25 * std::max(0.0, 1 - (positive == 1 ? f : -f));
  }
  EXPECT_NEAR(solved.certificate.primal, objective, 1e-9 * objective);
}

// Both algorithms for the relaxation against all points in halves, and against whole points where
// links attract; forests and Gray's code against all whole points.
TEST_F(StructuredEnumeration, FieldsAreTheBestOfAll) {
  Rng rng(9);
  for (int round = 0; round < 60; ++round) {
    const std::size_t n = 1 + rng.below(5);
    const bool forest = round % 3 == 0, attracts = round % 3 == 1;
    std::vector<FieldLink> links;
    for (std::uint32_t b = 1; b < n; ++b)
      for (std::uint32_t a = 0; a < b; ++a)
        if (forest ? a == b / 2 && b % 4 != 3 : rng.uniform() < 0.7) links.push_back({a, b});
    BinaryField field{std::vector<double>(n), links, {}};
    for (double& each : field.node) each = rng.normal();
    for (std::size_t k = 0; k < links.size(); ++k)
      field.together.push_back(attracts ? std::abs(rng.normal()) : 2 * rng.normal());
    double whole = -infinity, relaxed = -infinity;
    for (Structure x; next_integral(n, x);) whole = std::max(whole, field.value(x));
    for (Structure x : enumerated::all_strings(n, 3)) {
      double value = 0;
      for (std::size_t i = 0; i < n; ++i) value += field.node[i] * x[i] / 2;
      for (std::size_t k = 0; k < links.size(); ++k) {
        const int a = x[links[k].a], b = x[links[k].b];
        value += field.together[k] / 2 *
                 (field.together[k] > 0 ? std::min(a, b) : std::max(0, a + b - 2));
      }
      relaxed = std::max(relaxed, value);
    }
    EXPECT_NEAR(field.value(best_of_all(field)), whole, 1e-12);
    if (forest) {
      EXPECT_NEAR(field.value(best_of_forest(field)), whole, 1e-12);
    }
    for (const Structure& x : {best_relaxed(field), best_relaxed_plainly(field)}) {
      EXPECT_TRUE(is_field_structure(x, n, links));
      EXPECT_NEAR(field.value(x), relaxed, 1e-12);
      if (attracts) {
        EXPECT_TRUE(is_integral(x, n));
        EXPECT_NEAR(field.value(x), whole, 1e-12);
      }
      EXPECT_TRUE(is_integral(rounded(field, x), n));
    }
  }
}

TEST_F(StructuredEnumeration, PredictionsAreWrittenAsTheFilesAre) {
  const std::string graph = structured_samples::graph_text();
  const auto printed = [](const StructuredData& data, std::size_t i) {
    std::string text;
    data.print(i, data.oracle().truth(i), {}, text);
    return text;
  };
  EXPECT_EQ(printed(*read("plan", graph), 0), "path a b c d\n");
  EXPECT_EQ(printed(*read("alignment", "GAT-T\nGCTAT\n"), 0), "GAT-T\nGCTAT\n\n");
  EXPECT_EQ(printed(*read("alignment", "ccG-TAtt\nGATAgc\n", {{"mode", "local"}}), 0),
            "ccG-TAtt\nGATAgc\n\n");
  EXPECT_EQ(printed(*read("clustering", "a qid:1 1:1\nb qid:1 1:2\na qid:1 1:1\n"), 0),
            "1 qid:1\n2 qid:1\n1 qid:1\n");
  const auto trees = read("parse", structured_samples::parse_text());
  EXPECT_EQ(printed(*trees, 0),
            "(S (NP (DT the) (NN dog)) (VP (VB sees) (NP (DT a) (JJ old) (NN cat))))\n");
  EXPECT_EQ(printed(*trees, 1), "(S (NP (NNS dogs)) (VP (VB run)))\n");
  EXPECT_EQ(printed(*read("multilabel", "0,10 1:1\n1:2\n2 1:1\n"), 0), "0,10\n");
  EXPECT_EQ(printed(*read("multilabel", "0,10 1:1\n1:2\n2 1:1\n"), 1), "\n");
}

TEST_F(StructuredEnumeration, BadFilesAreOneClearLine) {
  expect_complaints("multilabel", {{"", "there are no rows"},
                                   {"1:1\n", "no row has a label"},
                                   {"1,,2 1:1\n", "data:1: '1,,2' has a label without a name"},
                                   {"1 2:1 x\n", "data:1: 'x' is not index:value"}});
  expect_complaints("alignment", {{"", "there are no alignments"},
                                  {"AC\n\nAC\nAC\n", "two lines, here is one"},
                                  {"AC\nAC\nAC\n", "data:3: an alignment is two lines"},
                                  {"A-C\nA-C\n", "a column has two gaps"},
                                  {"A-C\nAC\n", "have 3 and 2 columns"}});
  expect_complaints("sample", {{"", "there are no rows"},
                               {"x 1:1\n", "data:1: 'x' is no label"},
                               {"1 1:1\n1 1:2\n", "all rows are of one class"}});
  expect_complaints("parse", {{"", "there are no trees"},
                              {"(A (B x)\n", "the file ends within brackets"},
                              {"(A x))\n", "data:1: a bracket ends that did not begin"},
                              {"(A (B x) y)\n", "data:1: the word 'y' stands beside others"},
                              {"(A (@B x) (C y))\n", "data:1: the label '@B'"},
                              {"(A x)\n\nx y\n", "data:3: the sentence has no tree"},
                              {"(A ())\n", "data:1: a bracket is empty"}});
  expect_complaints(
      "collective",
      {{"a qid:1 1:1\na qid:1 1:2\n", "there is only one label"},
       {"a qid:1 1:1\nedge 1 2\nb qid:1 1:2\n", "data:2: an edge stands before the last document"},
       {"a qid:1 1:1\nb qid:1 1:2\nedge 1 3\n", "data:3: the graph has 2 documents"},
       {"a qid:1 1:1\nb qid:1 1:2\nedge 1 x\n", "data:3: an edge has two numbers"},
       {"edge 1 2\na qid:1 1:1\nb qid:1 1:2\n", "data:1: an edge stands before"}});
  expect_complaints("clustering",
                    {{"", "there is no set"},
                     {"a 1:1\n", "data:1: item without a qid"},
                     {"a qid:1 1:1\na qid:2 1:1\na qid:1 1:1\n", "data:3: qid:1 occurs again"}});
  expect_complaints("plan",
                    {{"edge a b 1:1\n", "data:1: 'edge' before a graph or grid"},
                     {"graph\nedge a b 1:1\n", "there are no paths"},
                     {"graph\nedge a b 1:1\npath a c\n", "data:3: 'c' is no node"},
                     {"graph\nedge a b 1:1\npath b a\n", "data:3: there is no edge"},
                     {"graph\nedge a b 1:1\nedge a b 1:1\n", "data:3: the edge from a to b"},
                     {"graph\nedge a b 1:1\npath a a\n", "data:3: a path ends where"},
                     {"grid\n..\n.\n", "data:3: a row of 1 cells after one of 2"}});
  const auto grammar = read("parse", structured_samples::parse_text());
  const Vocabulary words = grammar->vocabulary();
  const auto other = read("parse", "(S (NN dog) (VP run))\n(X y)\ndog dog dog\n", {}, &words);
  EXPECT_NE(other->unknown().find("data:1: the grammar of the training trees does not have"),
            std::string::npos);
  const std::vector<double> w(other->oracle().dimensions(), 0.0);
  std::string lines;
  other->print(2, other->oracle().most_violated(2, w, Ask::best), w, lines);
  EXPECT_EQ(lines, "(? (? dog) (? dog) (? dog))\n");
  const auto known = read("multilabel", "0,1 1:1\n1 1:2\n")->vocabulary();
  EXPECT_NE(read("multilabel", "0,7 1:1\n", {}, &known)->unknown().find("data:1: label '7'"),
            std::string::npos);
}

}  // namespace
}  // namespace maxmargin::structured_enumeration_test
