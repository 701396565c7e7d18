// Structural machines as a user has them: every task through every command, limits, faults, and the
// commands of SVMstruct's family.
#include <algorithm>

#include "tests/cli_program.hpp"
#include "tests/structured_samples.hpp"

namespace maxmargin::cli_test {
namespace {

using nlohmann::json;

class CliStructured : public Program {
 protected:
  Finished refuses(const std::vector<std::string>& arguments, const std::string& part,
                   int code = 3) {
    Finished finished = run(arguments);
    EXPECT_EQ(finished.code, code) << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
    return finished;
  }
  Finished done(const std::vector<std::string>& arguments) {
    Finished finished = run(arguments);
    EXPECT_EQ(finished.code, 0) << arguments[0] << ' ' << finished.err;
    return finished;
  }
  static std::string ocr_like(int words) {
    Rng rng(11);
    std::string text;
    for (int i = 0; i < words; ++i)
      for (int t = 0; t < 4; ++t) {
        const int tag = (i + t) % 3;
        text += std::to_string(tag + 1) + " qid:" + std::to_string(i + 1) +
                structured_samples::row_of(rng, tag) + "\n";
      }
    return text;
  }
};

TEST_F(CliStructured, EveryTaskGoesThroughEveryCommand) {
  std::string before;
  for (const auto& sample : structured_samples::all()) {
    if (sample.task == before) continue;  // the first of each task
    before = sample.task;
    SCOPED_TRACE(sample.task);
    write("d", sample.text);
    std::vector<std::string> train{"train", "d", "--task", sample.task, "--threads", "1"};
    for (const auto& [name, value] : sample.settings) {
      train.push_back("--" + name);
      train.push_back(value);
    }
    std::vector<std::string> fit = train, folds = train;
    fit.insert(fit.end(), {"-o", "m", "--quiet"});
    folds.insert(folds.end(), {"--cross-validate", "2", "--json"});
    const Finished trained = run(fit);
    EXPECT_TRUE(trained.code == 0 || trained.code == 4) << trained.err;
    EXPECT_EQ(done({"verify", "m", "d", "--json"}).json()["holds"], true);
    EXPECT_EQ(done({"inspect", "m", "--json"}).json()["task"], sample.task);
    EXPECT_FALSE(done({"predict", "d", "m", "-o", "p"}).out.empty());
    EXPECT_FALSE(text_of("p").empty());
    const Finished judged = run(folds);
    EXPECT_TRUE(judged.code == 0 || judged.code == 4) << judged.err;
    EXPECT_FALSE(judged.json()["scores"].empty());
  }
}

TEST_F(CliStructured, KernelsPredictWhatTheyWereTrainedFor) {
  write("d", ocr_like(30));
  write("t", ocr_like(12));
  for (const char* kernel : {"polynomial", "rbf"}) {
    const json trained = done({"train", "d", "--task", "sequence", "--kernel", kernel, "--gamma",
                               "0.5", "--cost", "50", "-o", "m", "--json"})
                             .json();
    EXPECT_EQ(trained["certificate"]["oracle"], "exact");
    EXPECT_LE(trained["certificate"]["relative_gap"], 1e-3);
    EXPECT_EQ(done({"verify", "m", "d", "--json"}).json()["holds"], true);
    // The first twelve words are those that it was trained on.
    const json scores = done({"predict", "t", "m", "-o", "p", "--json"}).json();
    EXPECT_GT(scores["scores"]["token_accuracy"], 0.9);
    const json same = done({"predict", "d", "m", "-o", "q", "--json"}).json();
    EXPECT_EQ(text_of("q").substr(0, text_of("p").size()), text_of("p"));
    EXPECT_GT(same["scores"]["token_accuracy"], 0.9);
  }
}

TEST_F(CliStructured, SlackRescalingWithoutAnOracleForItIsAHeuristicAndSaysSo) {
  write("d", structured_samples::ranking_text());
  const Finished finished = run({"train", "d", "--task", "ranking", "--rescaling", "slack", "-o",
                                 "m", "--gap", "0.01", "--json"});
  EXPECT_TRUE(finished.code == 0 || finished.code == 4) << finished.err;
  EXPECT_EQ(finished.json()["certificate"]["gap_is_a_bound"], false);
  EXPECT_EQ(done({"verify", "m", "d", "--json"}).json()["stored"]["oracle"], "heuristic");
}

TEST_F(CliStructured, GoesOnFromACheckpointAndAlongAPathOfCosts) {
  write("d", ocr_like(40));
  const auto primal = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"train", "d",  "--task", "sequence", "--gap",
                                   "1e-6",  "-o", "m",      "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return done(words).json()["certificate"]["primal"].get<double>();
  };
  const double direct = primal({"--cost", "30"});
  EXPECT_NEAR(primal({"--cost", "1,5,30"}), direct, 3e-6 * direct);
  EXPECT_EQ(run({"train", "d", "--task", "sequence", "--cost", "30", "--max-iterations", "1", "-o",
                 "part", "--quiet"})
                .code,
            5);
  EXPECT_NEAR(primal({"--cost", "30", "--resume", "part"}), direct, 3e-6 * direct);
  const Finished limited = run({"train", "d", "--task", "sequence", "--cost", "1000", "--gap",
                                "1e-12", "--time-limit", "1ms", "-o", "short", "--json"});
  EXPECT_EQ(limited.code, 5) << limited.err;
  EXPECT_TRUE(exists("short"));
  EXPECT_EQ(done({"verify", "short", "d", "--json"}).json()["holds"], true);
}

TEST_F(CliStructured, FaultsOfFilesNameTheLine) {
  write("d", structured_samples::sequence_text());
  done({"train", "d", "--task", "sequence", "-o", "m", "--quiet"});
  write("short", "He PRP B-NP\nsees\n");
  refuses({"train", "short", "--task", "sequence", "-o", "n"}, "short:2");
  write("new", "He PRP B-NP\nsees VBZ B-XX\n");
  const Finished unknown = run({"predict", "new", "m", "-o", "p"});
  EXPECT_EQ(unknown.code, 0);
  EXPECT_NE(unknown.err.find("B-XX"), std::string::npos) << unknown.err;
  write("split", "1 qid:1 1:1\n0 qid:2 1:2\n0 qid:1 1:3\n");
  refuses({"train", "split", "--task", "ranking", "-o", "n"}, "split:3");
  write("tree", structured_samples::parse_text());
  done({"train", "tree", "--task", "parse", "-o", "g", "--quiet"});
  write("words", "the dog run\nwith with with\n");
  EXPECT_NE(done({"predict", "words", "g", "-o", "p"}).err.find("words:2: the grammar"),
            std::string::npos);
  EXPECT_FALSE(exists("n"));
}

TEST_F(CliStructured, AnUnknownTaskIsCorrectedFromAllThereAre) {
  write("d", structured_samples::sequence_text());
  refuses({"train", "d", "--task", "sequences"}, "did you mean 'sequence'?", 2);
  refuses({"train", "d", "--task", "ordinal"}, "one-class, multiclass-structured, sequence", 2);
  refuses({"train", "d", "--task=svm"}, "unknown task 'svm'", 2);
}

TEST_F(CliStructured, KernelsCheckpointResumeAndCrossValidate) {
  write("d", ocr_like(40));
  const std::vector<std::string> kernel{"train", "d",       "--task", "sequence", "--kernel",
                                        "rbf",   "--gamma", "0.5",    "--cost",   "50"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), kernel.begin(), kernel.end());
    return more;
  };
  const double direct = done(with({"--gap", "1e-6", "-o", "m", "--json"}))
                            .json()["certificate"]["primal"]
                            .get<double>();
  EXPECT_EQ(run(with({"--max-iterations", "2", "-o", "part", "--quiet"})).code, 5);
  EXPECT_EQ(done({"verify", "part", "d", "--json"}).json()["holds"], true);
  for (const char* solver : {"blocks", "n-slack"}) {
    const json on =
        done(with({"--gap", "1e-6", "--resume", "part", "--solver", solver, "-o", "m", "--json"}))
            .json();
    EXPECT_NEAR(on["certificate"]["primal"].get<double>(), direct, 3e-6 * direct);
  }
  const json folds = done(with({"--cross-validate", "4", "--json"})).json();
  EXPECT_GT(folds["scores"]["token_accuracy"], 0.5);
}

