#include <array>
#include <charconv>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/structured/tasks/alignment/alignment.hpp"
#include "maxmargin/structured/tasks/clustering/clustering.hpp"
#include "maxmargin/structured/tasks/collective/collective.hpp"
#include "maxmargin/structured/tasks/multiclass/multiclass.hpp"
#include "maxmargin/structured/tasks/multilabel/multilabel.hpp"
#include "maxmargin/structured/tasks/parse/parse.hpp"
#include "maxmargin/structured/tasks/plan/plan.hpp"
#include "maxmargin/structured/tasks/process/process.hpp"
#include "maxmargin/structured/tasks/ranking/ranking.hpp"
#include "maxmargin/structured/tasks/sample/sample.hpp"
#include "maxmargin/structured/tasks/sequence/sequence.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

std::span<const StructuredTask> structured_tasks() {
  static const std::array tasks{multiclass_structured_task(),
                                sequence_task(),
                                ranking_task(),
                                process_task(),
                                multilabel_task(),
                                alignment_task(),
                                clustering_task(),
                                collective_task(),
                                parse_task(),
                                plan_task(),
                                sample_task()};
  return tasks;
}

std::vector<double> StructuredData::scores(std::vector<double> w) const {
  if (w.size() != oracle().dimensions())
    throw Error(Fault::data,
                "the model has " + std::to_string(w.size()) + " weights, the task needs " +
                    std::to_string(oracle().dimensions()),
                "the model is damaged: train it again");
  return w;
}

MeanScores mean_scores(const Oracle& oracle, std::span<const std::size_t> examples,
                       std::span<const Structure> predicted) {
  double right = 0, loss = 0;
  for (std::size_t k = 0; k < examples.size(); ++k) {
    right += predicted[k] == oracle.truth(examples[k]) ? 1 : 0;
    loss += oracle.loss(examples[k], predicted[k]);
  }
  const auto n = static_cast<double>(examples.size());
  return {right / n, loss / n};
}

const StructuredTask* structured_task_named(std::string_view name) {
  for (const StructuredTask& task : structured_tasks())
    if (task.name == name) return &task;
  return nullptr;
}

Settings StructuredTask::settings(const std::map<std::string, std::string>& given) const {
  Settings settings;
  for (const TaskOption& option : options)
    settings.values.emplace(option.name, std::string(option.standard));
  for (const auto& [key, value] : given) {
    const auto found = settings.values.find(key);
    if (found == settings.values.end())
      throw Error(Fault::usage, "--" + key + " has no effect with task " + std::string(name),
                  "leave it out");
    found->second = value;
  }
  return settings;
}

std::map<std::string, std::string> StructuredTask::stored(const Settings& settings) const {
  std::map<std::string, std::string> stored;
  for (const TaskOption& option : options)
    if (option.stored == Stored::yes) stored.emplace(option.name, settings[option.name]);
  return stored;
}

const std::string& Settings::operator[](std::string_view name) const {
  static const std::string none;
  const auto found = values.find(std::string(name));
  return found == values.end() ? none : found->second;
}

namespace {

[[noreturn]] void refuse(std::string_view option, const std::string& text,
                         const std::string& mend) {
  throw Error(Fault::usage, "--" + std::string(option) + ": '" + text + "' is not allowed", mend);
}

}  // namespace

std::uint64_t Settings::count(std::string_view name, std::uint64_t low, std::uint64_t high) const {
  const std::string& text = (*this)[name];
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < low || value > high)
    refuse(name, text,
           "write a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return value;
}

double Settings::number(std::string_view name) const {
  const std::string& text = (*this)[name];
  const auto value = number_in(text);
  if (!value || !std::isfinite(*value)) refuse(name, text, "write a number");
  return *value;
}

bool Settings::yes(std::string_view name) const { return one_of(name, {"no", "yes"}) == 1; }

std::size_t Settings::one_of(std::string_view name,
                             std::initializer_list<std::string_view> choices) const {
  const std::string& text = (*this)[name];
  std::size_t position = 0;
  std::string list;
  for (const std::string_view choice : choices) {
    if (choice == text) return position;
    ++position;
    list += (list.empty() ? "" : ", ") + std::string(choice);
  }
  refuse(name, text, "choose one of " + list);
}

const std::vector<std::string>& words_of(const Vocabulary& vocabulary, const std::string& name) {
  const auto found = vocabulary.find(name);
  if (found == vocabulary.end())
    throw Error(Fault::data, "the model has no list '" + name + "'",
                "it is damaged or of another task: train it again");
  return found->second;
}

}  // namespace maxmargin
