#include <fmt/format.h>

#include <array>

#include "cli/svmstruct/commands.hpp"
#include "maxmargin/structured/tasks/multiclass/multiclass.hpp"
#include "maxmargin/structured/tasks/ranking/ranking.hpp"

namespace maxmargin::cli::svmstruct {
namespace {

using Settings = std::map<std::string, std::string>;

[[noreturn]] void refuse_loss(int loss, std::string_view known) {
  throw libsvm::Worded(fmt::format("ERROR: -l {}: choose one of {}", loss, known));
}

/// "Average loss" and "Zero/one-error" of these losses, as svm_struct_classify writes them.
std::string loss_lines(std::span<const double> losses) {
  double sum = 0;
  std::size_t wrong = 0;
  for (const double loss : losses) {
    sum += loss;
    wrong += loss != 0 ? 1 : 0;
  }
  const double n = static_cast<double>(losses.size());
  return fmt::format(
      "Average loss on test set: {:.4f}\n"
      "Zero/one-error on test set: {:.2f}% ({} correct, {} incorrect, {} total)\n",
      sum / n, 100 * static_cast<double>(wrong) / n, losses.size() - wrong, wrong, losses.size());
}

std::vector<double> oracle_losses(const Classified& result) {
  std::vector<double> losses;
  for (std::size_t i = 0; i < result.found.size(); ++i)
    losses.push_back(result.data.oracle().loss(i, result.found[i]));
  return losses;
}

std::string printed(const Classified& result) {
  std::string lines;
  for (std::size_t i = 0; i < result.found.size(); ++i)
    result.data.print(i, result.found[i], result.w, lines);
  return lines;
}

double score_named(const Classified& result, std::string_view name) {
  for (const auto& [key, value] : result.scores)
    if (key == name) return value;
  return 0;
}

// svm_hmm: C times the mean number of wrong tags.

double translate_hmm(const LearnOptions& options, Settings& settings) {
  if (options.loss > 1) refuse_loss(options.loss, "0 and 1, both the number of wrong tags");
  settings["format"] = "svmhmm";
  settings["ends"] = "no";
  if (options.order == 0)
    throw libsvm::Worded("ERROR: --t 0: write --t 1, or use svm_multiclass_learn");
  if (options.emissions != 0)
    throw libsvm::Worded(
        fmt::format("ERROR: --e {}: attributes depend on one tag; write those of neighbours into "
                    "each token's line, and --e 0",
                    options.emissions));
  settings["order"] = std::to_string(options.order);
  return options.c;
}

std::string summary_of_hmm(const Classified& result) {
  return loss_lines(oracle_losses(result)) +
         fmt::format("Average loss per token: {:.4f}\n", score_named(result, "token_error"));
}

// svm_rank: -l 1 counts swapped pairs, -l 2 their share in each query.

double translate_rank(const LearnOptions& options, Settings& settings) {
  if (options.loss != -1 && options.loss != 1 && options.loss != 2)
    refuse_loss(options.loss, "1 (swapped pairs) and 2 (their share)");
  settings["weight"] = options.loss == 2 ? "query" : "none";
  return options.c;
}

const RankingOracle& ranking_of(const StructuredData& data) {
  return dynamic_cast<const RankingOracle&>(data.oracle());
}

std::string properties_of_rank(const StructuredData& data) {
  const RankingExamples& queries = ranking_of(data).data();
  return fmt::format("Training set properties: {} features, {} rankings, {} examples\n",
                     data.oracle().dimensions(), queries.size(), queries.relevance.size());
}

std::string lines_of_rank(const Classified& result) {
  std::string lines;
  for (std::size_t i = 0; i < result.found.size(); ++i)
    for (const double score : ranking_of(result.data).scores(i, result.w))
      lines += fmt::format("{:.8f}\n", score);
  return lines;
}

std::string summary_of_rank(const Classified& result) {
  const RankingOracle& ranking = ranking_of(result.data);
  const RankingExamples& queries = ranking.data();
  double all_swapped = 0, shares = 0;
  std::vector<double> losses;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const std::vector<double> f = ranking.scores(i, result.w);
    const double* relevance = queries.relevance.data() + queries.query[i];
    double pairs = 0, swapped = 0;
    for (std::size_t a = 0; a < f.size(); ++a)
      for (std::size_t b = 0; b < f.size(); ++b) {
        if (relevance[a] <= relevance[b]) continue;
        ++pairs;
        swapped += f[a] <= f[b] ? 1 : 0;  // equal scores count as swapped
      }
    losses.push_back(pairs > 0 ? swapped / pairs : 0);
    all_swapped += swapped;
    shares += losses.back();
  }
  return loss_lines(losses) +
         fmt::format(
             "NOTE: The loss reported above is the fraction of swapped pairs averaged over\n"
             "      all rankings. The zero/one-error is fraction of perfectly correct\n"
             "      rankings!\n"
             "Total Num Swappedpairs  : {:6.0f}\n"
             "Avg Swappedpairs Percent: {:6.2f}\n",
             all_swapped, 100 * shares / static_cast<double>(queries.size()));
}

// svm_multiclass: a wrong class costs 100.

double translate_multiclass(const LearnOptions& options, Settings& settings) {
  if (options.loss > 1) refuse_loss(options.loss, "0 and 1, both 100 for a wrong class");
  settings["wrong-cost"] = "100";
  settings["bias"] = "0";
  return options.c;
}

std::string lines_of_multiclass(const Classified& result) {
  const Oracle& oracle = result.data.oracle();
  const std::size_t classes = words_of(result.model.vocabulary, "classes").size();
  std::string lines;
  JointFeatures features;
  for (std::size_t i = 0; i < result.found.size(); ++i) {
    std::string line;
    result.data.print(i, result.found[i], result.w, line);
    line.pop_back();
    for (std::size_t c = 0; c < classes; ++c) {
      const Structure y{static_cast<std::int32_t>(c)};
      features.clear();
      oracle.features(i, y, 1, features);
      line += fmt::format(" {:.6f}", features.dot(result.w));
    }
    lines += line + "\n";
  }
  return lines;
}

// svm_perf: losses in percent, so that C there is a hundredth of the sample's.

double translate_perf(const LearnOptions& options, Settings& settings) {
  const std::map<int, std::string> losses{{-1, "error"}, {0, "error"},     {1, "f1"},
                                          {2, "error"},  {3, "precision"}, {4, "precision"},
                                          {5, "recall"}, {10, "roc"}};
  const auto found = losses.find(options.loss);
  if (found == losses.end() || options.loss == 0)
    refuse_loss(options.loss,
                "1 (F1), 2 (error rate), 3 (PRBEP), 4 (Prec@k), 5 (Rec@k) and 10 (ROCArea)");
  settings["loss"] = found->second;
  settings["bias"] = fmt::format("{}", options.bias);
  if (options.loss == 4 || options.loss == 5) {
    const bool precision = options.loss == 4;
    const double share = options.share != 0 ? options.share : precision ? 0.5 : 2;
    if (!(share > 0) || (precision ? share > 1 : share < 1))
      throw libsvm::Worded(precision ? "ERROR: --p of Prec@k: write a number above 0, at most 1"
                                     : "ERROR: --p of Rec@k: write 1 or more");
    settings["k-share"] = fmt::format("{}", share);
  }
  return 100 * options.c;
}

/// The loss is the percentage of errors, the sample one structure.
std::string summary_of_perf(const Classified& result) {
  const std::array errors{100 * (1 - score_named(result, "accuracy"))};
  std::string text =
      loss_lines(errors) +
      "NOTE: The loss reported above is the percentage of errors. The zero/one-error\n"
      "      is the multivariate zero/one-error regarding the whole prediction vector!\n";
  for (const auto& [title, name] : {std::pair{"Accuracy", "accuracy"},
                                    {"Precision", "precision"},
                                    {"Recall", "recall"},
                                    {"F1", "f1"},
                                    {"PRBEP", "prbep"},
                                    {"ROCArea", "roc_area"},
                                    {"AvgPrec", "average_precision"}})
    text += fmt::format("{:<9}: {:5.2f}\n", title, 100 * score_named(result, name));
  return text;
}

std::string nothing_more(const StructuredData&) { return {}; }

}  // namespace

