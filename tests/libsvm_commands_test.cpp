// svm-train, svm-predict and svm-scale as modes of the program: what goes in and out, beside
// Debian's programs of these names.
#include <algorithm>
#include <cstdlib>
#include <regex>

#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

class LibsvmCommands : public Program {
 protected:
  /// Debian's program of that name, in the same directory.
  Finished theirs(const std::string& words) const {
    const std::string command =
        "cd " + path("") + " && /usr/bin/" + words + " > .theirs.out 2> .theirs.err";
    Finished finished;
    finished.code = WEXITSTATUS(std::system(command.c_str()));
    finished.out = text_of(".theirs.out");
    finished.err = text_of(".theirs.err");
    std::filesystem::remove(path(".theirs.out"));
    std::filesystem::remove(path(".theirs.err"));
    return finished;
  }
  Finished ours(const std::string& words) const {
    std::istringstream in(words);
    std::vector<std::string> list;
    for (std::string word; in >> word;) list.push_back(word);
    return run(list);
  }
  /// Both end alike and leave the same on standard output and, word for word, in the file.
  void expect_same(const std::string& words, const std::string& file = {}) const {
    const Finished one = theirs(words);
    const std::string wanted = file.empty() ? "" : text_of(file);
    const Finished other = ours(words);
    EXPECT_EQ(other.code, one.code) << words;
    EXPECT_EQ(other.out, one.out) << words;
    EXPECT_EQ(other.err, one.err) << words;
    if (!file.empty()) {
      EXPECT_EQ(text_of(file), wanted) << words;
    }
  }
  void expect_refused(const std::string& words, const std::string& because) const {
    const Finished finished = ours(words);
    EXPECT_EQ(finished.code, 1) << words;
    EXPECT_NE(finished.err.find(because), std::string::npos) << words << ": " << finished.err;
  }
};

/// The text with every number replaced, and the numbers.
std::pair<std::string, std::vector<double>> numbers_in(const std::string& text) {
  static const std::regex number("-?[0-9]+(\\.[0-9]+)?(e[-+]?[0-9]+)?");
  std::vector<double> numbers;
  for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end; ++at)
    numbers.push_back(std::stod(at->str()));
  return {std::regex_replace(text, number, "N"), numbers};
}

TEST_F(LibsvmCommands, TrainPrintsWhatSvmTrainPrints) {
  write("two", two_classes(150, 0.2));
  write("curve", curve(80));
  for (const std::string options :
       {"-c 4 -g 2 -e 0.00001 two", "-w1 3 -c 2 -e 0.00001 two", "-t 0 -e 0.00001 two",
        "-s 2 -n 0.3 -g 1 -e 0.00001 two", "-s 3 -c 10 -e 0.00001 curve",
        "-t 1 -d 2 -r 1 -e 0.00001 two"}) {
    const auto [form, numbers] = numbers_in(theirs("svm-train " + options + " theirs").out);
    const auto [own_form, own_numbers] = numbers_in(ours("svm-train " + options + " ours").out);
    // Dots and stars tell of iterations, where each program has its own way.
    const auto no_dots = [](std::string text) {
      std::erase_if(text, [](char c) { return c == '.' || c == '*'; });
      return text;
    };
    EXPECT_EQ(no_dots(own_form), no_dots(form)) << options;
    ASSERT_EQ(own_numbers.size(), numbers.size());
    // The first is the number of iterations.
    for (std::size_t k = 1; k < numbers.size(); ++k)
      EXPECT_NEAR(own_numbers[k], numbers[k], 1e-4 * (1 + std::abs(numbers[k])))
          << options << ": " << own_form;
  }
}

TEST_F(LibsvmCommands, ModelsArePredictedAlikeByBoth) {
  write("two", two_classes(150, 0.2));
  write("curve", curve(80));
  for (const std::string options : {"-c 4 -g 2 two", "-t 0 two", "-s 2 -n 0.3 -g 1 two",
                                    "-s 3 -c 10 curve", "-t 3 -g 0.1 two"}) {
    const std::string data = options.substr(options.rfind(' ') + 1);
    for (const bool own : {true, false}) {
      ASSERT_EQ((own ? ours("svm-train -q " + options + " model")
                     : theirs("svm-train -q " + options + " model"))
                    .code,
                0);
      const Finished one = theirs("svm-predict " + data + " model p1");
      const Finished other = ours("svm-predict " + data + " model p2");
      EXPECT_EQ(other.code, 0);
      EXPECT_EQ(other.out, one.out) << options;
      if (data == "two") {
        EXPECT_EQ(text_of("p2"), text_of("p1")) << options;
      }
    }
  }
}

