#include "maxmargin/train/memory_plan.hpp"

#include "maxmargin/base/cost_model.hpp"

#include <unistd.h>

#include <fstream>

namespace maxmargin {
namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20;

// As bench/memory measures them, rounded up: variables, gradients, certificates and models of a
// row; what folds and calibration keep on top; a machine of several classes; the stacks and arenas
// of threads, and libraries that are loaded on the way.
constexpr std::size_t of_row = 768, of_judged_row = 512, of_machine = 2048, of_program = 8;
constexpr std::size_t copies_of_data = 2;
// Solvers need room for at least so many kernel rows.
constexpr std::size_t least_kernel_rows = 32;

/// Memory of the process now; 0 where that is unknown.
std::size_t held_bytes() {
  std::ifstream sizes("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  sizes >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t data_bytes(const Rows& rows) {
  const std::size_t value = rows.doubles != nullptr ? sizeof(double) : sizeof(float);
  return rows.count == 0 ? 0 : rows.stored() * (value + (rows.sparse() ? sizeof(Index) : 0));
}

std::size_t machines_of(const Dataset& data, const Task& task) {
  if (outcome_of(task) != Outcome::classes) return 1;
  const std::size_t classes = classes_of(data).names.size();
  const bool pairs = visit_list(
      [](const auto& each) {
        if constexpr (requires { each.multiclass; })
          return each.multiclass == Multiclass::one_vs_one;
        else
          return false;
      },
      task);
  return pairs ? classes * classes / 2 : classes;
}

/// What the one problem of all classes keeps of each row and class: the variables, and f or the
/// coefficients of the machines; and of some classes at a time once more.
std::size_t together_bytes(const Dataset& data, const Task& task) {
  constexpr std::size_t of_value = 28, of_some = 3 * sizeof(double), some_classes = 256;
  constexpr std::size_t least_examples = SimplexChoice{}.least_examples;
  if (!is_one_problem(task)) return 0;
  const std::size_t classes = classes_of(data).names.size();
  return data.rows() * (classes * of_value + std::min(classes, some_classes) * of_some) +
         least_examples * classes * of_some;
}

}  // namespace

std::size_t room_for_kernel(const Dataset& data, const TrainOptions& options, std::size_t limit) {
  const bool judged = options.probability_folds > 0;
  const std::size_t rows = data.rows();
  const std::size_t needed = held_bytes() + copies_of_data * data_bytes(data.x) +
                             rows * (of_row + (judged ? of_judged_row : 0)) +
                             machines_of(data, options.task) * of_machine + of_program * megabyte +
                             together_bytes(data, options.task);
  const std::size_t least = needed + least_kernel_rows * rows * sizeof(float);
  if (limit >= least) return limit - needed;
  throw Error(Fault::usage,
              "training with these rows needs at least " + std::to_string(least / megabyte + 1) +
                  " MB of memory, and " + std::to_string(limit / megabyte) + " are allowed",
              "give --memory " + std::to_string(least / megabyte + 1) + "M or more");
}

}  // namespace maxmargin
