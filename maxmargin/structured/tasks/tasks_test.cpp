// Every task in the box: its oracle and its second oracle against enumeration, training, files,
// verification, bad input.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "maxmargin/base/error.hpp"
#include "maxmargin/structured/doctor.hpp"
#include "maxmargin/structured/tasks/multiclass/multiclass.hpp"
#include "maxmargin/structured/tasks/ranking/ranking.hpp"
#include "maxmargin/structured/tasks/sequence/chain.hpp"
#include "maxmargin/structured/tasks/sequence/conlleval.hpp"
#include "maxmargin/structured/tasks/task.hpp"
#include "maxmargin/structured/train.hpp"
#include "tests/enumerated_structures.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::tasks_test {
namespace {

std::vector<double> random_weights(std::size_t size, Rng& rng) {
  std::vector<double> w(size);
  for (double& each : w) each = rng.normal();
  return w;
}

/// The value that an oracle's answer has is that of the best of all structures.
void expect_best(const Oracle& oracle, std::size_t i, const std::vector<Structure>& all,
                 std::span<const double> w, Ask ask) {
  const Structure found = oracle.most_violated(i, w, ask);
  EXPECT_TRUE(oracle.is_structure(i, found));
  const Structure best = enumerated::best_of(oracle, i, all, w, ask);
  EXPECT_NEAR(enumerated::asked(oracle, i, found, w, ask),
              enumerated::asked(oracle, i, best, w, ask), 1e-10)
      << "example " << i << ", ask " << static_cast<int>(ask);
}

/// margins() and combine() are what difference() says of each structure.
void expect_same_margins(const Oracle& oracle, std::size_t i, const std::vector<Structure>& all,
                         std::span<const double> w) {
  std::vector<StructureView> ys(all.begin(), all.end());
  std::vector<double> margins(ys.size()), scale(ys.size());
  oracle.margins(i, ys, w, margins);
  double expected = 0;
  for (std::size_t k = 0; k < ys.size(); ++k) {
    JointFeatures psi;
    oracle.features(i, oracle.truth(i), 1, psi);
    oracle.features(i, ys[k], -1, psi);
    EXPECT_NEAR(margins[k], psi.dot(w), 1e-11);
    scale[k] = static_cast<double>(k % 3) - 0.5;
    expected += scale[k] * psi.dot(w);
  }
  JointFeatures sum;
  oracle.combine(i, ys, scale, sum);
  EXPECT_NEAR(sum.dot(w), expected, 1e-9);
}

SequenceExamples made_sequences(std::size_t count, std::size_t longest, std::int32_t labels,
                                std::uint64_t seed, bool constrained = false) {
  Rng rng(seed);
  SequenceExamples data;
  data.labels = static_cast<std::size_t>(labels);
  data.attributes = 6;
  if (constrained) {
    // Label 1 stands only after 0 or itself, and not first.
    data.allowed.assign(data.labels, std::vector<char>(data.labels, 1));
    data.allowed_first.assign(data.labels, 1);
    data.allowed_first[1] = 0;
    for (std::size_t a = 2; a < data.labels; ++a) data.allowed[a][1] = 0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t length = 1 + rng.below(longest);
    data.line.push_back(data.label.size() + 1);
    for (std::size_t t = 0; t < length; ++t) {
      std::int32_t label = static_cast<std::int32_t>(rng.below(data.labels));
      if (constrained && label == 1 &&
          (t == 0 || !data.allowed[static_cast<std::size_t>(data.label.back())][1]))
        label = 2;
      data.label.push_back(label);
      for (int k = 0; k < 2; ++k) {
        const bool telling = rng.uniform() < 0.7;
        data.attribute.push_back(
            static_cast<Index>(telling ? static_cast<std::uint64_t>(label) : rng.below(6)));
        data.value.push_back(static_cast<float>(rng.uniform(0.5, 1.5)));
      }
      data.token.push_back(data.attribute.size());
    }
    data.sentence.push_back(data.label.size());
  }
  return data;
}

std::vector<Structure> chains_of(const ChainOracle& oracle, std::size_t i) {
  auto all = enumerated::all_strings(oracle.data().length(i),
                                     static_cast<std::int32_t>(oracle.data().labels));
  std::erase_if(all, [&](const Structure& y) { return !oracle.is_structure(i, y); });
  return all;
}

TEST(StructuredTasks, ChainsAreTheBestOfAllChains) {
  Rng rng(4);
  for (const bool constrained : {false, true})
    for (const int order : {1, 2})
      for (const bool ends : {true, false}) {
        const SequenceExamples data = made_sequences(12, 5, 3, 5, constrained);
        const ChainOracle oracle(data, {order, ends, ends});
        const ChainWitness witness(oracle);
        examine({oracle, 1});
        for (std::size_t i = 0; i < oracle.examples(); ++i)
          for (const Ask ask : {Ask::best, Ask::margin, Ask::slack}) {
            if (!oracle.answers(ask)) continue;
            const auto w = random_weights(oracle.dimensions(), rng);
            expect_best(oracle, i, chains_of(oracle, i), w, ask);
            expect_same_margins(oracle, i, chains_of(oracle, i), w);
            expect_best(witness, i, chains_of(oracle, i), w, ask);
          }
      }
}

// Longer than what the second oracle enumerates: both dynamic programs find the same value.
TEST(StructuredTasks, BothOraclesOfChainsAgreeOnLongSequences) {
  Rng rng(6);
  for (const int order : {1, 2}) {
    const SequenceExamples data = made_sequences(10, 20, 4, 8, true);
    const ChainOracle oracle(data, {order, true, false});
    const ChainWitness witness(oracle);
    for (std::size_t i = 0; i < oracle.examples(); ++i)
      for (const Ask ask : {Ask::best, Ask::margin, Ask::slack}) {
        if (!oracle.answers(ask)) continue;
        const auto w = random_weights(oracle.dimensions(), rng);
        EXPECT_NEAR(enumerated::asked(oracle, i, oracle.most_violated(i, w, ask), w, ask),
                    enumerated::asked(oracle, i, witness.most_violated(i, w, ask), w, ask), 1e-10);
      }
  }
}

Features rows_of(const std::vector<std::vector<double>>& rows) {
  Features x = Features::dense(rows[0].size());
  for (const auto& row : rows) x.append(row);
  return x;
}

struct MadeClasses {
  std::vector<std::vector<double>> rows;
  std::vector<Index> y;
};
MadeClasses made_classes(std::size_t count, std::size_t classes, std::uint64_t seed) {
  Rng rng(seed);
  MadeClasses made;
  for (std::size_t i = 0; i < count; ++i) {
    const Index label = static_cast<Index>(rng.below(classes));
    std::vector<double> row;
    for (std::size_t j = 0; j < 4; ++j) row.push_back(rng.normal() + (j == label ? 1.5 : 0));
    made.rows.push_back(row);
    made.y.push_back(label);
  }
  return made;
}

// Crammer and Singer, written down: 1/2 sum_c |w_c|^2 + (C/n) sum_i max_c (cost + w_c.x - w_y.x).
TEST(StructuredTasks, MulticlassIsCrammerAndSingersMachine) {
  const MadeClasses made = made_classes(14, 3, 2);
  const std::vector<double> cost{0, 1, 2, 3, 0, 1, 0.5, 1, 0};
  for (const auto& costs : {std::vector<double>{}, cost}) {
    const MulticlassOracle oracle(rows_of(made.rows), made.y, 3, costs, 1);
    const Structured problem{oracle, 14};
    Stop stop;
    stop.relative_gap = 1e-9;
    const Threads threads(1);
    const SolvedStructured solved = solve(problem, BlockPlanes{}, stop, {threads});
    double objective = 0;
    const auto& w = solved.w.coefficients();
    for (const double each : w) objective += each * each / 2;
    for (std::size_t i = 0; i < made.rows.size(); ++i) {
      std::vector<double> row = made.rows[i];
      row.push_back(1);
      double most = 0;
      const auto f = [&](std::size_t c) {
        double sum = 0;
        for (std::size_t j = 0; j < row.size(); ++j) sum += w[c * row.size() + j] * row[j];
        return sum;
      };
      for (std::size_t c = 0; c < 3; ++c) {
        const double delta = c == made.y[i] ? 0 : (costs.empty() ? 1 : cost[made.y[i] * 3 + c]);
        most = std::max(most, delta + f(c) - f(made.y[i]));
      }
      objective += most;
    }
    EXPECT_NEAR(solved.certificate.primal, objective, 1e-9 * objective);
    std::vector<std::vector<Structure>> all(oracle.examples(), {{0}, {1}, {2}});
    EXPECT_NEAR(objective, enumerated::optimum(problem, all).objective, 1e-8 * objective);
  }
}

TEST(StructuredTasks, SequencesOfLengthOneAreMulticlass) {
  const MadeClasses made = made_classes(25, 3, 7);
  SequenceExamples data;
  data.labels = 3;
  data.attributes = 4;
  for (std::size_t i = 0; i < made.rows.size(); ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      data.attribute.push_back(static_cast<Index>(j));
      data.value.push_back(static_cast<float>(made.rows[i][j]));
    }
    data.token.push_back(data.attribute.size());
    data.label.push_back(static_cast<std::int32_t>(made.y[i]));
    data.sentence.push_back(data.label.size());
    data.line.push_back(i + 1);
  }
  std::vector<std::vector<double>> rounded = made.rows;
  for (auto& row : rounded)
    for (double& each : row) each = static_cast<float>(each);
  Stop stop;
  stop.relative_gap = 1e-9;
  const Threads threads(1);
  for (const Rescaling rescaling : {Rescaling::margin, Rescaling::slack})
    for (const Slack slack : {Slack::linear, Slack::squared}) {
      const ChainOracle chain(data, {1, false, false});
      const MulticlassOracle multiclass(rows_of(rounded), made.y, 3, {}, 0);
      const SolvedStructured a =
          solve({chain, 10, rescaling, slack}, BlockPlanes{}, stop, {threads});
      const SolvedStructured b =
          solve({multiclass, 10, rescaling, slack}, BlockPlanes{}, stop, {threads});
      EXPECT_NEAR(a.certificate.primal, b.certificate.primal, 1e-8 * b.certificate.primal);
    }
}

