#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/svmstruct/text_model.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin::cli::svmstruct {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Fault::data, what, "keep maxmargin's own model file");
}

std::string setting(const StructuredModel& model, const std::string& name,
                    const std::string& standard) {
  const auto found = model.settings.find(name);
  return found == model.settings.end() ? standard : found->second;
}

/// Names of labels or features as numbers from 1.
std::vector<std::uint64_t> numbers_of(const std::vector<std::string>& words, const char* what) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& word : words) {
    std::uint32_t number = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (code != std::errc{} || end != word.data() + word.size() || number == 0)
      refuse(fmt::format("SVMstruct's model files number {} from 1, and this one is called {}",
                         what, shown(word)));
    numbers.push_back(number);
  }
  return numbers;
}

/// The same of labels, of which SVMstruct knows all up to the largest.
std::vector<std::uint64_t> label_numbers(const std::vector<std::string>& words, const char* what) {
  const auto numbers = numbers_of(words, what);
  for (std::uint64_t k = 1; k <= numbers.size(); ++k)
    if (std::ranges::find(numbers, k) == numbers.end())
      refuse(fmt::format("SVMstruct's model files number {} from 1 without gaps, and {} is missing",
                         what, k));
  return numbers;
}

/// w by SVMstruct's indices.
struct TextWeights {
  std::vector<std::pair<std::uint64_t, double>> list;
  std::uint64_t highest = 0;

  void add(std::uint64_t index, double value) {
    if (value != 0) list.emplace_back(index, value);
  }
  /// All in one support vector with alpha 1, in increasing order.
  std::string line(std::string_view between) {
    std::ranges::sort(list);
    std::string text = "1 " + std::string(between);
    for (const auto& [index, value] : list) text += fmt::format("{}:{} ", index, value);
    return text + "#\n";
  }
};

constexpr std::string_view kernel_lines =
    "0 # kernel type\n"
    "3 # kernel parameter -d \n"
    "1 # kernel parameter -g \n"
    "1 # kernel parameter -s \n"
    "1 # kernel parameter -r \n"
    "empty# kernel parameter -u \n";

std::string last_lines(double threshold) {
  return fmt::format(
      "2 # number of support vectors plus 1 \n"
      "{} # threshold b, each following line is a SV (starting with alpha*y)\n",
      threshold == 0 ? 0 : threshold);
}

/// svm_rank's and svm_perf's, whose constant feature becomes the threshold.
std::string features_text(const StructuredModel& model) {
  TextWeights weights;
  const auto columns = number_in(words_of(model.vocabulary, "columns").at(0));
  const std::size_t features =
      std::min(static_cast<std::size_t>(columns.value_or(0)), model.w.size());
  if (features > 0 && model.w[0] != 0) refuse("SVMstruct's model files have no feature 0");
  for (std::size_t j = 1; j < features; ++j) weights.add(j, model.w[j]);
  const double bias = number_in(setting(model, "bias", "1")).value_or(1);
  const double threshold = model.w.size() > features ? -bias * model.w.back() : 0;
  return fmt::format(
             "SVM-light Version V6.20\n{}{} # highest feature index \n"
             "{} # number of training documents \n",
             kernel_lines, features == 0 ? 0 : features - 1, model.planes.size()) +
         last_lines(threshold) + weights.line("");
}

std::string classes_text(const StructuredModel& model) {
  if (number_in(setting(model, "bias", "1")).value_or(1) != 0)
    refuse("SVMmulticlass has no constant feature, this model has one (train with --bias 0)");
  const auto classes = label_numbers(words_of(model.vocabulary, "classes"), "classes");
  const std::uint64_t K = classes.size(), F = model.w.size() / classes.size();
  TextWeights weights;
  for (std::size_t c = 0; c < classes.size(); ++c)
    for (std::uint64_t f = 0; f < F; ++f)
      weights.add((classes[c] - 1) * F + f + 1, model.w[c * F + f]);
  return fmt::format(
             "SVM-multiclass Version V2.20\n{} # number of classes\n"
             "{} # number of base features\n0 # loss function\n{}"
             "{} # highest feature index \n{} # number of training documents \n",
             K, F, kernel_lines, K * F, model.planes.size()) +
         last_lines(0) + weights.line("qid:0 ");
}

std::string chain_text(const StructuredModel& model) {
  if (setting(model, "kernel", "linear") != "linear")
    refuse("a kernel's tokens have no place in SVMstruct's model files");
  if (setting(model, "ends", "yes") != "no" || setting(model, "constraints", "none") != "none")
    refuse("SVMhmm knows neither weights of ends nor constraints (train with --ends no)");
  const auto labels = label_numbers(words_of(model.vocabulary, "labels"), "tags");
  const auto features = numbers_of(words_of(model.vocabulary, "attributes"), "features");
  const std::uint64_t K = labels.size(), L = K,
                      F = features.empty() ? 0 : std::ranges::max(features);
  const bool triples = setting(model, "order", "1") == "2";
  const std::uint64_t emissions = 1 + K + K * K + (triples ? K * K * K : 0);
  TextWeights weights;
  for (std::size_t a = 0; a < features.size(); ++a)
    for (std::size_t l = 0; l < L; ++l)
      weights.add(emissions + labels[l] * F + features[a], model.w[a * L + l]);
  const std::size_t first_pair = features.size() * L, first_triple = first_pair + L * L;
  for (std::size_t a = 0; a < L; ++a)
    for (std::size_t b = 0; b < L; ++b) {
      weights.add(labels[a] * K + labels[b], model.w[first_pair + a * L + b]);
      for (std::size_t c = 0; triples && c < L; ++c)
        weights.add((labels[a] * K + labels[b]) * K + labels[c],
                    model.w[first_triple + (a * L + b) * L + c]);
    }
  return fmt::format(
             "SVM-HMM Version V3.10\n{}{} # highest feature index \n"
             "{} # number of emission features \n{} # number of classes \n"
             "{} # HMM order of transitions \n0 # HMM order of emissions \n1 # loss function \n",
             kernel_lines, emissions + (K + 1) * F, F, K, triples ? 2 : 1) +
         last_lines(0) + weights.line("");
}

}  // namespace

std::string text_model(const StructuredModel& model) {
  if (model.task == "ranking" || model.task == "sample") return features_text(model);
  if (model.task == "multiclass-structured") return classes_text(model);
  if (model.task == "sequence") return chain_text(model);
  refuse(fmt::format("SVMstruct has no model files for task '{}'", model.task));
}

void save_text_model(const StructuredModel& model, const std::string& path) {
  const std::string text = text_model(model);
  WholeFile file(path);
  file.write(std::as_bytes(std::span(text.data(), text.size())));
  file.commit();
}

}  // namespace maxmargin::cli::svmstruct
