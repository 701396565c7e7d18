#include "maxmargin/task/text.hpp"

#include <map>
#include <set>

namespace maxmargin {
namespace {

constexpr std::string_view class_weight = "class-weight ";

/// What every model ever had that has such a field.
bool is_needed(std::string_view field) {
  return field == "cost" || field == "nu" || field == "epsilon";
}

/// Reads a component from texts and notes the names that are about it.
class Reader {
 public:
  explicit Reader(const Texts& texts) : texts_(texts) {
    for (const auto& [name, text] : texts)
      if (!by_name_.emplace(name, &text).second) twice_.insert(name);
  }

  template <class Chosen>
  Chosen task() {
    Chosen task;
    for_each_field_within(task, [&](const auto& declared, auto& value) {
      const std::string* text = find(declared.name);
      if (text != nullptr)
        parse_field(declared.name, *text, declared.range, value);
      else if (is_needed(declared.name))
        refuse("there is no " + std::string(declared.name));
      if constexpr (is_list<std::remove_cvref_t<decltype(value)>>)
        for (const std::string_view idle : idle_fields(value)) known_.insert(idle);
    });
    if constexpr (requires { task.class_weights; })
      for (const auto& [name, text] : texts_)
        if (name.starts_with(class_weight)) {
          const std::string label = name.substr(class_weight.size());
          task.class_weights.emplace_back(label, parse_number(name, *find(name), positive));
        }
    validate(task);
    return task;
  }

  const std::string* find(std::string_view name) {
    known_.insert(name);
    if (twice_.contains(name)) refuse(std::string(name.substr(0, 40)) + " is stated twice");
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  Texts rest() const {
    Texts list;
    for (const auto& each : texts_)
      if (!known_.contains(each.first)) list.push_back(each);
    return list;
  }

 private:
  [[noreturn]] static void refuse(const std::string& why) { throw Error(Fault::data, why, ""); }

  const Texts& texts_;
  std::map<std::string_view, const std::string*> by_name_;
  std::set<std::string_view> twice_, known_;
};

}  // namespace

Texts texts_of(const Task& task) {
  Texts list{{"task", std::string(name_of(task))}};
  visit_list(
      [&](const auto& chosen) {
        add_field_texts(chosen, list);
        if constexpr (requires { chosen.own; })
          if (chosen.own) list.emplace_back(std::string(own_cost_name), chosen.own->label);
        if constexpr (requires { chosen.class_weights; })
          for (const auto& [label, factor] : chosen.class_weights)
            list.emplace_back(std::string(class_weight) + label, shortest(factor));
      },
      task);
  return list;
}

StatedTask task_stated_in(const Texts& texts) {
  StatedTask stated;
  try {
    Reader reader(texts);
    const std::string* name = reader.find("task");
    for_each_component<Task>([&]<class Chosen>(const Chosen&) {
      if (name != nullptr && *name == Chosen::name) stated.task = reader.template task<Chosen>();
    });
    if (stated.task)
      stated.rest = reader.rest();
    else
      stated.obstacle = name == nullptr ? "no task is named" : "the task is unknown";
  } catch (const Error& error) {
    stated.task.reset();
    stated.obstacle = error.what();
  }
  if (!stated.task) stated.rest = texts;
  return stated;
}

}  // namespace maxmargin
