// The scripts that come with LIBSVM (Debian's package libsvm-tools) on top of our commands, beside
// the same scripts on top of LIBSVM's.
#include <array>

#include "tests/cli_program.hpp"

#ifndef MAXMARGIN_SANITIZED  // dozens of processes, and nothing in them that other tests do not run

namespace maxmargin::cli_test {
namespace {

namespace fs = std::filesystem;

class LibsvmTools : public Program {
 protected:
  /// What a command of the shell prints, started in a folder of the test.
  std::string shell(const std::string& folder, const std::string& words) const {
    const std::string command = "cd " + path(folder) + " && " + words + " 2> /dev/null";
    FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    std::array<char, 256> part;
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
    EXPECT_EQ(pclose(pipe), 0) << words;
    return text;
  }
  static std::string script(const std::string& name) { return "/usr/bin/python3 /usr/bin/" + name; }

  /// The layout that LIBSVM's scripts expect: commands in a folder, scripts in one inside.
  void lay_out(const std::string& folder, const fs::path& commands) const {
    fs::create_directories(path(folder + "/tools"));
    for (const char* command : {"svm-train", "svm-predict", "svm-scale"})
      fs::create_symlink(commands / command, path(folder + "/" + command));
    // The whole grid of 110 points would say no more than this one.
    write(folder + "/tools/grid.py",
          "#!/bin/sh\nexec " + script("svm-grid") + " -log2c -1,3,2 -log2g 1,-1,-2 \"$@\"\n");
    fs::permissions(path(folder + "/tools/grid.py"), fs::perms::owner_all);
    write(folder + "/tools/data", two_classes(60, 0.1));
    write(folder + "/tools/more", two_classes(40, 0.1, 2));
  }
};

TEST_F(LibsvmTools, GridAndEasyDoTheSame) {
  lay_out("ours", program().parent_path());
  lay_out("theirs", "/usr/bin");
  const std::string words = script("svm-easy") + " data more";
  const std::string found = shell("ours/tools", words);
  EXPECT_EQ(found, shell("theirs/tools", words));
  EXPECT_NE(found.find("Best c="), std::string::npos) << found;
  EXPECT_NE(found.find("Accuracy = "), std::string::npos) << found;
  for (const char* file :
       {"data.scale", "data.range", "data.scale.out", "more.scale", "more.predict"})
    EXPECT_EQ(text_of(std::string("ours/tools/") + file),
              text_of(std::string("theirs/tools/") + file))
        << file;
  EXPECT_TRUE(exists("ours/tools/data.model"));
}

TEST_F(LibsvmTools, SubsetsAndCheckedDataAreTaken) {
  lay_out("ours", program().parent_path());
  EXPECT_EQ(shell("ours/tools", script("svm-checkdata") + " data"), "No error.\n");
  for (const char* method : {"-s 0", "-s 1"}) {
    shell("ours/tools", script("svm-subset") + " " + method + " data 40 part rest");
    EXPECT_EQ(count_lines(text_of("ours/tools/part")), 40u);
    EXPECT_EQ(count_lines(text_of("ours/tools/rest")), 20u);
    shell("ours/tools", "../svm-scale -s range part > part.scale && ../svm-train -q part.scale");
    EXPECT_EQ(shell("ours/tools", script("svm-checkdata") + " part.scale"), "No error.\n");
    const std::string predicted = shell("ours/tools",
                                        "../svm-scale -r range rest > rest.scale && "
                                        "../svm-predict rest.scale part.scale.model out");
    EXPECT_NE(predicted.find("/20) (classification)"), std::string::npos) << predicted;
  }
}

}  // namespace
}  // namespace maxmargin::cli_test

#endif
