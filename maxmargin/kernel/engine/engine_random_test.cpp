#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/linalg/enclosed.hpp"

namespace maxmargin::engine_random_test {
namespace {

/// One value of a kind that some engine has a form of its own for, or just fails to have.
double drawn(std::size_t kind, Rng& rng) {
  switch (kind) {
    case 0:
      return 1;
    case 1:
      return rng.below(2) == 0 ? 1 : -1;
    case 2:
      return static_cast<double>(rng.below(10));
    case 3:
      return static_cast<double>(rng.below(4000));
    case 4:
      return static_cast<double>(rng.below(256)) / 255;
    case 5:
      return std::round(rng.uniform() * 1000) / 1000;
    case 6:
      return rng.normal();
    case 7:
      return static_cast<double>(static_cast<float>(rng.normal()));
    case 8:
      return rng.below(3) == 0 ? 1 : rng.uniform();
    case 9:
      return 0.5;
    case 10:
      return static_cast<double>(rng.below(21)) - 10;
    default:
      return rng.below(50) == 0 ? 1000 * rng.uniform() : rng.uniform();
  }
}

/// Rows of `value(row, column)`, of which a share is there; without gaps mostly dense ones.
template <class Value>
Features rows_of(std::size_t rows, std::size_t columns, double density, Rng& rng, Value&& value) {
  Features features = no_rows(!(density == 1 && rng.below(3) > 0), columns);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<Index> index;
    std::vector<double> values;
    for (std::size_t j = 0; j < columns; ++j) {
      if (density < 1 && rng.uniform() >= density) continue;
      index.push_back(static_cast<Index>(j));
      values.push_back(value(i, j));
    }
    features.append(index, values);
  }
  return features;
}

Features made(Rng& rng) {
  const std::size_t rows = 2 + rng.below(90), columns = 1 + rng.below(rng.below(4) == 0 ? 500 : 40);
  const std::size_t kind = rng.below(12);
  const double density = rng.below(2) == 0 ? 1 : rng.uniform(0.02, 0.9);
  const double scale = rng.below(2) == 0 ? 1 : std::pow(10, rng.uniform(-4, 4));
  const double offset = rng.below(6) == 0 ? std::pow(10, rng.uniform(0, 4)) : 0;
  std::vector<double> own_scale(columns, 1.0);
  if (rng.below(4) == 0)
    for (double& each : own_scale) each = std::pow(10, rng.uniform(-3, 3));
  return rows_of(rows, columns, density, rng, [&](std::size_t, std::size_t j) {
    return (drawn(kind, rng) + offset) * scale * own_scale[j];
  });
}

/// The squared distance of some rows, on average, or 1.
double typical_distance(const Features& rows, Rng& rng) {
  double sum = 0;
  for (int k = 0; k < 20; ++k) {
    const std::size_t i = rng.below(rows.count()), j = rng.below(rows.count());
    const auto product = [&](std::size_t a, std::size_t b) {
      return naive_value(Linear{}, rows, a, rows, b);
    };
    sum += product(i, i) + product(j, j) - 2 * product(i, j);
  }
  return sum > 0 ? sum / 20 : 1;
}

// Errors above 1e-6 are seen in one matrix of a thousand, above 2e-6 in none of 30,000.
TEST(Engine, GaussiansOfAnyNumbersAreThoseOfThePlainDefinition) {
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    Rng rng(seed);
    const Features rows = made(rng);
    const Kernel kernel = Rbf{std::pow(10, rng.uniform(-3, 1.5)) / typical_distance(rows, rng)};
    const auto engine = make_engine(kernel, rows);
    std::vector<Index> which(1 + rng.below(30));
    for (Index& row : which) row = static_cast<Index>(rng.below(rows.count()));
    const std::size_t begin = rng.below(rows.count()), count = rows.count() - begin;
    std::vector<float> values(which.size() * count);
    std::vector<double> ones(which.size(), 1.0), sums(count, 0.0), want(count, 0.0);
    engine->block(rows, which, begin, count, values.data(), count);
    engine->add_product(rows, which, ones, begin, count, sums.data());
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t c = 0; c < count; ++c) {
        const double plain = naive_value(kernel, rows, which[r], rows, begin + c);
        ASSERT_NEAR(values[r * count + c], plain, 2e-6 * plain + 1e-24) << "matrix " << seed;
        want[c] += plain;
      }
    for (std::size_t c = 0; c < count; ++c)
      ASSERT_NEAR(sums[c], want[c], 2e-6 * want[c] + 1e-22) << "matrix " << seed;
  }
}

