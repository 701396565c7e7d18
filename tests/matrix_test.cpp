// Every kind of matrix is asked every question, and all answers must be those of the same values.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <typeinfo>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/problem/matrix/biased.hpp"
#include "maxmargin/problem/matrix/cache/cached_rows.hpp"
#include "maxmargin/problem/matrix/cache/cached_values.hpp"
#include "maxmargin/problem/matrix/cache/truncated_rows.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"
#include "maxmargin/problem/matrix/forwarding.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"
#include "maxmargin/solver/smo/sum_row.hpp"
#include "maxmargin/train/machines/few_rows.hpp"
#include "maxmargin/train/machines/machine_matrix.hpp"
#include "tests/dense_quadratic.hpp"
#include "tests/source_tree.hpp"

namespace maxmargin::matrix_test {
namespace {

constexpr std::size_t ample = std::size_t{1} << 24;
const Threads one_thread(1);

struct Values {
  std::size_t size;
  std::vector<double> of;
  double at(std::size_t i, std::size_t j) const { return of[i * size + j]; }
};

/// A kind of matrix: one of them, its values by plain loops, and what it must be able to do.
struct Kind {
  std::string name;
  std::shared_ptr<const Quadratic> K;
  Values values;
  std::string can;  ///< of "partial coded truncated stored extended factored"
};

Values kernel_values(const Kernel& kernel, const Features& rows) {
  Values result{rows.count(), {}};
  for (std::size_t i = 0; i < rows.count(); ++i)
    for (std::size_t j = 0; j < rows.count(); ++j)
      result.of.push_back(naive_value(kernel, rows, i, rows, j));
  return result;
}

Values plus_one(Values values) {
  for (double& value : values.of) value += 1;
  return values;
}

/// Another point, the last, whose values are all zero.
Values with_null_point(const Values& values) {
  Values result{values.size + 1, {}};
  for (std::size_t i = 0; i <= values.size; ++i)
    for (std::size_t j = 0; j <= values.size; ++j)
      result.of.push_back(i < values.size && j < values.size ? values.at(i, j) : 0.0);
  return result;
}

std::shared_ptr<const Features> cloud(std::size_t points, std::size_t features) {
  Rng rng(17);
  Features rows = Features::dense(features);
  for (std::size_t i = 0; i < points; ++i) {
    std::vector<double> row(features);
    for (double& value : row) value = rng.normal();
    rows.append(row);
  }
  return std::make_shared<const Features>(std::move(rows));
}

std::shared_ptr<const Features> binary_rows(std::size_t points) {
  Rng rng(18);
  Features rows = Features::sparse(40);
  for (std::size_t i = 0; i < points; ++i) {
    std::vector<double> row(40);
    for (double& value : row) value = rng.uniform() < 0.2 ? 1 : 0;
    rows.append(row);
  }
  return std::make_shared<const Features>(std::move(rows));
}

/// Clusters that a narrow Gaussian hardly sees from one another.
std::shared_ptr<const Features> clusters(std::size_t points) {
  Rng rng(19);
  Features rows = Features::dense(4);
  for (std::size_t i = 0; i < points; ++i) {
    std::vector<double> row(4);
    for (double& value : row) value = static_cast<double>(i / 40) - 17 + 0.3 * rng.uniform();
    rows.append(row);
  }
  return std::make_shared<const Features>(std::move(rows));
}

/// Every kind there is, and those made from another of each of these.
std::vector<Kind> all_kinds() {
  std::vector<Kind> plain;
  const auto add = [&](const std::string& name, const Kernel& kernel, const auto& rows,
                       const std::string& can) {
    plain.push_back({name, make_kernel_quadratic(kernel, rows), kernel_values(kernel, *rows), can});
  };
  add("rbf", Rbf{0.1}, cloud(150, 20), "partial extended");
  add("linear", Linear{}, cloud(150, 7), "partial extended factored");
  add("coded", Rbf{0.1}, binary_rows(150), "partial coded extended");
  add("narrow", Rbf{8}, clusters(1403), "partial truncated extended");
  add("polynomial", Polynomial{0.2, 1, 3}, cloud(70, 9), "partial extended");
  {
    const auto rows = cloud(60, 5);
    const Values values = kernel_values(Rbf{0.3}, *rows);
    Features matrix = Features::dense(60);
    for (std::size_t i = 0; i < 60; ++i) matrix.append(std::span(values.of).subspan(60 * i, 60));
    plain.push_back(
        {"precomputed",
         make_kernel_quadratic(Precomputed{}, std::make_shared<const Features>(std::move(matrix)),
                               {}, Definite::yes),
         values, "extended"});
    plain.push_back({"dense", std::make_shared<DenseQuadratic>(60, values.of), values, ""});
  }
  {
    const Kind& whole = plain.front();
    const std::vector<double> all = exact_values(*whole.K, one_thread);
    std::vector<Index> points;
    for (std::size_t i = 1; i < whole.values.size; i += 4) points.push_back(static_cast<Index>(i));
    // Its memory has been another machine's before.
    auto K = std::make_shared<MachineMatrix>(whole.K->traits());
    K->assign(all, whole.values.size, std::vector<Index>{3, 2, 140});
    K->assign(all, whole.values.size, points);
    Values part{points.size(), {}};
    for (const Index i : points)
      for (const Index j : points) part.of.push_back(whole.values.at(i, j));
    plain.push_back({"machine", std::move(K), part, ""});
  }
  {
    const auto rows = cloud(80, 6);
    auto Z = std::make_shared<LowRank>(80, 6);
    for (std::size_t i = 0; i < 80; ++i)
      rows->view().for_each(i, [&](Index f, double value) { Z->row(i)[f] = value; });
    plain.push_back(
        {"low rank", make_low_rank_quadratic(Z), kernel_values(Linear{}, *rows), "factored"});
  }
  {
    const auto rows = cloud(260, 60);
    plain.push_back({"shared", make_shared_quadratic(Rbf{0.01}, rows, ample),
                     kernel_values(Rbf{0.01}, *rows), "partial extended"});
    std::vector<Index> stretches(140);
    std::iota(stretches.begin(), stretches.begin() + 70, Index{10});
    std::iota(stretches.begin() + 70, stretches.end(), Index{150});
    Values part{140, {}};
    for (const Index i : stretches)
      for (const Index j : stretches) part.of.push_back(plain.back().values.at(i, j));
    plain.push_back(
        {"stretches", plain.back().K->restrict_to(stretches), part, "partial extended"});
  }
  std::vector<Kind> all;
  const auto with_partial = [](const std::string& can) {
    return can.starts_with("partial") ? can : can.empty() ? "partial" : "partial " + can;
  };
  for (const Kind& each : plain) {
    all.push_back(each);
    all.push_back({"forwarded " + each.name, std::make_shared<ForwardingQuadratic>(each.K),
                   each.values, with_partial(each.can)});
    all.push_back({"biased " + each.name, make_biased(each.K), plus_one(each.values),
                   with_partial(each.can)});
    for (const CachePolicy policy : {CachePolicy::row, CachePolicy::element}) {
      std::string can = with_partial(each.can);
      for (const std::string_view passed : {" coded", " truncated"})
        if (const auto at = can.find(passed); at != std::string::npos) can.erase(at, passed.size());
      all.push_back({"cached " + std::string(to_string(policy)) + "s of " + each.name,
                     cache_values(each.K, policy, ample, std::make_shared<CacheUse>(), one_thread),
                     each.values, can});
    }
    DualQp qp;
    qp.K = each.K;
    qp.row = {0};
    qp.block = {{1, -1, 0, 1, 0}};
    all.push_back({"null point " + each.name, SumRow(qp, {false}).qp.K,
                   with_null_point(each.values), "partial"});
  }
  for (const bool biased : {false, true}) {
    const std::string of = biased ? "biased " : "";
    const auto bias = [&](std::shared_ptr<const Quadratic> K) {
      return biased ? make_biased(std::move(K)) : K;
    };
    const auto bias_values = [&](Values values) { return biased ? plus_one(values) : values; };
    for (const Kind& each : plain) {
      if (each.name == "narrow")
        all.push_back({"truncated rows of " + of + each.name,
                       cache_truncated_rows(bias(each.K), ample), bias_values(each.values),
                       "partial truncated stored extended"});
      if (each.name == "shared")
        all.push_back({"cached rows of " + of + each.name, cache_rows(bias(each.K), ample),
                       bias_values(each.values), "partial stored extended"});
    }
  }
  return all;
}

std::string capabilities(const MatrixCapabilities& can) {
  std::string text;
  const auto note = [&](bool is_there, const std::string& name) {
    if (is_there) text += (text.empty() ? "" : " ") + name;
  };
  note(can.partial != nullptr, "partial");
  note(can.coded != nullptr, "coded");
  note(can.truncated != nullptr, "truncated");
  note(can.stored != nullptr, "stored");
  note(can.extended != nullptr, "extended");
  note(can.factored != nullptr, "factored");
  return text;
}

/// Asks one matrix everything. Values may differ by what its traits say.
class Questions {
 public:
  explicit Questions(const Kind& kind) : K_(*kind.K), values_(kind.values) {
    for (std::size_t i = 0; i < values_.size; ++i)
      largest_ = std::max(largest_, std::abs(values_.at(i, i)));
    for (std::size_t i = 0; i < values_.size; i += 7) some_.push_back(static_cast<Index>(i));
    // What is proved of products, and that rows are rounded to float, witnesses to double.
    near_ = largest_ * (K_.traits().fast_error + 1e-7);
    exact_ = largest_ * (K_.traits().exact_error + 4e-15);
  }

