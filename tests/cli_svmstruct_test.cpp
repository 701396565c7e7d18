// Models as SVMstruct's family writes them: files in the originals' formats are read, ours are
// written so, predictions survive the way there and back, and damage is an error with its place.
#include <algorithm>

#include "tests/cli_program.hpp"
#include "tests/structured_samples.hpp"

namespace maxmargin::cli_test {
namespace {

const std::string kernel_lines =
    "0 # kernel type\n3 # kernel parameter -d \n1 # kernel parameter -g \n"
    "1 # kernel parameter -s \n1 # kernel parameter -r \nempty# kernel parameter -u \n";

std::string light(const std::string& threshold, const std::string& vectors, int count = 2) {
  return "SVM-light Version V6.20\n" + kernel_lines +
         "3 # highest feature index \n7 # number of training documents \n" + std::to_string(count) +
         " # number of support vectors plus 1 \n" + threshold +
         " # threshold b, each following line is a SV (starting with alpha*y)\n" + vectors;
}

std::string multiclass(const std::string& vectors) {
  return "SVM-multiclass Version V2.20\n3 # number of classes\n2 # number of base features\n"
         "0 # loss function\n" +
         kernel_lines +
         "6 # highest feature index \n9 # number of training documents \n"
         "2 # number of support vectors plus 1 \n"
         "0 # threshold b, each following line is a SV (starting with alpha*y)\n" +
         vectors;
}

/// Two tags and two features: pairs of tags are 3 to 6, features of tags begin at 7 + 2 c.
std::string hmm(const std::string& vectors, const std::string& order = "1",
                const std::string& highest = "13") {
  return "SVM-HMM Version V3.10\n" + kernel_lines + highest +
         " # highest feature index \n2 # number of emission features \n2 # number of classes \n" +
         order +
         " # HMM order of transitions \n0 # HMM order of emissions \n1 # loss function \n"
         "2 # number of support vectors plus 1 \n"
         "0 # threshold b, each following line is a SV (starting with alpha*y)\n" +
         vectors;
}

class CliSvmStruct : public Program {
 protected:
  Finished done(const std::vector<std::string>& arguments) {
    Finished finished = run(arguments);
    EXPECT_EQ(finished.code, 0) << arguments[0] << ' ' << finished.err;
    return finished;
  }
  std::string predictions(const std::string& command, const std::string& data,
                          const std::string& model) {
    done({command, data, model, "p"});
    return text_of("p");
  }
};

TEST_F(CliSvmStruct, ReadsWhatSvmRankAndSvmPerfWrote) {
  write("rank", light("0", "1 1:0.5 3:-2 #\n"));
  write("d", "2 qid:1 1:1 2:9\n1 qid:1 1:2 3:1 4:8\n");
  EXPECT_EQ(predictions("svm_rank_classify", "d", "rank"), "0.50000000\n-1.00000000\n");
  // Several support vectors, as SVM-light itself writes them, and a threshold.
  write("perf", light("0.25", "2 1:0.5 #\n-0.5 1:1 2:2 #\n1e0 cost:1 2:2 3:4 # a comment\n", 4));
  write("rows", "1 1:1 2:1\n-1 3:-1 9:5\n");
  EXPECT_EQ(predictions("svm_perf_classify", "rows", "perf"), "1.25\n-4.25\n");
}

TEST_F(CliSvmStruct, ReadsWhatSvmMulticlassWrote) {
  write("m", multiclass("1 qid:0 1:1 2:-1 3:-1 4:0.5 6:0.25 #\n"));
  write("d", "1 1:1\n2 2:2\n3 1:-1 2:-4\n");
  EXPECT_EQ(predictions("svm_multiclass_classify", "d", "m"),
            "1 1.000000 -1.000000 0.000000\n"
            "2 -2.000000 1.000000 0.500000\n"
            "1 3.000000 -1.000000 -1.000000\n");
  EXPECT_NE(done({"svm_multiclass_classify", "d", "m", "p"})
                .out.find("Average loss on test set: 33.3333\n"),
            std::string::npos);
}

TEST_F(CliSvmStruct, ReadsWhatSvmHmmWrote) {
  // Feature 1 speaks for tag 1 (index 7 + 2 + 1), feature 2 for tag 2 (7 + 4 + 2); tag 1 after tag
  // 2 (index 2 * 2 + 1) costs 3.
  write("m", hmm("1 5:-3 10:2 13:2 #\n"));
  write("d", "1 qid:1 1:1\n2 qid:1 2:1\n1 qid:1 1:1\n1 qid:2 1:1\n1 qid:2 1:1\n");
  EXPECT_EQ(predictions("svm_hmm_classify", "d", "m"), "1\n1\n1\n1\n1\n");
  write("m", hmm("1 5:-1 10:2 13:2 #\n"));
  EXPECT_EQ(predictions("svm_hmm_classify", "d", "m"), "1\n2\n1\n1\n1\n");
  // Order 2: 1 after 2 after 1 is index 1 * 4 + 2 * 2 + 1, features of tags begin at 15 + 2 c.
  write("m", hmm("1 9:-9 18:2 21:2 #\n", "2", "21"));
  EXPECT_EQ(predictions("svm_hmm_classify", "d", "m"), "1\n1\n1\n1\n1\n");
}

TEST_F(CliSvmStruct, PredictionsSurviveTheirFormat) {
  write("rank", structured_samples::ranking_text(6));
  write("rows", structured_samples::sample_text(30));
  write("classes", "3 1:1 2:0.1\n2 1:-1 2:0.3\n1 2:2\n3 1:0.9\n2 1:-0.8\n1 2:1.7\n");
  Rng rng(11);
  std::string tags;
  for (int i = 0; i < 20; ++i)
    for (int t = 0; t < 4; ++t)
      tags += std::to_string((i + t + 1) % 3 + 1) + " qid:" + std::to_string(i + 1) +
              structured_samples::row_of(rng, (i + t) % 3) + "\n";
  write("tags", tags);
  const std::vector<std::vector<std::string>> learners{
      {"rank", "rank"},          {"perf", "rows"}, {"perf", "rows", "-l", "10"},
      {"multiclass", "classes"}, {"hmm", "tags"},  {"hmm", "tags", "--t", "2"}};
  for (const auto& learner : learners) {
    const std::string name = "svm_" + learner[0], data = learner[1];
    SCOPED_TRACE(name);
    std::vector<std::string> learn{name + "_learn", "-c", "5"};
    learn.insert(learn.end(), learner.begin() + 2, learner.end());
    std::vector<std::string> text = learn;
    learn.insert(learn.end(), {data, "own"});
    text.insert(text.end(), {"--text", "1", data, "text"});
    done(learn);
    done(text);
    done({"convert", "own", "-o", "converted", "--to", "svmstruct"});
    EXPECT_EQ(text_of("text"), text_of("converted"));
    EXPECT_TRUE(text_of("text").starts_with("SVM-"));
    EXPECT_EQ(predictions(name + "_classify", data, "own"),
              predictions(name + "_classify", data, "text"));
  }
}

TEST_F(CliSvmStruct, WhatTheFormatHasNoPlaceForIsRefused) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& part) {
    const Finished finished = run(arguments);
    EXPECT_NE(finished.code, 0);
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
    EXPECT_FALSE(exists("out"));
  };
  write("words", structured_samples::sequence_text());
  done({"train", "words", "--task", "sequence", "--ends", "no", "-o", "m", "--quiet"});
  refused({"convert", "m", "-o", "out"}, "number tags from 1");
  done({"train", "words", "--task", "sequence", "-o", "m", "--quiet"});
  refused({"convert", "m", "-o", "out"}, "--ends no");
  refused({"convert", "m", "-o", "out", "--to", "libsvm"}, "--to svmstruct");
  write("gap", "1 1:1\n3 1:-1\n1 1:2\n3 1:-2\n");
  done({"train", "gap", "--task", "multiclass-structured", "--bias", "0", "-o", "m", "--quiet"});
  refused({"convert", "m", "-o", "out"}, "without gaps, and 2 is missing");
  write("tree", structured_samples::parse_text());
  done({"train", "tree", "--task", "parse", "-o", "m", "--quiet"});
  refused({"convert", "m", "-o", "out"}, "no model files for task 'parse'");
  write("rows", "1 1:1\n2 1:-1\n");
  done({"train", "rows", "-o", "m", "--quiet"});
  refused({"convert", "m", "-o", "out", "--to", "svmstruct"}, "no structural machine");
}