// -- the proved errors, over all that can be stored ------------------------------------------

/// Rows of any scale from 1e-30 to 1e30, about offsets up to 1e12 times that, with outliers, or
/// with scales of their own for each feature; of 0 or more where the kernel wants that.
Features extreme(Rng& rng, bool non_negative) {
  const std::size_t rows = 2 + rng.below(70), columns = 1 + rng.below(rng.below(5) == 0 ? 300 : 24);
  const std::size_t kind = rng.below(12);
  const double density = rng.below(2) == 0 ? 1 : rng.uniform(0.05, 0.9);
  const double scale = rng.below(3) == 0 ? 1 : std::pow(10, rng.uniform(-30, 30));
  const double offset = rng.below(3) == 0 ? std::pow(10, rng.uniform(0, 12)) : 0;
  const double outlier = rng.below(3) == 0 ? std::pow(10, rng.uniform(2, 12)) : 1;
  std::vector<double> own_scale(columns, 1.0);
  if (rng.below(4) == 0)
    for (double& each : own_scale) each = std::pow(10, rng.uniform(-6, 6));
  return rows_of(rows, columns, density, rng, [&](std::size_t i, std::size_t j) {
    const double far = i % 13 == 5 ? outlier : 1;
    const double each = (drawn(kind, rng) * far + offset) * scale * own_scale[j];
    return non_negative ? std::abs(each) : each;
  });
}

/// The sum of a pair of rows, in long double.
long double pair_sum(Pairing pairing, const Rows& rows, std::size_t i, std::size_t j) {
  std::vector<long double> x(rows.columns, 0), z(rows.columns, 0);
  rows.for_each(i, [&](Index feature, double value) { x[feature] = value; });
  rows.for_each(j, [&](Index feature, double value) { z[feature] = value; });
  long double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const long double difference = x[k] - z[k], both = x[k] + z[k];
    const long double roots = std::sqrt(x[k]) + std::sqrt(z[k]);
    switch (pairing) {
      case Pairing::dot:
        sum += x[k] * z[k];
        break;
      case Pairing::squared_euclidean:
        sum += difference * difference;
        break;
      case Pairing::manhattan:
        sum += std::abs(difference);
        break;
      case Pairing::chi_squared:
        if (both > 0) sum += difference / both * difference;
        break;
      case Pairing::hellinger:
        if (roots > 0) sum += difference / roots * (difference / roots);
        break;
    }
  }
  return sum;
}

long double mapped(const Map& map, long double s) {
  if (const auto* decay = std::get_if<Decay>(&map)) return std::exp(-decay->rate * s);
  if (const auto* root = std::get_if<RootDecay>(&map)) return std::exp(-root->rate * std::sqrt(s));
  if (const auto* power = std::get_if<Power>(&map))
    return std::pow(power->factor * s + power->shift, static_cast<long double>(power->degree));
  return s;
}

