#include <algorithm>
#include <array>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/model/file/header_json.hpp"
#include "maxmargin/structured/tasks/process/process.hpp"

namespace maxmargin {
namespace {

constexpr std::uint64_t most_examples = std::uint64_t{1} << 31;
/// Numbers that descriptions may have in memory, 12 bytes each; then all are forgotten.
constexpr std::size_t most_known_numbers = std::size_t{1} << 24;

/// The line with null for numbers that JSON does not have, but Python and others write: so that it
/// can be said what they stand for.
std::string with_nulls(std::string_view line) {
  std::string text;
  bool in_word = false;
  for (std::size_t at = 0; at < line.size();) {
    const std::string_view rest = line.substr(at);
    if (line[at] == '"') in_word = !in_word;
    if (in_word && line[at] == '\\') text += line[at++];  // what follows ends no word
    std::size_t length = 0;
    for (const std::string_view name : {"NaN", "nan", "-Infinity", "Infinity", "-inf", "inf"})
      if (!in_word && length == 0 && rest.starts_with(name)) length = name.size();
    if (length > 0)
      text += "null";
    else if (at < line.size())
      text += line[at];
    at += std::max<std::size_t>(1, length);
  }
  return text;
}

/// An answer, and whose fault it is if it cannot be used.
class Answer {
 public:
  Answer(const ChildProcess& child, const std::string& line)
      : command_(child.command()), json_(Json::parse(line, nullptr, false)) {
    if (json_.is_discarded()) json_ = Json::parse(with_nulls(line), nullptr, false);
    if (json_.is_discarded() || !json_.is_object())
      refuse("sent " + shown(line) + ", which is no JSON object");
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Fault::data, "the oracle '" + command_ + "' " + what, "mend the oracle");
  }
  bool has(const char* key) const { return json_.contains(key); }
  const Json& member(const char* key) const {
    if (!has(key)) refuse("sent no \"" + std::string(key) + "\"");
    return json_[key];
  }
  const Json& list(const char* key, std::size_t size) const {
    const Json& found = member(key);
    if (!found.is_array() || found.size() != size)
      refuse("must send " + std::to_string(size) + " \"" + key + "\", in a list");
    return found;
  }
  std::uint64_t count(const char* key, std::uint64_t most) const {
    const Json& found = member(key);
    if (!found.is_number_unsigned() || found.get<std::uint64_t>() > most)
      refuse("sent \"" + std::string(key) + "\": " + shown(found.dump()) + ", which is no count");
    return found.get<std::uint64_t>();
  }
  std::string text(const Json& value) const {
    if (!value.is_string() || value.get_ref<const std::string&>().find('\n') != std::string::npos)
      refuse("sent " + shown(value.dump()) + " where a word belongs");
    return value.get<std::string>();
  }
  std::vector<std::string> words(const Json& values) const {
    if (!values.is_array()) refuse("sent " + shown(values.dump()) + " where words belong");
    std::vector<std::string> words;
    for (const Json& each : values) words.push_back(text(each));
    return words;
  }
  Structure structure(const Json& value, const std::string& example) const {
    if (!value.is_array() || value.empty())
      refuse("sent " + shown(value.dump()) + " for " + example +
             ": a structure is a list of whole "
             "numbers");
    Structure y;
    for (const Json& each : value) {
      if (!each.is_number_integer() || each.get<std::int64_t>() != each.get<std::int32_t>())
        refuse("sent " + shown(each.dump()) + " in a structure of " + example);
      y.push_back(each.get<std::int32_t>());
    }
    return y;
  }
  double finite(const Json& value, const std::string& what) const {
    if (value.is_null()) refuse("sent a number that is not finite as " + what);
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      refuse("sent " + shown(value.dump()) + " as " + what);
    return value.get<double>();
  }
  /// Pairs of a feature's number and its value.
  JointFeatures features(const Json& value, std::size_t dimensions,
                         const std::string& example) const {
    JointFeatures features;
    if (!value.is_array()) refuse("sent no list of features for " + example);
    for (const Json& pair : value) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned())
        refuse("sent " + shown(pair.dump()) + " for " + example +
               " where [feature, value] belongs");
      if (pair[0].get<std::uint64_t>() >= dimensions)
        refuse("sent feature " + pair[0].dump() + " for " + example + ", beyond the " +
               std::to_string(dimensions) + " dimensions");
      features.add(pair[0].get<std::size_t>(), finite(pair[1], "a feature of " + example));
    }
    return features;
  }

 private:
  std::string command_;
  Json json_;
};

constexpr std::array exactness_kinds{Exactness::exact, Exactness::relaxed, Exactness::heuristic};

Exactness exactness_of(const Answer& answer) {
  if (!answer.has("oracle")) return Exactness::exact;
  const std::string name = answer.text(answer.member("oracle"));
  for (const Exactness each : exactness_kinds)
    if (to_string(each) == name) return each;
  answer.refuse("calls itself " + shown(name) + ", not exact, relaxed or heuristic");
}

Json structures_json(std::span<const Structure> ys) {
  Json list = Json::array();
  for (const Structure& y : ys) list.push_back(y);
  return list;
}

