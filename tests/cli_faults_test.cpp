// Limits, signals, closed descriptors and odd file names: no work is lost, no file is broken, and
// the exit code says what happened. What needs a system that fails on purpose is in scripts/faults.
#include <poll.h>
#include <sys/stat.h>

#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

class CliFaults : public Program {
 protected:
  /// Runs a line of shell in the directory; $M is the program.
  Finished shell(const std::string& line) const {
    const std::string command = "cd '" + path("") + "' && M='" + program().string() +
                                "' && export M && bash -c '" + line + "' >.out 2>.err";
    const int status = std::system(command.c_str());
    Finished finished;
    finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    finished.out = text_of(".out");
    finished.err = text_of(".err");
    for (const char* name : {".out", ".err"}) std::filesystem::remove(path(name));
    return finished;
  }
  void small_model() {
    write("d", two_classes(60, 0.1));
    ASSERT_EQ(run({"train", "d", "-o", "m", "--quiet"}).code, 0);
  }
  // Labels that no smooth function explains, at a high cost: many minutes of work.
  const std::vector<std::string> endless_{"--cost",  "1e6", "--gap",       "1e-12",
                                          "--gamma", "10",  "--tolerance", "1e-12"};
};

#ifndef MAXMARGIN_SANITIZED  // a sanitizer takes address space without end
TEST_F(CliFaults, ThreadsThatCannotBeMadeAreDoneWithout) {
  small_model();
  const Finished finished = shell("ulimit -v 400000; timeout 60 $M predict d m -o p --threads 500");
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_NE(finished.err.find("of 500 threads could be started"), std::string::npos);
  EXPECT_EQ(count_lines(finished.err), 1u) << finished.err;
  EXPECT_EQ(count_lines(text_of("p")), 60u);
}
#endif

TEST_F(CliFaults, ASignalWhileTheModelIsWrittenWaits) {
  write("d", two_classes(4000, 0.5));
  // A pipe holds less than this model: the program is in the middle of writing while it is full.
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    std::string model;
    const Finished finished =
        run({"train", "d", "-o", "pipe", "--gamma", "50", "--quiet"}, {}, [&](pid_t child) {
          const int reader = open(path("pipe").c_str(), O_RDONLY);
          pollfd ready{reader, POLLIN, 0};
          EXPECT_EQ(poll(&ready, 1, -1), 1);
          kill(child, signal);
          std::string part(1 << 16, '\0');
          for (ssize_t got; (got = ::read(reader, part.data(), part.size())) > 0;)
            model.append(part, 0, static_cast<std::size_t>(got));
          close(reader);
        });
    EXPECT_EQ(finished.code, 5) << finished.err;
    EXPECT_GT(model.size(), std::size_t{1} << 16);
    write("m", model);
    EXPECT_EQ(run({"inspect", "m", "--json"}).code, 0);
  }
}

TEST_F(CliFaults, EveryRequestToEndGivesTheBestModelSoFar) {
  write("d", two_classes(3000, 0.5));
  for (const int signal : {SIGHUP, SIGXCPU, SIGUSR1}) {
    std::vector<std::string> arguments{"train", "d", "-o", "m"};
    arguments.insert(arguments.end(), endless_.begin(), endless_.end());
    const Finished finished = run(arguments, {}, [&](pid_t child) {
      wait_until_interruptible(child);
      kill(child, signal);
      kill(child, signal);  // the kernel repeats SIGXCPU
    });
    EXPECT_EQ(finished.code, 5) << finished.err;
    EXPECT_EQ(run({"inspect", "m", "--json"}).code, 0);
    std::filesystem::remove(path("m"));
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const Finished finished =
        run({"svm-train", "-c", "1e6", "-e", "1e-12", "-g", "10", "d", "lm"}, {}, [&](pid_t child) {
          wait_until_interruptible(child);
          kill(child, signal);
        });
    EXPECT_EQ(finished.code, 5) << finished.err;
    EXPECT_NE(finished.err.find("the best model so far"), std::string::npos) << finished.err;
    EXPECT_EQ(run({"svm-predict", "d", "lm", "p"}).code, 0);
    std::filesystem::remove(path("lm"));
  }
}

