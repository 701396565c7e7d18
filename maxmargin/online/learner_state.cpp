// The state of a learner as bytes, and back.
#include <algorithm>
#include <cmath>

#include "maxmargin/model/file/header_json.hpp"
#include "maxmargin/online/archive.hpp"
#include "maxmargin/online/learner.hpp"
#include "maxmargin/online/row_state.hpp"

namespace maxmargin {

template <HasNames E>
bool named(const std::string& name, E& value) {
  const auto found = value_named<E>(name);
  if (found) value = *found;
  return found.has_value();
}

namespace {

template <class List>
Json listed_json(const List& chosen) {
  return visit_list([](const auto& component) { return component_json(component); }, chosen);
}

/// The options as JSON, numbers with all their bits.
std::string options_text(const LearnerOptions& options) {
  Json object;
  object["rule"] = listed_json(options.rule);
  object["kernel"] = listed_json(options.kernel);
  object["truncation"] = listed_json(options.truncation);
  if (options.lambda) object["lambda"] = number_json(*options.lambda);
  if (options.rate) object["rate"] = std::string(to_string(*options.rate));
  object["eta"] = number_json(options.eta);
  if (options.t0 != 0) object["t0"] = number_json(options.t0);
  object["bias"] = options.bias;
  object["average"] = options.average;
  if (options.keep) object["keep"] = true;
  object["most_features"] = options.most_features;
  object["most_classes"] = options.most_classes;
  return object.dump();
}

LearnerOptions options_in(const std::string& text, const std::string& name) {
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) throw_damaged(name, "its options cannot be read");
  const CheckedJson taken(object, name);
  LearnerOptions options;
  options.rule = take_listed<Rule>(taken["rule"]);
  options.kernel = take_listed<Kernel>(taken["kernel"]);
  options.truncation = take_listed<Truncation>(taken["truncation"]);
  if (taken.has("lambda")) options.lambda = taken["lambda"].number();
  if (taken.has("rate")) {
    Rate rate{};
    if (!named(taken["rate"].text(), rate)) taken.refuse("unknown rate");
    options.rate = rate;
  }
  options.eta = taken["eta"].number();
  if (taken.has("t0")) options.t0 = taken["t0"].number();
  options.bias = taken["bias"].yes();
  options.average = taken["average"].yes();
  options.keep = taken.has("keep") && taken["keep"].yes();
  options.most_features = taken["most_features"].count();
  options.most_classes = taken["most_classes"].count();
  return options;
}

/// An array of which most may be zero, as the positions and values of the others.
template <class Archive>
void pass_sparse(Archive& archive, std::vector<double>& values, std::uint64_t most) {
  std::uint64_t size = values.size();
  std::vector<Index> position;
  std::vector<double> nonzeros;
  if constexpr (!Archive::reads)
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != 0 || std::signbit(values[i])) {
        position.push_back(static_cast<Index>(i));
        nonzeros.push_back(values[i]);
      }
  archive(size);
  archive(position);
  archive(nonzeros);
  if constexpr (Archive::reads) {
    archive.demand(size <= most && position.size() == nonzeros.size(), "counts do not agree");
    values.assign(static_cast<std::size_t>(size), 0.0);
    for (std::size_t k = 0; k < nonzeros.size(); ++k) {
      archive.demand(position[k] < size && std::isfinite(nonzeros[k]),
                     "a coefficient is not right");
      values[position[k]] = nonzeros[k];
    }
  }
}

template <class Archive>
void pass_expansion(Archive& archive, OnlineTerms& terms, std::size_t most_features) {
  pass_rows(archive, terms.expansion, most_features);
  archive(terms.birth);
  archive(terms.target);
  if constexpr (Archive::reads) {
    const std::size_t slots = terms.expansion.slots();
    archive.demand(terms.birth.size() == slots && terms.target.size() == slots,
                   "counts do not agree");
    for (const double target : terms.target)
      archive.demand(std::isfinite(target), "a label is not finite");
    terms.root_self.assign(slots, 0.0);
    for (std::size_t i = 0; i < slots; ++i)
      if (terms.expansion.used(i))
        terms.root_self[i] = std::sqrt(std::max(0.0, terms.expansion.self(i)));
  }
}

/// The rows that LearnerOptions::keep asks for, and their labels.
template <class Archive>
void pass_learned(Archive& archive, std::vector<Expansion::Slot>& rows,
                  std::vector<double>& targets, std::size_t most_features) {
  std::vector<SlotState> slots;
  if constexpr (!Archive::reads)
    for (const Expansion::Slot& row : rows) slots.push_back({row});
  archive(slots);
  archive(targets);
  if constexpr (Archive::reads) {
    archive.demand(slots.size() == targets.size(), "counts do not agree");
    for (SlotState& each : slots) {
      check_slot(archive, each.slot, most_features);
      rows.push_back(std::move(each.slot));
    }
  }
}