TEST_F(CliStructured, RankCommandsAreSvmRanks) {
  write("d", structured_samples::ranking_text(6));
  const Finished learned = done({"svm_rank_learn", "-c", "5", "d", "m"});
  EXPECT_TRUE(learned.out.starts_with("Reading training examples...")) << learned.out;
  for (const char* line :
       {"Training set properties: 4 features, 5 rankings, 30 examples\n",
        "Upper bound on duality gap: ", "Dual objective value: dval=",
        "Number of calls to 'find_most_violated_constraint': ", "Norm of weight vector: |w|=",
        "Runtime in cpu-seconds: ", "Writing learned model...done\n"})
    EXPECT_NE(learned.out.find(line), std::string::npos) << line << learned.out;
  const Finished classified = done({"svm_rank_classify", "d", "m", "p"});
  std::istringstream out(classified.out);
  std::vector<std::string> lines;
  for (std::string line; std::getline(out, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 11u) << classified.out;
  EXPECT_EQ(lines[0], "Reading model...done.");
  EXPECT_TRUE(lines[4].starts_with("Average loss on test set: ")) << lines[4];
  EXPECT_TRUE(lines[5].starts_with("Zero/one-error on test set: ")) << lines[5];
  EXPECT_TRUE(lines[5].ends_with(" 5 total)")) << lines[5];
  EXPECT_TRUE(lines[9].starts_with("Total Num Swappedpairs  : ")) << lines[9];
  EXPECT_TRUE(lines[10].starts_with("Avg Swappedpairs Percent: ")) << lines[10];
  const std::string scores = text_of("p");
  EXPECT_EQ(std::ranges::count(scores, '\n'), 30);
  // The same machine under its own name; C is that of each pair over the number of queries.
  const json own = done({"train", "d", "--task", "ranking", "--weight", "none", "--cost", "5",
                         "--gap", "1e-3", "-o", "o", "--json"})
                       .json();
  const std::size_t at = learned.out.find("pval=");
  ASSERT_NE(at, std::string::npos);
  EXPECT_NEAR(std::stod(learned.out.substr(at + 5)), own["certificate"]["primal"].get<double>(),
              1e-3 * own["certificate"]["primal"].get<double>());
  EXPECT_EQ(done({"verify", "m", "d", "--json"}).json()["holds"], true);
}

TEST_F(CliStructured, TheOtherCommandsOfTheFamilyLearnAndClassify) {
  write("tags", ocr_like(20));
  done({"svm_hmm_learn", "-c", "10", "-e", "0.5", "tags", "m"});
  const Finished tagged = done({"svm_hmm_classify", "tags", "m", "p"});
  EXPECT_NE(tagged.out.find("Average loss per token: "), std::string::npos) << tagged.out;
  EXPECT_EQ(std::ranges::count(text_of("p"), '\n'), 80);
  // What a script of SVM-hmm may say of a beam changes nothing: the search is exact.
  const std::string exact = text_of("p");
  done({"svm_hmm_learn", "-c", "10", "-e", "0.5", "--b", "100", "--e", "0", "tags", "m"});
  done({"svm_hmm_classify", "tags", "m", "p"});
  EXPECT_EQ(text_of("p"), exact);
  done({"svm_hmm_learn", "-c", "10", "--t", "2", "-t", "2", "-g", "0.5", "tags", "k"});
  EXPECT_EQ(done({"inspect", "k", "--json"}).json()["settings"]["kernel"], "rbf");

  write("classes", "1 1:1 2:0.1\n2 1:-1 2:0.3\n3 2:2\n1 1:0.9\n2 1:-0.8\n3 2:1.7\n");
  done({"svm_multiclass_learn", "-c", "1", "classes", "m"});
  const Finished sorted = done({"svm_multiclass_classify", "classes", "m", "p"});
  EXPECT_NE(sorted.out.find("Average loss on test set: 0.0000\n"
                            "Zero/one-error on test set: 0.00% (6 correct, 0 incorrect, 6 total)"),
            std::string::npos)
      << sorted.out;
  std::istringstream first(text_of("p"));
  std::vector<std::string> words(4);
  for (std::string& word : words) first >> word;
  EXPECT_EQ(words[0], "1");
  EXPECT_GT(std::stod(words[1]), std::stod(words[2]));

  write("rows", structured_samples::sample_text(30));
  for (const char* loss : {"1", "2", "3", "4", "5", "10"}) {
    done({"svm_perf_learn", "-c", "0.1", "-l", loss, "rows", "m"});
    const Finished judged = done({"svm_perf_classify", "rows", "m", "p"});
    for (const char* line : {"\nAverage loss on test set: ", "\nZero/one-error on test set: ",
                             "\nNOTE: ", "\nAccuracy : ", "\nPrecision: ", "\nRecall   : ",
                             "\nF1       : ", "\nPRBEP    : ", "\nROCArea  : ", "\nAvgPrec  : "})
      EXPECT_NE(judged.out.find(line), std::string::npos) << judged.out;
    EXPECT_EQ(std::ranges::count(text_of("p"), '\n'), 30);
  }
}

TEST_F(CliStructured, WrongUseOfTheFamilyIsExplained) {
  write("rows", structured_samples::sample_text(9));
  const auto fails = [&](const std::vector<std::string>& arguments, const std::string& part) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, 1);
    EXPECT_NE((finished.err + finished.out).find(part), std::string::npos) << finished.err;
  };
  fails({"svm_perf_learn"}, "Usage: svm_perf_learn");
  fails({"svm_perf_learn", "-l", "77", "rows", "m"}, "-l 77");
  fails({"svm_perf_learn", "-l", "4", "--p", "1.5", "rows", "m"}, "at most 1");
  fails({"svm_perf_learn", "-t", "2", "rows", "m"}, "linear kernel only");
  fails({"svm_perf_learn", "-c", "x", "rows", "m"}, "not a finite number");
  fails({"svm_rank_learn", "-u", "1", "rows", "m"}, "Unknown option");
  fails({"svm_rank_learn", "nowhere", "m"}, "nowhere");
  fails({"svm_hmm_learn", "--e", "1", "rows", "m"}, "--e 1: attributes depend on one tag");
  fails({"svm_rank_learn", "--b", "1", "rows", "m"}, "Unknown option");
  EXPECT_FALSE(exists("m"));
  ASSERT_EQ(run({"svm_perf_learn", "-v", "0", "rows", "m"}).out, "");
  fails({"svm_rank_classify", "rows", "m", "p"}, "not of svm_rank_learn");
}

}  // namespace
}  // namespace maxmargin::cli_test
