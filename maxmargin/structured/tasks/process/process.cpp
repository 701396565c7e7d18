#include "maxmargin/structured/tasks/process/process.hpp"

#include <algorithm>
#include <array>

#include "maxmargin/base/error.hpp"

namespace maxmargin {
namespace {

class ProcessData : public StructuredData {
 public:
  ProcessData(const ProcessOptions& options, const std::string& second, const std::string& path,
              const std::vector<std::string>* known)
      : oracle_(options, path, known),
        first_(options),
        second_(second),
        path_(path),
        known_(known != nullptr ? *known : oracle_.vocabulary()) {}

  const Oracle& oracle() const override { return oracle_; }
  /// Started when it is needed.
  const Oracle& witness() const override {
    if (!witness_) {
      ProcessOptions options = first_;
      if (!second_.empty()) options.command = second_;
      witness_ = std::make_unique<ProcessOracle>(options, path_, &known_);
      if (witness_->examples() != oracle_.examples() ||
          witness_->dimensions() != oracle_.dimensions())
        throw Error(Fault::data, "the second oracle has other examples or dimensions",
                    "give one for the same problem");
    }
    return *witness_;
  }
  std::string_view witness_name() const override {
    return second_.empty() ? "the same oracle, started again" : "the second oracle";
  }
  Vocabulary vocabulary() const override { return {{"vocabulary", known_}}; }
  std::string contents() const override {
    return std::to_string(oracle_.examples()) + " examples of another program, " +
           std::to_string(oracle_.dimensions()) + " dimensions";
  }
  bool labelled() const override { return oracle_.labelled(); }
  std::string unknown() const override {
    return labelled() ? "" : path_ + ": the oracle does not send the right structures";
  }
  void print(std::size_t, StructureView y, std::span<const double>,
             std::string& out) const override {
    for (std::size_t k = 0; k < y.size(); ++k) out += (k > 0 ? " " : "") + std::to_string(y[k]);
    out += "\n";
  }
  StructuredScores score(std::span<const std::size_t> examples,
                         std::span<const Structure> predicted,
                         std::span<const double>) const override {
    const MeanScores mean = mean_scores(oracle_, examples, predicted);
    return {{"mean_loss", mean.loss}, {"accuracy", mean.right}};
  }

 private:
  ProcessOracle oracle_;
  ProcessOptions first_;
  std::string second_, path_;
  std::vector<std::string> known_;
  mutable std::unique_ptr<ProcessOracle> witness_;
};

std::unique_ptr<StructuredData> read_process(const std::string& path, const Settings& settings,
                                             const Vocabulary* known, const Threads& threads) {
  ProcessOptions options;
  options.command = settings["oracle"];
  options.reply_seconds = settings.number("reply-limit");
  options.copies = static_cast<std::size_t>(threads.count());
  if (options.command.empty())
    throw Error(Fault::usage, "task process needs the command of an oracle",
                "add for example --oracle 'python3 oracle.py'");
  if (!(options.reply_seconds > 0) || options.reply_seconds > 1e6)
    throw Error(Fault::usage, "--reply-limit: a number of seconds above 0", "write for example 60");
  return std::make_unique<ProcessData>(
      options, settings["second-oracle"], path,
      known != nullptr ? &words_of(*known, "vocabulary") : nullptr);
}

// A model never says what is to be run: whoever uses it does.
constexpr std::array process_options{
    TaskOption{"oracle", "COMMAND", "", "what a shell starts as the oracle", Stored::no},
    TaskOption{"second-oracle", "COMMAND", "",
               "for verify: an oracle of the same problem that is written another way", Stored::no},
    TaskOption{"reply-limit", "SECONDS", "60", "how long to wait for an answer", Stored::no}};

}  // namespace

StructuredTask process_task() {
  return {"process", "an oracle of your own in another program, in lines of JSON", process_options,
          read_process};
}

}  // namespace maxmargin
