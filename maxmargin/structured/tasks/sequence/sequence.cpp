#include "maxmargin/structured/tasks/sequence/sequence.hpp"

#include <array>

#include "maxmargin/base/error.hpp"
#include "maxmargin/structured/tasks/sequence/chain.hpp"
#include "maxmargin/structured/tasks/sequence/conlleval.hpp"
#include "maxmargin/structured/tasks/sequence/read_sequences.hpp"
#include "maxmargin/structured/tasks/sequence/token_kernel.hpp"
#include "maxmargin/structured/tasks/text_lines.hpp"

namespace maxmargin {
namespace {

/// Tokens and the kernel between them.
struct KernelTokens {
  KernelTokens(const Kernel& kernel, const SequenceExamples& examples, const Threads& threads)
      : rows(token_rows(examples)),
        metric(kernel, rows, examples.labels, TokenKernel::Values::engine, threads),
        plain(kernel, rows, examples.labels, TokenKernel::Values::plain, threads) {}

  Features rows;
  TokenKernel metric, plain;
  std::vector<std::string> known;  ///< those of the model
};

class SequenceData : public StructuredData {
 public:
  SequenceData(ReadSequences read, const ChainOptions& options,
               std::unique_ptr<KernelTokens> kernel)
      : read_(std::move(read)),
        kernel_(std::move(kernel)),
        oracle_(read_.examples, options, kernel_ ? &kernel_->metric : nullptr),
        witness_(oracle_, kernel_ ? &kernel_->plain : nullptr) {}

  const Oracle& oracle() const override { return oracle_; }
  const Oracle& witness() const override { return witness_; }
  Vocabulary vocabulary() const override {
    static constexpr std::array formats{"automatic", "conll", "crfsuite", "svmhmm"};
    Vocabulary words{{"labels", read_.labels},
                     {"attributes", read_.attributes},
                     {"template", read_.pattern},
                     {"format", {formats[static_cast<std::size_t>(read_.format)]}}};
    for (std::size_t t = 0; kernel_ && t < kernel_->rows.count(); ++t)
      words["tokens"].push_back(token_text(kernel_->rows, t));
    return words;
  }
  std::vector<double> scores(std::vector<double> w) const override {
    if (!kernel_) return StructuredData::scores(std::move(w));
    const std::size_t linear = oracle_.dimensions() - oracle_.first_pair();
    if (w.size() != kernel_->known.size() * read_.labels.size() + linear)
      throw Error(Fault::data, "the model's tokens are not those of its weights",
                  "the model is damaged: train it again");
    Features support = Features::sparse(kernel_->rows.columns());
    for (const std::string& token : kernel_->known) append_token(token, support);
    return kernel_->metric.scores(support, w);
  }
  std::string contents() const override {
    const SequenceExamples& data = read_.examples;
    return std::to_string(data.size()) + " sequences of " + std::to_string(data.label.size()) +
           " tokens, " + std::to_string(data.labels) + " labels, " +
           std::to_string(kernel_ ? kernel_->rows.columns() : data.attributes) + " attributes";
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
  std::unique_ptr<KernelTokens> kernel_;
  ChainOracle oracle_;
  ChainWitness witness_;
};

SequenceFormat format_named(const std::string& name) {
  if (name == "conll") return SequenceFormat::conll;
  if (name == "crfsuite") return SequenceFormat::crfsuite;
  return name == "svmhmm" ? SequenceFormat::svmhmm : SequenceFormat::automatic;
}

std::optional<Kernel> kernel_in(const Settings& settings) {
  const std::size_t which = settings.one_of("kernel", {"linear", "polynomial", "rbf"});
  if (which == 0) return std::nullopt;
  const double gamma = settings.number("gamma"), coef0 = settings.number("coef0");
  const int degree = static_cast<int>(settings.count("degree", 1, 100));
  if (!(gamma > 0) || coef0 < 0)
    throw Error(Fault::usage, "gamma must be above 0 and coef0 not below it",
                "choose other --gamma and --coef0");
  if (which == 2) return Rbf{gamma};
  return Polynomial{gamma, degree, coef0};
}

std::unique_ptr<StructuredData> read_sequence_data(const std::string& path,
                                                   const Settings& settings,
                                                   const Vocabulary* known,
                                                   const Threads& threads) {
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
  std::unique_ptr<KernelTokens> kernel;
  if (const auto chosen = kernel_in(settings)) {
    kernel = std::make_unique<KernelTokens>(*chosen, read.examples, threads);
    if (known != nullptr) kernel->known = words_of(*known, "tokens");
    read.examples = numbered_tokens(std::move(read.examples));
  }
  return std::make_unique<SequenceData>(std::move(read), options, std::move(kernel));
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
    TaskOption{"loss", "count|share", "count", "wrong labels: their number, or their share"},
    TaskOption{"kernel", "linear|polynomial|rbf", "linear",
               "of the attributes of two tokens; transitions stay linear"},
    TaskOption{"gamma", "G", "1", "factor of the product, or inverse squared width"},
    TaskOption{"degree", "D", "3", "of the polynomial kernel"},
    TaskOption{"coef0", "R", "1", "added to the product by the polynomial kernel"}};

}  // namespace

StructuredTask sequence_task() {
  return {"sequence", "labels of sequences: chunks, names, parts of speech, letters",
          sequence_options, read_sequence_data};
}

}  // namespace maxmargin