TEST(StructuredTasks, CountsChunksAsTheSharedTasksDo) {
  const std::vector<std::string> words{"O", "B-NP", "I-NP", "B-VP", "I-VP"};
  const auto labels = [&](std::initializer_list<int> which) {
    std::vector<const std::string*> list;
    for (const int each : which) list.push_back(&words[static_cast<std::size_t>(each)]);
    return list;
  };
  ChunkScores scores;
  // Two chunks wanted; one has the wrong end, I-VP after O begins a chunk of its own.
  count_chunks(labels({1, 2, 0, 3, 4}), labels({1, 2, 0, 3, 0}), scores);
  EXPECT_EQ(scores.right, 1u);
  EXPECT_EQ(scores.found, 2u);
  EXPECT_EQ(scores.wanted, 2u);
  count_chunks(labels({0, 4, 2}), labels({0, 4, 2}), scores);
  EXPECT_EQ(scores.right, 3u);
  EXPECT_NEAR(scores.f1(), 2 * 0.75 * 0.75 / 1.5, 1e-15);
  EXPECT_TRUE(are_chunks(words));
  EXPECT_FALSE(are_chunks(std::vector<std::string>{"NN", "VB"}));
}

RankingExamples made_queries(std::size_t queries, std::size_t most, std::size_t levels,
                             std::uint64_t seed) {
  Rng rng(seed);
  RankingExamples data;
  data.x = Features::dense(3);
  for (std::size_t q = 0; q < queries; ++q) {
    const std::size_t count = 2 + rng.below(most - 1);
    for (std::size_t d = 0; d < count; ++d) {
      const double r = static_cast<double>(rng.below(levels));
      data.relevance.push_back(r);
      data.x.append(std::vector<double>{rng.normal() + r, rng.normal(), rng.normal()});
    }
    data.query.push_back(data.relevance.size());
    data.name.push_back(std::to_string(q));
    data.line.push_back(data.query[q] + 1);
  }
  return data;
}

