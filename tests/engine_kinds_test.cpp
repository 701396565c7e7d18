// Every kind of engine is asked every question, and all answers must be those of the same values.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <typeinfo>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/kernel/engine/panel/vnni_tiles.hpp"
#include "tests/source_tree.hpp"

namespace maxmargin::engine_kinds_test {
namespace {

/// A kind of engine: what makes one, and what it must be able to do.
struct Kind {
  std::string name;
  Kernel kernel;
  Features rows;
  std::string can;  ///< of "products halves coded nonzero small"
};

/// Rows of `features` values each; a value that is 0 is not stored in sparse rows.
template <class Value>
Features rows_of(bool is_sparse, std::size_t rows, std::size_t features, Value&& value) {
  Features x = no_rows(is_sparse, features);
  std::vector<double> row(features);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < features; ++j) row[j] = value(i, j);
    x.append(row);
  }
  return x;
}

/// So few values among so many features that packed they would be too large.
Features scattered(std::size_t rows) {
  Rng rng(3);
  Features x = Features::sparse(rows * 20);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<Index> index;
    std::vector<double> value;
    for (std::size_t k = 0; k < 8; ++k) {
      index.push_back(static_cast<Index>(k < 2 ? k : 2 + k * 2 * rows + i));
      value.push_back(rng.uniform(0.1, 1));
    }
    x.append(index, value);
  }
  return x;
}

/// Every kind there is.
std::vector<Kind> all_kinds() {
  Rng rng(5);
  const auto uniform = [&](std::size_t, std::size_t) { return rng.uniform(); };
  const auto wide = [&](std::size_t, std::size_t) {
    return rng.uniform() < 0.3 ? 10 * rng.uniform() : 0;
  };
  // Far from zero, and two by two close to each other: sums of products would cancel.
  std::vector<double> before(40);
  const auto pairs = [&](std::size_t i, std::size_t j) {
    if (i % 2 == 1) return before[j] > 0 ? before[j] + 1e-3 * rng.uniform() : 0.0;
    return before[j] = rng.uniform() < 0.2 ? 1000 + rng.uniform() : 0;
  };
  const auto binary = [&](std::size_t, std::size_t) { return rng.uniform() < 0.2 ? 1.0 : 0.0; };
  const auto pixels = [&](std::size_t, std::size_t) {
    return rng.uniform() < 0.3 ? static_cast<double>(1 + rng.below(255)) : 0.0;
  };
  const auto clusters = [&](std::size_t i, std::size_t) {
    return static_cast<double>(i / 40) + 0.3 * rng.uniform();
  };
  const std::string fused = "products small";
  std::vector<Kind> all;
  all.push_back(
      {"few features", Rbf{0.5}, rows_of(false, 200, 5, uniform), "products halves small"});
  all.push_back({"many features", Rbf{0.01}, rows_of(false, 150, 60, uniform), fused});
  all.push_back({"listed", Rbf{0.001}, rows_of(true, 150, 60, wide), fused});
  all.push_back({"float blocks", Rbf{0.0025}, rows_of(true, 150, 60, wide), fused});
  all.push_back({"in double", Polynomial{0.01, 1, 7}, rows_of(true, 150, 60, wide), fused});
  all.push_back({"distances in double", Rbf{20}, rows_of(false, 90, 5, uniform), fused});
  all.push_back({"binary", Rbf{0.1}, rows_of(true, 150, 40, binary), "products coded small"});
  all.push_back({"pixels", Linear{}, rows_of(true, 150, 900, pixels), fused});
  all.push_back({"whole numbers", Linear{},
                 rows_of(false, 150, 300,
                         [&](std::size_t, std::size_t) {
                           return 600 - static_cast<double>(rng.below(1201));
                         }),
                 fused});
  all.push_back({"narrow", Rbf{8}, rows_of(false, 403, 4, clusters), "products nonzero small"});
  all.push_back({"as stored", Rbf{0.05}, scattered(2000), "products"});
  all.push_back({"as stored, in double", Polynomial{0.5, 1, 7}, scattered(2000), "products"});
  all.push_back({"differences", Rbf{1e5}, rows_of(true, 90, 40, pairs), ""});
  {
    Custom own;
    own.function = [](const Rows& left, std::span<const Index> which, const Rows& right,
                      std::size_t begin, std::size_t count, double* out) {
      for (const Index row : which)
        for (std::size_t c = 0; c < count; ++c)
          *out++ = naive_value(Rbf{0.5}, left, row, right, begin + c);
    };
    all.push_back({"own function", own, rows_of(false, 70, 5, uniform), ""});
  }
  all.push_back({"precomputed", Precomputed{}, rows_of(false, 70, 70, uniform), ""});
  return all;
}