/// A kernel of each form that is positive semi-definite, as wide as the median distance, more or
/// less.
Kernel drawn_kernel(std::size_t number, const Rows& rows, Rng& rng) {
  const auto width_of = [&](Pairing pairing) {
    std::vector<double> sums;
    for (int k = 0; k < 31; ++k)
      sums.push_back(static_cast<double>(
          pair_sum(pairing, rows, rng.below(rows.count), rng.below(rows.count))));
    std::sort(sums.begin(), sums.end());
    return std::max(std::abs(sums[15]), 1e-300) / std::pow(10, rng.uniform(-3, 1.5));
  };
  switch (number % 8) {
    case 0:
    case 1:
      return Rbf{1 / width_of(Pairing::squared_euclidean)};
    case 2:
      return Laplacian{1 / width_of(Pairing::manhattan)};
    case 3:
      return ChiSquared{1 / width_of(Pairing::chi_squared)};
    case 4:
      return DistanceRbf{1 / std::sqrt(width_of(Pairing::squared_euclidean)), Distance::euclidean};
    case 5:
      return DistanceRbf{1 / width_of(Pairing::hellinger), Distance::hellinger};
    case 6:
      return Polynomial{1 / width_of(Pairing::dot), 1 + static_cast<int>(rng.below(6)),
                        rng.below(2) == 0 ? 0 : rng.uniform()};
    default:
      return Linear{};
  }
}

// Each of 5,000 more of these matrices holds it too.
TEST(Engine, EveryValueIsWithinItsProvedError) {
  for (std::uint64_t seed = 0; seed < 480; ++seed) {
    Rng rng(1000 + seed);
    const bool non_negative = seed % 8 == 3 || seed % 8 == 5;
    const Features rows = extreme(rng, non_negative);
    const Kernel kernel = drawn_kernel(seed, rows, rng);
    const Form form = std::visit(
        [](const auto& each) {
          if constexpr (requires { each.form(); })
            return each.form();
          else
            return Form{};
        },
        kernel);
    const auto engine = make_engine(kernel, rows);
    const ValueErrors errors = engine->errors();
    std::vector<Index> which(1 + rng.below(12));
    for (Index& row : which) row = static_cast<Index>(rng.below(rows.count()));
    const std::size_t begin = rng.below(rows.count()), count = rows.count() - begin;
    const auto self = [&](std::size_t i) {
      return mapped(form.map, pair_sum(form.pairing, rows, i, i));
    };
    long double largest = 0;
    for (std::size_t i = 0; i < rows.count(); ++i) largest = std::max(largest, self(i));
    if (!(largest < 1e35L)) continue;  // such data is refused
    std::vector<float> values(which.size() * count);
    std::vector<double> exact(which.size() * count), ones(which.size(), 1.0), sums(count, 0.0),
        exact_sums(count, 0.0);
    engine->block(rows, which, begin, count, values.data(), count);
    engine->exact_block(rows, which, begin, count, exact.data(), count);
    engine->add_product(rows, which, ones, begin, count, sums.data());
    engine->add_exact_product(rows, which, ones, begin, count, exact_sums.data());
    for (std::size_t c = 0; c < count; ++c) {
      long double want = 0, scale = 0;
      for (std::size_t r = 0; r < which.size(); ++r) {
        const long double truth =
            mapped(form.map, pair_sum(form.pairing, rows, which[r], begin + c));
        const long double allowed = std::sqrt(self(which[r]) * self(begin + c));
        const std::string where = "matrix " + std::to_string(seed) + ", row " +
                                  std::to_string(which[r]) + ", column " +
                                  std::to_string(begin + c);
        ASSERT_LE(std::abs(values[r * count + c] - truth), errors.in_float * allowed + 1e-37L)
            << where << ": " << values[r * count + c] << " is " << truth;
        ASSERT_LE(std::abs(exact[r * count + c] - truth), errors.in_double * allowed + 1e-300L)
            << where << ": " << exact[r * count + c] << " is " << truth;
        want += truth;
        scale += allowed;
      }
      const long double rounding = static_cast<long double>(which.size() + 2) * unit_roundoff;
      ASSERT_LE(std::abs(sums[c] - want), (errors.in_float + rounding) * scale + 1e-35L)
          << "matrix " << seed;
      ASSERT_LE(std::abs(exact_sums[c] - want), (errors.in_double + rounding) * scale)
          << "matrix " << seed;
    }
    // No promise is as good as none: a distance is known to six digits, in double to eleven.
    EXPECT_LE(errors.in_float, 1e-4) << "matrix " << seed;
    EXPECT_LE(errors.in_double, 1e-11) << "matrix " << seed;
  }
}

}  // namespace
}  // namespace maxmargin::engine_random_test