TEST_F(CliSvmStruct, DamageIsAnErrorWithItsPlace) {
  write("rank", "1 qid:1 1:1\n0 qid:1 1:2\n");
  write("tags", "1 qid:1 1:1\n2 qid:1 2:1\n");
  write("rows", "1 1:1\n2 1:-1\n");
  const auto refused = [&](const std::string& program, const std::string& text,
                           const std::string& part) {
    write("m", text);
    const std::string data = program == "rank" ? "rank" : program == "hmm" ? "tags" : "rows";
    const Finished finished = run({"svm_" + program + "_classify", data, "m", "out"});
    EXPECT_EQ(finished.code, 1) << part;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err << part;
    EXPECT_FALSE(exists("out"));
  };
  const std::string good = light("0", "1 1:0.5 3:-2 #\n");
  // Cut off anywhere it is refused, not read in part.
  for (std::size_t size = 18; size + 2 < good.size(); ++size) {
    write("m", good.substr(0, size));
    const Finished finished = run({"svm_rank_classify", "rank", "m", "out"});
    EXPECT_EQ(finished.code, 1) << size;
    EXPECT_NE(finished.err.find("m:"), std::string::npos) << size << finished.err;
  }
  refused("rank", light("0", "1 1:0.5 3:x #\n"), "m:12:9: '3:x' is not index:value");
  refused("rank", light("0", "1 3:0.5 1:2 #\n"), "m:12:9: index 1 comes after 3");
  refused("rank", light("0", "1 4:0.5 #\n"), "m:12:3: index 4 is beyond the highest, 3");
  refused("rank", light("0", "1 0:0.5 #\n"), "m:12:3: '0:0.5' is not index:value");
  refused("rank", light("0", "nan 1:0.5 #\n"), "m:12:1: 'nan' is no alpha");
  refused("rank", light("0", "1e200 1:1e200 #\n"), "m: weight 1 is not finite");
  refused("rank", light("0", "1 1:0.5 #\n1 2:1 #\n"), "m:13:1: there are more lines");
  refused("rank", light("0", "1 1:0.5 #\n", 9), "m:12: the model ends after 1 of 8");
  refused("rank", light("0.5", "1 1:0.5 #\n"), "the threshold of a ranking is not 0");
  refused("rank", light("0", "1 1:0.5 #\n", 0), "'number of support vectors plus 1' is '0'");
  refused("rank", hmm("1 5:1 #\n"), "m:1:1: the file does not begin with 'SVM-light Version'");
  std::string kernel = good;
  kernel.replace(kernel.find("0 # kernel type"), 1, "2");
  refused("rank", kernel, "this model has a kernel");
  std::string huge = light("0", "1 4000000000:1 #\n");
  huge.replace(huge.find("3 # highest"), 1, "4294967295");
  refused("rank", huge, "weights; the model is damaged");
  std::string twice = good;
  twice.insert(twice.find("3 # highest"), "3 # highest feature index\n");
  refused("rank", twice, "a second 'highest feature index'");
  std::string classes = multiclass("1 1:1 #\n");
  classes.replace(classes.find("3 # number of classes"), 1, "900000");
  refused("multiclass", classes, "'number of classes' is '900000'");
  // The costs of one class for another would take 134 MB.
  classes.replace(classes.find("900000"), 6, "2048");
  refused("multiclass", classes, "weights; the model is damaged");
  refused("multiclass", light("0", ""), "does not begin with 'SVM-multiclass Version'");
  refused("hmm", hmm("1 14:1 #\n", "1", "99"), "index 14 is beyond what classes and features");
  refused("hmm", hmm("1 5:1 #\n", "3"), "'HMM order of transitions' is '3'");
  std::string wide = hmm("1 5:1 #\n", "2");
  wide.replace(wide.find("2 # number of classes"), 1, "1000000");
  refused("hmm", wide, "weights; the model is damaged");
}

}  // namespace
}  // namespace maxmargin::cli_test
