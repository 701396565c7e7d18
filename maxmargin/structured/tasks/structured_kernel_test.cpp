// Kernels of chains against explicit features, slack rescaling by hulls and split graphs against
// enumeration.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "maxmargin/structured/slack_hull.hpp"
#include "maxmargin/structured/tasks/collective/split_graph.hpp"
#include "maxmargin/structured/tasks/multiclass/multiclass.hpp"
#include "maxmargin/structured/tasks/sequence/token_kernel.hpp"
#include "maxmargin/structured/train.hpp"
#include "tests/enumerated_structures.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::structured_kernel_test {
namespace {

/// Words of four tokens with two numbers each; squared: their explicit features of degree 2.
std::string words_text(int words, bool squared, std::uint64_t seed = 3) {
  Rng rng(seed);
  std::ostringstream text;
  text.precision(17);
  for (int i = 0; i < words; ++i)
    for (int t = 0; t < 4; ++t) {
      const int tag = (i * (t + 1)) % 3;
      const float a = static_cast<float>(rng.normal() + tag), b = static_cast<float>(rng.normal());
      text << tag << " qid:" << i + 1;
      if (squared)
        text << " 1:1 2:" << std::sqrt(2.0) * a << " 3:" << std::sqrt(2.0) * b << " 4:" << a * a
             << " 5:" << b * b << " 6:" << std::sqrt(2.0) * a * b << "\n";
      else
        text << " 1:" << a << " 2:" << b << "\n";
    }
  return text.str();
}

struct Trained {
  StructuredModel model;
  std::vector<Structure> found;  ///< in other words
};

Trained train_words(bool squared, const std::map<std::string, std::string>& given) {
  const TemporaryFolder folder;
  const std::string train = folder / "train", test = folder / "test";
  std::ofstream(train) << words_text(12, squared);
  std::ofstream(test) << words_text(9, squared, 4);
  const StructuredTask& task = *structured_task_named("sequence");
  const Settings settings = task.settings(given);
  const Threads threads(2);
  const auto data = task.read(train, settings, nullptr, threads);
  StructuredTraining training;
  training.C = 20;
  training.stop.relative_gap = 1e-8;
  Trained trained{train_structured(task, settings, *data, training, threads).model, {}};
  const StructuredModel again = structured_from_bytes(structured_bytes(trained.model), "model");
  const auto others = task.read(test, settings, &again.vocabulary, threads);
  trained.found = predict_structures(others->oracle(), scores_of(again, *others), threads);
  return trained;
}

TEST(StructuredKernel, OfDegreeOneIsTheLinearMachine) {
  const Trained linear = train_words(false, {});
  const Trained kernel =
      train_words(false, {{"kernel", "polynomial"}, {"degree", "1"}, {"coef0", "0"}});
  EXPECT_NEAR(kernel.model.certificate.primal, linear.model.certificate.primal,
              2e-8 * linear.model.certificate.primal);
  EXPECT_EQ(kernel.found, linear.found);
}

TEST(StructuredKernel, OfDegreeTwoIsTheMachineOfSquares) {
  const Trained squares = train_words(true, {});
  const Trained kernel = train_words(false, {{"kernel", "polynomial"}, {"degree", "2"}});
  // The squares in the file are rounded to float.
  EXPECT_NEAR(kernel.model.certificate.primal, squares.model.certificate.primal,
              1e-5 * squares.model.certificate.primal);
  EXPECT_EQ(kernel.found, squares.found);
}

/// M c at a token and a label, in long double from the kernel's definition.
long double exact_score(const Form& form, const Rows& tokens, std::span<const double> c,
                        std::size_t labels, std::size_t token, std::size_t label) {
  std::vector<double> x(tokens.columns), z(tokens.columns);
  tokens.for_each(token, [&](Index j, double value) { x[j] = value; });
  long double total = 0;
  for (std::size_t t = 0; t < tokens.count; ++t) {
    std::ranges::fill(z, 0.0);
    tokens.for_each(t, [&](Index j, double value) { z[j] = value; });
    long double sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      sum += pair_term<long double>(form.pairing, x[j], z[j]);
    const long double value = visit_list([&](const auto& map) { return map(sum); }, form.map);
    total += c[t * labels + label] * value;
  }
  return total;
}

// Where coefficients are large and cancel, a certificate has to know how wrong its scores are.
TEST(StructuredKernel, ScoresAreAsWrongAsTheyAreSaidToBeAtMost) {
  const std::size_t count = 60, labels = 2;
  const Threads threads(2);
  double largest_share = 0;
  for (const Kernel& kernel : {Kernel(Rbf{0.3}), Kernel(Rbf{40}), Kernel(Polynomial{0.5, 3, 1})}) {
    Rng rng(8);
    Features tokens = Features::sparse(3);
    for (std::size_t t = 0; t < count; ++t)
      tokens.append(std::vector<Index>{0, 1, 2},
                    std::vector<double>{rng.normal(), rng.normal() + 3, rng.normal() / 7});
    std::vector<double> c(count * labels);
    JointFeatures list;
    double size = 0;
    for (std::size_t k = 0; k < c.size(); ++k) {
      c[k] = 1e9 * rng.normal();
      list.add(k, c[k]);
      size += std::abs(c[k]);
    }
    double largest = 0;
    for (std::size_t t = 0; t < count; ++t)
      largest = std::max(largest, naive_value(kernel, tokens, t, tokens, t));
    for (const auto values : {TokenKernel::Values::engine, TokenKernel::Values::plain}) {
      const TokenKernel metric(kernel, tokens, labels, values, threads);
      const double bound = metric.score_error(c);
      EXPECT_GT(bound, 0);
      EXPECT_LE(bound, 1e-10 * size * largest);
      std::vector<double> scores(c.size(), 0.0);
      metric.add_product(list, 1, Precision::exact, scores);
      for (std::size_t k = 0; k < c.size(); ++k) {
        const long double exact =
            exact_score(*form_of(kernel), tokens, c, labels, k / labels, k % labels);
        const auto error = static_cast<double>(std::abs(scores[k] - exact));
        EXPECT_LE(error, bound);
        largest_share = std::max(largest_share, error / bound);
      }
    }
  }
  EXPECT_GT(largest_share, 1e-3);
}

// Two ways to compute the kernel differ by what a certificate says of its own rounding.
TEST(StructuredKernel, CertificatesOfHugeCostsKnowWhatScoresLose) {
  const TemporaryFolder folder;
  const std::string file = folder / "words";
  std::ofstream(file) << words_text(12, false);
  const StructuredTask& task = *structured_task_named("sequence");
  const Settings settings = task.settings({{"kernel", "rbf"}, {"gamma", "0.01"}});
  const Threads threads(1);
  const auto data = task.read(file, settings, nullptr, threads);
  StructuredTraining training;
  training.C = 1e12;
  training.stop.iterations = 200;
  const StructuredModel model = train_structured(task, settings, *data, training, threads).model;
  const auto by = [&](const Oracle& oracle) {
    return certify(Structured{oracle, model.C}, model.planes, threads).certificate;
  };
  const StructuredCertificate fast = by(data->oracle()), plain = by(data->witness());
  EXPECT_NE(fast.primal, plain.primal);
  EXPECT_LE(std::abs(fast.primal - plain.primal), fast.rounding + plain.rounding);
  EXPECT_LE(std::abs(fast.dual - plain.dual), fast.rounding + plain.rounding);
}

TEST(StructuredKernel, InnerProductsAreThoseOfTheMatrix) {
  const std::size_t labels = 3;
  Features tokens = Features::sparse(4);
  Rng rng(6);
  for (int t = 0; t < 7; ++t) {
    const std::vector<Index> index{0, 2, 3};
    tokens.append(index, std::vector<double>{rng.normal(), rng.normal(), rng.normal()});
  }
  const Threads threads(1);
  const Kernel kernel = Rbf{0.3};
  const TokenKernel fast(kernel, tokens, labels, TokenKernel::Values::engine, threads);
  const TokenKernel plain(kernel, tokens, labels, TokenKernel::Values::plain, threads);
  const auto made = [&] {
    JointFeatures features;
    for (int k = 0; k < 9; ++k) features.add(rng.below(7 * labels + 4), rng.normal());
    return features;
  };
  for (int round = 0; round < 10; ++round) {
    const JointFeatures a = made(), b = made();
    std::vector<double> scores(7 * labels + 4, 0.0);
    plain.add_product(a, 1, Precision::exact, scores);
    EXPECT_NEAR(b.dot(scores), fast.inner(a, b), 1e-12);
    std::vector<double> others(scores.size(), 0.0);
    fast.add_product(a, 1, Precision::exact, others);
    for (std::size_t j = 0; j < scores.size(); ++j) EXPECT_NEAR(scores[j], others[j], 1e-13);
    for (std::size_t token = 0; token < 7; ++token) {
      double sum = 0;
      for (std::size_t k = 0; k < a.size(); ++k)
        if (a.index[k] < 7 * labels && a.index[k] % labels == 1)
          sum += a.value[k] * naive_value(kernel, tokens, a.index[k] / labels, tokens, token);
      EXPECT_NEAR(scores[token * labels + 1], sum, 1e-13);
    }
    // As coefficients of a model: the same scores for the same tokens.
    std::vector<double> coefficients(scores.size(), 0.0);
    for (std::size_t k = 0; k < a.size(); ++k) coefficients[a.index[k]] += a.value[k];
    const std::vector<double> predicted = fast.scores(tokens, coefficients);
    for (std::size_t j = 0; j < scores.size(); ++j) EXPECT_NEAR(scores[j], predicted[j], 1e-13);
  }
  Features copy = Features::sparse(4);
  append_token(token_text(tokens, 3), copy);
  EXPECT_NEAR(naive_value(kernel, copy, 0, tokens, 3), 1, 1e-15);
  EXPECT_THROW(append_token("x 9:1", copy), Error);
  EXPECT_THROW(append_token("x 1", copy), Error);
  EXPECT_THROW(append_token("x 1:nan", copy), Error);
}

/// Words of four tokens with two numbers each, and the kernel between their tokens.
struct KernelWords {
  Threads threads{1};
  SequenceExamples words;
  Features tokens;