#ifndef MAXMARGIN_SANITIZED  // which needs more of it to read the data
TEST_F(CliFaults, ProcessorTimeThatIsUsedUpGivesTheBestModelSoFar) {
  write("d", two_classes(4000, 0.5));
  const Finished finished = shell(
      "ulimit -St 1; $M train d -o m --threads 1 --cost 1e6 --gap 1e-12 --tolerance 1e-12 --gamma "
      "10 --json");
  EXPECT_EQ(finished.code, 5) << finished.err;
  EXPECT_EQ(run({"inspect", "m", "--json"}).code, 0);
}
#endif

TEST_F(CliFaults, ASilentInputDoesNotKeepASignalWaiting) {
  small_model();
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const std::vector<std::vector<std::string>> commands{{"predict", "pipe", "m", "-o", "p"},
                                                       {"svm-predict", "pipe", "m", "p"}};
  for (const auto& command : commands) {
    const Finished finished = run(command, {}, [&](pid_t child) {
      const int writer = open(path("pipe").c_str(), O_WRONLY);
      EXPECT_EQ(::write(writer, "1 1:2\n", 6), 6);
      kill(child, SIGTERM);
      siginfo_t ended{};
      waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
      close(writer);
    });
    EXPECT_EQ(finished.code, -SIGTERM);
    EXPECT_EQ(files(), (std::vector<std::string>{"d", "m", "pipe"}));
  }
}

TEST_F(CliFaults, NobodyNeedsToListen) {
  small_model();
  for (const char* deaf : {"2>/dev/full", "2>&-"}) {
    EXPECT_EQ(shell(std::string("$M predict d m ") + deaf).code, 0) << deaf;
    EXPECT_EQ(shell(std::string("$M train nothing ") + deaf).code, 6) << deaf;
    EXPECT_EQ(shell(std::string("$M svm-train nothing ") + deaf).code, 1) << deaf;
    EXPECT_EQ(shell(std::string("$M train d --no-such-option ") + deaf).code, 2) << deaf;
  }
}

TEST_F(CliFaults, DescriptorsThatAreClosedAreNotTakenForFiles) {
  small_model();
  ASSERT_EQ(run({"svm-train", "-q", "d", "lm"}).code, 0);
  const std::string labels = [&] {
    EXPECT_EQ(run({"svm-predict", "-q", "d", "lm", "p"}).code, 0);
    return text_of("p");
  }();
  EXPECT_EQ(shell("$M svm-predict d lm q <&- >&-").code, 1);
  EXPECT_EQ(text_of("q"), labels);
  EXPECT_EQ(shell("$M predict d m -o r <&- >&- 2>&-").code, 6);
  EXPECT_EQ(count_lines(text_of("r")), 60u);
}

TEST_F(CliFaults, TheModelComesBeforeTheTalk) {
  write("d", two_classes(60, 0.1));
  EXPECT_EQ(shell("$M svm-train d one >/dev/full").code, 1);
  shell("$M svm-train d two | true");  // which may or may not have ended by then
  EXPECT_EQ(shell("$M train d -o three >/dev/full").code, 6);
  EXPECT_EQ(run({"svm-predict", "d", "one", "p"}).code, 0);
  EXPECT_EQ(text_of("one"), text_of("two"));
  EXPECT_EQ(run({"inspect", "three", "--json"}).code, 0);
  EXPECT_EQ(shell("$M svm-predict d one q >/dev/full").code, 1);
  EXPECT_EQ(text_of("p"), text_of("q"));
}

TEST_F(CliFaults, ALimitOnTheSizeOfFilesIsTold) {
  write("d", two_classes(2000, 0.4));
  write("m", "what was there");
  for (const char* command : {"train d -o m --quiet", "svm-train -q d m"}) {
    // The messages of the shell itself count, too.
    const Finished finished = shell(std::string("(ulimit -f 4; exec $M ") + command +
                                    ") 2>&1 | cat; exit ${PIPESTATUS[0]}");
    EXPECT_EQ(finished.code, command[0] == 't' ? 6 : 1) << finished.out;
    EXPECT_NE(finished.out.find("File too large"), std::string::npos) << finished.out;
    EXPECT_EQ(text_of("m"), "what was there");
    EXPECT_EQ(files(), (std::vector<std::string>{"d", "m"}));
  }
}