std::string capabilities(const EngineCapabilities& can) {
  std::string text;
  const auto note = [&](bool is_there, const std::string& name) {
    if (is_there) text += (text.empty() ? "" : " ") + name;
  };
  note(can.products != nullptr, "products");
  note(can.halves != nullptr, "halves");
  note(can.coded != nullptr, "coded");
  note(can.nonzero != nullptr, "nonzero");
  note(can.small != nullptr, "small");
  return text;
}

/// Asks one engine everything. Values may differ by what it says.
class Questions {
 public:
  Questions(const Kind& kind, const Engine& engine)
      : kernel_(kind.kernel), x_(kind.rows), engine_(engine), n_(kind.rows.count()) {
    // The definition takes long where there are many features.
    const std::size_t rows = n_ < 1000 ? 23 : 4;
    for (std::size_t i = 0; i < n_; i += n_ / rows) some_.push_back(static_cast<Index>(i));
    for (const Index i : some_)
      for (std::size_t j = 0; j < n_; ++j) values_.push_back(value(i, j));
    for (std::size_t j = 0; j < n_; j += n_ / 23)
      largest_ = std::max(largest_, std::abs(value(j, j)));
    for (const double each : values_) largest_ = std::max(largest_, std::abs(each));
    // What is proved, that blocks are rounded to float, and witnesses to double.
    near_ = largest_ * (engine.errors().in_float + 1e-7);
    exact_ = largest_ * (engine.errors().in_double + 4e-15);
  }

  void traits() const {
    const EngineTraits traits = engine_.traits();
    const ValueErrors errors = traits.errors;
    EXPECT_GT(engine_.deviation(), 0);
    EXPECT_LT(engine_.deviation(), 1e-5);
    EXPECT_GE(errors.in_double, 0);
    EXPECT_LE(errors.in_double, errors.in_float);
    EXPECT_LT(errors.in_float, 1e-3);
    EXPECT_GT(engine_.value_cost({}), 0);
    EXPECT_GT(engine_.half_cost({}), 0);
    EXPECT_GE(engine_.nonzero_share(), 0);
    EXPECT_EQ(engine_.nonzero_share() < 1, engine_.can().nonzero != nullptr);
    EXPECT_EQ(engine_.bytes() > 0, engine_.can().small != nullptr);  // it packs
  }

  void blocks() const {
    for (const auto& [begin, count] : pieces()) {
      std::vector<float> found(some_.size() * (count + 3), -7.0f);
      engine_.block(x_, some_, begin, count, found.data(), count + 3);
      std::vector<double> exact(some_.size() * (count + 2), -7.0);
      engine_.exact_block(x_, some_, begin, count, exact.data(), count + 2);
      for (std::size_t r = 0; r < some_.size(); ++r) {
        for (std::size_t c = 0; c < count; ++c) {
          ASSERT_NEAR(static_cast<double>(found[r * (count + 3) + c]), at(r, begin + c), near_);
          ASSERT_NEAR(exact[r * (count + 2) + c], at(r, begin + c), exact_);
        }
        ASSERT_EQ(found[r * (count + 3) + count], -7.0f);
        ASSERT_EQ(exact[r * (count + 2) + count], -7.0);
      }
    }
  }