  KernelWords(std::size_t count, std::uint64_t seed) {
    Rng rng(seed);
    words.labels = 3;
    words.attributes = 2;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t t = 0; t < 4; ++t) {
        const std::int32_t label = static_cast<std::int32_t>((i * (t + 1)) % 3);
        for (Index j = 0; j < 2; ++j) {
          words.attribute.push_back(j);
          words.value.push_back(static_cast<float>(rng.normal() + (j == 0 ? label : 0)));
        }
        words.token.push_back(words.attribute.size());
        words.label.push_back(label);
      }
      words.sentence.push_back(words.label.size());
      words.line.push_back(i + 1);
    }
    tokens = token_rows(words);
    words = numbered_tokens(std::move(words));
  }
};

TEST(StructuredKernel, SurrogateIsExactWithinAnExampleAndOfFullRankAmongAll) {
  const KernelWords made(5, 2);
  const Kernel kernel = Rbf{0.4};
  for (const std::size_t rank : {3, 20}) {
    const TokenKernel metric(kernel, made.tokens, 3, TokenKernel::Values::engine, made.threads,
                             rank);
    const ChainOracle oracle(made.words, {}, &metric);
    std::vector<JointFeatures> truths(5);
    for (std::size_t i = 0; i < 5; ++i) oracle.features(i, oracle.truth(i), 1, truths[i]);
    const auto surrogate = metric.surrogate(truths);
    Rng rng(1);
    std::vector<double> scores(oracle.dimensions());
    for (double& each : scores) each = rng.normal();
    surrogate->begin(scores);
    for (const std::size_t example : {1, 3}) {
      JointFeatures delta;
      oracle.difference(example, Structure{2, 1, 0, 1}, 1, delta);
      std::vector<double> expected = scores;
      metric.add_product(delta, 0.3, Precision::exact, expected);
      surrogate->add(delta, 0.3, scores);
      surrogate->update(example, scores);
      for (std::size_t token = 4 * example; token < 4 * example + 4; ++token)
        for (std::size_t l = 0; l < 3; ++l)
          EXPECT_NEAR(scores[token * 3 + l], expected[token * 3 + l], 1e-6);
      EXPECT_NEAR(surrogate->inner(delta, truths[example]), metric.inner(delta, truths[example]),
                  1e-12);
      if (rank == 20) {
        for (std::size_t i = 0; i < 5; ++i) surrogate->update(i, scores);
        for (std::size_t j = 0; j < scores.size(); ++j) EXPECT_NEAR(scores[j], expected[j], 1e-5);
      }
      // From here: what an example of a poor rank sees of the others is not known.
      scores = expected;
      surrogate->begin(scores);
    }
  }
}

