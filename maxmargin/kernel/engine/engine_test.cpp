#include "maxmargin/kernel/engine/engine.hpp"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/engine/locality.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::engine_test {
namespace {

// Sanitizers look at the engines' own loops, not at the plain definition, which takes most of the
// time: fewer values are compared then.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::size_t sample_stride = 7;
#else
constexpr std::size_t sample_stride = 1;
#endif
#else
constexpr std::size_t sample_stride = 1;
#endif

enum class Shape {
  dense,
  decimals,
  counts,
  sparse,
  binary,
  pixels,
  photos,
  scans,
  medium,
  wide,
  widest,
  far,
  with_empty_rows
};
constexpr Shape shapes[] = {Shape::dense,          Shape::decimals, Shape::counts, Shape::sparse,
                            Shape::binary,         Shape::pixels,   Shape::photos, Shape::scans,
                            Shape::medium,         Shape::wide,     Shape::widest, Shape::far,
                            Shape::with_empty_rows};

/// Random rows of a shape; all values are 0 or more, so that every kernel takes them.
Features made(Shape shape, std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  // The widest are left as they are stored: packed they would be too large.
  const std::size_t columns = shape == Shape::widest     ? 400000
                              : shape == Shape::wide     ? 30000
                              : shape == Shape::pixels   ? 200
                              : shape == Shape::photos   ? 400
                              : shape == Shape::scans    ? 900
                              : shape == Shape::medium   ? 300
                              : shape == Shape::decimals ? 61
                                                         : 37;
  const double density = shape == Shape::dense || shape == Shape::far || shape == Shape::decimals
                             ? 1
                         : shape == Shape::wide   ? 0.002
                         : shape == Shape::widest ? 0.002
                                                  : 0.3;
  Features features = density == 1 ? Features::dense(columns) : Features::sparse(columns);
  std::vector<Index> index;
  std::vector<double> value;
  for (std::size_t i = 0; i < rows; ++i) {
    index.clear();
    value.clear();
    const bool empty = shape == Shape::with_empty_rows && i % 3 == 0;
    for (std::size_t j = 0; j < columns && !empty; ++j) {
      if (shape == Shape::counts ? j % 9 != 0 : rng.uniform() >= density) continue;
      index.push_back(static_cast<Index>(j));
      switch (shape) {
        case Shape::binary:
          value.push_back(1);
          break;
        case Shape::pixels:
          value.push_back(static_cast<double>(1 + rng.below(255)) / 255);
          break;
        case Shape::scans:  // so many that floats do not hold the sums of whole numbers
          value.push_back(static_cast<double>(1 + rng.below(255)));
          break;
        case Shape::photos:  // as a text with six digits has them
          value.push_back(std::round(static_cast<double>(1 + rng.below(255)) / 255 * 1e6) / 1e6);
          break;
        case Shape::decimals:
          value.push_back(static_cast<double>(rng.below(1001)) / 1000);
          break;
        case Shape::counts:  // far from zero, near to each other
          value.push_back(static_cast<double>(2000 + rng.below(40)));
          break;
        case Shape::far:
          value.push_back(1000 + rng.uniform());
          break;
        default:
          value.push_back(rng.uniform(0.01, 1));
          break;
      }
    }
    features.append(index, value);
  }
  return features;
}

double usual_distance(Shape shape) {
  return shape == Shape::wide     ? 60
         : shape == Shape::widest ? 800
         : shape == Shape::counts ? 1000
         : shape == Shape::scans  ? 6e6
                                  : 37;
}
double usual_product(Shape shape) {
  return shape == Shape::far      ? 37e6
         : shape == Shape::counts ? 2e7
         : shape == Shape::scans  ? 6e6
                                  : 37;
}

/// Kernels of every form, with parameters that suit distances of `width` and products of `product`.
std::vector<Kernel> kernels(double width, double product) {
  return {Linear{},
          Polynomial{1 / product, 3, 1},
          Polynomial{1 / product, 7, 0.5},
          Rbf{1 / width},
          Rbf{40 / width},
          Sigmoid{1 / product, -0.5},
          Laplacian{1 / width},
          ChiSquared{1 / width},
          DistanceRbf{1 / std::sqrt(width), Distance::euclidean},
          DistanceRbf{1 / width, Distance::hellinger}};
}

/// The error that counts: relative to the value for kernels of distances, and to what the norms
/// allow, sqrt(K(x,x) K(z,z)), for kernels of products, where a value may cancel to nothing.
double scale_of(const Kernel& kernel, double value, const Rows& left, std::size_t i,
                const Rows& right, std::size_t j) {
  const bool product = std::visit(
      [](const auto& chosen) {
        if constexpr (requires { chosen.form(); })
          return chosen.form().pairing == Pairing::dot;
        else
          return false;
      },
      kernel);
  if (!product) return std::abs(value) + 1e-30;
  if (std::holds_alternative<Sigmoid>(kernel)) return 1;  // tanh: between -1 and 1
  return std::sqrt(std::abs(naive_value(kernel, left, i, left, i) *
                            naive_value(kernel, right, j, right, j))) +
         1e-30;
}

void expect_plain_values() {
  for (const Shape shape : shapes) {
    const Features columns = made(shape, 131, 1);
    const Features left = made(shape, 70, 2);
    std::vector<Index> which(left.count());
    std::iota(which.begin(), which.end(), 0);
    for (const Kernel& kernel : kernels(usual_distance(shape), usual_product(shape))) {
      const auto engine = make_engine(kernel, columns);
      const std::size_t begin = 5, count = columns.count() - 9;
      std::vector<float> out(which.size() * count);
      engine->block(left, which, begin, count, out.data(), count);
      std::vector<double> exact(which.size() * count);
      engine->exact_block(left, which, begin, count, exact.data(), count);
      // The plain definition takes a millisecond for the widest rows.
      const std::size_t stride = (shape == Shape::widest ? 21 : 1) * sample_stride;
      for (std::size_t r = 0; r < which.size(); r += 3 * stride)
        for (std::size_t c = 0; c < count; c += 2 * stride) {
          const double want = naive_value(kernel, left, r, columns, begin + c);
          const double scale = scale_of(kernel, want, left, r, columns, begin + c);
          // Differences of numbers near 1000 carry the rounding of their squares, even in double.
          const double exact_tolerance = shape == Shape::far ? 2e-6 : 1e-11;
          ASSERT_NEAR(out[r * count + c], want, 1e-6 * scale + negligible_value)
              << name_of(kernel) << " shape " << static_cast<int>(shape) << " at " << r << "," << c;
          ASSERT_NEAR(exact[r * count + c], want, exact_tolerance * scale)
              << name_of(kernel) << " shape " << static_cast<int>(shape);
        }
    }
  }
}

TEST(Engine, ValuesAgreeWithThePlainDefinition) { expect_plain_values(); }

#if HWY_ARCH_X86
// What the loops compute must be right on older processors too.
TEST(Engine, ValuesAgreeWithThePlainDefinitionOnEveryInstructionSet) {
  for (const std::int64_t set : {HWY_AVX2, HWY_SSSE3}) {
    hwy::SetSupportedTargetsForTest(set);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    expect_plain_values();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}
#endif

TEST(Engine, ValuesDoNotDependOnTheCut) {
  for (const Shape shape : shapes) {
    const Features rows = made(shape, 150, 3);
    std::vector<Index> which(100);
    std::iota(which.begin(), which.end(), 7);
    for (const Kernel& kernel : kernels(37, usual_product(shape))) {
      const auto engine = make_engine(kernel, rows);
      std::vector<float> whole(which.size() * rows.count());
      engine->block(rows, which, 0, rows.count(), whole.data(), rows.count());
      for (std::size_t r = 0; r < which.size(); r += 11) {
        const std::size_t begin = r % 90, count = 1 + r % 59;
        std::vector<float> part(count);
        engine->block(rows, std::span(which).subspan(r, 1), begin, count, part.data(), count);
        for (std::size_t c = 0; c < count; ++c)
          ASSERT_EQ(part[c], whole[r * rows.count() + begin + c]) << name_of(kernel);
      }
    }
  }
}

TEST(Engine, ProductsAreSumsOfTheValues) {
  for (const Shape shape : shapes) {
    const Features rows = made(shape, 140, 5);
    const std::vector<Index> which{1, 2, 30, 77, 139};
    const std::vector<double> coefficients{1, -2, 0.5, 3, -1e-3};
    std::vector<Kernel> all = kernels(37, usual_product(shape));
    if (shape == Shape::binary) all.push_back(Rbf{3});  // its values span more than a double does
    for (const Kernel& kernel : all) {
      const auto engine = make_engine(kernel, rows);
      const std::size_t begin = 3, count = 130;
      std::vector<double> fast(count, 0.25), exact(count, 0.25), row(count);
      engine->add_product(rows, which, coefficients, begin, count, fast.data());
      engine->add_exact_product(rows, which, coefficients, begin, count, exact.data());
      std::vector<double> want(count, 0.25), want_exact(count, 0.25), scale(count, 0.0);
      std::vector<double> size(count, 0.0);
      std::vector<float> values(count);
      for (std::size_t k = 0; k < which.size(); ++k) {
        engine->block(rows, std::span(which).subspan(k, 1), begin, count, values.data(), count);
        engine->exact_block(rows, std::span(which).subspan(k, 1), begin, count, row.data(), count);
        for (std::size_t c = 0; c < count; ++c) {
          want[c] += coefficients[k] * static_cast<double>(values[c]);
          want_exact[c] += coefficients[k] * row[c];
          scale[c] += std::abs(coefficients[k] * row[c]) + 1;
          size[c] += std::abs(coefficients[k] * row[c]);
        }
      }
      const double tolerance = shape == Shape::far ? 1e-6 : 1e-12;
      // Products of few dense features may have Gaussians of their own, as good as those of blocks.
      const bool own = shape == Shape::counts && std::holds_alternative<DistanceRbf>(kernel);
      for (std::size_t c = 0; c < count; ++c) {
        // Of the float values, or of exact ones.
        const double error =
            std::min(std::abs(fast[c] - want[c]), std::abs(fast[c] - want_exact[c]));
        if (own)
          ASSERT_NEAR(fast[c], want_exact[c], 1e-6 * size[c] + 1e-12 * scale[c]) << name_of(kernel);
        else
          ASSERT_LE(error, 1e-12 * scale[c]) << name_of(kernel);
        ASSERT_NEAR(exact[c], want_exact[c], tolerance * scale[c]) << name_of(kernel);
      }
    }
  }
}

TEST(Engine, SignsAreNotBinary) {
  Rng rng(8);
  Features rows = Features::dense(5);
  for (std::size_t i = 0; i < 40; ++i) {
    std::vector<double> row(5);
    for (double& value : row) value = rng.uniform() < 0.5 ? -1 : 1;
    rows.append(row);
  }
  std::vector<Index> all(rows.count());
  std::iota(all.begin(), all.end(), Index{0});
  for (const Kernel& kernel : {Kernel(Rbf{0.25}), Kernel(Linear{}), Kernel(Laplacian{0.5})}) {
    const auto engine = make_engine(kernel, rows);
    std::vector<float> out(40 * 40);
    engine->block(rows, all, 0, 40, out.data(), 40);
    for (std::size_t r = 0; r < 40; ++r)
      for (std::size_t c = 0; c < 40; ++c)
        ASSERT_NEAR(out[r * 40 + c], naive_value(kernel, rows, r, rows, c), 1e-5)
            << name_of(kernel);
  }
}

TEST(Engine, ExactValuesOfRowsFarFromZeroAreExact) {
  Rng rng(9);
  Features rows = Features::dense(6), listed = Features::sparse(6);
  std::vector<Index> all{0, 1, 2, 3, 4, 5};
  for (std::size_t i = 0; i < 50; ++i) {
    std::vector<double> row(6);
    for (double& value : row) value = 1.6e9 + 100 * rng.uniform();
    rows.append(row);
    listed.append(all, row);
  }
  const Kernel kernel = Rbf{1e-3};
  for (const Features* each : {&rows, &listed}) {
    const auto engine = make_engine(kernel, *each);
    std::vector<double> out(6 * 50), y(50, 0.0), want(50, 0.0), ones(6, 1.0);
    engine->exact_block(*each, all, 0, 50, out.data(), 50);
    engine->add_exact_product(*each, all, ones, 0, 50, y.data());
    for (std::size_t r = 0; r < 6; ++r)
      for (std::size_t c = 0; c < 50; ++c) {
        const double plain = naive_value(kernel, *each, r, *each, c);
        ASSERT_NEAR(out[r * 50 + c], plain, 1e-9 * plain);
        want[c] += plain;
      }
    for (std::size_t c = 0; c < 50; ++c) ASSERT_NEAR(y[c], want[c], 1e-9 * want[c]);
  }
}

TEST(Engine, FewerColumnsHaveTheSameValues) {
  for (const Shape shape : shapes) {
    const Features rows = made(shape, 90, 3);
    const std::vector<Index> some{3, 4, 17, 40, 41, 88};
    Features chosen = none_like(rows);
    chosen.append(rows.view(), some);
    for (const Kernel& kernel : kernels(37, usual_product(shape))) {
      const auto engine = make_engine(kernel, rows);
      const auto smaller = engine->for_columns(chosen, some);
      std::vector<float> whole(some.size() * rows.count()), part(some.size() * some.size());
      engine->block(rows, some, 0, rows.count(), whole.data(), rows.count());
      const auto expect_part = [&] {
        for (std::size_t r = 0; r < some.size(); ++r)
          for (std::size_t c = 0; c < some.size(); ++c)
            ASSERT_EQ(part[r * some.size() + c], whole[r * rows.count() + some[c]])
                << name_of(kernel);
      };
      smaller->block(rows, some, 0, some.size(), part.data(), some.size());
      expect_part();
      const auto small = engine->for_block(rows, some);
      if (small == nullptr) continue;
      std::fill(part.begin(), part.end(), -1.0f);
      small->block(rows, some, 0, some.size(), part.data(), some.size());
      expect_part();
    }
  }
}

TEST(Engine, RowsThatThePackedNumbersCannotHoldAreStillExact) {
  const Features columns = made(Shape::binary, 90, 4);
  Features odd = Features::sparse(50);
  odd.append(std::vector<Index>{0, 3, 45}, std::vector<double>{0.37, 1e4, 12.25});
  odd.append(std::vector<Index>{1}, std::vector<double>{2.0});
  const std::vector<Index> which{0, 1};
  for (const Kernel& kernel : {Kernel(Rbf{1e-8}), Kernel(Linear{}), Kernel(Rbf{0.1})}) {
    const auto engine = make_engine(kernel, columns);
    std::vector<float> out(2 * columns.count());
    engine->block(odd, which, 0, columns.count(), out.data(), columns.count());
    for (std::size_t r = 0; r < 2; ++r)
      for (std::size_t c = 0; c < columns.count(); ++c) {
        const double want = naive_value(kernel, odd, r, columns, c);
        ASSERT_NEAR(out[r * columns.count() + c], want, 1e-6 * std::abs(want) + 1e-30);
      }
  }
}

// Distances of binary rows are bytes. Of columns with few features all distances among themselves
// are, but not those to rows of many.
TEST(Engine, DistancesThatAreNoBytesAreExact) {
  const auto of_ones = [](std::size_t begin, std::size_t count) {
    Features rows = Features::sparse(600);
    std::vector<Index> index(count);
    std::iota(index.begin(), index.end(), static_cast<Index>(begin));
    rows.append(index, std::vector<double>(count, 1.0));
    return rows;
  };
  const Features columns = of_ones(0, 10);
  const Kernel kernel = Rbf{0.01};
  const auto engine = make_engine(kernel, columns);
  for (const std::size_t ones : {235u, 245u, 246u, 250u, 256u, 264u, 266u, 500u}) {
    const Features left = of_ones(50, ones);
    float value = 0;
    engine->block(left, std::vector<Index>{0}, 0, 1, &value, 1);
    const double want = naive_value(kernel, left, 0, columns, 0);
    EXPECT_NEAR(static_cast<double>(value), want, 1e-6 * want) << ones;
  }
}

// Rows of whole numbers on both sides of zero, whose sums and distances end near the ends of float
// and of 32 bits, or beyond; rows on the left may be smaller than the columns.
TEST(Engine, WholeNumbersOfAnySizeAreExact) {
  constexpr std::size_t features = 300, count = 20;
  const auto rows_of = [](bool is_sparse, double size, std::uint64_t seed) {
    Rng rng(seed);
    Features rows = is_sparse ? Features::sparse(3 * features) : Features::dense(features);
    std::vector<Index> index(features);
    for (std::size_t j = 0; j < features; ++j) index[j] = static_cast<Index>(3 * j);
    std::vector<double> value(features);
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t j = 0; j < features; ++j)
        value[j] = (r % 2 == j % 2 ? 1 : -1) * std::floor(size + rng.uniform(0, 3));
      is_sparse ? rows.append(index, value) : rows.append(value);
    }
    return rows;
  };
  std::vector<Index> which(count);
  std::iota(which.begin(), which.end(), Index{0});
  for (const bool is_sparse : {false, true})
    for (const double size : {5.0, 55.0, 110.0, 500.0, 1300.0, 1500.0, 2000.0, 2600.0, 3000.0}) {
      const Features columns = rows_of(is_sparse, size, 1);
      for (const Kernel& kernel : {Kernel(Linear{}), Kernel(Rbf{0.5 / (features * size * size)})}) {
        const auto engine = make_engine(kernel, columns);
        for (const double share : {1.0, 0.6, 0.3, 0.1}) {
          const Features left = rows_of(is_sparse, share * size, 2);
          std::vector<float> out(count * count);
          engine->block(left, which, 0, count, out.data(), count);
          for (std::size_t r = 0; r < count; ++r)
            for (std::size_t c = 0; c < count; ++c) {
              const double want = naive_value(kernel, left, r, columns, c);
              ASSERT_NEAR(static_cast<double>(out[r * count + c]), want, 1e-6 * std::abs(want))
                  << size << " " << share << " " << is_sparse;
            }
        }
      }
    }
}

