#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/stream/input.hpp"
#include "cli/stream/listen.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/help.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/online/checkpoint.hpp"
#include "maxmargin/train/stream/finish.hpp"

namespace maxmargin::cli {
namespace streaming {
namespace {

/// Where the lines of --predictions go. Lines are kept until flush() or until there are many.
class Predictions {
 public:
  /// A file is written from `bytes` on: what an earlier run wrote behind its checkpoint goes.
  Predictions(const std::string& path, std::uint64_t bytes) : path_(path), bytes_(bytes) {
    if (path.empty() || path == "-") return;
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0 || (ftruncate(file_, static_cast<off_t>(bytes)) != 0 && errno != EINVAL) ||
        (lseek(file_, 0, SEEK_END) < 0 && errno != ESPIPE))
      fail();
  }
  ~Predictions() {
    if (file_ >= 0) close(file_);
  }
  Predictions(const Predictions&) = delete;
  Predictions& operator=(const Predictions&) = delete;

  bool wanted() const { return !path_.empty(); }
  void write(std::string_view line) {
    constexpr std::size_t many = std::size_t{1} << 16;
    lines_ += line;
    if (lines_.size() >= many) flush();
  }
  void flush() {
    std::string_view rest = lines_;
    if (path_ == "-") {
      if (!rest.empty()) print(rest);
    } else {
      while (!rest.empty()) {
        const ssize_t done = ::write(file_, rest.data(), rest.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) fail();
        rest.remove_prefix(static_cast<std::size_t>(done));
      }
    }
    bytes_ += lines_.size();
    lines_.clear();
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  [[noreturn]] void fail() const {
    throw Error(Fault::io, Place{path_}, fmt::format("cannot write: {}", std::strerror(errno)),
                "choose another --predictions");
  }

  std::string path_;
  std::uint64_t bytes_;
  std::string lines_;
  int file_ = -1;
};

/// One run of the verb.
class StreamRun {
 public:
  explicit StreamRun(const StreamArguments& arguments)
      : arguments_(arguments),
        session_(arguments),
        reports_(arguments.json, arguments.quiet,
                 arguments.predictions == "-" ? Reports::To::standard_error
                                              : Reports::To::standard_output) {
    if (arguments.resume)
      session_.restore(load_checkpoint(arguments.checkpoint), arguments.checkpoint);
    predictions_.emplace(arguments.predictions, session_.predictions_bytes);
    session_.reports = &reports_;
    session_.on_checkpoint = [this] { save_state(); };
  }

  /// The signal that ended a run which had nothing to keep; 0 where there is none.
  int unheeded_signal() const {
    return session_.rows() == 0 && arguments_.checkpoint.empty() ? stop_.signal() : 0;
  }

  int run() {
    try {
      if (arguments_.is_listening())
        listen();
      else
        read();
    } catch (const Halted& halted) {
      end();
      throw halted.error;
    }
    return end();
  }

 private:
  void listen() {
    serve(
        arguments_, session_, stop_,
        [this](const std::string& address) {
          reports_.say({{"event", "listening"}, {"address", address}},
                       fmt::format("listening at {}\n", address));
        },
        [this] { save_if_late(); });
  }

  void read() {
    const bool same =
        arguments_.resume && session_.input == arguments_.input && arguments_.input != "-";
    if (!same) session_.line = 1;
    if (!same) session_.offset = 0;
    session_.input = arguments_.input;
    Feed feed(arguments_.input == "-" ? "standard input" : arguments_.input, arguments_.feed());
    if (same) feed.start_at(head_of(arguments_.input), session_.line, session_.offset);
    const auto input = arguments_.input == "-"
                           ? standard_input()
                           : file_input(arguments_.input, session_.offset,
                                        arguments_.follow ? AtEnd::follow : AtEnd::stop);
    std::string chunk;
    while (!stop_.made()) {
      const Input::Got got = input->read(chunk);
      if (got == Input::Got::pause) predictions_->flush();
      if (got == Input::Got::bytes) feed.append(chunk);
      if (got == Input::Got::end) feed.finish();
      drain(feed);
      save_if_late();
      if (got == Input::Got::end) break;
    }
  }