std::string_view word_of(Ask ask) {
  return ask == Ask::best ? "best" : ask == Ask::margin ? "margin" : "slack";
}

}  // namespace

ProcessOracle::ProcessOracle(const ProcessOptions& options, const std::string& data,
                             const std::vector<std::string>* known) {
  Json hello{{"ask", "open"}, {"data", text_json(data)}};
  if (known != nullptr) hello["vocabulary"] = *known;
  for (std::size_t k = 0; k < options.copies; ++k) {
    copies_.push_back(std::make_unique<ChildProcess>(options.command, options.reply_seconds));
    copies_.back()->send(hello.dump());
  }
  std::string first;
  for (const auto& copy : copies_) {
    const std::string line = copy->receive();
    const Answer answer(*copy, line);
    if (copy != copies_.front()) {
      if (line != first) answer.refuse("describes itself in two ways when started twice");
      continue;
    }
    first = line;
    examples_ = answer.count("examples", most_examples);
    dimensions_ = answer.count("dimensions", UINT32_MAX);
    exactness_ = exactness_of(answer);
    if (answer.has("slack")) slack_ = answer.member("slack") == Json(true);
    if (answer.has("vocabulary")) vocabulary_ = answer.words(answer.member("vocabulary"));
    if (answer.has("names")) {
      answer.list("names", examples_);
      names_ = answer.words(answer.member("names"));
    }
    if (answer.has("truths"))
      for (const Json& each : answer.list("truths", examples_))
        truths_.push_back(answer.structure(each, example_name(truths_.size())));
  }
  known_.resize(examples_);
}

std::string ProcessOracle::example_name(std::size_t i) const {
  return i < names_.size() ? names_[i] : Oracle::example_name(i);
}

/// Who can tell is the program: where it refuses, training ends with its words.
bool ProcessOracle::is_structure(std::size_t, StructureView y) const { return !y.empty(); }

void ProcessOracle::describe(std::span<const std::size_t> examples,
                             std::span<const Structure> ys) const {
  std::vector<std::size_t> ids;
  std::vector<Structure> unknown;
  for (std::size_t k = 0; k < ys.size(); ++k)
    if (!known_[examples[k]].contains(ys[k])) {
      ids.push_back(examples[k]);
      unknown.push_back(ys[k]);
    }
  if (ids.empty()) return;
  ChildProcess& child = *copies_.front();
  child.send(
      Json{{"ask", "describe"}, {"ids", ids}, {"structures", structures_json(unknown)}}.dump());
  const Answer answer(child, child.receive());
  const Json& losses = answer.list("losses", ids.size());
  const Json& features = answer.list("features", ids.size());
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const std::string name = example_name(ids[k]);
    Described described;
    described.loss = answer.finite(losses[k], "a loss of " + name);
    if (described.loss < 0)
      answer.refuse("gives a structure of " + name + " a loss below 0, " + losses[k].dump());
    described.features = answer.features(features[k], dimensions_, name);
    known_numbers_ += unknown[k].size() + described.features.size();
    known_[ids[k]].insert_or_assign(std::move(unknown[k]), std::move(described));
  }
}

ProcessOracle::Described ProcessOracle::description(std::size_t i, StructureView y) const {
  const Structure key(y.begin(), y.end());
  const std::lock_guard lock(mutex_);
  if (known_numbers_ > most_known_numbers) {
    for (auto& each : known_) each.clear();
    known_numbers_ = 0;
  }
  describe(std::span(&i, 1), std::span(&key, 1));
  return known_[i].at(key);
}

double ProcessOracle::loss(std::size_t i, StructureView y) const { return description(i, y).loss; }

void ProcessOracle::features(std::size_t i, StructureView y, double scale,
                             JointFeatures& out) const {
  const JointFeatures found = description(i, y).features;
  for (std::size_t k = 0; k < found.size(); ++k) out.add(found.index[k], scale * found.value[k]);
}

Structure ProcessOracle::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  return most_violated(std::span(&i, 1), w, ask, Threads(1)).front();
}

std::vector<Structure> ProcessOracle::most_violated(std::span<const std::size_t> examples,
                                                    std::span<const double> w, Ask ask,
                                                    const Threads&) const {
  const std::lock_guard lock(mutex_);
  Json request{{"ask", word_of(ask)}, {"w", w}};
  const std::size_t each = (examples.size() + copies_.size() - 1) / copies_.size();
  const auto part = [&](std::size_t copy) {
    const std::size_t begin = std::min(examples.size(), copy * each);
    return examples.subspan(begin, std::min(each, examples.size() - begin));
  };
  for (std::size_t c = 0; c < copies_.size() && !part(c).empty(); ++c) {
    request["ids"] = part(c);
    copies_[c]->send(request.dump());
  }
  std::vector<Structure> found;
  for (std::size_t c = 0; c < copies_.size() && !part(c).empty(); ++c) {
    const Answer answer(*copies_[c], copies_[c]->receive());
    for (const Json& y : answer.list("structures", part(c).size()))
      found.push_back(answer.structure(y, example_name(examples[found.size()])));
  }
  if (ask != Ask::best) describe(examples, found);
  return found;
}

}  // namespace maxmargin