TEST(Engine, NegativeValuesAreRefusedWhereTheKernelHasNoMeaning) {
  const Features rows = Features::dense(2, std::vector<double>{1, 2, -1, 3});
  EXPECT_THROW(make_engine(ChiSquared{1}, rows), Error);
  EXPECT_THROW(make_engine(DistanceRbf{1, Distance::hellinger}, rows), Error);
}

// 0 in float, and still listed: chi-squared divides by what is listed.
TEST(Engine, ValuesThatFloatCannotHoldCountAsZeroes) {
  Features columns = Features::sparse(3);
  columns.append(std::vector<Index>{0, 1, 2}, std::vector<double>{1e-300, 0.001, 1000});
  columns.append(std::vector<Index>{1}, std::vector<double>{1.01});
  columns.append(std::vector<Index>{0, 2}, std::vector<double>{1e-60, 3.7});
  Features left = Features::sparse(3);
  left.append(std::vector<Index>{0, 1}, std::vector<double>{1e-300, 3.25});
  left.append(std::vector<Index>{0, 2}, std::vector<double>{1e-46, 1e3});
  left.append(std::vector<Index>{2}, std::vector<double>{17.1});
  const std::vector<Index> which{0, 1, 2};
  for (const Kernel& kernel :
       {Kernel{ChiSquared{1e-4}}, Kernel{DistanceRbf{1e-4, Distance::chi_squared}},
        Kernel{DistanceRbf{1e-2, Distance::hellinger}}, Kernel{Laplacian{1e-3}},
        Kernel{Rbf{1e-6}}}) {
    const auto engine = make_engine(kernel, columns);
    for (const Features* rows : {&left, &columns}) {
      std::vector<float> out(9);
      engine->block(*rows, which, 0, 3, out.data(), 3);
      for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c)
          EXPECT_NEAR(out[3 * r + c], naive_value(kernel, *rows, r, columns, c), 2e-6)
              << name_of(kernel) << " " << r << " " << c;
    }
  }
}