template <class Archive>
void pass_machine(Archive& archive, OnlineMachine& machine, std::uint64_t most) {
  for (double* number :
       {&machine.scale, &machine.bias, &machine.width, &machine.dropped, &machine.squared_norm,
        &machine.scale_sum, &machine.bias_sum, &machine.width_sum}) {
    archive(*number);
    if constexpr (Archive::reads) archive.demand(std::isfinite(*number), "a number is not finite");
  }
  if constexpr (Archive::reads) archive.demand(machine.scale > 0, "a scale is not above 0");
  pass_sparse(archive, machine.coefficient, most);
  pass_sparse(archive, machine.correction, most);
}

}  // namespace

template <class Archive>
void Learner::pass(Archive& archive) {
  archive(steps_);
  archive(updates_);
  std::uint64_t columns = columns_;
  archive(columns);
  for (double* number : {&largest_self_, &risk_sum_, &slope_sum_, &average_weight_}) {
    archive(*number);
    if constexpr (Archive::reads) archive.demand(std::isfinite(*number), "a number is not finite");
  }
  archive(classes_);
  std::uint64_t machines = terms_.machines.size();
  archive(machines);
  if (!linear_) pass_expansion(archive, terms_, options_.most_features);
  if (options_.keep) pass_learned(archive, learned_rows_, learned_targets_, options_.most_features);
  if constexpr (Archive::reads) {
    archive.demand(columns <= options_.most_features && classes_.size() <= options_.most_classes,
                   "it is larger than its options allow");
    columns_ = static_cast<std::size_t>(columns);
    const std::size_t expected = outcome_ != Outcome::classes ? 1
                                 : classes_.size() <= 2 ? std::min<std::size_t>(1, classes_.size())
                                                        : classes_.size();
    archive.demand(machines == expected, "machines and classes do not agree");
    if (outcome_ == Outcome::classes)
      for (std::size_t i = 0; i < terms_.target.size(); ++i)
        archive.demand(
            !terms_.expansion.used(i) ||
                (terms_.target[i] >= 0 && terms_.target[i] < static_cast<double>(classes_.size())),
            "a row is of a class that is not there");
    for (const double target : learned_targets_)
      archive.demand(
          std::isfinite(target) && (outcome_ != Outcome::classes ||
                                    (target >= 0 && target < static_cast<double>(classes_.size()))),
          "a stored row has a label that cannot be");
    terms_.machines.assign(expected, {});
  }
  const std::uint64_t most = linear_ ? options_.most_features : terms_.expansion.slots();
  for (OnlineMachine& machine : terms_.machines) pass_machine(archive, machine, most);
  if constexpr (Archive::reads) {
    std::vector<std::string> names = classes_;
    std::ranges::sort(names);
    archive.demand(std::ranges::adjacent_find(names) == names.end(), "a class is named twice");
    for (const OnlineMachine& machine : terms_.machines)
      archive.demand(
          (linear_ ? machine.coefficient.size() <= columns_
                   : machine.coefficient.size() == terms_.expansion.slots()) &&
              machine.correction.size() == (options_.average ? machine.coefficient.size() : 0),
          "counts do not agree");
  }
}

std::string Learner::state() const {
  StateWriter writer;
  writer(options_text(options_));
  const_cast<Learner*>(this)->pass(writer);
  return writer.take();
}

Learner Learner::from_state(std::span<const std::byte> bytes, const std::string& name) {
  StateReader reader(bytes, name);
  std::string text;
  reader(text);
  Learner learner = [&] {
    try {
      return Learner(options_in(text, name));
    } catch (const Error& error) {
      reader.damaged(error.what());
    }
  }();
  learner.pass(reader);
  reader.end();
  return learner;
}

void Learner::restore(std::span<const std::byte> bytes, const std::string& name) {
  StateReader reader(bytes, name);
  std::string text;
  reader(text);
  // Options are compared first: they bound the memory that the rest of a damaged state may take.
  if (text != options_text(options_))
    throw Error(Fault::usage, Place{name},
                "this checkpoint is of another machine: rule, kernel or another option differs",
                "repeat the options it was made with");
  Learner read(options_);
  read.pass(reader);
  reader.end();
  *this = std::move(read);
}

}  // namespace maxmargin
