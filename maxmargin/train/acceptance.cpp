#include "maxmargin/train/acceptance.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "maxmargin/data/equal_rows.hpp"
#include "maxmargin/train/formulate/problems.hpp"

namespace maxmargin {
namespace {

void add_biases(Task task, const std::string& loss, std::vector<AcceptedForm>& list) {
  visit_list(
      [&](auto chosen) {
        if constexpr (requires { chosen.bias; }) {
          for (const auto& [bias, name] : Named<Bias>::values) {
            chosen.bias = bias;
            list.push_back({chosen, loss, bias});
          }
        } else {
          list.push_back({chosen, loss});
        }
      },
      task);
}

/// Four rows of two classes, which are numbers as well.
Dataset four_rows() {
  Dataset data;
  data.x = Features::dense(1);
  for (const double value : {0.0, 1.0, 2.0, 4.0}) data.x.append(std::vector<double>{value});
  data.y = {1, -1, 1, -1};
  return data;
}

DualQp small_problem(const AcceptedForm& formulation, const Kernel& kernel) {
  Dataset data = four_rows();
  const Subproblems problems = subproblems(data, formulation.task);
  Examples examples;
  examples.x = std::make_shared<const Features>(std::move(data.x));
  examples.first_equal = first_equal_rows(*examples.x);
  const Subproblem& first = problems.list.front();
  return formulate(examples, first.examples, first.loss, kernel, first.bias).qp;
}

/// The problem with one more unpenalised function of the rows, phi(x) = x.
DualQp with_another_row(DualQp qp) {
  std::vector<double> entries;
  for (std::size_t v = 0; v < qp.size(); ++v)
    entries.push_back(qp.block[v].sign * static_cast<double>(qp.row[v] + 1));
  qp.A.push_back(std::move(entries));
  qp.d.push_back(0);
  return qp;
}

}  // namespace

std::vector<AcceptedForm> formulations() {
  std::vector<AcceptedForm> list;
  for_each_component<Task>([&](auto task) {
    if constexpr (requires { task.loss; }) {
      for_each_component<decltype(task.loss)>([&](const auto& loss) {
        task.loss = loss;
        add_biases(task, std::string(loss.name), list);
      });
    } else {
      add_biases(task, {}, list);
    }
  });
  return list;
}

Acceptance acceptance_of(Solver solver) {
  // Solvers without a stopping rule refuse problems unless there is a limit of iterations.
  visit_list([](auto& chosen) { chosen.stop.iterations = 1000; }, solver);
  Acceptance acceptance;
  for (AcceptedForm& each : formulations()) {
    const DualQp qp = small_problem(each, Linear{});
    if (!refusal(with_another_row(qp), solver)) acceptance.any_rows = true;
    if (refusal(qp, solver)) continue;
    if (!refusal(small_problem(each, Sigmoid{}), solver)) acceptance.indefinite.push_back(each);
    acceptance.formulations.push_back(std::move(each));
  }
  return acceptance;
}

}  // namespace maxmargin