/// Three classes by numbers.
std::string three_classes(int rows) {
  std::string three = flowers(rows);
  three = std::regex_replace(three, std::regex("(.*),(.*),iris\n"), "1 1:$1 2:$2\n");
  three = std::regex_replace(three, std::regex("(.*),(.*),rose\n"), "2 1:$1 2:$2\n");
  three = std::regex_replace(three, std::regex("(.*),(.*),tulip\n"), "3 1:$1 2:$2\n");
  return three.substr(three.find('\n') + 1);
}

// The folds are LIBSVM's own, row by row.
TEST_F(LibsvmCommands, CrossValidationGivesTheSameLines) {
  write("two", two_classes(90, 0.2));
  write("three", three_classes(90));
  // Without the only row of its class a fold has one machine, which is asked about that row, too.
  write("rare", two_classes(90, 0.2) + "2 1:0.9 2:0.1\n");
  write("curve", curve(60));
  const auto last_lines = [](const std::string& text) {
    return text.substr(text.find("Cross Validation"));
  };
  for (const std::string options :
       {"-v 5 -c 4 -g 2 two", "-v 3 -b 1 two", "-v 4 -s 2 two", "-v 90 -t 0 two", "-v 200 two",
        "-v 5 -c 4 -g 2 three", "-v 3 -c 4 -g 2 -b 1 three", "-v 4 -s 1 -n 0.3 -g 2 three",
        "-v 3 -t 0 three", "-v 3 -c 4 rare", "-v 3 -b 1 rare"}) {
    const std::string words = "svm-train -e 0.00001 " + options;
    const Finished one = theirs(words), other = ours(words);
    EXPECT_EQ(last_lines(other.out), last_lines(one.out)) << options;
    EXPECT_EQ(other.err, one.err);
    // LIBSVM prints advice about its shrinking in between.
    const std::regex advice("\nWARNING.*\n");
    EXPECT_EQ(count_lines(std::regex_replace(other.out, advice, "")),
              count_lines(std::regex_replace(one.out, advice, "")))
        << options;
  }
  const std::string words = "svm-train -q -v 5 -s 3 -c 10 -e 0.00001 curve";
  const auto [form, numbers] = numbers_in(theirs(words).out);
  const auto [own_form, own_numbers] = numbers_in(ours(words).out);
  EXPECT_EQ(own_form, form);
  ASSERT_EQ(own_numbers.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(own_numbers[k], numbers[k], 1e-4 * numbers[k]);
  EXPECT_EQ(files(), (std::vector<std::string>{"curve", "rare", "three", "two"}));
}

TEST_F(LibsvmCommands, ProbabilitiesAreLibsvms) {
  write("two", two_classes(90, 0.2));
  write("three", three_classes(90));
  write("curve", curve(60));
  for (const std::string file : {"two", "three", "curve"}) {
    const std::string type = file == "curve" ? "-s 3 " : "";
    const std::string train = "svm-train -b 1 -q -e 0.00001 " + type + file;
    ASSERT_EQ(theirs(train + " theirs").code, 0);
    ASSERT_EQ(ours(train + " ours").code, 0);
    // Files by both programs from either model, byte for byte; regression may round otherwise.
    for (const std::string model : {"theirs", "ours"}) {
      const Finished one = theirs("svm-predict -b 1 " + file + " " + model + " p1");
      const Finished other = ours("svm-predict -b 1 " + file + " " + model + " p2");
      EXPECT_EQ(other.out, one.out);
      if (file != "curve") {
        EXPECT_EQ(text_of("p2"), text_of("p1")) << file << " " << model;
      }
      EXPECT_EQ(ours("svm-predict " + file + " " + model + " p3").out,
                theirs("svm-predict " + file + " " + model + " p3").out);
    }
    // What was learned is the same to the accuracy of training.
    const auto parameters = [&](const std::string& model) {
      const std::string text = text_of(model);
      const std::size_t at = text.find("probA");
      return numbers_in(text.substr(at, text.find(file == "curve" ? "SV" : "nr_sv") - at));
    };
    const auto [form, numbers] = parameters("theirs");
    const auto [own_form, own_numbers] = parameters("ours");
    EXPECT_EQ(own_form, form);
    for (std::size_t k = 0; k < numbers.size(); ++k)
      EXPECT_NEAR(own_numbers[k], numbers[k], 1e-3 * (1 + std::abs(numbers[k]))) << file;
  }
  expect_refused("svm-predict -b 1 two nothing out", "can't open model file nothing");
  ASSERT_EQ(ours("svm-train -q two plain").code, 0);
  expect_same("svm-predict -b 1 two plain out");
}

// LIBSVM's own tool on top of it, with the same result.
TEST_F(LibsvmCommands, GridSearchFindsTheSame) {
  write("two", two_classes(60, 0.1));
  const auto folder = program().parent_path();
  const auto search = [&](const std::string& program) {
    return theirs("python3 /usr/bin/svm-grid -svmtrain " + program +
                  " -gnuplot null -out null -log2c -1,1,2 -log2g 1,-1,-2 two")
        .out;
  };
  const std::string found = search((folder / "svm-train").string());
  EXPECT_NE(found.find("rate="), std::string::npos) << found;
  EXPECT_EQ(found, search("/usr/bin/svm-train"));
}

TEST_F(LibsvmCommands, TheModelIsNamedAfterTheDataInTheCurrentDirectory) {
  std::filesystem::create_directory(path("data"));
  write("data/two", two_classes(50, 0.1));
  EXPECT_EQ(ours("svm-train -q data/two").code, 0);
  EXPECT_TRUE(exists("two.model"));
}

TEST_F(LibsvmCommands, PrecomputedKernelsNumberTheirRows) {
  // Rows 2, 4 and so on of a larger matrix, in an order of their own.
  Rng rng(4);
  std::ostringstream train, test;
  std::vector<std::pair<double, double>> points(60);
  for (auto& [x, z] : points) x = rng.normal(), z = rng.normal();
  for (std::size_t k = 0; k < points.size(); ++k) {
    const std::size_t i = k * 7 % points.size();
    std::ostringstream& to = i % 2 == 0 ? train : test;
    const auto [x, z] = points[i];
    to << (x * z + 0.3 * rng.normal() > 0 ? 1 : 2) << " 0:" << (i % 2 == 0 ? i + 1 : 1);
    for (std::size_t j = 0; j < points.size(); ++j)
      to << " " << j + 1 << ":"
         << std::exp(-std::pow(x - points[j].first, 2) - std::pow(z - points[j].second, 2));
    to << "\n";
  }
  write("train", train.str());
  write("test", test.str());
  ASSERT_EQ(theirs("svm-train -q -t 4 -e 0.00001 train theirs").code, 0);
  const Finished trained = ours("svm-train -q -t 4 -e 0.00001 train ours");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Finished one = theirs("svm-predict test theirs p1");
  const Finished other = ours("svm-predict test ours p2");
  EXPECT_EQ(other.out, one.out);
  EXPECT_EQ(text_of("p2"), text_of("p1"));
  EXPECT_EQ(theirs("svm-predict test ours p3").out, one.out);
  write("bad", "1 1:1 2:0\n2 0:2 1:0 2:1\n");
  expect_refused("svm-train -t 4 bad", "0:number");
  write("worse", "1 0:5 1:1 2:0\n2 0:2 1:0 2:1\n");
  expect_refused("svm-train -t 4 worse", "0:number");
}

TEST_F(LibsvmCommands, ScalePrintsTheSameBytes) {
  write("mixed", "1 1:1 2:2.5 5:1e-7\n-1 1:3 2:-1 7:4\n0.33333333333333333 2:7 \n");
  write("other", "2 1:5 3:1 9:2\n1 2:1e10\n");
  write("two", two_classes(40, 0.1));
  for (const std::string file : {"mixed", "two"})
    for (const std::string options : {"", "-l 0", "-l 0 -u 1 -y -1 1", "-y 0 1"})
      expect_same("svm-scale " + options + " -s range " + file, "range");
  theirs("svm-scale -y 0 3 -s range mixed");
  expect_same("svm-scale -r range other");
  expect_same("svm-scale -r range mixed");
  expect_same("svm-scale -l 1 -u 0 mixed");
  expect_same("svm-scale -r range -s range2 mixed");
  expect_refused("svm-scale -r mixed mixed", "svm-scale -s");
  expect_refused("svm-scale nothing", "can't open file nothing");
}

TEST_F(LibsvmCommands, WrongParametersGetLibsvmsWords) {
  write("two", two_classes(50, 0.1));
  for (const char* options :
       {"-s 9", "-s -1", "-t 7", "-g -1", "-t 1 -d -2", "-m 0", "-e 0", "-c 0", "-c -3",
        "-s 2 -n 0", "-s 1 -n 1.5", "-s 3 -p -1", "-h 2", "-b 3"}) {
    const std::string words = "svm-train " + std::string(options) + " two model";
    const Finished one = theirs(words), other = ours(words);
    EXPECT_EQ(one.code, 1) << words;
    EXPECT_EQ(other.code, 1) << words;
    EXPECT_EQ(other.err, one.err) << words;
  }
}

TEST_F(LibsvmCommands, AnInfeasibleNuIsRefusedWithTheLargestFeasibleOne) {
  write("two", two_classes(50, 0.1));
  const Finished one = theirs("svm-train -s 1 -n 0.999 two model");
  const Finished other = ours("svm-train -s 1 -n 0.999 two model");
  EXPECT_EQ(other.code, one.code);
  EXPECT_EQ(other.err.find(one.err), 0u) << other.err;
  const std::string advice = "the largest feasible nu is ";
  const std::size_t place = other.err.find(advice);
  ASSERT_NE(place, std::string::npos) << other.err;
  const double largest = std::stod(other.err.substr(place + advice.size()));
  for (const bool own : {false, true}) {
    const auto code = [&](double nu) {
      const std::string words = "svm-train -q -s 1 -n " + std::to_string(nu) + " two model";
      return (own ? ours(words) : theirs(words)).code;
    };
    EXPECT_EQ(code(largest), 0);
    EXPECT_EQ(code(largest + 1e-3), 1);
  }
}

TEST_F(LibsvmCommands, WhatLibsvmGetsWrongWithoutAWordIsRefused) {
  write("two", two_classes(50, 0.1));
  write("nan", "1 1:nan 2:1\n-1 1:2\n");
  write("infinite", "1 1:inf 2:1\n-1 1:2\n");
  write("fractions", "0.2 1:1\n0.7 1:2\n1.5 1:3\n");
  write("large", "3000000000 1:1\n1 1:2\n");
  write("one", "1 1:1\n1 1:2\n");
  expect_refused("svm-train nan", "Wrong input format at line 1\nnan:1:3: value 'nan'");
  expect_refused("svm-train infinite", "Wrong input format at line 1\n");
  expect_refused("svm-train fractions", "row 1 is 0.2");
  expect_refused("svm-train large", "3e+09");
  expect_refused("svm-train one", "only one class");
  expect_refused("svm-train two -c 10", "Option behind a file name: -c");
  expect_refused("svm-train -c ten two", "-c ten");
  expect_refused("svm-train two model more", "One word too many: more");
  expect_refused("svm-train two nowhere/model", "can't save model to file nowhere/model");
  expect_refused("svm-predict two nothing out", "can't open model file nothing");
  const std::vector<std::string> written{"fractions", "infinite", "large", "nan", "one", "two"};
  EXPECT_EQ(files(), written);
}

TEST_F(LibsvmCommands, UsageGoesToStandardOutput) {
  for (const char* command : {"svm-train", "svm-predict", "svm-scale"}) {
    const Finished finished = ours(command);
    EXPECT_EQ(finished.code, 1);
    EXPECT_TRUE(finished.out.starts_with("Usage: " + std::string(command))) << finished.out;
    EXPECT_EQ(ours(std::string(command) + " -z 1 x").code, 1);
  }
  expect_refused("svm-train -z 1 x", "Unknown option: -z");
  expect_refused("svm-train nothing", "can't open input file nothing");
}

TEST_F(LibsvmCommands, StandardInputIsReadToTheEnd) {
  const std::string data = two_classes(50, 0.1);
  write("two", data);
  ASSERT_EQ(run({"svm-train", "-q", "/dev/stdin", "piped"}, data).code, 0);
  ASSERT_EQ(run({"svm-train", "-q", "-", "dashed"}, data).code, 0);
  ASSERT_EQ(ours("svm-train -q two").code, 0);
  EXPECT_EQ(text_of("piped"), text_of("two.model"));
  EXPECT_EQ(text_of("dashed"), text_of("two.model"));
}

TEST_F(LibsvmCommands, DamagedModelsAreRefused) {
  write("two", two_classes(50, 0.1));
  ASSERT_EQ(ours("svm-train -q two").code, 0);
  const std::string whole = text_of("two.model");
  Rng rng(8);
  for (int k = 0; k < 8; ++k) {
    write("cut", whole.substr(0, rng.below(whole.size() / 2)));
    expect_refused("svm-predict two cut out", "can't open model file cut\ncut");
  }
  EXPECT_FALSE(exists("out"));
}

// The links that stand beside the program are these commands.
TEST_F(LibsvmCommands, TheProgramAnswersToTheirNames) {
  const auto folder = program().parent_path();
  for (const char* command : {"svm-train", "svm-predict", "svm-scale"}) {
    const std::string words = (folder / command).string() + " > " + path("out") + " 2>&1";
    EXPECT_NE(std::system(words.c_str()), 0);
    EXPECT_TRUE(text_of("out").starts_with("Usage: " + std::string(command)));
  }
}

}  // namespace
}  // namespace maxmargin::cli_test
