#include "maxmargin/task/text.hpp"

#include <gtest/gtest.h>

namespace maxmargin::text_test {
namespace {

/// Every task with every loss, scheme and bias, and numbers that are nobody's presets.
std::vector<Task> all_tasks() {
  std::vector<Task> list{NuSvc{.nu = 0.3}, NuSvr{.cost = 3, .nu = 0.2}, OneClass{.nu = 0.1}};
  const auto unusual = [](auto loss) {
    for_each_field(loss, [](const auto&, auto& value) { value = 0.1 + 0.2; });
    return loss;
  };
  for (const Bias bias : {Bias::unpenalised, Bias::penalised, Bias::none}) {
    for_each_component<MarginLoss>([&](const auto& loss) {
      list.push_back(Svc{.cost = 1e-3, .loss = unusual(loss), .bias = bias});
    });
    for_each_component<ErrorLoss>([&](const auto& loss) {
      list.push_back(Svr{.cost = 1e9, .loss = unusual(loss), .bias = bias});
    });
  }
  for (const auto& each : Named<Multiclass>::values)
    list.push_back(Svc{.hard_margin = true,
                       .multiclass = each.first,
                       .class_weights = {{"a b", 2}, {"-1", 1.0 / 3}}});
  return list;
}

TEST(TaskText, ComesBack) {
  for (const Task& task : all_tasks()) {
    Texts texts = texts_of(task);
    texts.emplace_back("kernel", "rbf");
    const StatedTask stated = task_stated_in(texts);
    ASSERT_TRUE(stated.task) << stated.obstacle;
    EXPECT_EQ(texts_of(*stated.task), texts_of(task));
    EXPECT_EQ(stated.rest, (Texts{{"kernel", "rbf"}}));
  }
}

TEST(TaskText, OfOlderModels) {
  // Before there were losses to choose, and with the fields of all losses.
  const StatedTask first = task_stated_in({{"task", "svr"}, {"cost", "2"}, {"epsilon", "0.5"}});
  ASSERT_TRUE(first.task);
  EXPECT_EQ(std::get<EpsilonInsensitive>(std::get<Svr>(*first.task).loss).epsilon, 0.5);
  const StatedTask later = task_stated_in({{"task", "svr"},
                                           {"cost", "2"},
                                           {"epsilon", "0.1"},
                                           {"loss", "pinball"},
                                           {"sigma", "1"},
                                           {"tau", "0.8"},
                                           {"tolerance", "0.01"}});
  ASSERT_TRUE(later.task);
  EXPECT_EQ(std::get<Pinball>(std::get<Svr>(*later.task).loss).tau, 0.8);
  EXPECT_EQ(later.rest, (Texts{{"tolerance", "0.01"}}));
}

TEST(TaskText, ThatStatesNoneIsLeftAsItIs) {
  for (const Texts& texts :
       {Texts{}, Texts{{"task", "svd"}}, Texts{{"task", "svc"}}, Texts{{"cost", "1"}},
        Texts{{"task", "svc"}, {"cost", "x"}}, Texts{{"task", "svc"}, {"cost", "-1"}},
        Texts{{"task", "svc"}, {"cost", "1"}, {"cost", "1"}},
        Texts{{"task", "svc"}, {"cost", "1"}, {"loss", "huber"}},
        Texts{{"task", "svc"}, {"cost", "1"}, {"class-weight 1", "0"}}, Texts{{"task", "nu-svc"}},
        Texts{{"task", "svc"}, {"cost", "1"}, {"multiclass", "one-vs-one"}}}) {
    const StatedTask stated = task_stated_in(texts);
    EXPECT_FALSE(stated.task);
    EXPECT_FALSE(stated.obstacle.empty());
    EXPECT_EQ(stated.rest, texts);
  }
}

}  // namespace
}  // namespace maxmargin::text_test