std::span<const Program> programs() {
  static const std::array list{
      Program{"hmm", "sequence", 0.1, false,
              "         --t 1|2     order of the dependencies between tags (default 1)\n"
              "         --e 0       order of those between tags and features\n"
              "         --b N       is read: no beam, the search is exact\n"
              "         -t 0|1|2    kernel of tokens: linear, polynomial, radial (default 0)\n"
              "         -d, -g, -s, -r  its parameters\n",
              translate_hmm, nothing_more, printed, summary_of_hmm},
      Program{"rank", "ranking", 0.001, false,
              "         -l 1|2      swapped pairs: their number, or share in each query "
              "(default 1)\n",
              translate_rank, properties_of_rank, lines_of_rank, summary_of_rank},
      Program{"multiclass", "multiclass-structured", 0.1, true, "", translate_multiclass,
              nothing_more, lines_of_multiclass,
              [](const Classified& result) { return loss_lines(oracle_losses(result)); }},
      Program{"perf", "sample", 0.1, false,
              "         -l N        1 F1, 2 error rate, 3 PRBEP, 4 Prec@k, 5 Rec@k, 10 ROCArea "
              "(default 2)\n"
              "         --b B       value of a constant feature, 0: none (default 1); also -b\n"
              "         --p S       k of Prec@k and Rec@k by the number of positive rows "
              "(default 0.5 and 2)\n",
              translate_perf, nothing_more, printed, summary_of_perf}};
  return list;
}

std::optional<int> run(std::string_view name, Arguments arguments) {
  for (const Program& program : programs()) {
    const std::string start = fmt::format("svm_{}_", program.name);
    if (!name.starts_with(start)) continue;
    const std::string_view verb = name.substr(start.size());
    if (verb == "learn") return libsvm::reporting([&] { return learn(program, arguments); });
    if (verb == "classify") return libsvm::reporting([&] { return classify(program, arguments); });
  }
  return std::nullopt;
}

}  // namespace maxmargin::cli::svmstruct