TEST(StructuredKernel, PoorSurrogatesEndAtTheSameOptimum) {
  const KernelWords made(12, 5);
  const Kernel kernel = Rbf{0.4};
  std::vector<double> primal;
  for (const std::size_t rank : {2, 48})
    for (const Slack slack : {Slack::linear, Slack::squared}) {
      const TokenKernel metric(kernel, made.tokens, 3, TokenKernel::Values::engine, made.threads,
                               rank);
      const ChainOracle oracle(made.words, {}, &metric);
      const Structured problem{oracle, 50, Rescaling::margin, slack};
      for (const StructuredSolver& solver : {StructuredSolver{BlockPlanes{}}, {NSlack{}}}) {
        Stop stop;
        stop.relative_gap = 1e-6;
        const SolvedStructured solved = solve(problem, solver, stop, {made.threads});
        EXPECT_EQ(solved.solution.ended, Ended::converged) << rank;
        EXPECT_LE(solved.certificate.relative_gap, 1e-6);
        primal.push_back(solved.certificate.primal);
        EXPECT_NEAR(primal.back(), primal[slack == Slack::linear ? 0 : 2], 2e-6 * primal.back());
      }
    }
}

TEST(StructuredKernel, HasTheSameBitsForAnyNumberOfThreads) {
  const TemporaryFolder folder;
  const std::string train = folder / "train";
  std::ofstream(train) << words_text(150, false);  // more tokens than the surrogate's rank
  const StructuredTask& task = *structured_task_named("sequence");
  const Settings settings = task.settings({{"kernel", "rbf"}, {"gamma", "0.5"}});
  std::vector<std::string> models;
  for (const int count : {1, 3}) {
    const Threads threads(count);
    const auto data = task.read(train, settings, nullptr, threads);
    StructuredTraining training;
    training.C = 100;
    training.stop.relative_gap = 1e-5;
    StructuredModel model = train_structured(task, settings, *data, training, threads).model;
    EXPECT_EQ(model.ended, Ended::converged);
    EXPECT_TRUE(verify_structured(model, *data, threads).holds);
    model.seconds = 0;
    models.push_back(structured_bytes(model));
  }
  EXPECT_EQ(models[0], models[1]);
}