/// The differences of all pairs of a query, better less worse.
std::vector<std::vector<double>> pairs_of(const RankingExamples& data, std::size_t q) {
  std::vector<std::vector<double>> rows(data.relevance.size(), std::vector<double>(3, 0.0)), pairs;
  const Rows x = data.x;
  for (std::size_t d = 0; d < rows.size(); ++d)
    x.for_each(d, [&](Index j, double value) { rows[d][j] = value; });
  for (std::size_t a = data.query[q]; a < data.query[q + 1]; ++a)
    for (std::size_t b = data.query[q]; b < data.query[q + 1]; ++b)
      if (data.relevance[a] > data.relevance[b])
        pairs.push_back(
            {rows[a][0] - rows[b][0], rows[a][1] - rows[b][1], rows[a][2] - rows[b][2]});
  return pairs;
}

TEST(StructuredTasks, RankingsViolateMostOfAll) {
  Rng rng(12);
  for (const RankingLoss loss :
       {RankingLoss::pairs, RankingLoss::average_precision, RankingLoss::ndcg}) {
    const RankingExamples data =
        made_queries(15, 5, loss == RankingLoss::average_precision ? 2 : 3, 3);
    const RankingOracle oracle(data, {loss, PairWeight::query});
    const RankingWitness witness(oracle);
    examine({oracle, 1});
    examine({witness, 1});
    for (std::size_t i = 0; i < oracle.examples(); ++i)
      for (int k = 0; k < 5; ++k) {
        const auto w = random_weights(3, rng);
        if (loss == RankingLoss::pairs) {
          double sum = 0;
          const auto pairs = pairs_of(data, i);
          for (const auto& pair : pairs)
            sum += std::max(0.0, 1 - w[0] * pair[0] - w[1] * pair[1] - w[2] * pair[2]);
          for (const Oracle* each :
               {static_cast<const Oracle*>(&oracle), static_cast<const Oracle*>(&witness)}) {
            const Structure y = each->most_violated(i, w, Ask::margin);
            EXPECT_NEAR(enumerated::asked(*each, i, y, w, Ask::margin),
                        pairs.empty() ? 0 : sum / static_cast<double>(pairs.size()), 1e-12);
          }
          continue;
        }
        std::vector<Structure> orders;
        Structure y(data.documents(i));
        for (std::size_t d = 0; d < y.size(); ++d) y[d] = static_cast<std::int32_t>(d);
        do orders.push_back(y);
        while (std::next_permutation(y.begin(), y.end()));
        expect_best(oracle, i, orders, w, Ask::margin);
        expect_best(oracle, i, orders, w, Ask::best);
      }
  }
}

