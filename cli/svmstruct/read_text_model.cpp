#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "cli/svmstruct/text_model.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/tasks/text_lines.hpp"

namespace maxmargin::cli::svmstruct {
namespace {

constexpr std::size_t most_head_lines = 40;
// Numbers that a model may have without bytes of a file that justify them, and with each of these:
// most weights may be 0, which the file leaves out.
constexpr double numbers_for_nothing = 1 << 16, numbers_per_byte = 1024;

/// One of w, by SVMstruct's index.
struct Weight {
  std::uint64_t index;
  double value;
};

/// A whole number that fills the text.
std::optional<std::uint64_t> whole_in(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

class TextModelReader {
 public:
  TextModelReader(const std::string& path, std::string_view task)
      : lines_(path), file_(path), task_(task) {}

  StructuredModel read() {
    take_version();
    take_head();
    take_weights();
    StructuredModel model;
    model.task = task_;
    model.program = version_;
    model.solver = "another program";
    model.w_is_of_planes = false;
    if (task_ == "sequence")
      put_chain(model);
    else if (task_ == "multiclass-structured")
      put_classes(model);
    else
      put_features(model);
    return model;
  }

 private:
  [[noreturn]] void refuse(std::string_view word, const std::string& what,
                           const std::string& mend) const {
    Place place = lines_.place();
    place.column = 1 + static_cast<std::size_t>(word.data() - lines_.line().data());
    throw Error(Fault::data, place, what, mend);
  }
  bool next() {
    if (!lines_.next()) return false;
    bytes_ += lines_.line().size() + 1;
    return true;
  }

  void take_version() {
    const std::string_view wanted = task_ == "sequence"                ? "SVM-HMM Version"
                                    : task_ == "multiclass-structured" ? "SVM-multiclass Version"
                                                                       : "SVM-light Version";
    if (!next() || !lines_.line().starts_with(wanted))
      refuse(lines_.line(), "the file does not begin with '" + std::string(wanted) + "'",
             "give a model of the learner that belongs to this command");
    version_ = lines_.line();
  }

  /// Numbers by what stands behind them: versions differ in their order.
  void take_head() {
    for (std::size_t k = 0; k < most_head_lines && next(); ++k) {
      const std::string_view line = lines_.line();
      const std::size_t mark = line.find('#');
      if (mark == std::string_view::npos)
        refuse(line, shown(line) + " is no line of a model's head", "they are VALUE # what it is");
      const std::string_view name = trimmed(line.substr(mark + 1));
      if (name != "kernel parameter -u") take_number(name, trimmed(line.substr(0, mark)));
      if (name.starts_with("threshold b")) return check_head(line);
    }
    refuse(lines_.line(), "the head has no end", "it ends with a line '... # threshold b, ...'");
  }
  void take_number(std::string_view name, std::string_view text) {
    const auto value = number_in(text);
    if (!value || !std::isfinite(*value))
      refuse(text.empty() ? lines_.line() : text, shown(text) + " is no number",
             "the model is damaged");
    const std::string key(name.starts_with("threshold b") ? "threshold b" : name);
    if (!head_.emplace(key, std::string(text)).second)
      refuse(name, "a second '" + key + "'", "the model is damaged");
  }
  void check_head(std::string_view line) const {
    if (count(line, "kernel type", 0, 5) != 0)
      refuse(line, "this model has a kernel", "only linear ones are read: train it again");
  }

  /// A whole number of the head; `where` is part of the current line.
  std::uint64_t count(std::string_view where, const std::string& name, std::uint64_t least,
                      std::uint64_t most) const {
    const auto found = head_.find(name);
    if (found == head_.end())
      refuse(where, "the head has no '" + name + "'", "the model is damaged, or of another kind");
    const auto value = whole_in(found->second);
    if (!value || *value < least || *value > most)
      refuse(where, "the head's '" + name + "' is " + shown(found->second),
             "it is a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return *value;
  }

  void take_weights() {
    const std::uint64_t vectors =
        count(lines_.line(), "number of support vectors plus 1", 1, UINT32_MAX) - 1;
    const std::uint64_t highest = count(lines_.line(), "highest feature index", 0, UINT32_MAX);
    for (std::uint64_t k = 0; k < vectors; ++k) {
      if (!next())
        throw Error(Fault::data, lines_.place(),
                    "the model ends after " + std::to_string(k) + " of " + std::to_string(vectors) +
                        " support vectors",
                    "the file is cut off");
      take_vector(highest);
    }
    while (next())
      if (!trimmed(lines_.line()).empty())
        refuse(lines_.line(), "there are more lines than support vectors", "the model is damaged");
    // Equal ones in the order of the file, so that their sum has the same bits each time.
    std::ranges::stable_sort(weights_, {}, &Weight::index);
    std::size_t kept = 0;
    for (std::size_t k = 0; k < weights_.size(); ++k) {
      if (kept > 0 && weights_[kept - 1].index == weights_[k].index)
        weights_[kept - 1].value += weights_[k].value;
      else
        weights_[kept++] = weights_[k];
    }
    weights_.resize(kept);
    for (const Weight& weight : weights_)
      if (!std::isfinite(weight.value))
        throw Error(Fault::data, Place{file_},
                    "weight " + std::to_string(weight.index) + " is not finite",
                    "the model is damaged");
  }

  void take_vector(std::uint64_t highest) {
    std::string_view line = lines_.line();
    const std::size_t mark = line.find('#');
    if (mark == std::string_view::npos)
      refuse(line, "a support vector does not end with #", "the file is cut off");
    line = line.substr(0, mark);
    const auto words = TextLines::words_of_line(line);
    if (words.empty()) refuse(lines_.line(), "a support vector is missing", "the file is damaged");
    const auto alpha = number_in(words[0]);
    if (!alpha || !std::isfinite(*alpha))
      refuse(words[0], shown(words[0]) + " is no alpha", "a support vector begins with a number");
    std::uint64_t before = 0;
    for (const std::string_view word : std::span(words).subspan(1)) {
      const std::size_t colon = word.find(':');
      const std::string_view name = word.substr(0, colon);
      if (colon != std::string_view::npos && (name == "qid" || name == "sid" || name == "cost"))
        continue;
      const auto index = whole_in(name);
      const double value = colon == std::string_view::npos
                               ? infinity
                               : number_in(word.substr(colon + 1)).value_or(infinity);
      if (!index || *index == 0 || !std::isfinite(value))
        refuse(word, shown(word) + " is not index:value", "indices count from 1");
      if (*index <= before || *index > highest)
        refuse(word,
               *index > highest
                   ? "index " + std::string(name) + " is beyond the highest, " +
                         std::to_string(highest)
                   : "index " + std::string(name) + " comes after " + std::to_string(before),
               "the model is damaged");
      before = *index;
      if (value * *alpha != 0) weights_.push_back({*index, *alpha * value});
    }
  }

  /// Throws unless the file is large enough to justify so many numbers in memory.
  void justify(double count) const {
    if (count > static_cast<double>(bytes_) * numbers_per_byte + numbers_for_nothing)
      throw Error(Fault::data, Place{file_},
                  "a model of " + std::to_string(bytes_) + " bytes has " +
                      std::to_string(static_cast<std::uint64_t>(std::min(count, 1e18))) +
                      " weights",
                  "the model is damaged, or has few features with huge numbers");
  }
  std::vector<double> zeros(double count) const {
    justify(count);
    return std::vector<double>(static_cast<std::size_t>(count), 0.0);
  }

  /// Features as they are numbered; the threshold is a constant feature of svm_perf.
  void put_features(StructuredModel& model) const {
    const bool ranking = task_ == "ranking";
    const std::uint64_t columns = 1 + (weights_.empty() ? 0 : weights_.back().index);
    const double threshold = number_in(head_.at("threshold b")).value_or(0);
    if (ranking && threshold != 0)
      throw Error(Fault::data, Place{file_}, "the threshold of a ranking is not 0",
                  "this is a model of another program: svm_rank_learn writes 0");
    model.w = zeros(static_cast<double>(columns) + (ranking ? 0 : 1));
    for (const Weight& weight : weights_) model.w[weight.index] = weight.value;
    if (!ranking) model.w.back() = -threshold;
    model.vocabulary["columns"] = {std::to_string(columns)};
    model.settings = ranking ? std::map<std::string, std::string>{{"weight", "none"}}
                             : std::map<std::string, std::string>{{"loss", "error"}, {"bias", "1"}};
  }

  void put_classes(StructuredModel& model) const {
    const std::uint64_t classes = count(lines_.line(), "number of classes", 2, 2048);
    const std::uint64_t features = count(lines_.line(), "number of base features", 0, UINT32_MAX);
    justify(static_cast<double>(classes) * static_cast<double>(classes));  // the costs
    model.w = zeros(static_cast<double>(classes) * static_cast<double>(features));
    for (const Weight& weight : weights_) {
      if (weight.index > model.w.size()) refuse_index(weight.index);
      model.w[weight.index - 1] = weight.value;
    }
    std::vector<std::string> costs;
    for (std::uint64_t k = 0; k < classes * classes; ++k)
      costs.emplace_back(k % (classes + 1) == 0 ? "0" : "100");
    model.vocabulary = {
        {"classes", numbered(classes)}, {"columns", {std::to_string(features)}}, {"costs", costs}};
    model.settings = {{"bias", "0"}, {"wrong-cost", "100"}};
  }

  void put_chain(StructuredModel& model) const {
    const std::string_view here = lines_.line();
    const std::uint64_t K = count(here, "number of classes", 2, 1 << 20);
    const std::uint64_t F = count(here, "number of emission features", 0, UINT32_MAX);
    const std::uint64_t order = count(here, "HMM order of transitions", 1, 2);
    count(here, "HMM order of emissions", 0, 0);
    const double k = static_cast<double>(K);
    const double links = k * k + (order == 2 ? k * k * k : 0);
    justify(links);
    const std::uint64_t emissions = 1 + K + static_cast<std::uint64_t>(links);
    // Only features that have a weight become attributes.
    std::vector<std::uint64_t> features;
    for (const Weight& weight : weights_) {
      if (weight.index <= emissions + F) continue;
      if (weight.index > emissions + (K + 1) * F) refuse_index(weight.index);
      features.push_back((weight.index - emissions - 1) % F + 1);
    }
    std::ranges::sort(features);
    features.erase(std::unique(features.begin(), features.end()), features.end());
    model.w = zeros(static_cast<double>(features.size()) * k + links);
    const std::uint64_t first_pair = features.size() * K;
    for (const Weight& weight : weights_) {
      if (weight.index <= emissions) {
        if (weight.index > K && weight.index < emissions)
          model.w[first_pair + weight.index - K - 1] = weight.value;
        continue;
      }
      if (weight.index <= emissions + F) continue;  // of no tag
      const std::uint64_t at = weight.index - emissions - 1;
      const auto feature = std::ranges::lower_bound(features, at % F + 1) - features.begin();
      model.w[static_cast<std::size_t>(feature) * K + at / F - 1] = weight.value;
    }
    std::vector<std::string> attributes;
    for (const std::uint64_t feature : features) attributes.push_back(std::to_string(feature));
    model.vocabulary = {{"labels", numbered(K)},
                        {"attributes", attributes},
                        {"template", {}},
                        {"format", {"svmhmm"}}};
    model.settings = {{"format", "svmhmm"}, {"ends", "no"}, {"order", std::to_string(order)}};
  }

  [[noreturn]] void refuse_index(std::uint64_t index) const {
    throw Error(Fault::data, Place{file_},
                "index " + std::to_string(index) + " is beyond what classes and features allow",
                "the model is damaged");
  }
  static std::vector<std::string> numbered(std::uint64_t count) {
    std::vector<std::string> names;
    for (std::uint64_t k = 1; k <= count; ++k) names.push_back(std::to_string(k));
    return names;
  }

  TextLines lines_;
  std::string file_;
  std::string_view task_;
  std::string version_;
  std::uint64_t bytes_ = 0;
  std::map<std::string, std::string> head_;
  std::vector<Weight> weights_;
};

}  // namespace

bool is_text_model(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string start(23, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return std::ranges::any_of(std::array{"SVM-light Version", "SVM-HMM Version", "SVM-multiclass "},
                             [&](std::string_view each) { return start.starts_with(each); });
}

StructuredModel read_text_model(const std::string& path, std::string_view task) {
  return TextModelReader(path, task).read();
}

}  // namespace maxmargin::cli::svmstruct