  void products() const {
    for (const auto& [begin, count] : pieces()) {
      std::vector<double> weight, wanted(count, 2.0), fast(count, 2.0), exact(count, 2.0);
      double size = 0;
      for (std::size_t r = 0; r < some_.size(); ++r) {
        weight.push_back(1 - 0.3 * static_cast<double>(r % 7));
        size += std::abs(weight[r]);
        for (std::size_t c = 0; c < count; ++c) wanted[c] += weight[r] * at(r, begin + c);
      }
      engine_.add_product(x_, some_, weight, begin, count, fast.data());
      engine_.add_exact_product(x_, some_, weight, begin, count, exact.data());
      for (std::size_t c = 0; c < count; ++c) {
        ASSERT_NEAR(fast[c], wanted[c], size * near_) << c;
        ASSERT_NEAR(exact[c], wanted[c], size * exact_ + 1e-14) << c;
      }
    }
  }

  /// The product with the whole matrix, which must be symmetric.
  void halves() const {
    if (std::holds_alternative<Precomputed>(kernel_)) return;
    std::vector<double> x(n_), product(n_, 0.0), row(n_);
    double size = 0;
    for (std::size_t i = 0; i < n_; ++i)
      size += std::abs(x[i] = i % 4 == 0 ? 0 : 1 - 0.3 * static_cast<double>(i % 7));
    for (std::size_t first = 0; first < n_; first += Engine::half_rows)
      engine_.add_half_product(x_, first, x, product.data());
    for (std::size_t r = 0; r < some_.size(); ++r) {
      double wanted = 0;
      for (std::size_t j = 0; j < n_; ++j) wanted += at(r, j) * x[j];
      ASSERT_NEAR(product[some_[r]], wanted, size * near_) << some_[r];
    }
  }

  void other_columns() const {
    std::vector<Index> which;
    Features part = none_like(x_);
    for (std::size_t j = 1; j < n_; j += 3) which.push_back(static_cast<Index>(j));
    part.append(x_, which);
    // The columns of a precomputed kernel are those of the rows: it has no others.
    if (std::holds_alternative<Precomputed>(kernel_)) {
      std::iota(which.begin(), which.end(), Index{0});
    }
    const auto other = engine_.for_columns(part, which);
    EXPECT_EQ(capabilities(other->can()), capabilities(engine_.can()));
    std::vector<float> whole(some_.size() * n_), cut(some_.size() * which.size());
    engine_.block(x_, some_, 0, n_, whole.data(), n_);
    other->block(x_, some_, 0, which.size(), cut.data(), which.size());
    for (std::size_t r = 0; r < some_.size(); ++r)
      for (std::size_t c = 0; c < which.size(); ++c)
        ASSERT_EQ(cut[r * which.size() + c], whole[r * n_ + which[c]]) << r << " " << c;
  }

  void coded() const {
    const CodedBlocks* coded = engine_.can().coded;
    if (coded == nullptr) return;
    std::vector<std::vector<std::uint8_t>> codes(some_.size(), std::vector<std::uint8_t>(n_));
    std::vector<std::uint8_t*> out;
    for (auto& row : codes) out.push_back(row.data());
    coded->code_block(x_, some_, 0, n_, out);
    for (std::size_t r = 0; r < some_.size(); ++r)
      for (std::size_t c = 0; c < n_; ++c)
        ASSERT_NEAR(static_cast<double>(coded->decay().value(codes[r][c])), at(r, c), near_);
  }

  void nonzero() const {
    const NonzeroBlocks* nonzero = engine_.can().nonzero;
    if (nonzero == nullptr) return;
    EXPECT_LT(engine_.nonzero_share(), 0.5);
    std::vector<double> found(some_.size() * n_, 0.0);
    std::size_t told = 0;
    nonzero->nonzero_values(x_, some_, 0, n_, 1e-10,
                            [&](std::size_t r, std::size_t c, std::span<const float> values) {
                              told += values.size();
                              for (std::size_t k = 0; k < values.size(); ++k)
                                found[r * n_ + c + k] += static_cast<double>(values[k]);
                            });
    EXPECT_LT(told, found.size() / 2);
    for (std::size_t k = 0; k < found.size(); ++k) ASSERT_NEAR(found[k], values_[k], near_);
  }

