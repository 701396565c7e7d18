// A witness for each kernel: its formula, written in another way than the kernel states it and
// sharing no term with it. What is compared with naive_value() elsewhere is compared with these
// too.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/kernel/engine/engine.hpp"

namespace maxmargin::formulas_test {
namespace {

using Vector = std::vector<double>;
using Long = long double;
using Formula = std::function<Long(const Vector&, const Vector&)>;

Long summed(const Vector& x, const Vector& z, Long (*term)(double, double)) {
  Long sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += term(x[k], z[k]);
  return sum;
}

Long product(const Vector& x, const Vector& z) {
  return summed(x, z, [](double a, double b) -> Long { return Long(a) * b; });
}
Long squares(const Vector& x, const Vector& z) {
  return product(x, x) + product(z, z) - 2 * product(x, z);
}
Long manhattan(const Vector& x, const Vector& z) {
  return summed(x, z,
                [](double a, double b) -> Long { return Long(std::max(a, b)) - std::min(a, b); });
}
/// (a - b)^2 / (a + b) = a + b - 4ab / (a + b)
Long chi_squared(const Vector& x, const Vector& z) {
  return summed(x, z, [](double a, double b) -> Long {
    const Long sum = Long(a) + b;
    return sum == 0 ? 0 : sum - 4 * Long(a) * b / sum;
  });
}
/// (sqrt a - sqrt b)^2 = a + b - 2 sqrt(ab)
Long hellinger(const Vector& x, const Vector& z) {
  return summed(
      x, z, [](double a, double b) -> Long { return Long(a) + b - 2 * std::sqrt(Long(a) * b); });
}

struct Witness {
  Kernel kernel;
  Formula formula;
};

std::vector<Witness> witnesses() {
  const auto distance = [](Distance chosen, Formula of) {
    return Witness{DistanceRbf{0.7, chosen},
                   [of](const Vector& x, const Vector& z) { return std::exp(-0.7L * of(x, z)); }};
  };
  return {
      {Linear{}, product},
      {Polynomial{0.5, 3, 1},
       [](const Vector& x, const Vector& z) { return std::pow(0.5L * product(x, z) + 1, 3); }},
      {Rbf{0.7}, [](const Vector& x, const Vector& z) { return std::exp(-0.7L * squares(x, z)); }},
      {Sigmoid{0.5, -1},
       [](const Vector& x, const Vector& z) {
         const Long twice = std::exp(2 * (0.5L * product(x, z) - 1));
         return (twice - 1) / (twice + 1);
       }},
      {Laplacian{0.7},
       [](const Vector& x, const Vector& z) { return std::exp(-0.7L * manhattan(x, z)); }},
      {ChiSquared{0.7},
       [](const Vector& x, const Vector& z) { return std::exp(-0.7L * chi_squared(x, z)); }},
      distance(Distance::squared_euclidean, squares),
      distance(Distance::euclidean,
               [](const Vector& x, const Vector& z) {
                 return std::sqrt(std::max(0.0L, squares(x, z)));
               }),
      distance(Distance::manhattan, manhattan),
      distance(Distance::chi_squared, chi_squared),
      distance(Distance::hellinger, hellinger)};
}

/// Non-negative, with zeros and equal values, as every kernel takes them.
std::vector<Vector> points(std::size_t count, std::size_t columns) {
  Rng rng(3);
  std::vector<Vector> list(count, Vector(columns, 0.0));
  for (Vector& row : list)
    for (double& value : row)
      value = rng.below(3) == 0 ? 0 : rng.below(4) == 0 ? 0.5 : rng.uniform();
  return list;
}

TEST(Formulas, EveryKernelHasAWitness) {
  const auto list = witnesses();
  for_each_component<Kernel>([&](const auto& kernel) {
    if constexpr (requires { kernel.form(); }) {
      const bool has_one = std::any_of(list.begin(), list.end(), [&](const Witness& each) {
        return name_of(each.kernel) == kernel.name;
      });
      EXPECT_TRUE(has_one) << kernel.name;
    }
  });
}

TEST(Formulas, ValuesAreThoseOfTheWitness) {
  constexpr std::size_t count = 20, columns = 7;
  const std::vector<Vector> rows = points(count, columns);
  Features dense = Features::dense(columns), sparse = Features::sparse(columns);
  for (const Vector& row : rows) {
    std::vector<Index> where;
    Vector values;
    for (std::size_t k = 0; k < columns; ++k)
      if (row[k] != 0) {
        where.push_back(static_cast<Index>(k));
        values.push_back(row[k]);
      }
    dense.append(row);
    sparse.append(where, values);
  }
  std::vector<Index> all(count);
  std::iota(all.begin(), all.end(), Index{0});
  for (const auto& [kernel, formula] : witnesses())
    for (const Features* x : {&dense, &sparse}) {
      const auto engine = make_engine(kernel, *x);
      std::vector<float> fast(count * count);
      Vector exact(count * count);
      engine->block(*x, all, 0, count, fast.data(), count);
      engine->exact_block(*x, all, 0, count, exact.data(), count);
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < count; ++j) {
          const auto wanted = static_cast<double>(formula(rows[i], rows[j]));
          const double size = 1 + std::abs(wanted);
          EXPECT_NEAR(naive_value(kernel, *x, i, *x, j), wanted, 1e-7 * size) << name_of(kernel);
          EXPECT_NEAR(exact[i * count + j], wanted, 1e-7 * size) << name_of(kernel);
          EXPECT_NEAR(fast[i * count + j], wanted, 1e-5 * size) << name_of(kernel);
        }
    }
}

}  // namespace
}  // namespace maxmargin::formulas_test