// The dual of the machine over pairs, written down: with one structure a query and with all pairs.
TEST(StructuredTasks, RankingIsThePairwiseMachine) {
  const RankingExamples data = made_queries(6, 5, 2, 9);
  const RankingOracle oracle(data, {RankingLoss::pairs, PairWeight::query});
  const Structured problem{oracle, 30};
  Stop stop;
  stop.relative_gap = 1e-9;
  const Threads threads(1);
  const SolvedStructured solved = solve(problem, BlockPlanes{}, stop, {threads});
  DualQp qp;
  std::vector<std::vector<double>> all;
  for (std::size_t q = 0; q < data.size(); ++q) {
    const auto pairs = pairs_of(data, q);
    for (const auto& pair : pairs) {
      qp.row.push_back(static_cast<Index>(all.size()));
      qp.block.push_back({1, -1, 0, problem.share() / static_cast<double>(pairs.size()), 0});
      all.push_back(pair);
    }
  }
  std::vector<double> K;
  for (const auto& a : all)
    for (const auto& b : all) K.push_back(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
  qp.K = std::make_shared<DenseQuadratic>(all.size(), std::move(K));
  const double expected = reference::dense_optimum(qp).dual;
  EXPECT_NEAR(solved.certificate.primal, expected, 1e-8 * expected);
  EXPECT_NEAR(solved.certificate.dual, expected, 1e-8 * expected);
}

TEST(StructuredTasks, RankingScoresHaveBothConventions) {
  RankingScores scores;
  scores.add(std::vector<double>{0, 2, 1}, std::vector<double>{3, 2, 1});
  scores.add(std::vector<double>{0, 0}, std::vector<double>{1, 2});
  EXPECT_EQ(scores.queries, 2u);
  EXPECT_EQ(scores.judged, 1u);
  EXPECT_NEAR(scores.map, (1.0 / 2 + 2.0 / 3) / 2, 1e-15);
  EXPECT_NEAR(scores.mrr, 0.5, 1e-15);
  const double l3 = 1 / std::log2(3.0);
  EXPECT_NEAR(scores.ndcg[1], (3 * l3 + 0.5) / (3 + l3), 1e-15);
  EXPECT_EQ(scores.ndcg[0], 0);
}

// Files.

class StructuredFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ / name;
    std::ofstream(path) << text;
    return path;
  }
  static std::unique_ptr<StructuredData> read(const std::string& task, const std::string& path,
                                              const std::map<std::string, std::string>& given = {},
                                              const Vocabulary* known = nullptr) {
    const StructuredTask* found = structured_task_named(task);
    return found->read(path, found->settings(given), known, Threads(1));
  }
  static std::string complaint(const std::string& task, const std::string& path,
                               const std::map<std::string, std::string>& given = {},
                               const Vocabulary* known = nullptr) {
    try {
      read(task, path, given, known);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  }
  const TemporaryFolder folder_;
};