  void small() const {
    const auto small = engine_.for_block(x_, some_);
    ASSERT_EQ(small != nullptr, engine_.can().small != nullptr);
    if (small == nullptr) return;
    const std::size_t count = some_.size();
    std::vector<float> found(count * count);
    small->block(x_, some_, 0, count, found.data(), count);
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t c = 0; c < count; ++c)
        ASSERT_NEAR(static_cast<double>(found[r * count + c]), at(r, some_[c]), near_);
  }

 private:
  /// The definition; of a precomputed kernel the numbers are the values.
  double value(std::size_t i, std::size_t j) const {
    if (!std::holds_alternative<Precomputed>(kernel_) && !std::holds_alternative<Custom>(kernel_))
      return naive_value(kernel_, x_, i, x_, j);
    if (std::holds_alternative<Custom>(kernel_)) return naive_value(Rbf{0.5}, x_, i, x_, j);
    double found = 0;
    x_.view().for_each(i, [&](Index feature, double each) {
      if (feature == j) found = each;
    });
    return found;
  }
  double at(std::size_t r, std::size_t column) const { return values_[r * n_ + column]; }
  std::vector<std::pair<std::size_t, std::size_t>> pieces() const {
    return {{0, n_}, {3, n_ - 3}, {5, n_ - 9}, {n_ / 2, 1}};
  }

  const Kernel& kernel_;
  const Features& x_;
  const Engine& engine_;
  std::size_t n_;
  std::vector<Index> some_;
  std::vector<double> values_;  // of some rows
  double largest_ = 0, near_, exact_;
};

/// The cells and sums that panels are compiled for.
std::size_t panels_there_are() {
  std::size_t count = 0;
  for (const std::string& line :
       testing_tree::lines(source_dir() / "maxmargin/kernel/engine/panel/panel_engine.cpp"))
    count += line.starts_with("template std::unique_ptr<Engine> make_panel_engine<");
  return count;
}

const std::string only_a_base = "DoubleEngine";

TEST(EngineKinds, EachAnswersEveryQuestion) {
  // A class that stands in the sources and is not asked could answer anything.
  std::map<std::string, std::string> not_asked = testing_tree::classes_derived_from("Engine");
  ASSERT_EQ(not_asked.erase(only_a_base), 1u);
  EXPECT_GE(not_asked.size(), 6u);
  std::set<std::string> panels;
  for (const Kind& kind : all_kinds()) {
    SCOPED_TRACE(kind.name);
    const auto engine = make_engine(kind.kernel, kind.rows);
    const Engine& of_kind = *engine;
    std::erase_if(not_asked, [&](const auto& each) {
      return testing_tree::is_class(typeid(of_kind), each.first);
    });
    if (testing_tree::is_class(typeid(of_kind), "PanelEngine"))
      panels.insert(typeid(of_kind).name());
    EXPECT_EQ(capabilities(engine->can()), kind.can) << typeid(of_kind).name();
    const Questions ask(kind, *engine);
    ask.traits();
    ask.blocks();
    ask.products();
    ask.halves();
    ask.other_columns();
    ask.coded();
    ask.nonzero();
    ask.small();
  }
  for (const auto& [name, path] : not_asked)
    ADD_FAILURE() << path << ": " << name << " is an engine that nobody asks";
  // Quads of bytes take instructions that not every machine has.
  EXPECT_GE(panels.size() + (has_vnni() ? 0 : 1), panels_there_are())
      << ::testing::PrintToString(panels);
}

}  // namespace
}  // namespace maxmargin::engine_kinds_test