  void traits() const {
    const MatrixTraits traits = K_.traits();
    ASSERT_EQ(K_.size(), values_.size);
    EXPECT_GT(traits.deviation, 0);
    EXPECT_LT(traits.deviation, 1e-4);
    EXPECT_LE(traits.exact_error, traits.fast_error);
    EXPECT_LT(traits.fast_error, 1e-4);
    EXPECT_LT(traits.exact_error, 1e-10);
    EXPECT_GT(traits.value_cost, 0);
    EXPECT_LE(traits.columns, K_.size());
    ASSERT_EQ(K_.diagonal().size(), values_.size);
    for (std::size_t i = 0; i < values_.size; ++i)
      EXPECT_NEAR(K_.diagonal()[i], values_.at(i, i), exact_);
  }

  void rows() const {
    for (const auto& [begin, count] : {std::pair<std::size_t, std::size_t>{0, values_.size},
                                       {3, values_.size - 3},
                                       {5, values_.size - 9}}) {
      const auto found = table(some_.size(), count, [&, begin = begin, count = count](auto out) {
        K_.rows(some_, begin, count, out, threads_);
      });
      std::vector<double> exact(some_.size() * (count + 2));
      K_.exact_block(some_, begin, count, exact.data(), count + 2);
      for (std::size_t r = 0; r < some_.size(); ++r)
        for (std::size_t c = 0; c < count; ++c) {
          ASSERT_NEAR(found[r][c], values_.at(some_[r], begin + c), near_);
          ASSERT_NEAR(exact[r * (count + 2) + c], values_.at(some_[r], begin + c), exact_);
        }
    }
  }

