// Measures what maxmargin/problem/cost_model.hpp assumes, on one core of this machine:
// `costs`. One line each: name, unit, what is assumed, what was measured, their quotient. Times are
// of the processor, so that other work on the machine counts only by the caches it empties.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <numeric>
#include <vector>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/problem/cost_model.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/problem/matrix/segment_store.hpp"
#include "maxmargin/solver/one_variable/set_steps.hpp"
#include "maxmargin/solver/smo/set/inner.hpp"

namespace {

using namespace maxmargin;

double processor_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// The least time of several turns, for each of `operations`.
template <class Work>
double time_of(double operations, Work&& work) {
  double least = 1e300;
  for (int turn = 0; turn < 5; ++turn) {
    const double begin = processor_nanoseconds();
    work();
    least = std::min(least, processor_nanoseconds() - begin);
  }
  return least / operations;
}

void show(const char* name, const char* unit, double assumed, double measured) {
  std::printf("%-18s %-34s %10.3g %10.3g %8.2f\n", name, unit, assumed, measured,
              measured / assumed);
}

volatile double sink = 0;

constexpr std::size_t row_length = 20000, rows = 2000;

double touching() {
  return time_of(row_length * rows, [] {
    auto* values = new float[row_length * rows];
    std::memset(values, 1, row_length * rows * sizeof(float));
    sink = static_cast<double>(values[row_length]);
    delete[] values;
  });
}

double reading(const std::vector<float>& values) {
  std::vector<const float*> from;
  for (std::size_t r = 0; r < 500; ++r) from.push_back(values.data() + r * row_length);
  const std::vector<double> ones(from.size(), 1.0);
  std::vector<double> sum(row_length, 0.0);
  return time_of(static_cast<double>(row_length * from.size()), [&] {
    add_scaled_rows(from, ones, row_length, sum.data());
    sink = sum[7];
  });
}

/// Values at 500 columns out of each of so many rows.
double picking(const std::vector<float>& values, std::size_t many, std::size_t length) {
  Rng rng(1);
  std::vector<std::size_t> columns(500);
  for (std::size_t& column : columns)
    column = static_cast<std::size_t>(rng.uniform() * static_cast<double>(length));
  std::sort(columns.begin(), columns.end());
  std::vector<float> out(columns.size());
  return time_of(static_cast<double>(many * columns.size()), [&] {
    for (std::size_t r = 0; r < many; ++r) {
      for (std::size_t c = 0; c < columns.size(); ++c) out[c] = values[r * length + columns[c]];
      sink = static_cast<double>(out[3]);
    }
  });
}

/// Across the diagonal, in blocks of a line of the cache.
double copying() {
  constexpr std::size_t size = 768, block = 16;
  std::vector<float> values(size * size, 1.0f);
  return time_of(size * size, [&] {
    for (std::size_t r = 0; r < size; r += block)
      for (std::size_t c = 0; c < size; c += block)
        for (std::size_t i = r; i < r + block; ++i)
          for (std::size_t k = c; k < c + block; ++k) values[k * size + i] = values[i * size + k];
    sink = static_cast<double>(values[5]);
  });
}

double allotting() {
  return time_of(row_length * 400, [] {
    SegmentStore store(400, row_length * 401 * sizeof(float));
    const std::vector<float> row(row_length, 1.0f);
    for (Index r = 0; r < 400; ++r) store.add(r, 0, row_length, row.data());
  });
}

/// A made problem of a working set.
struct Set {
  static constexpr std::size_t size = 512;
  std::vector<double> K;
  Set() {
    Rng rng(3);
    Features points = Features::dense(8);
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<double> row(8);
      for (double& value : row) value = rng.normal();
      points.append(row);
    }
    const auto matrix =
        make_kernel_quadratic(Rbf{0.1}, std::make_shared<const Features>(std::move(points)));
    std::vector<Index> all(size);
    std::iota(all.begin(), all.end(), Index{0});
    K.resize(size * size);
    matrix->exact_block(all, 0, size, K.data(), size);
  }
};

double pair_steps(const Set& set) {
  AlignedVector<float> K(Set::size * Set::size);
  std::copy(set.K.begin(), set.K.end(), K.begin());
  std::size_t steps = 0;
  const double time = time_of(1, [&] {
    InnerProblem problem;
    problem.reset(std::vector<std::size_t>{Set::size});
    for (std::size_t k = 0; k < Set::size; ++k) {
      problem.row[k] = K.data() + k * Set::size;
      problem.diagonal[k] = 1;
      const double sign = k % 3 == 0 ? 1 : -1;
      problem.variable[k][0] = {0, sign > 0 ? 0.0 : -10.0, sign > 0 ? 10.0 : 0.0, sign};
    }
    steps = solve_inner(problem, 1e-9, 5000).steps;
  });
  return time / static_cast<double>(steps * Set::size);
}

double single_steps(const Set& set) {
  std::size_t steps = 0;
  const double time = time_of(1, [&] {
    SetProblem problem(Set::size);
    for (std::size_t k = 0; k < Set::size; ++k) {
      for (std::size_t i = 0; i < Set::size; ++i)
        problem.M[k * problem.stride + i] = static_cast<float>(set.K[k * Set::size + i]);
      problem.slope[k] = k % 3 == 0 ? -1 : 1;
      problem.lower[k] = -10;
      problem.upper[k] = 10;
      problem.diagonal[k] = 1;
    }
    steps = take_greedy_steps(problem, 1e-9, 20000);
  });
  return time / static_cast<double>(steps * Set::size);
}

double factoring(std::size_t n) {
  const Threads alone(1);
  const auto size = static_cast<double>(n);
  return time_of(size * size * size, [&] {
    Factor factor(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) factor.matrix().row(i)[j] = i == j ? 2.0 * size : 1.0;
    if (factor.cholesky(alone) == Factor::Outcome::done) sink = factor.matrix().row(1)[0];
  });
}

double assembling(const Set& set) {
  const std::vector<float> K(set.K.begin(), set.K.end());
  return time_of(Set::size * Set::size, [&] {
    std::vector<float> own;
    SymmetricMatrix M(Set::size);
    for (std::size_t i = 0; i < Set::size; ++i)
      for (std::size_t j = 0; j < Set::size; ++j) own.push_back(K[i * Set::size + j]);
    for (std::size_t i = 0; i < Set::size; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        M.row(i)[j] = static_cast<double>(own[i * Set::size + j]);
    sink = M.row(3)[1];
  });
}

}  // namespace

int main() {
  const std::vector<float> values(row_length * rows, 1.0f);
  const Set set;
  std::printf("%-18s %-34s %10s %10s %8s\n", "name", "nanoseconds for each", "assumed", "measured",
              "quotient");
  show("touch_value", "float of fresh memory", costs.touch_value, touching());
  show("read_value", "float of long rows", costs.read_value, reading(values));
  show("pick_value", "value out of many long rows", costs.pick_value,
       picking(values, rows, row_length));
  show("pick_cached_value", "value out of rows in a cache", costs.pick_cached_value,
       picking(values, 100, 2000));
  show("copy_value", "value across the diagonal", costs.copy_value, copying());
  show("allot_value", "float of a shared store", costs.allot_value, allotting());
  show("pair_step", "step and variable of the set", costs.pair_step, pair_steps(set));
  show("single_step", "step and variable of the set", costs.single_step, single_steps(set));
  show("assemble", "entry of a dense system", costs.assemble, assembling(set));
  show("factor", "cube of the variables (n = 512)", costs.factor, factoring(512));
  show("factor", "cube of the variables (n = 2048)", costs.factor, factoring(2048));
  return 0;
}