const std::string chunks =
    "He PRP B-NP\nsees VBZ B-VP\na DT B-NP\ndog NN I-NP\n\nDogs NNS B-NP\nrun VBP B-VP\n. . O\n\n"
    "A DT B-NP\ncat NN I-NP\nruns VBZ B-VP\n";

TEST_F(StructuredFiles, TheThreeFormatsOfSequencesSayTheSame) {
  const std::string pattern = write("template", "U0:%x[0,0]\nU1:%x[-1,1]/%x[0,1]\n\nB\n");
  const auto columns = read("sequence", write("a.conll", chunks), {{"template", pattern}});
  EXPECT_EQ(columns->vocabulary()["attributes"][0], "U0:He");
  EXPECT_EQ(columns->vocabulary()["attributes"][1], "U1:_B-1/PRP");
  EXPECT_EQ(columns->vocabulary()["attributes"][3], "U1:PRP/VBZ");
  const auto crfsuite =
      read("sequence", write("a.crfsuite", "B-NP\tU0\\:He\tlong=1:2.5\nB-VP\tU0\\:sees\n"));
  EXPECT_EQ(crfsuite->vocabulary()["attributes"],
            (std::vector<std::string>{"U0:He", "long=1", "U0:sees"}));
  const auto hmm =
      read("sequence", write("a.hmm", "1 qid:1 3:0.5 7:1\n2 qid:1 3:1\n1 qid:2 7:2 # x\n"));
  EXPECT_EQ(hmm->oracle().examples(), 2u);
  EXPECT_EQ(hmm->vocabulary()["labels"], (std::vector<std::string>{"1", "2"}));
}

TEST_F(StructuredFiles, ATrainedModelIsSavedReadVerifiedAndPredicts) {
  const Threads threads(1);
  const StructuredTask& task = *structured_task_named("sequence");
  const std::string path = write("train", chunks);
  for (const std::string solver : {"blocks", "n-slack", "1-slack"}) {
    const Settings settings = task.settings({{"constraints", "bio"}});
    const auto data = task.read(path, settings, nullptr, threads);
    StructuredTraining training;
    training.C = 20;
    training.solver = structured_solver_named(solver);
    const TrainedStructured trained = train_structured(task, settings, *data, training, threads);
    EXPECT_EQ(trained.model.ended, Ended::converged);
    const std::string file = folder_ / "a.model";
    save(trained.model, file);
    EXPECT_TRUE(is_structured_model(file));
    const StructuredModel model = load_structured(file);
    EXPECT_EQ(model.w, trained.model.w);
    EXPECT_EQ(digest(model), digest(trained.model));
    const auto again = task.read(path, task.settings(model.settings), &model.vocabulary, threads);
    const VerifiedStructured verified = verify_structured(model, *again, threads);
    EXPECT_TRUE(verified.holds) << verified.reason;
    const auto found = predict_structures(again->oracle(), scores_of(model, *again), threads);
    EXPECT_EQ(again->score(std::vector<std::size_t>{0, 1, 2}, found, model.w)[0].second, 1);
    std::string text;
    again->print(1, found[1], model.w, text);
    EXPECT_EQ(text, "B-NP\nB-VP\nO\n\n");

    StructuredModel spoiled = model;
    for (auto& planes : spoiled.planes)
      for (Plane& plane : planes) plane.alpha *= 0.9;
    EXPECT_FALSE(verify_structured(spoiled, *again, threads).holds);
    StructuredTraining more = training;
    more.resume = &model;
    EXPECT_LE(train_structured(task, settings, *again, more, threads).model.oracle_calls,
              trained.model.oracle_calls);
  }
}