  void blocks() const {
    std::vector<Index> backwards(some_.rbegin(), some_.rend()), odd;
    for (std::size_t k = 1; k < some_.size(); k += 2) odd.push_back(static_cast<Index>(k));
    for (const auto& set : {some_, backwards}) {
      const auto among =
          table(odd.size(), set.size(), [&](auto out) { K_.among(set, odd, out, threads_); });
      const auto block =
          table(odd.size(), set.size(), [&](auto out) { K_.block(odd, set, out, threads_); });
      for (std::size_t r = 0; r < odd.size(); ++r)
        for (std::size_t c = 0; c < set.size(); ++c) {
          ASSERT_NEAR(among[r][c], values_.at(set[odd[r]], set[c]), near_);
          ASSERT_NEAR(block[r][c], values_.at(odd[r], set[c]), near_);
        }
    }
  }

  void products() const {
    std::vector<double> x(values_.size, 0.0), coefficients, wanted(values_.size, 0.0);
    double size = 0;
    for (std::size_t k = 0; k < some_.size(); ++k) {
      coefficients.push_back(x[some_[k]] = 1 - 0.3 * static_cast<double>(k % 7));
      size += std::abs(coefficients[k]);
      for (std::size_t c = 0; c < wanted.size(); ++c)
        wanted[c] += coefficients[k] * values_.at(some_[k], c);
    }
    std::vector<double> fast(values_.size), exact(values_.size), added(values_.size, 2.0);
    K_.multiply(x, fast, Precision::fast, threads_);
    K_.multiply(x, exact, Precision::exact, threads_);
    K_.add_product(some_, coefficients, added, threads_);
    const ExtendedProducts* extended = K_.can().extended;
    std::vector<long double> digits(values_.size);
    if (extended != nullptr) {
      extended->multiply_extended(x, digits, threads_);
      EXPECT_LE(extended->extended_error(), K_.traits().exact_error);
      EXPECT_GT(extended->extended_work(10), 0);
    }
    for (std::size_t c = 0; c < wanted.size(); ++c) {
      ASSERT_NEAR(fast[c], wanted[c], size * near_) << c;
      ASSERT_NEAR(exact[c], wanted[c], size * exact_) << c;
      ASSERT_NEAR(added[c], 2 + wanted[c], size * near_) << c;
      if (extended != nullptr) {
        ASSERT_NEAR(static_cast<double>(digits[c]), wanted[c], size * exact_) << c;
      }
    }
  }