TEST_F(CliFaults, WhatIsReadIsNotOverwritten) {
  small_model();
  const std::string data = text_of("d"), model = text_of("m");
  std::filesystem::create_symlink("d", path("symbolic"));
  std::filesystem::create_hard_link(path("d"), path("hard"));
  for (const char* command :
       {"train d -o d", "train d -o symbolic", "train symbolic -o d", "train d -o hard",
        "train - -o d <d", "predict d m -o d", "predict d m -o hard", "predict d m -o m",
        "predict d m >>d", "convert m -o m", "train d -o w --weights w"}) {
    write("w", data);
    const Finished finished = shell(std::string("$M ") + command);
    EXPECT_EQ(finished.code, 2) << command << ": " << finished.err;
    EXPECT_EQ(count_lines(finished.err), 1u) << command << ": " << finished.err;
    EXPECT_EQ(text_of("d"), data) << command;
    EXPECT_EQ(text_of("m"), model) << command;
  }
  for (const char* command :
       {"svm-train d d", "svm-predict d m symbolic", "svm-predict d m m", "svm-scale -s d d"}) {
    EXPECT_EQ(shell(std::string("$M ") + command).code, 1) << command;
    EXPECT_EQ(text_of("d"), data) << command;
    EXPECT_EQ(text_of("m"), model) << command;
  }
}

TEST_F(CliFaults, ProtectedFilesStayAndLinksAreFollowed) {
  write("d", two_classes(60, 0.1));
  write("protected", "mine");
  chmod(path("protected").c_str(), 0444);
  EXPECT_EQ(run({"train", "d", "-o", "protected"}).code, 6);
  EXPECT_EQ(text_of("protected"), "mine");
  std::filesystem::create_directory(path("folder"));
  std::filesystem::create_symlink("folder/new", path("dangling"));
  EXPECT_EQ(run({"train", "d", "-o", "dangling", "--quiet"}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("dangling")));
  EXPECT_EQ(run({"inspect", "folder/new"}).code, 0);
}

TEST_F(CliFaults, ANameWithADashIsAName) {
  write("-x", two_classes(60, 0.1));
  EXPECT_EQ(run({"train", "./-x", "--quiet"}).code, 0);
  EXPECT_EQ(run({"svm-train", "-q", "./-x"}).code, 0);
  EXPECT_EQ(files(), (std::vector<std::string>{"-x", "-x.model"}));
}