TEST_F(StructuredFiles, DamagedModelsAreRefused) {
  StructuredModel model;
  model.task = "sequence";
  model.w = {1, 2, 3};
  model.planes = {{{{0, 1}, 1, 0.5, 0}}, {}};
  model.vocabulary["labels"] = {"a", "b"};
  const std::string bytes = structured_bytes(model);
  EXPECT_EQ(structured_from_bytes(bytes, "x").w, model.w);
  EXPECT_EQ(structured_from_bytes(bytes, "x").planes[0][0].y, (Structure{0, 1}));
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    EXPECT_THROW(structured_from_bytes(bytes.substr(0, k), "x"), Error) << k;
    std::string changed = bytes;
    changed[k] = static_cast<char>(changed[k] ^ 1);
    EXPECT_THROW(structured_from_bytes(changed, "x"), Error) << k;
  }
}

TEST_F(StructuredFiles, BadSequencesAreOneClearLine) {
  const auto said = [&](const std::string& text,
                        const std::map<std::string, std::string>& given = {}) {
    return complaint("sequence", write("bad", text), given);
  };
  EXPECT_NE(said("He PRP B-NP\nsees VBZ\n").find("bad:2: a token with 2 columns"),
            std::string::npos);
  EXPECT_NE(said("He\n").find("bad:1: a token has no label"), std::string::npos);
  EXPECT_NE(said("\n\n").find("there are no sequences"), std::string::npos);
  EXPECT_NE(said("a B-X\nb I-Y\n", {{"constraints", "bio"}}).find("bad:2: label 'I-Y'"),
            std::string::npos);
  EXPECT_NE(said("1 qid:1 1:1\n2 qid:2 1:1\n1 qid:1 1:1\n").find("bad:3: qid:1 occurs again"),
            std::string::npos);
  EXPECT_NE(said("1 qid:1 1:x\n").find("bad:1: '1:x' is not index:value"), std::string::npos);
  const auto known = read("sequence", write("good", chunks))->vocabulary();
  const auto unseen = read("sequence", write("bad", "He PRP B-PP\n"), {}, &known);
  EXPECT_NE(unseen->unknown().find("bad:1: label 'B-PP' does not occur in the training data"),
            std::string::npos);
  const std::vector<double> w(unseen->oracle().dimensions(), 0.0);
  const auto found = predict_structures(unseen->oracle(), w, Threads(1));
  EXPECT_EQ(unseen->score(std::vector<std::size_t>{0}, found, w)[0].second, 0);
  const std::string pattern = write("template", "U0:%x[0,5]\n");
  EXPECT_NE(said(chunks, {{"template", pattern}}).find("the template asks for column 5"),
            std::string::npos);
}

TEST_F(StructuredFiles, BadRankingsAreOneClearLine) {
  const auto said = [&](const std::string& text) {
    return complaint("ranking", write("bad", text));
  };
  EXPECT_NE(said("1 qid:1 1:1\n0 1:2\n").find("bad:2: document without a qid"), std::string::npos);
  EXPECT_NE(said("1 qid:1 1:1\n0 qid:2 1:1\n0 qid:1 1:2\n").find("bad:3: qid:1 occurs again"),
            std::string::npos);
  EXPECT_NE(said("x qid:1 1:1\n").find("bad:1: 'x' is no relevance"), std::string::npos);
  EXPECT_NE(said("1 qid:1 2:1 1:1\n").find("bad:1: feature 1 comes after 2"), std::string::npos);
}

TEST_F(StructuredFiles, CrossValidationScoresWhatWasLeftOut) {
  const auto data = read("sequence", write("train", chunks));
  StructuredTraining training;
  const CrossValidatedStructured result = cross_validate_structured(*data, training, 3, Threads(1));
  ASSERT_FALSE(result.scores.empty());
  EXPECT_EQ(result.scores[0].first, "token_accuracy");
  EXPECT_GT(result.scores[0].second, 0.2);
  EXPECT_LE(result.scores[0].second, 1);
  EXPECT_THROW(cross_validate_structured(*data, training, 4, Threads(1)), Error);
}

}  // namespace
}  // namespace maxmargin::tasks_test