  void restriction() const {
    for (const std::size_t step : {std::size_t{1}, std::size_t{3}}) {
      std::vector<Index> points, all;
      for (std::size_t i = 2; i < values_.size; i += step) {
        all.push_back(static_cast<Index>(points.size()));
        points.push_back(static_cast<Index>(i));
      }
      const auto part = K_.restrict_to(points);
      ASSERT_EQ(part->size(), points.size());
      EXPECT_EQ(part->definite(), K_.definite());
      const auto whole = table(points.size(), values_.size,
                               [&](auto out) { K_.rows(points, 0, values_.size, out, threads_); });
      const auto cut = table(points.size(), points.size(),
                             [&](auto out) { part->rows(all, 0, points.size(), out, threads_); });
      for (std::size_t r = 0; r < points.size(); ++r)
        for (std::size_t c = 0; c < points.size(); ++c)
          ASSERT_EQ(cut[r][c], whole[r][points[c]]) << r << " " << c;
    }
  }

  void coded() const {
    const CodedRows* coded = K_.can().coded;
    if (coded == nullptr) return;
    std::vector<std::vector<std::uint8_t>> codes(some_.size(),
                                                 std::vector<std::uint8_t>(values_.size));
    std::vector<std::uint8_t*> out;
    for (auto& row : codes) out.push_back(row.data());
    coded->code_rows(some_, 0, values_.size, out, threads_);
    for (std::size_t r = 0; r < some_.size(); ++r)
      for (std::size_t c = 0; c < values_.size; ++c)
        ASSERT_NEAR(static_cast<double>(coded->decay().value(codes[r][c])) + coded->shift(),
                    values_.at(some_[r], c), near_);
  }

  void truncated() const {
    const TruncatedRows* truncated = K_.can().truncated;
    if (truncated == nullptr) return;
    EXPECT_LT(truncated->nonzero_share(), 0.25);
    std::vector<std::vector<double>> found(some_.size(),
                                           std::vector<double>(values_.size, truncated->shift()));
    truncated->nonzero_values(
        some_, 0, values_.size, 1e-10,
        [&](std::size_t r, std::size_t column, std::span<const float> values) {
          for (std::size_t c = 0; c < values.size(); ++c)
            found[r][column + c] += static_cast<double>(values[c]);
        });
    for (std::size_t r = 0; r < some_.size(); ++r)
      for (std::size_t c = 0; c < values_.size; ++c)
        ASSERT_NEAR(found[r][c], values_.at(some_[r], c), near_);
  }

