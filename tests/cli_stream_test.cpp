// `maxmargin stream` as a user runs it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "maxmargin/model/file/file.hpp"
#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

class CliStream : public Program {
 protected:
  std::string digest_of(const std::string& model) const { return digest(load(path(model))); }

  /// The JSON objects of a text, one a line, with this event.
  static std::vector<nlohmann::json> events(const std::string& text, const std::string& event) {
    std::vector<nlohmann::json> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (auto object = nlohmann::json::parse(line); object["event"] == event)
        found.push_back(std::move(object));
    return found;
  }

  template <class Condition>
  static void wait_for(const Condition& condition) {
    for (int k = 0; k < 2000 && !condition(); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
};

const std::vector<std::string> rbf{"--kernel", "rbf", "--gamma", "2"};

std::vector<std::string> with(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(CliStream, LearnsFromAPipeAndLeavesAModelLikeAnyOther) {
  const std::string rows = two_classes(600, 0.05);
  const Finished done = run(with({"stream", "-o", "m", "-p", "said", "--json"}, rbf), rows);
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(count_lines(text_of("said")), 600u);
  const auto end = events(done.out, "end");
  ASSERT_EQ(end.size(), 1u);
  EXPECT_EQ(end[0]["rows"], 600);
  EXPECT_LT(end[0]["error"], 0.25);
  EXPECT_EQ(events(done.out, "report").size(), 10u);  // 1, 2, 4, ..., 512

  // The error is that of the lines, which were said before learning.
  std::istringstream said(text_of("said")), truth(rows);
  std::size_t wrong = 0;
  for (std::string line, row; std::getline(said, line) && std::getline(truth, row);)
    wrong += (line == "1") != row.starts_with("+1");
  EXPECT_NEAR(static_cast<double>(wrong) / 600, end[0]["error"], 1e-12);

  write("test.svm", two_classes(200, 0, 9));
  const Finished predicted = run({"predict", "test.svm", "m", "-o", "labels", "--json"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_GT(predicted.json()["accuracy"], 0.85);
  EXPECT_EQ(run({"inspect", "m"}).code, 0);
  ASSERT_EQ(run({"convert", "m", "-o", "libsvm"}).code, 0);
  ASSERT_EQ(run({"predict", "test.svm", "libsvm", "-o", "again"}).code, 0);
  EXPECT_EQ(text_of("again"), text_of("labels"));
}

TEST_F(CliStream, ReadsEveryTextFormatAndSeveralClasses) {
  write("flowers.csv", flowers(300));
  const Finished csv = run(with({"stream", "flowers.csv", "-o", "m", "--json"}, rbf));
  ASSERT_EQ(csv.code, 0) << csv.err;
  EXPECT_LT(events(csv.out, "end")[0]["error"], 0.2);
  EXPECT_EQ(load(path("m")).classes, (std::vector<std::string>{"iris", "rose", "tulip"}));
  EXPECT_EQ(run({"predict", "flowers.csv", "m", "-o", "labels"}).code, 0);
  std::string tabs = flowers(300);
  std::ranges::replace(tabs, ',', '\t');
  ASSERT_EQ(run(with({"stream", "-o", "m2", "--format", "tsv"}, rbf), tabs).code, 0);
  EXPECT_EQ(digest_of("m"), digest_of("m2"));
  const Finished regression =
      run(with({"stream", "--rule", "huber", "--sigma", "0.1", "--json"}, rbf), curve(400));
  ASSERT_EQ(regression.code, 0) << regression.err;
  EXPECT_LT(events(regression.out, "end")[0]["rmse_window"], 0.6);
}

TEST_F(CliStream, RowsWithoutALabelAreOnlyPredicted) {
  const std::string rows = two_classes(50, 0);
  std::string mixed;
  std::istringstream lines(rows);
  for (std::string line; std::getline(lines, line);)
    mixed += line + "\n" + line.substr(3) + "\n? " + line.substr(3) + "\n";
  ASSERT_EQ(run(with({"stream", "-o", "a"}, rbf), rows).code, 0);
  const Finished done = run(with({"stream", "-o", "b", "-p", "said", "--json"}, rbf), mixed);
  ASSERT_EQ(done.code, 0) << done.err;
  const Model a = load(path("a")), b = load(path("b"));
  EXPECT_EQ(a.machines[0].coefficient, b.machines[0].coefficient);
  EXPECT_EQ(count_lines(text_of("said")), 150u);
  EXPECT_EQ(events(done.out, "end")[0]["learned"], 50);
}

TEST_F(CliStream, StopsAndGoesOnToTheSameBits) {
  const std::string rows = two_classes(300, 0.1);
  const std::vector<std::string> machine =
      with(rbf, {"--truncate", "budget", "--budget", "40", "--quiet"});
  ASSERT_EQ(run(with({"stream", "-o", "whole", "-p", "all"}, machine), rows).code, 0);
  for (const std::size_t cut : {1u, 100u, 299u}) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < cut; ++k) at = rows.find('\n', at) + 1;
    ASSERT_EQ(
        run(with({"stream", "-p", "parts", "--checkpoint", "state"}, machine), rows.substr(0, at))
            .code,
        0);
    const Finished second =
        run(with({"stream", "-p", "parts", "--checkpoint", "state", "--resume", "-o", "second"},
                 machine),
            rows.substr(at));
    ASSERT_EQ(second.code, 0) << second.err;
    EXPECT_EQ(digest_of("second"), digest_of("whole")) << cut;
    EXPECT_EQ(text_of("parts"), text_of("all")) << cut;
  }
}

// bench/online --kill does this a hundred times.
TEST_F(CliStream, ASuddenEndLeavesTheLastCheckpointWhole) {
  write("rows.svm", two_classes(3000, 0.1));
  const std::vector<std::string> stream =
      with({"stream", "rows.svm", "-p", "said", "--checkpoint", "state", "--every", "300",
            "--quiet", "--truncate", "budget", "--budget", "50", "-o", "m"},
           rbf);
  ASSERT_EQ(run(stream).code, 0);
  const std::string said = text_of("said"), state = text_of("state"), expected = digest_of("m");
  for (const int milliseconds : {1, 15, 40}) {
    std::filesystem::remove(path("state"));
    run(stream, {}, [&](pid_t child) {
      wait_for([&] { return exists("state"); });
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      kill(child, SIGKILL);
    });
    const Finished rest = run(with(stream, {"--resume"}));
    ASSERT_EQ(rest.code, 0) << rest.err;
    EXPECT_EQ(text_of("said"), said);
    EXPECT_EQ(text_of("state"), state);
    EXPECT_EQ(digest_of("m"), expected);
  }
}

TEST_F(CliStream, ASignalSavesWhatWasLearnedAndAFileIsFollowed) {
  const std::string rows = two_classes(400, 0.1);
  std::size_t half = 0;
  for (int k = 0; k < 200; ++k) half = rows.find('\n', half) + 1;
  write("whole.svm", rows);
  ASSERT_EQ(run(with({"stream", "whole.svm", "-o", "whole", "--quiet"}, rbf)).code, 0);
  write("growing.svm", rows.substr(0, half + 5));
  const Finished followed = run(
      with({"stream", "growing.svm", "--follow", "-p", "said", "--checkpoint", "state", "-o", "m"},
           rbf),
      {}, [&](pid_t child) {
        wait_for([&] { return count_lines(text_of("said")) == 200; });
        EXPECT_EQ(count_lines(text_of("said")), 200u) << "flushed when the input pauses";
        std::ofstream(path("growing.svm"), std::ios::app) << rows.substr(half + 5);
        wait_for([&] { return count_lines(text_of("said")) == 400; });
        kill(child, SIGTERM);
      });
  EXPECT_EQ(followed.code, 5) << followed.err;
  EXPECT_EQ(digest_of("m"), digest_of("whole"));
  const Finished rest =
      run(with({"stream", "growing.svm", "--checkpoint", "state", "--resume", "--json"}, rbf));
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(events(rest.out, "end")[0]["rows"], 400) << "no row twice";
}

TEST_F(CliStream, WithoutARowThereIsNoModelAndThatIsSaid) {
  const Finished done = run({"stream", "-", "-o", "m"});
  EXPECT_EQ(done.code, 3);
  EXPECT_NE(done.err.find("standard input: no row came"), std::string::npos) << done.err;
  EXPECT_FALSE(exists("m"));

  write("grown.svm", "");
  const Finished ended = run({"stream", "grown.svm", "--follow", "-o", "m"}, "", [&](pid_t child) {
    wait_for([&] { return interruptible(child); });
    kill(child, SIGTERM);
  });
  EXPECT_EQ(ended.code, -SIGTERM) << ended.err;
  EXPECT_FALSE(exists("m"));
}

TEST_F(CliStream, LinesThatCannotBeReadAreToldWithTheirNumber) {
  const std::string good = two_classes(40, 0), more = two_classes(20, 0, 5);
  write("bad.svm", good + "+1 1:oops\n" + more + "+1 1:1e308 2:1e308\n" + more);
  const std::vector<std::string> stream{"stream",     "bad.svm",      "--quiet", "--kernel",
                                        "polynomial", "--gamma",      "1",       "-o",
                                        "m",          "--checkpoint", "state"};
  const Finished stopped = run(stream);
  EXPECT_EQ(stopped.code, 3);
  EXPECT_NE(stopped.err.find("bad.svm:41"), std::string::npos) << stopped.err;
  EXPECT_TRUE(exists("m")) << "what was learned is not lost";
  const Finished skipped = run(with(stream, {"--on-error", "skip"}));
  EXPECT_EQ(skipped.code, 0) << skipped.err;
  EXPECT_NE(skipped.err.find("bad.svm:41"), std::string::npos) << skipped.err;
  EXPECT_NE(skipped.err.find("bad.svm:62"), std::string::npos) << skipped.err;
  EXPECT_NE(skipped.err.find("overflow"), std::string::npos) << skipped.err;
  const std::string expected = digest_of("m");

  // Stopped at the bad line, mended, and gone on from there.
  ASSERT_EQ(run(stream).code, 3);
  write("bad.svm", good + "# mended!\n" + more + "#1 1:1e308 2:1e308\n" + more);
  ASSERT_EQ(run(with(stream, {"--resume"})).code, 0);
  EXPECT_EQ(digest_of("m"), expected);

  const Finished word = run({"stream", "--rule", "squared"}, "1 1:1\nword 1:2\n");
  EXPECT_EQ(word.code, 3);
  EXPECT_NE(word.err.find("standard input:2"), std::string::npos) << word.err;
}

TEST_F(CliStream, LabelsComeLate) {
  const std::string rows =
      "1 1:1 # a\n-1 1:-1 # b\n? 1:2 # c\n1:-2 # d\n-1 # d\n1 # c\n1 # nobody\n";
  const Finished done = run({"stream", "--id", "comment", "--delay", "10", "--on-error", "skip",
                             "-p", "said", "--json", "-o", "late"},
                            rows);
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(text_of("said"), "a ?\nb 1\nc 1\nd -1\nd learned\nc learned\n");
  const auto end = events(done.out, "end")[0];
  EXPECT_EQ(end["rows"], 4);
  EXPECT_EQ(end["learned"], 4);
  EXPECT_EQ(end["late_labels"], 2);
  EXPECT_EQ(end["faults"], 1);
  EXPECT_NE(done.err.find("nobody"), std::string::npos);
  ASSERT_EQ(run({"stream", "-o", "straight", "--quiet"}, "1 1:1\n-1 1:-1\n-1 1:-2\n1 1:2\n").code,
            0);
  EXPECT_EQ(load(path("late")).support.view().value(0),
            load(path("straight")).support.view().value(0));
  const Finished crowded =
      run({"stream", "--id", "comment", "--delay", "1", "--on-error", "skip", "--json"},
          "1 1:1 # a\n-1 1:-1 # b\n? 1:1 # c\n? 1:1 # d\n? 1:3 # d\n1 # c\n");
  EXPECT_EQ(events(crowded.out, "end")[0]["expired"], 1);
  EXPECT_EQ(events(crowded.out, "end")[0]["faults"], 2);
}

TEST_F(CliStream, TellsWhenTheErrorLeavesWhatItWas) {
  std::string rows = two_classes(4000, 0.05);
  const Finished steady = run(
      with({"stream", "--json", "--window", "200", "--truncate", "budget", "--budget", "100"}, rbf),
      rows);
  EXPECT_TRUE(events(steady.out, "drift").size() <= 1);  // the start is worse than what follows
  std::string other = two_classes(2000, 0.05, 8);
  for (std::size_t at = 0; at != std::string::npos; at = other.find('\n', at + 1)) {
    char& sign = other[at == 0 ? 0 : at + 1];
    if (at + 1 < other.size()) sign = sign == '+' ? '-' : '+';
  }
  const Finished drifting = run(
      with({"stream", "--json", "--window", "200", "--truncate", "budget", "--budget", "100"}, rbf),
      rows + other);
  bool told = false;
  for (const auto& notice : events(drifting.out, "drift")) {
    told = told || (notice["row"] > 4000 && notice["row"] <= 4400);
    EXPECT_EQ(notice["test"], "ADWIN cut");
    EXPECT_EQ(notice["level"], 0.01);
  }
  EXPECT_TRUE(told) << drifting.out;
}

TEST_F(CliStream, WhatIsFinishedWithAllRowsVerifies) {
  write("rows.svm", two_classes(300, 0.1));
  const Finished done =
      run(with({"stream", "rows.svm", "--finish", "--keep", "--quiet", "-o", "m"}, rbf));
  ASSERT_EQ(done.code, 0) << done.err;
  const Finished verified = run({"verify", "m", "rows.svm"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

TEST_F(CliStream, DualMachinesAreCertifiedAndForget) {
  const std::string rows = two_classes(300, 0.1);
  const Finished lasvm =
      run(with({"stream", "--lasvm", "--finish", "--json", "-o", "m"}, rbf), rows);
  ASSERT_EQ(lasvm.code, 0) << lasvm.err;
  EXPECT_LE(events(lasvm.out, "end")[0]["certificate"]["kkt"], 2e-3);
  EXPECT_LT(events(lasvm.out, "end")[0]["support_vectors"], 300);
  EXPECT_EQ(load(path("m")).machines[0].ended, Ended::converged);

  // A row that is forgotten leaves the machine of the others.
  const std::vector<std::string> exact =
      with({"stream", "--exact", "--window", "50", "--id", "comment", "--certificates", "--json",
            "--tolerance", "1e-6"},
           rbf);
  const auto dual = [&](const std::string& text) {
    const Finished done = run(exact, text);
    EXPECT_EQ(done.code, 0) << done.err;
    const auto certificate = events(done.out, "end")[0]["certificate"];
    EXPECT_LE(certificate["kkt"], 2e-6);
    return certificate["dual"].get<double>();
  };
  std::string all, others;
  std::istringstream lines(rows.substr(0, rows.find('\n', 1000) + 1));
  int number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    all += line + " # row" + std::to_string(number) + "\n";
    if (number != 3) others += line + " # row" + std::to_string(number) + "\n";
  }
  EXPECT_NEAR(dual(all + "!forget # row3\n"), dual(others), 1e-5);
}

TEST_F(CliStream, ARowWhoseLabelCameLateIsForgottenLikeAnyOther) {
  const std::vector<std::string> exact = with({"stream", "--exact", "--window", "3", "--id",
                                               "comment", "--delay", "3", "-p", "-", "--quiet"},
                                              rbf);
  const std::string two = "1 1:1 # a\n-1 1:-1 # b\n", late = two + "1:2 # c\n1 # c\n";
  const Finished done = run(exact, late + "!forget # c\n");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(done.out.ends_with("c learned\nc forgotten\n")) << done.out;
  // A late row is older than those after it: the window loses it first.
  const std::string full = two + "1:2 # c\n1 1:3 # d\n1 # c\n1 1:4 # e\n";
  EXPECT_EQ(run(exact, full + "!forget # d\n!forget # e\n").code, 0);
  EXPECT_EQ(run(exact, full + "1 1:5 # f\n!forget # c\n").code, 3);
}

TEST_F(CliStream, LateLabelsRepeatNoReportAndNoCheckpoint) {
  const Finished done = run({"stream", "--id", "comment", "--delay", "3", "--report-every", "4",
                             "--checkpoint", "state", "--every", "4", "--json"},
                            "1 1:1 # a\n-1 1:-1 # b\n1:2 # c\n1:3 # d\n1 # c\n1 # d\n");
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(events(done.out, "report").size(), 1u);
  EXPECT_EQ(events(done.out, "end")[0]["late_labels"], 2);
}

TEST_F(CliStream, ACheckpointThatCannotBeWrittenIsToldAndLearningGoesOn) {
  const Finished full =
      run(with({"stream", "--checkpoint", "/dev/full", "--every", "10", "-o", "m", "--quiet"}, rbf),
          two_classes(100, 0));
  EXPECT_EQ(full.code, 6);
  EXPECT_EQ(count_lines(full.err), 1u) << full.err;
  EXPECT_NE(full.err.find("no checkpoint"), std::string::npos);
  EXPECT_TRUE(exists("m"));
}

TEST_F(CliStream, RefusesWhatCannotBeResumed) {
  const std::string rows = two_classes(50, 0);
  ASSERT_EQ(run(with({"stream", "--checkpoint", "state", "--quiet"}, rbf), rows).code, 0);
  const auto refusal = [&](const std::vector<std::string>& options) {
    const Finished done =
        run(with({"stream", "--checkpoint", "state", "--resume", "--quiet"}, options), rows);
    EXPECT_NE(done.code, 0);
    EXPECT_EQ(count_lines(done.err), 1u) << done.err;
    return done.err;
  };
  EXPECT_NE(refusal({"--kernel", "rbf", "--gamma", "1"}).find("another machine"),
            std::string::npos);
  EXPECT_NE(refusal(with(rbf, {"--rule", "nu"})).find("another machine"), std::string::npos);
  EXPECT_NE(refusal(with(rbf, {"--window", "7"})).find("--window"), std::string::npos);
  const std::string state = text_of("state");
  write("state", state.substr(0, state.size() / 2));
  EXPECT_NE(refusal(rbf).find("damaged"), std::string::npos);
  write("state", "maxmargin stream 9\n");
  EXPECT_NE(refusal(rbf).find("version 9"), std::string::npos);
  std::filesystem::remove(path("state"));
  EXPECT_NE(refusal(rbf).find("cannot read"), std::string::npos);
}

TEST_F(CliStream, OptionsThatDoNotFitAreRefusedBeforeAnyRow) {
  const auto refused = [&](const std::vector<std::string>& options, const std::string& word) {
    const Finished done = run(with({"stream"}, options));
    EXPECT_EQ(done.code, 2) << done.err;
    EXPECT_NE(done.err.find(word), std::string::npos) << done.err;
  };
  refused({"--rule", "percepton"}, "perceptron");
  refused({"--kernel", "rbf"}, "--gamma");
  refused({"--nu", "0.1"}, "no effect");
  refused({"--rule", "nu", "--nu", "2"}, "nu");
  refused({"--truncate", "budget"}, "truncate");
  refused({"--finish"}, "keeps no rows");
  refused({"--finish", "--rule", "perceptron", "--kernel", "rbf", "--gamma", "1"}, "no risk");
  refused({"--lasvm", "--rule", "nu"}, "rule");
  refused({"--delay", "5"}, "--id");
  refused({"--follow"}, "file");
  refused({"--resume"}, "--checkpoint");
  refused({"--every", "5"}, "--checkpoint");
  refused({"--listen", "nowhere"}, "port");
  refused({"--report-every", "x3"}, "x2");
  refused({"--on-error", "ignore"}, "skip");
  refused({"--format", "idx"}, "text");
}

/// A client on loopback.
class Client {
 public:
  enum class Reads { much, little };
  explicit Client(int port, Reads reads = Reads::much) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int few = 4096;
    if (reads == Reads::little) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const timeval patience{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  /// What could be sent without waiting.
  std::size_t send_some(const std::string& text) const {
    const ssize_t sent = send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }
  void send_all(const std::string& text) const {
    EXPECT_EQ(send(socket_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  /// The next line; empty when the connection is closed.
  std::string line() {
    while (read_.find('\n') == std::string::npos) {
      char bytes[4096];
      const ssize_t got = recv(socket_, bytes, sizeof bytes, 0);
      if (got <= 0) return {};
      read_.append(bytes, static_cast<std::size_t>(got));
    }
    const std::string first = read_.substr(0, read_.find('\n'));
    read_.erase(0, first.size() + 1);
    return first;
  }

 private:
  int socket_;
  bool connected_;
  std::string read_;
};

TEST_F(CliStream, ServesConnectionsOnLoopback) {
  const Finished done = run({"stream", "--listen", "127.0.0.1:0", "--json", "--most-bytes", "1000",
                             "--connections", "3", "--checkpoint", "state", "-o", "m"},
                            {}, [&](pid_t child) {
                              int port = 0;
                              wait_for([&] {
                                const std::string out = text_of(".stdout");
                                const auto end = out.find("\"}");
                                if (end != std::string::npos)
                                  port = std::stoi(out.substr(out.rfind(':', end) + 1));
                                return port != 0;
                              });
                              ASSERT_NE(port, 0);
                              {
                                Client first(port), second(port);
                                ASSERT_TRUE(first.connected() && second.connected());
                                first.send_all("1 1:1\n");
                                EXPECT_EQ(first.line(), "?");
                                second.send_all("-1 1:-1\n");
                                EXPECT_EQ(second.line(), "1");
                                first.send_all("1:-5\n1:5\n1 1:x\n");
                                EXPECT_EQ(first.line(), "-1");
                                EXPECT_EQ(first.line(), "1");
                                EXPECT_TRUE(first.line().starts_with("error: "))
                                    << "and it goes on";
                                first.send_all("? 1:3\n");
                                EXPECT_EQ(first.line(), "1");
                              }
                              {
                                Client endless(port);
                                for (int k = 0; k < 50; ++k)
                                  endless.send_some(std::string(1000, '1'));
                                EXPECT_TRUE(endless.line().starts_with("error: "));
                                EXPECT_EQ(endless.line(), "") << "closed";
                              }
                              {
                                // Never reads: it is not listened to any more at some point, and
                                // nobody else suffers.
                                Client silent(port), other(port);
                                const std::string rows(20000, '1');
                                std::string many;
                                for (int k = 0; k < 10000; ++k) many += "1:1\n";
                                std::size_t sent = 0, idle = 0;
                                while (idle < 20 && sent < (std::size_t{64} << 20)) {
                                  const std::size_t now = silent.send_some(many);
                                  sent += now;
                                  idle = now == 0 ? idle + 1 : 0;
                                  if (now == 0)
                                    std::this_thread::sleep_for(std::chrono::milliseconds(10));
                                }
                                EXPECT_LT(sent, std::size_t{64} << 20);
                                other.send_all("1:5\n");
                                EXPECT_EQ(other.line(), "1");
                              }
                              kill(child, SIGTERM);
                            });
  EXPECT_EQ(done.code, 5) << done.err;
  EXPECT_TRUE(exists("m"));
  EXPECT_EQ(events(done.out, "end")[0]["learned"], 2);
}

}  // namespace
}  // namespace maxmargin::cli_test