TEST_F(CliFaults, FoldsThatAreCutShortHaveNoScore) {
  write("d", two_classes(3000, 0.5));
  std::vector<std::string> arguments{"train", "d", "--cross-validate", "5", "--time-limit", "1ms"};
  arguments.insert(arguments.end(), endless_.begin(), endless_.end());
  const Finished shown = run(arguments);
  EXPECT_EQ(shown.code, 5) << shown.err;
  EXPECT_EQ(shown.out.find("accuracy"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("no score"), std::string::npos) << shown.out;
  arguments.push_back("--json");
  EXPECT_FALSE(run(arguments).json().contains("accuracy"));
}

#ifndef MAXMARGIN_SANITIZED  // a sanitizer takes address space without end
TEST_F(CliFaults, MemoryGoesByTheValuesAndNotByTheLargestIndex) {
  write("d", "1 1:1 2000000000:1\n-1 1:-1 2000000000:0.5\n1 2:1\n-1 3:1\n");
  write("near", "1 1:1 4:1\n-1 1:-1 4:0.5\n1 2:1\n-1 3:1\n");
  write("t", "1 1:0.5 7:1\n-1 1999999999:1 2000000000:2\n");
  const std::string limit = "ulimit -v 800000; ";
  for (const char* kernel : {"rbf --gamma 0.5", "linear", "laplacian --gamma 0.5"}) {
    const std::string how = std::string(" --quiet --kernel ") + kernel;
    EXPECT_EQ(shell(limit + "$M train d -o far" + how).code, 0) << kernel;
    EXPECT_EQ(shell(limit + "$M train near -o close" + how).code, 0) << kernel;
    const Finished far = shell(limit + "$M predict t far --decision-values --quiet");
    EXPECT_EQ(far.code, 0) << far.err;
    write("s", "1 1:0.5 7:1\n-1 4:2 6:1\n");
    EXPECT_EQ(far.out, shell("$M predict s close --decision-values --quiet").out) << kernel;
    EXPECT_EQ(shell(limit + "$M verify far d").code, 0) << kernel;
  }
  EXPECT_EQ(shell(limit + "$M svm-train -q -g 0.5 d lm && $M svm-predict -q d lm p").code, 0);
  EXPECT_NE(text_of("lm").find("2000000000:0.5"), std::string::npos);
  EXPECT_EQ(shell(limit + "$M svm-train -q -g 0.5 -v 2 d").code, 0);
}

TEST_F(CliFaults, ScalingFunctionsAndAdviceGoByTheValuesToo) {
  const auto data = [](const std::string& last) {
    return "1 1:1 " + last + ":4000\n-1 1:-1 " + last + ":5\n1 2:1 3:2\n-1 1:0.5 3:1\n";
  };
  const auto others = [](const std::string& last) {
    return "1 1:0.5 2:1\n-1 1:3 " + last + ":2\n";
  };
  for (const std::string last : {"2000000000", "4"}) {
    write(last == "4" ? "near" : "far", data(last));
    write(last == "4" ? "near_too" : "far_too", others(last));
    write(last == "4" ? "near_more" : "far_more", data(last) + others(last));
  }
  const std::string limit = "ulimit -v 800000; ";
  for (const std::string how :
       {"--gamma 0.5", "--gamma 0.5 --scale", "--gamma 0.5 --scale=range",
        "--kernel laplacian --gamma 0.5 --scale=deviation", "--gamma 0.5 --parametric 'x1^2'",
        "--gamma 0.5 --parametric-column x1", "--kernel linear --scale",
        "--gamma 0.5 --scale --parametric-column x1"}) {
    const auto told = [&](const std::string& command) {
      const Finished finished = shell(limit + command);
      EXPECT_EQ(finished.code, 0) << command << finished.err;
      return finished.out;
    };
    told("$M train far -o f " + how);
    told("$M train near -o n " + how);
    EXPECT_EQ(told("$M predict far_too f --decision-values --quiet"),
              told("$M predict near_too n --decision-values --quiet"))
        << how;
    told("$M verify f far");
    told("$M inspect f --json");
    EXPECT_EQ(told("$M train far_more --quiet --cross-validate 2 " + how),
              told("$M train near_more --quiet --cross-validate 2 " + how))
        << how;
    told("$M train far_more -o g --start f " + how);
  }
  // The advice to scale looks at features, too.
  EXPECT_NE(shell(limit + "$M train far -o f").err.find("feature 2000000000 reaches 4"),
            std::string::npos);
}
#endif

TEST_F(CliFaults, ManyNumbersAreAskedAboutBeforeTheyBecomeClasses) {
  write("d", curve(300));
  const Finished asked = run({"train", "d", "-o", "m"});
  EXPECT_EQ(asked.code, 2);
  EXPECT_NE(asked.err.find("--task svr"), std::string::npos) << asked.err;
  EXPECT_EQ(run({"train", "d", "-o", "m", "--task", "svr", "--quiet"}).code, 0);
  // Prices in whole thousands, each of them several times.
  std::string prices;
  for (int k = 0; k < 6 * 1100; ++k)
    prices += std::to_string(1000 * (k % 1100)) + " 1:" + std::to_string(k % 17) + "\n";
  write("d", prices);
  const Finished of_prices = run({"train", "d", "-o", "m"});
  EXPECT_EQ(of_prices.code, 2);
  EXPECT_NE(of_prices.err.find("1,100 different numbers"), std::string::npos) << of_prices.err;
}

TEST_F(CliFaults, ManyMachinesThatHaveNoTimeAreNotBegun) {
  std::string rows;
  for (int k = 0; k < 200; ++k) rows += std::to_string(k) + " 1:" + std::to_string(k % 13) + "\n";
  write("d", rows);
  const Finished finished =
      run({"train", "d", "-o", "m", "--task", "svc", "--time-limit", "1ms", "--json"});
  EXPECT_EQ(finished.code, 5) << finished.err;
  const nlohmann::json told = finished.json();
  EXPECT_EQ(told["ended"], "time limit");
  EXPECT_EQ(told["machines"].size() + told["untrained"]["machines"].get<std::size_t>(), 19900u);
  EXPECT_LE(told["dual"].get<double>(), told["primal"].get<double>());
  EXPECT_NE(run({"inspect", "m"}).out.find("untrained"), std::string::npos);
  EXPECT_EQ(run({"verify", "m", "d"}).code, 0);
  EXPECT_EQ(run({"convert", "m", "-o", "l"}).code, 2);
  EXPECT_EQ(run({"predict", "d", "m", "-o", "p", "--quiet"}).code, 0);
  EXPECT_EQ(count_lines(text_of("p")), 200u);
}

#ifndef MAXMARGIN_SANITIZED
TEST_F(CliFaults, AMillionMachinesThatHaveNoTimeTakeNeitherMemoryNorTime) {
  std::string rows;
  for (int k = 0; k < 1500; ++k) rows += std::to_string(k) + " 1:" + std::to_string(k % 13) + "\n";
  write("d", rows);
  // A record for each would be two gigabytes in memory, and a hundred megabytes in the file.
  const Finished finished = shell(
      "ulimit -v 400000; ulimit -St 5; ulimit -f 1024; $M train d -o m --task svc --time-limit 1ms "
      "--threads 1");
  EXPECT_EQ(finished.code, 5) << finished.err;
  EXPECT_NE(finished.out.find("untrained"), std::string::npos) << finished.out;
  EXPECT_EQ(shell("ulimit -v 400000; ulimit -St 5; $M verify m d --threads 1").code, 0);
  EXPECT_EQ(shell("ulimit -v 400000; ulimit -St 5; $M predict d m -o p --threads 1").code, 0);
  EXPECT_EQ(
      run({"train", "d", "--task", "svc", "--time-limit", "1ms", "--cross-validate", "5"}).code, 5);
}

// The advice is of the limit alone: smo was chosen, and a kernel of low rank takes factors all the
// same.
TEST_F(CliFaults, NoRoomForOpenBlasIsSaidOfTheLimit) {
  write("d", two_classes(300, 1));
  const Finished finished = shell(
      "ulimit -v 190000; $M train d -o m --solver smo --approximate pivoted --threads 1 --quiet");
  EXPECT_EQ(finished.code, 6);
  EXPECT_NE(finished.err.find("no room for the buffers of OpenBLAS"), std::string::npos)
      << finished.err;
  EXPECT_NE(finished.err.find("allow more (ulimit -v)"), std::string::npos) << finished.err;
  EXPECT_EQ(finished.err.find("--solver"), std::string::npos) << finished.err;
}

// With room for some of OpenBLAS's buffers and not for others it looks for more without end.
TEST_F(CliFaults, RoomForSomeBuffersOfOpenBlasIsNoReasonToHang) {
  write("d", two_classes(300, 1));
  for (int kilobytes = 340000; kilobytes <= 640000; kilobytes += 20000) {
    const Finished finished = shell(
        "ulimit -v " + std::to_string(kilobytes) +
        "; timeout -s KILL 60 $M train d -o m --kernel linear --out-of-core --threads 2 --quiet");
    EXPECT_TRUE(finished.code == 0 || finished.code == 6)
        << kilobytes << ": " << finished.code << " " << finished.err;
  }
}

TEST_F(CliFaults, TheCacheOfKernelRowsIsNeverThereTwice) {
  // Variables are left out and come back: then all rows are cached anew.
  write("d", two_classes(6000, 0.2));
  const Finished finished = shell(
      "ulimit -v 180000; $M train d -o m --solver smo --gamma 20 --cost 0.1 --memory 110M "
      "--threads 1 --quiet");
  EXPECT_EQ(finished.code, 0) << finished.err;
}
#endif

// Packed, such a file is small: it must not take its whole size in memory before it is refused.
TEST_F(CliFaults, ALineWithoutEndIsRefusedBeforeItsEnd) {
  const Finished zeros = shell("head -c 2000000000 /dev/zero | $M check -");
  EXPECT_EQ(zeros.code, 3);
  EXPECT_NE(zeros.err.find("zero bytes: this is not text"), std::string::npos) << zeros.err;
  const Finished letters = shell("yes a | tr -d \"\\n\" | $M check -");
  EXPECT_EQ(letters.code, 3);
  EXPECT_NE(letters.err.find("more than 256 MB"), std::string::npos) << letters.err;
}

TEST_F(CliFaults, WhatCanBeReadOnceIsReadOnce) {
  small_model();
  const Finished whole = run({"predict", "d", "m", "--quiet"});
  EXPECT_EQ(shell("$M predict <(cat d) m --quiet").out, whole.out);
  EXPECT_EQ(shell("$M verify m <(cat d)").code, 0);
}

TEST_F(CliFaults, TooLittleMemoryIsToldBeforeWork) {
  write("d", two_classes(3000, 0.3));
  const Finished refused = run({"train", "d", "-o", "m", "--memory", "2M", "--quiet"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_FALSE(exists("m"));
  const std::string words = "give --memory ";
  const auto at = refused.err.find(words);
  ASSERT_NE(at, std::string::npos) << refused.err;
  const int needed = std::stoi(refused.err.substr(at + words.size()));
  // As much is enough, and is not exceeded.
  const Finished done = run({"train", "d", "-o", "m", "--memory", std::to_string(needed + 1) + "M",
                             "--json", "--gap", "1e-2"});
  ASSERT_EQ(done.code, 0) << done.err;
#ifndef MAXMARGIN_SANITIZED
  EXPECT_LE(done.json()["peak_memory_bytes"].get<double>(), (needed + 1.0) * (1 << 20));
  const Finished low = run({"train", "d", "-o", "m", "--memory", std::to_string(needed + 1) + "M",
                            "--approximate", "sgma", "--rank", "2000"});
  EXPECT_EQ(low.code, 2);
  EXPECT_NE(low.err.find("--rank"), std::string::npos) << low.err;
#endif
}

TEST_F(CliFaults, OtherSeparatorsAndEncodingsAreCalledByTheirNames) {
  const auto expect_refused = [&](const std::string& name, const std::string& text,
                                  const char* words) {
    write(name, text);
    const Finished finished = run({"train", name, "-o", "m"});
    EXPECT_EQ(finished.code, 3) << name << ": " << finished.err;
    EXPECT_NE(finished.err.find(words), std::string::npos) << finished.err;
  };
  expect_refused("a.csv", "rose;1,5;2,5\niris;1,0;0,5\n", "semicolon");
  expect_refused("b", "rose;1,5;2,5\niris;1,0;0,5\n", "semicolon");
  expect_refused("c", "rose;1;2\niris;1;0\n", "semicolon");
  expect_refused("d.csv", "class;x;y\nrose;1;2\n", "semicolon");
  using namespace std::string_literals;
  expect_refused("e.csv", "\xff\xfe\0\0a\0\0\0"s, "UTF-32");
  expect_refused("f.csv",
                 "\xff\xfe"
                 "a\0,\0"s,
                 "UTF-16");
}

TEST_F(CliFaults, WhatAKilledRunLeftIsSwept) {
  write("d", two_classes(60, 0.1));
  write(".maxmargin-1-0", "half a model");
  write(".maxmargin-2-0", "just begun");
  using namespace std::chrono_literals;
  std::filesystem::last_write_time(path(".maxmargin-1-0"),
                                   std::filesystem::file_time_type::clock::now() - 1h);
  EXPECT_EQ(run({"train", "d", "-o", "m", "--quiet"}).code, 0);
  EXPECT_EQ(files(), (std::vector<std::string>{".maxmargin-2-0", "d", "m"}));
}

}  // namespace
}  // namespace maxmargin::cli_test
