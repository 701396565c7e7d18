#include "maxmargin/train/formulate/subproblem_list.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace maxmargin {
namespace {

std::size_t number_of_rows(const SubproblemList::Members& members) {
  std::size_t rows = 0;
  for (const auto& each : members) rows += each.size();
  return rows;
}

const std::vector<Example>& rows_of(const SubproblemList::Members& members, int number) {
  return members[static_cast<std::size_t>(number)];
}

/// In the order of the data: the same problem whatever the classes are called.
std::vector<Example> examples_of(const SubproblemList::Members& members, std::size_t rows,
                                 const Sides& sides) {
  std::vector<Example> examples;
  const auto earlier = [](const Example& x, const Example& y) { return x.row < y.row; };
  const auto add = [&](std::size_t number) {
    const double target = static_cast<int>(number) == sides.positive ? 1.0 : -1.0;
    for (Example example : members[number]) {
      example.target = target;
      examples.push_back(example);
    }
  };
  if (sides.negative == Sides::nobody) {
    examples.reserve(rows);
    for (std::size_t k = 0; k < members.size(); ++k) add(k);
    std::sort(examples.begin(), examples.end(), earlier);
    return examples;
  }
  // Of thousands of classes, a pair looks at its own two only.
  const auto [less, more] = std::minmax(sides.positive, sides.negative);
  examples.reserve(rows_of(members, less).size() + rows_of(members, more).size());
  add(static_cast<std::size_t>(less));
  const auto second = static_cast<std::ptrdiff_t>(examples.size());
  add(static_cast<std::size_t>(more));
  constexpr std::size_t worth_merging = 16;  // which takes memory
  if (examples.size() > worth_merging)
    std::inplace_merge(examples.begin(), examples.begin() + second, examples.end(), earlier);
  else
    std::sort(examples.begin(), examples.end(), earlier);
  return examples;
}

}  // namespace

SubproblemList::SubproblemList(Members members, std::vector<Sides> sides, Subproblem like)
    : sides_(std::make_shared<const std::vector<Sides>>(std::move(sides))),
      members_(std::make_shared<const Members>(std::move(members))),
      rows_(number_of_rows(*members_)),
      like_(std::move(like)) {
  if (sides_->size() > most_kept) return;
  for (std::size_t k = 0; k < sides_->size(); ++k) kept_.push_back(stated(k));
  sides_ = nullptr;
  members_ = nullptr;
}

void SubproblemList::push_back(Subproblem problem) { kept_.push_back(std::move(problem)); }

Subproblem SubproblemList::stated(std::size_t k) const {
  Subproblem problem = like_;
  static_cast<Sides&>(problem) = (*sides_)[k];
  problem.examples.own() = examples_of(*members_, rows_, problem);
  if (starts_) problem.start = (*starts_)[k];
  return problem;
}

std::size_t SubproblemList::examples(std::size_t k) const {
  if (!sides_) return kept_[k].examples.size();
  const Sides& sides = (*sides_)[k];
  if (sides.negative == Sides::nobody) return rows_;
  return rows_of(*members_, sides.positive).size() + rows_of(*members_, sides.negative).size();
}

std::vector<double> SubproblemList::costs_of_classes() const {
  assert(sides_);
  std::vector<double> costs;
  for (const auto& members : *members_) {
    double sum = 0;
    for (const Example& example : members) sum += example.cost;
    costs.push_back(sum);
  }
  return costs;
}

Subproblem SubproblemList::of_class(int number) const {
  if (!sides_) return of_kept_class(number);
  Subproblem problem = like_;
  problem.positive = number;
  problem.examples.own() = rows_of(*members_, number);
  for (Example& example : problem.examples.own()) example.target = 1;
  return problem;
}

/// From the first machine that has the class on one of its sides.
Subproblem SubproblemList::of_kept_class(int number) const {
  Subproblem own;
  for (const Subproblem& problem : kept_) {
    if (problem.positive != number && problem.negative != number) continue;
    own = problem;
    std::vector<Example>& examples = own.examples.own();
    const bool is_positive = problem.positive == number;
    std::erase_if(examples, [&](const Example& each) { return (each.target > 0) != is_positive; });
    for (Example& each : examples) each.target = 1;
    own.positive = number;
    return own;
  }
  return own;
}

SubproblemList SubproblemList::only(std::span<const std::size_t> numbers) const {
  SubproblemList some = *this;
  if (!sides_) {
    some.kept_.clear();
    for (const std::size_t k : numbers) some.kept_.push_back(kept_[k]);
    return some;
  }
  std::vector<Sides> sides;
  sides.reserve(numbers.size());
  for (const std::size_t k : numbers) sides.push_back((*sides_)[k]);
  some.sides_ = std::make_shared<const std::vector<Sides>>(std::move(sides));
  if (starts_) {
    some.starts_ = std::make_shared<Starts>();
    for (const std::size_t k : numbers) some.starts_->push_back((*starts_)[k]);
  }
  return some;
}

SubproblemList SubproblemList::without(const std::vector<bool>& left_out) const {
  SubproblemList result;
  if (!sides_) {
    for (const Subproblem& problem : kept_) {
      Subproblem rest = problem;
      rest.start = {};
      rest.examples = {};
      bool has_positive = false, has_negative = false;
      std::vector<Example>& examples = rest.examples.own();
      examples.reserve(problem.examples.size());
      for (const Example& example : problem.examples) {
        if (left_out[example.row]) continue;
        examples.push_back(example);
        (example.target > 0 ? has_positive : has_negative) = true;
      }
      const bool trainable =
          problem.positive != Sides::nobody ? has_positive && has_negative : !examples.empty();
      if (trainable) result.kept_.push_back(std::move(rest));
    }
    return result;
  }
  Members members(members_->size());
  for (std::size_t k = 0; k < members.size(); ++k)
    for (const Example& example : (*members_)[k])
      if (!left_out[example.row]) members[k].push_back(example);
  const std::size_t rows = number_of_rows(members);
  std::vector<Sides> sides;
  for (const Sides& each : *sides_) {
    const std::size_t mine = rows_of(members, each.positive).size();
    const std::size_t others =
        each.negative == Sides::nobody ? rows - mine : rows_of(members, each.negative).size();
    if (mine > 0 && others > 0) sides.push_back(each);
  }
  Subproblem like = like_;
  return {std::move(members), std::move(sides), std::move(like)};
}

void SubproblemList::multiply_costs(double factor) {
  for (Subproblem& problem : kept_)
    for (Example& example : problem.examples.own()) scale_cost(example, factor);
  if (!sides_) return;
  Members members = *members_;
  for (auto& each : members)
    for (Example& example : each) scale_cost(example, factor);
  members_ = std::make_shared<const Members>(std::move(members));
}

void SubproblemList::set_start(std::size_t k, std::vector<std::pair<Index, double>> start) {
  SharedList<std::pair<Index, double>> list;
  list.own() = std::move(start);
  if (!sides_) {
    kept_[k].start = std::move(list);
    return;
  }
  if (!starts_)
    starts_ = std::make_shared<Starts>(size());
  else if (starts_.use_count() > 1)
    starts_ = std::make_shared<Starts>(*starts_);
  (*starts_)[k] = std::move(list);
}

}  // namespace maxmargin