  void drain(Feed& feed) {
    const Answer answer = predictions_->wanted()
                              ? Answer([this](std::string_view line) { predictions_->write(line); })
                              : Answer();
    std::function<void(const Error&)> complain;
    if (arguments_.on_error == OnError::skip)
      complain = [](const Error& error) { warn(fmt::format("{} (skipped)", error.what())); };
    // Few rows at a time where a row may take long, so that a signal need not wait.
    const std::size_t lines = session_.learner().terms() > 0 ? 256 : 4096;
    FeedBatch batch;
    while (!stop_.made() && feed.next(batch, lines)) session_.take(batch, feed, answer, complain);
  }

  void save_if_late() {
    if (session_.is_checkpoint_late()) save_state();
  }

  /// A failure to write is reported, and learning goes on: the last complete checkpoint remains.
  void save_state() {
    session_.checkpoint_made();
    if (arguments_.checkpoint.empty()) return;
    try {
      predictions_->flush();
      session_.predictions_bytes = predictions_->bytes();
      save_checkpoint(arguments_.checkpoint, session_.state());
      failed_ = false;
    } catch (const Error& error) {
      if (!failed_) warn(fmt::format("no checkpoint: {}; the last one stays", error.what()));
      failed_ = true;
    }
  }

  int end() {
    save_state();
    predictions_->flush();
    const bool empty = session_.rows() == 0;
    // Behind the checkpoint, which goes on where the stream was.
    if (arguments_.finish && !empty && !stop_.made()) return end_at_optimum();
    if (!arguments_.model.empty() && !empty) save(session_.model(), arguments_.model);
    reports_.finish(session_.snapshot(), empty ? "" : arguments_.model);
    if (failed_) return exit_io;
    if (empty && !arguments_.model.empty() && !stop_.made())
      throw Error(Fault::data,
                  Place{arguments_.is_listening() ? arguments_.listen
                        : arguments_.input == "-" ? "standard input"
                                                  : arguments_.input},
                  "no row came, so there is no model to write",
                  "check that this is the right input");
    return stop_.made() ? exit_stopped : exit_ok;
  }

  int end_at_optimum() {
    if (session_.learner().finish()) {
      if (!arguments_.model.empty()) save(session_.model(), arguments_.model);
      reports_.finish(session_.snapshot(), arguments_.model);
      return failed_ ? exit_io : exit_ok;
    }
    // If the batch problem cannot be solved, the model of the stream is saved.
    if (!arguments_.model.empty()) save(session_.model(), arguments_.model);
    const Trained trained =
        finish(dynamic_cast<const Learner&>(session_.learner()), session_.rows(), Threads());
    if (!arguments_.model.empty()) save(trained.model, arguments_.model);
    Snapshot last = session_.snapshot();
    last.certificate = trained.certificate;
    last.terms = trained.model.support_row.size();
    reports_.finish(last, arguments_.model);
    return failed_ ? exit_io : exit_code(trained.ended);
  }

  const StreamArguments& arguments_;
  const StopRequest stop_;
  Session session_;
  Reports reports_;
  std::optional<Predictions> predictions_;
  bool failed_ = false;
};

}  // namespace
}  // namespace streaming

Verb add_stream(CLI::App& program) {
  CLI::App* app = program.add_subcommand("stream", "learn from rows as they come");
  app->set_help_flag("-h,--help", "show this help");
  auto arguments = std::make_shared<streaming::StreamArguments>();
  arguments->add_to(*app);
  app->footer(
      examples(
          {"zcat clicks.svm.gz | maxmargin stream -o clicks.model",
           "maxmargin stream sensor.csv --rule novelty --kernel rbf --gamma 0.1 --follow -p -",
           "maxmargin stream a9a.svm --kernel rbf --gamma 0.05 --truncate budget --budget 1000",
           "maxmargin stream big.svm --checkpoint big.state --every 5m --resume -o big.model",
           "maxmargin stream --listen 127.0.0.1:7000 --checkpoint served.state --every 1000"}) +
      "\n" + exit_code_help);
  return {app, [arguments] {
            arguments->check();
            int code = 0, signal = 0;
            {
              streaming::StreamRun run(*arguments);
              code = run.run();
              signal = run.unheeded_signal();
            }
            if (signal != 0) std::raise(signal);  // with nothing learned, as signals end a program
            return code;
          }};
}

}  // namespace maxmargin::cli