TEST(Engine, CustomKernelIsCalledByBlocks) {
  Custom kernel;
  kernel.function = [](const Rows& left, std::span<const Index> which, const Rows& right,
                       std::size_t begin, std::size_t count, double* out) {
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t c = 0; c < count; ++c)
        out[r * count + c] = naive_value(Rbf{0.5}, left, which[r], right, begin + c);
  };
  const Features rows = made(Shape::dense, 20, 6);
  const auto engine = make_engine(kernel, rows);
  const std::vector<Index> which{3, 9};
  std::vector<float> out(2 * 32);
  engine->block(rows, which, 4, 10, out.data(), 32);
  EXPECT_FLOAT_EQ(out[32 + 5], static_cast<float>(naive_value(Rbf{0.5}, rows, 9, rows, 9)));
  EXPECT_THROW(make_engine(Custom{}, rows), Error);
}

/// All of what engines can do beyond their core, by what they are made for.
TEST(Engine, CanDoWhatItSaysAndNothingElse) {
  Rng rng(4);
  const Features few = made::features(200, 5, made::Storage::dense_floats, rng);
  const Features sparse = made::features(200, 40, made::Storage::sparse, rng);
  Features binary = Features::sparse(30);
  for (int i = 0; i < 200; ++i) {
    std::vector<double> row(30);
    for (double& value : row) value = rng.below(4) == 0 ? 1 : 0;
    binary.append(row);
  }
  const auto can = [](const Kernel& kernel, const Features& x) {
    return make_engine(kernel, x)->can();
  };
  EXPECT_NE(can(Rbf{0.5}, few).halves, nullptr);
  EXPECT_EQ(can(Rbf{0.5}, few).coded, nullptr);
  EXPECT_EQ(can(Rbf{0.1}, sparse).halves, nullptr);
  EXPECT_NE(can(Rbf{0.1}, sparse).small, nullptr);
  EXPECT_NE(can(Rbf{0.1}, binary).coded, nullptr);
  const EngineCapabilities given = can(Precomputed{}, few);
  EXPECT_TRUE(given.products == nullptr && given.halves == nullptr && given.coded == nullptr &&
              given.nonzero == nullptr && given.small == nullptr);
  // Products of each are those of its blocks.
  for (const Features* x : std::initializer_list<const Features*>{&few, &sparse, &binary}) {
    const auto engine = make_engine(Rbf{0.3}, *x);
    EXPECT_EQ(engine->nonzero_share() < 1, engine->can().nonzero != nullptr);
    std::vector<Index> which{3, 77, 5};
    const std::vector<double> weight{1, -0.5, 2};
    std::vector<float> values(3 * 200);
    std::vector<double> product(200, 0.0), exact(200, 0.0);
    engine->block(*x, which, 0, 200, values.data(), 200);
    engine->add_product(*x, which, weight, 0, 200, product.data());
    engine->add_exact_product(*x, which, weight, 0, 200, exact.data());
    for (std::size_t c = 0; c < 200; ++c) {
      double sum = 0;
      for (std::size_t r = 0; r < 3; ++r)
        sum += weight[r] * static_cast<double>(values[r * 200 + c]);
      EXPECT_NEAR(product[c], sum, 1e-5);
      EXPECT_NEAR(exact[c], sum, 1e-5);
    }
  }
}

}  // namespace
}  // namespace maxmargin::engine_test