TEST(StructuredHull, IsTheBestOfItsCornersAndExactForOneLoss) {
  Rng rng(12);
  for (const bool costs : {false, true}) {
    std::vector<double> x, cost;
    std::vector<Index> y;
    for (int i = 0; i < 12; ++i) {
      y.push_back(static_cast<Index>(i % 5));
      for (int j = 0; j < 3; ++j) x.push_back(rng.normal());
    }
    for (int a = 0; a < 5; ++a)
      for (int b = 0; b < 5; ++b) cost.push_back(a == b ? 0 : 1 + rng.uniform());
    const MulticlassOracle exact(Features::dense(3, x), y, 5, costs ? cost : std::vector<double>{},
                                 1);
    const SlackHull hull(exact);
    EXPECT_EQ(hull.exactness(), Exactness::heuristic);
    for (int round = 0; round < 10; ++round) {
      std::vector<double> w(exact.dimensions());
      for (double& each : w) each = rng.normal();
      for (std::size_t i = 0; i < exact.examples(); ++i) {
        const auto value = [&](const Structure& found) {
          return enumerated::asked(exact, i, found, w, Ask::slack);
        };
        const double best = value(exact.most_violated(i, w, Ask::slack));
        const double found = value(hull.most_violated(i, w, Ask::slack));
        EXPECT_LE(found, best + 1e-12);
        EXPECT_GE(found, value(exact.most_violated(i, w, Ask::margin)) - 1e-12);
        if (!costs) {
          EXPECT_NEAR(found, best, 1e-12);
        }
      }
    }
  }
}

TEST(StructuredSplitGraph, BothWaysFindTheBestOfAllLabelsOfDocumentsAndCopies) {
  Rng rng(21);
  for (int round = 0; round < 20; ++round) {
    const std::size_t n = 4, L = 3;
    std::vector<FieldLink> links;
    for (std::uint32_t a = 0; a < n; ++a)
      for (std::uint32_t b = a + 1; b < n; ++b)
        if (rng.uniform() < 0.7) links.push_back({a, b});
    const SplitGraph split(n, links);
    std::vector<double> gain(n * L), attraction(L);
    for (double& each : gain) each = rng.normal();
    for (double& each : attraction) each = rng.normal() * 0.5;
    const auto value = [&](StructureView y) {
      double sum = 0;
      for (std::size_t d = 0; d < n; ++d)
        sum += split.weight(d) * gain[d * L + static_cast<std::size_t>(y[d])];
      for (std::size_t c = 0; c < split.copies(); ++c) {
        const std::size_t d = split.original(c);
        const std::int32_t label = y.size() == n ? y[d] : y[n + c];
        sum += split.weight(d) * gain[d * L + static_cast<std::size_t>(label)];
      }
      for (std::size_t k = 0; k < links.size(); ++k)
        if (y[links[k].a] == split.second_label(y, k))
          sum += attraction[static_cast<std::size_t>(y[links[k].a])];
      return sum;
    };
    double best = -infinity;
    Structure y(n + split.copies(), 0);
    for (bool more = true; more;) {
      best = std::max(best, value(y));
      more = false;
      for (std::int32_t& each : y) {
        each = (each + 1) % static_cast<std::int32_t>(L);
        if (each != 0) {
          more = true;
          break;
        }
      }
    }
    EXPECT_NEAR(value(split.best(gain, attraction)), best, 1e-12);
    EXPECT_NEAR(value(split.best_plainly(gain, attraction)), best, 1e-12);
  }
}

}  // namespace
}  // namespace maxmargin::structured_kernel_test