  void stored() const {
    const StoredRows* stored = K_.can().stored;
    if (stored == nullptr) return;
    stored->keep(some_, threads_);
    EXPECT_TRUE(stored->has_room());
    for (const Index point : some_) {
      std::vector<double> found(values_.size, 0.0);
      if (stored->are_truncated()) {
        const auto row = stored->truncated_row(point);
        ASSERT_TRUE(row);
        std::fill(found.begin(), found.end(), K_.can().truncated->shift());
        for (std::size_t k = 0; k < row->blocks.size(); ++k)
          for (std::size_t i = 0; i < block_columns; ++i)
            if (const std::size_t c = block_columns * row->blocks[k] + i; c < found.size())
              found[c] += static_cast<double>(row->values[block_columns * k + i]);
      } else {
        ASSERT_NE(stored->row(point), nullptr);
        std::copy_n(stored->row(point), found.size(), found.begin());
      }
      for (std::size_t c = 0; c < found.size(); ++c)
        ASSERT_NEAR(found[c], values_.at(point, c), near_);
    }
  }

  void factored() const {
    if (K_.can().factored == nullptr) {
      EXPECT_EQ(K_.columns(), K_.size());
      EXPECT_EQ(K_.low_rank(K_.size()), nullptr);
      return;
    }
    EXPECT_EQ(K_.low_rank(K_.columns() - 1), nullptr);
    const auto Z = K_.low_rank(K_.columns());
    ASSERT_NE(Z, nullptr);
    ASSERT_EQ(Z->rank(), K_.columns());
    for (const Index i : some_)
      for (std::size_t j = 0; j < values_.size; ++j)
        ASSERT_NEAR(std::inner_product(Z->row(i), Z->row(i) + Z->rank(), Z->row(j), 0.0),
                    values_.at(i, j), exact_);
  }

 private:
  template <class Fill>
  static std::vector<std::vector<float>> table(std::size_t rows, std::size_t columns, Fill&& fill) {
    std::vector<std::vector<float>> values(rows, std::vector<float>(columns, -7.0f));
    std::vector<float*> out;
    for (auto& row : values) out.push_back(row.data());
    fill(std::span<float* const>(out));
    return values;
  }

  const Quadratic& K_;
  const Values& values_;
  const Threads threads_{2};
  double largest_ = 0, near_, exact_;
  std::vector<Index> some_;
};

TEST(Matrix, EveryKindAnswersEveryQuestion) {
  // A class that stands in the sources and is not asked could answer anything.
  std::map<std::string, std::string> not_asked = testing_tree::classes_derived_from("Quadratic");
  EXPECT_GE(not_asked.size(), 10u);
  for (const Kind& kind : all_kinds()) {
    const Quadratic& of_kind = *kind.K;
    std::erase_if(not_asked, [&](const auto& each) {
      return testing_tree::is_class(typeid(of_kind), each.first);
    });
    SCOPED_TRACE(kind.name);
    EXPECT_EQ(capabilities(kind.K->can()), kind.can);
    const Questions ask(kind);
    ask.traits();
    if (HasFatalFailure()) return;
    // Twice: the second time a matrix may have stored what it was asked for.
    for (int turn = 0; turn < 2; ++turn) {
      ask.rows();
      ask.blocks();
      ask.products();
      ask.stored();
    }
    ask.restriction();
    ask.coded();
    ask.truncated();
    ask.factored();
  }
  for (const auto& [name, path] : not_asked)
    ADD_FAILURE() << path << ": " << name << " is a matrix that nobody asks";
}

TEST(Matrix, MadeFromAnotherItIsJudgedByTheErrorsOfThatOne) {
  for (const Kind& kind : all_kinds()) {
    const MatrixTraits plain = kind.K->traits(), biased = make_biased(kind.K)->traits();
    double largest = 0;
    for (const double value : kind.K->diagonal()) largest = std::max(largest, std::abs(value));
    EXPECT_GE(biased.deviation * (largest + 1), plain.deviation * largest) << kind.name;
    EXPECT_GE(biased.fast_error, plain.fast_error) << kind.name;
    EXPECT_GE(biased.exact_error, plain.exact_error) << kind.name;
    EXPECT_EQ(biased.value_cost, plain.value_cost) << kind.name;
    EXPECT_EQ(biased.definite, plain.definite) << kind.name;
  }
}

}  // namespace
}  // namespace maxmargin::matrix_test
