#include "maxmargin/train/formulate/subproblem_list.hpp"

#include <gtest/gtest.h>

#include "maxmargin/train/formulate/problems.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::subproblem_list_test {
namespace {

constexpr int classes = 17;  // 136 pairs: more than are kept

/// Rows of many classes, some of them of no weight.
Dataset many_classes() {
  Dataset data = made::classification(90, 2, made::Storage::dense_doubles, 4, classes);
  data.weight = made::weights(data.rows(), 3);
  return data;
}

/// The examples of a machine by going through all rows.
std::vector<Example> plainly(const Dataset& data, const Sides& sides, double cost,
                             const std::vector<bool>& left_out) {
  const Classes known = classes_of(data);
  std::vector<Example> examples;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const int number = static_cast<int>(known.of_row[i]);
    if (left_out[i] || data.weight[i] == 0) continue;
    if (number != sides.positive && number != sides.negative && sides.negative != Sides::nobody)
      continue;
    examples.push_back(
        {static_cast<Index>(i), number == sides.positive ? 1.0 : -1.0, cost * data.weight[i]});
  }
  return examples;
}

void expect_same(const Subproblem& problem, const std::vector<Example>& expected) {
  ASSERT_EQ(problem.examples.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(problem.examples[k].row, expected[k].row);
    EXPECT_EQ(problem.examples[k].target, expected[k].target);
    EXPECT_EQ(problem.examples[k].cost, expected[k].cost);
  }
}

TEST(SubproblemList, StatesEachMachineAsTheRowsDo) {
  const Dataset data = many_classes();
  const std::vector<bool> nothing(data.rows(), false);
  std::vector<bool> some = nothing;
  for (std::size_t i = 0; i < some.size(); i += 3) some[i] = true;
  for (const Multiclass scheme : {Multiclass::one_vs_one, Multiclass::one_vs_rest}) {
    const Subproblems all = subproblems(data, Svc{.cost = 3, .multiclass = scheme});
    const bool pairs = scheme == Multiclass::one_vs_one;
    ASSERT_EQ(all.list.size(), pairs ? classes * (classes - 1) / 2 : classes);
    for (const auto& [list, left_out] :
         {std::pair(all.list, nothing), std::pair(all.list.without(some), some)}) {
      std::size_t number = 0;
      for (const Subproblem& problem : list) {
        EXPECT_EQ(Sides(problem), list.sides(number));
        expect_same(problem, plainly(data, problem, 3, left_out));
        EXPECT_EQ(list.examples(number), problem.examples.size());
        ++number;
      }
      EXPECT_EQ(number, list.size());
    }
  }
}

TEST(SubproblemList, AClassAloneIsItsRowsKeptOrNot) {
  const std::vector<Example> some{{0, 1, 2}, {3, 1, 5}, {4, -1, 7}},
      others{{0, 1, 2}, {3, 1, 5}, {6, -1, 1}};
  SubproblemList kept;
  const auto machine = [](const std::vector<Example>& examples, int negative) {
    Subproblem problem{Sides{0, negative}, {}, Hinge{}};
    problem.examples.own() = examples;
    return problem;
  };
  kept.push_back(machine(some, 1));
  kept.push_back(machine(others, 2));
  ASSERT_TRUE(kept.is_kept());
  expect_same(kept.of_class(0), {{0, 1, 2}, {3, 1, 5}});
  expect_same(kept.of_class(1), {{4, 1, 7}});
  expect_same(kept.of_class(2), {{6, 1, 1}});
  expect_same(kept.of_class(3), {});
}

TEST(SubproblemList, IsWithoutMachinesThatLackASide) {
  const Dataset data = many_classes();
  const Subproblems all = subproblems(data, Svc{});
  const Classes known = classes_of(data);
  std::vector<bool> left_out(data.rows(), false);
  for (std::size_t i = 0; i < data.rows(); ++i) left_out[i] = known.of_row[i] == 5;
  const SubproblemList rest = all.list.without(left_out);
  EXPECT_EQ(rest.size(), (classes - 1) * (classes - 2) / 2);
  for (const Subproblem& problem : rest)
    EXPECT_TRUE(problem.positive != 5 && problem.negative != 5);
}

TEST(SubproblemList, KeepsWhatIsChangedApart) {
  const Dataset data = many_classes();
  const Subproblems all = subproblems(data, Svc{.cost = 1});
  SubproblemList changed = all.list;
  changed.multiply_costs(4);
  changed.set_start(7, {{2, 0.5}});
  const std::size_t chosen[] = {3, 7, 130};
  const SubproblemList few = changed.only(chosen);
  ASSERT_EQ(few.size(), 3u);
  for (std::size_t k = 0; k < few.size(); ++k) {
    const Subproblem was = all.list[chosen[k]], is = few[k];
    EXPECT_EQ(Sides(was), Sides(is));
    EXPECT_EQ(4 * was.examples[0].cost, is.examples[0].cost);
    EXPECT_TRUE(was.start.empty());
    EXPECT_EQ(is.start.size(), k == 1 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace maxmargin::subproblem_list_test
