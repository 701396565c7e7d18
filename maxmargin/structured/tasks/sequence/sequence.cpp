#include "maxmargin/structured/tasks/sequence/sequence.hpp"

#include <array>

#include "maxmargin/base/error.hpp"
#include "maxmargin/structured/tasks/sequence/chain.hpp"
#include "maxmargin/structured/tasks/sequence/conlleval.hpp"
#include "maxmargin/structured/tasks/sequence/read_sequences.hpp"
#include "maxmargin/structured/tasks/text_lines.hpp"

namespace maxmargin {
namespace {

class SequenceData : public StructuredData {
 public:
  SequenceData(ReadSequences read, const ChainOptions& options)
      : read_(std::move(read)), oracle_(read_.examples, options), witness_(oracle_) {}

  const Oracle& oracle() const override { return oracle_; }
  const Oracle& witness() const override { return witness_; }
  Vocabulary vocabulary() const override {
    static constexpr std::array formats{"automatic", "conll", "crfsuite", "svmhmm"};
    return {{"labels", read_.labels},
            {"attributes", read_.attributes},
            {"template", read_.pattern},
            {"format", {formats[static_cast<std::size_t>(read_.format)]}}};
  }
  std::string contents() const override {
    const SequenceExamples& data = read_.examples;
    return std::to_string(data.size()) + " sequences of " + std::to_string(data.label.size()) +
           " tokens, " + std::to_string(data.labels) + " labels, " +
           std::to_string(data.attributes) + " attributes";
  }
  std::string unknown() const override { return read_.unknown; }
  void print(std::size_t example, StructureView y, std::span<const double>,
             std::string& out) const override {
    for (const std::int32_t label : y) out += read_.labels[static_cast<std::size_t>(label)] + "\n";
    // As many lines as the file has, where its format divides sequences by an empty one.
    if (read_.format != SequenceFormat::svmhmm && example + 1 < read_.examples.size()) out += "\n";
  }
  StructuredScores score(std::span<const std::size_t> examples,
                         std::span<const Structure> predicted,
                         std::span<const double>) const override {
    double tokens = 0, right = 0, whole = 0, loss = 0;
    ChunkScores chunks;
    for (std::size_t k = 0; k < examples.size(); ++k) {
      const Structure truth = oracle_.truth(examples[k]);
      std::size_t same = 0;
      for (std::size_t t = 0; t < truth.size(); ++t) same += truth[t] == predicted[k][t] ? 1 : 0;
      tokens += static_cast<double>(truth.size());
      right += static_cast<double>(same);
      whole += same == truth.size() ? 1 : 0;
      loss += oracle_.loss(examples[k], predicted[k]);
      count_chunks(names(truth), names(predicted[k]), chunks);
    }
    const double n = static_cast<double>(examples.size());
    StructuredScores scores{{"token_accuracy", right / tokens},
                            {"token_error", 1 - right / tokens},
                            {"sequence_error", 1 - whole / n},
                            {"mean_loss", loss / n}};
    if (are_chunks(read_.labels)) {
      scores.emplace_back("precision", chunks.precision());
      scores.emplace_back("recall", chunks.recall());
      scores.emplace_back("f1", chunks.f1());
    }
    return scores;
  }

 private:
  std::vector<const std::string*> names(const Structure& y) const {
    std::vector<const std::string*> list;
    for (const std::int32_t label : y)
      list.push_back(&read_.labels[static_cast<std::size_t>(label)]);
    return list;
  }

  ReadSequences read_;
  ChainOracle oracle_;
  ChainWitness witness_;
};

SequenceFormat format_named(const std::string& name) {
  if (name == "conll") return SequenceFormat::conll;
  if (name == "crfsuite") return SequenceFormat::crfsuite;
  return name == "svmhmm" ? SequenceFormat::svmhmm : SequenceFormat::automatic;
}

std::unique_ptr<StructuredData> read_sequence_data(const std::string& path,
                                                   const Settings& settings,
                                                   const Vocabulary* known, const Threads&) {
  SequenceReading reading;
  settings.one_of("format", {"auto", "conll", "crfsuite", "svmhmm"});
  reading.format = format_named(settings["format"]);
  reading.min_count = settings.count("min-count", 1, UINT32_MAX);
  reading.bio = settings.one_of("constraints", {"none", "bio"}) == 1;
  reading.pattern_file = settings["template"];
  ChainOptions options;
  options.order = static_cast<int>(settings.count("order", 1, 2));
  options.ends = settings.yes("ends");
  options.normalised = settings.one_of("loss", {"count", "share"}) == 1;
  ReadSequences words;
  if (known != nullptr) {
    words.labels = words_of(*known, "labels");
    words.attributes = words_of(*known, "attributes");
    reading.pattern = words_of(*known, "template");
    const auto& format = words_of(*known, "format");
    if (!format.empty()) reading.format = format_named(format[0]);
  } else if (!reading.pattern_file.empty()) {
    TextLines lines(reading.pattern_file);
    while (lines.next()) reading.pattern.emplace_back(lines.line());
  }
  ReadSequences read = read_sequences(path, reading, known != nullptr ? &words : nullptr);
  if (read.labels.size() < 2)
    throw Error(Fault::data, Place{path}, "there is only one label", "give data with several");
  const double L = static_cast<double>(read.labels.size());
  const double dimensions = static_cast<double>(read.attributes.size()) * L + L * L * L + 2 * L;
  if (dimensions > 4e9)
    throw Error(Fault::data, Place{path}, "attributes times labels are more than 4e9 weights",
                "leave out rare attributes with --min-count");
  return std::make_unique<SequenceData>(std::move(read), options);
}

constexpr std::array sequence_options{
    TaskOption{"format", "auto|conll|crfsuite|svmhmm", "auto", "how the file is written"},
    TaskOption{"template", "FILE", "",
               "attributes of columns, as CRF++ writes them; without: each column of the tokens at "
               "-2 to 2, and neighbouring pairs"},
    TaskOption{"min-count", "N", "1", "leave out attributes that occur less often"},
    TaskOption{"order", "1|2", "1", "how many labels before it a label depends on"},
    TaskOption{"constraints", "none|bio", "none", "bio: I-X stands only after B-X or I-X"},
    TaskOption{"ends", "yes|no", "yes", "weights for the first and the last label"},
    TaskOption{"loss", "count|share", "count", "wrong labels: their number, or their share"}};

}  // namespace

StructuredTask sequence_task() {
  return {"sequence", "labels of sequences: chunks, names, parts of speech, letters",
          sequence_options, read_sequence_data};
}

}  // namespace maxmargin
