// A kernel is a map of s, a sum over the features. With m terms and u the rounding of the
// arithmetic,
//
//   doubles    s = sum over the features of x of t(x, 0) + sum over those of z of t(x, z) - t(x,
//   0),
//              |error| <= 2 (m + 16) u (N(x) + N(z)), N(x) = sum t(x, 0) (dot: the squares); 0
//              where all values are whole numbers and no sum exceeds 2^52. Eight rows at a time.
//   extended   s = sum over the features of both of t(x, z), where nothing cancels:
//              |error| <= (m + 12) u s (dot: of the sum of sizes).
//
// The maps have the errors that `mapped` states, with a libm that is right to 2 units in the last
// place.
#include "maxmargin/model/verify/kernel_sums.hpp"
#include "maxmargin/kernel/given.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "maxmargin/kernel/mercer.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t lanes = 8;
/// Features up to which rows are spread out: 128 MiB for each thread.
constexpr std::size_t most_spread = std::size_t{1} << 21;

template <Pairing pairing, class Real>
Real term(Real x, Real z) {
  if constexpr (pairing == Pairing::dot) return x * z;
  if constexpr (pairing == Pairing::squared_euclidean) return (x - z) * (x - z);
  if constexpr (pairing == Pairing::manhattan) return std::abs(x - z);
  if constexpr (pairing == Pairing::chi_squared)
    return x + z > 0 ? (x - z) * (x - z) / (x + z) : Real(0);
  if constexpr (pairing == Pairing::hellinger) {
    const Real roots = std::sqrt(x) + std::sqrt(z), root = roots > 0 ? (x - z) / roots : Real(0);
    return root * root;
  }
}

/// What N sums.
template <Pairing pairing, class Real>
Real size_term(Real x) {
  return pairing == Pairing::dot ? x * x : term<pairing, Real>(x, 0);
}

/// t(x, z) - t(x, 0)
template <Pairing pairing>
double extra_term(double x, double z) {
  if constexpr (pairing == Pairing::squared_euclidean) return z * (z - 2 * x);
  if constexpr (pairing == Pairing::dot) return x * z;
  return term<pairing, double>(x, z) - term<pairing, double>(x, 0);
}

template <class Body>
void with_pairing(Pairing pairing, Body&& body) {
  using enum Pairing;
  switch (pairing) {
    case dot:
      return body(std::integral_constant<Pairing, dot>{});
    case squared_euclidean:
      return body(std::integral_constant<Pairing, squared_euclidean>{});
    case manhattan:
      return body(std::integral_constant<Pairing, manhattan>{});
    case chi_squared:
      return body(std::integral_constant<Pairing, chi_squared>{});
    case hellinger:
      return body(std::integral_constant<Pairing, hellinger>{});
  }
}

/// A kernel value and a bound of its error.
template <class Real>
struct Known {
  Real value, error;
};
template <class Real>
constexpr Real rounding_of = std::numeric_limits<Real>::epsilon() / 2;
template <class Real>
constexpr Real smallest_of = std::numeric_limits<Real>::min();

template <class Real>
Known<Real> mapped(const Identity&, Real s, Real error) {
  return {s, error};
}

/// exp(-t) for t with this error: e^error - 1 <= 1.01 error up to 0.01. For large t the error is
/// large, but the value is negligible.
template <class Real>
Known<Real> decayed(Real t, Real error) {
  const Real value = std::exp(-t);
  if (!(error <= Real(0.01))) return {value, error < t ? std::exp(error - t) : Real(1)};
  return {value, value * (Real(1.01) * error + 4 * rounding_of<Real>)+smallest_of<Real>};
}
template <class Real>
Known<Real> mapped(const Decay& map, Real s, Real error) {
  const Real rate = map.rate, t = rate * std::max<Real>(s, 0);
  return decayed<Real>(t, rate * error + 2 * rounding_of<Real> * t);
}
template <class Real>
Known<Real> mapped(const RootDecay& map, Real s, Real error) {
  const Real rate = map.rate, root = std::sqrt(std::max<Real>(s, 0)), t = rate * root;
  // |sqrt(s + e) - sqrt(s)| <= |e| / sqrt(s), and at most sqrt(2 |e|) wherever s is.
  const Real of_root =
      root > 0 ? std::min(error / root, 2 * std::sqrt(error)) : 2 * std::sqrt(error);
  return decayed<Real>(t, rate * of_root * Real(1.01) + 4 * rounding_of<Real> * t);
}
template <class Real>
Real power(Real base, int degree) {
  Real result = 1;
  for (int n = 0; n < degree; ++n) result *= base;
  return result;
}
template <class Real>
Known<Real> mapped(const Power& map, Real s, Real error) {
  const Real u = rounding_of<Real>, factor = map.factor, shift = map.shift;
  const Real base = factor * s + shift;
  const Real blur = std::abs(factor) * error + 4 * u * (std::abs(factor * s) + std::abs(shift));
  const Real rest = power<Real>(std::abs(base) + blur, map.degree - 1);
  const Real degree = static_cast<Real>(map.degree);
  return {power<Real>(base, map.degree),
          rest * (degree * blur + 2 * degree * u * (std::abs(base) + blur)) * Real(1.01) +
              smallest_of<Real>};
}
template <class Real>
Known<Real> mapped(const HyperbolicTangent& map, Real s, Real error) {
  const Real u = rounding_of<Real>, factor = map.factor, shift = map.shift;
  const Real t = factor * s + shift;
  const Real blur = std::abs(factor) * error + 4 * u * (std::abs(factor * s) + std::abs(shift));
  // The slope of tanh is at most 1, and at most 4 exp(-2 |t|).
  const Real least = std::max<Real>(0, std::abs(t) - blur);
  const Real slope = std::min<Real>(1, Real(4.01) * std::exp(-2 * least));
  return {std::tanh(t), slope * blur + 4 * u};
}

/// The non-zeros of rows, as doubles.
struct Sparse {
  std::vector<std::size_t> start{0};
  std::vector<Index> feature;
  std::vector<double> value;

  void append(const Rows& rows, std::size_t row) {
    rows.for_each(row, [&](Index each, double x) {
      if (x == 0) return;
      feature.push_back(each);
      value.push_back(x);
    });
    start.push_back(feature.size());
  }
};

bool whole_and_small(const Rows& rows, double& most) {
  for (std::size_t i = 0; i < rows.count; ++i) {
    double squares = 0;
    bool whole = true;
    rows.for_each(i, [&](Index, double x) {
      whole = whole && x == std::trunc(x);
      squares += x * x;
    });
    most = std::max(most, squares);
    if (!whole) return false;
  }
  return true;
}

struct Use {
  Index machine;
  double coefficient;
};

}  // namespace

struct KernelSums::Parts {
  const Model& model;
  Rows rows;
  Arithmetic arithmetic;
  Sparse support{};
  std::vector<std::vector<Use>> uses{};  ///< of each support vector
  std::optional<Form> form{};
  bool exact = false;
  std::vector<double> norm{};  ///< N of each support vector
  /// Of given values: what they differ by from those across the diagonal, in units of
  /// sqrt(K_pp K_qq).
  Extended asymmetry = 0;
  std::vector<Extended> given_root{};  ///< sqrt(K_pp)

  using Take = std::function<void(std::size_t, std::span<const KernelSum>)>;

  void given_values(std::size_t row, std::vector<double>& values) const {
    if (const auto* custom = std::get_if<Custom>(&model.kernel)) {
      const Index which = static_cast<Index>(row);
      custom->function(rows, {&which, 1}, model.support, 0, values.size(), values.data());
      return;
    }
    std::vector<double> matrix_row(std::max(rows.columns, model.features), 0.0);
    rows.for_each(row, [&](Index feature, double value) { matrix_row[feature] = value; });
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = matrix_row[model.support_row[k]];
  }

  template <Pairing pairing>
  Known<Extended> long_sum(std::span<const Index> features, std::span<const double> values,
                           std::size_t k) const {
    Extended sum = 0, sizes = 0;
    std::size_t i = 0;
    const auto add = [&](Extended x, Extended z) {
      const Extended each = term<pairing, Extended>(x, z);
      sum += each;
      sizes += std::abs(each);
    };
    for (std::size_t p = support.start[k]; p < support.start[k + 1]; ++p) {
      for (; i < features.size() && features[i] < support.feature[p]; ++i) add(values[i], 0);
      const bool both = i < features.size() && features[i] == support.feature[p];
      add(both ? values[i] : 0, support.value[p]);
      i += both ? 1 : 0;
    }
    for (; i < features.size(); ++i) add(values[i], 0);
    const auto terms =
        static_cast<Extended>(features.size() + support.start[k + 1] - support.start[k]);
    return {sum, (terms + 12) * extended_rounding * sizes + smallest_of<Extended>};
  }

  /// Adds one support vector's share; `terms` support vectors have been added before.
  static void add(const Use& use, Known<Extended> kernel, KernelSum& into) {
    const Extended part = use.coefficient * kernel.value;
    into.g.middle += part;
    into.g.radius += std::abs(use.coefficient) * kernel.error;
    into.size += std::abs(part);
  }
  /// The rounding of the sum itself.
  void close(KernelSum& sum) const {
    const auto terms = static_cast<Extended>(uses.size()) + 4;
    sum.size *= 1 + terms * extended_rounding;
    sum.g.radius =
        sum.g.radius * (1 + terms * extended_rounding) + 2 * terms * extended_rounding * sum.size;
    if (!std::isfinite(sum.g.middle)) sum.g.radius = extended_infinity;
  }

  void one_row(std::size_t row, std::vector<KernelSum>& sums, const Take& take) const {
    std::ranges::fill(sums, KernelSum{});
    if (!form) {
      std::vector<double> values(uses.size());
      given_values(row, values);
      for (std::size_t k = 0; k < values.size(); ++k)
        for (const Use& use : uses[k])
          add(use,
              {values[k],
               asymmetry > 0 ? asymmetry * given_root[row] * given_root[model.support_row[k]] : 0},
              sums[use.machine]);
    } else {
      Sparse own;
      own.append(rows, row);
      with_pairing(form->pairing, [&](auto fixed) {
        visit_list(
            [&](const auto& map) {
              for (std::size_t k = 0; k < uses.size(); ++k) {
                const auto s = long_sum<fixed.value>(own.feature, own.value, k);
                const auto value = mapped<Extended>(map, s.value, s.error);
                for (const Use& use : uses[k]) add(use, value, sums[use.machine]);
              }
            },
            form->map);
      });
    }
    for (KernelSum& sum : sums) close(sum);
    take(row, sums);
  }

  /// A few rows, spread out feature by feature.
  struct Spread {
    std::vector<double> x;
    std::array<double, lanes> norm{};
    std::array<double, lanes> nonzeros{};
  };

  template <Pairing pairing, class Map>
  void some_rows(std::size_t begin, std::size_t end, const Map& map, Spread& spread,
                 std::vector<KernelSum>& sums) const {
    const auto u = static_cast<double>(double_rounding);
    for (std::size_t k = 0; k < uses.size(); ++k) {
      std::array<double, lanes> s;
      for (std::size_t r = 0; r < lanes; ++r) s[r] = pairing == Pairing::dot ? 0 : spread.norm[r];
      for (std::size_t p = support.start[k]; p < support.start[k + 1]; ++p) {
        const double* x = spread.x.data() + support.feature[p] * lanes;
        const double z = support.value[p];
        for (std::size_t r = 0; r < lanes; ++r) s[r] += extra_term<pairing>(x[r], z);
      }
      const auto own = static_cast<double>(support.start[k + 1] - support.start[k]);
      for (std::size_t r = 0; r < end - begin; ++r) {
        const double error =
            exact ? 0 : 2 * (own + spread.nonzeros[r] + 16) * u * (spread.norm[r] + norm[k]);
        const Known<double> value = mapped<double>(map, s[r], error);
        for (const Use& use : uses[k])
          add(use, {value.value, value.error}, sums[r * model.machines.size() + use.machine]);
      }
    }
  }

  void block(std::size_t begin, std::size_t end, Spread& spread, std::vector<KernelSum>& sums,
             const Take& take) const {
    std::ranges::fill(sums, KernelSum{});
    spread.norm.fill(0);
    spread.nonzeros.fill(0);
    with_pairing(form->pairing, [&](auto fixed) {
      for (std::size_t row = begin; row < end; ++row)
        rows.for_each(row, [&](Index feature, double x) {
          if (x == 0) return;
          spread.x[feature * lanes + row - begin] = x;
          spread.norm[row - begin] += size_term<fixed.value, double>(x);
          spread.nonzeros[row - begin] += 1;
        });
      visit_list([&](const auto& map) { some_rows<fixed.value>(begin, end, map, spread, sums); },
                 form->map);
    });
    const std::size_t machines = model.machines.size();
    for (KernelSum& sum : sums) close(sum);
    for (std::size_t row = begin; row < end; ++row) {
      rows.for_each(row,
                    [&](Index feature, double) { spread.x[feature * lanes + row - begin] = 0; });
      take(row, std::span(sums).subspan((row - begin) * machines, machines));
    }
  }
};

std::string_view to_string(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::doubles ? "double" : "extended";
}

KernelSums::KernelSums(const Model& model, const Rows& rows, Arithmetic arithmetic) {
  const auto* custom = std::get_if<Custom>(&model.kernel);
  if (custom != nullptr && !custom->function)
    throw Error(Fault::usage,
                "the kernel '" + custom->label +
                    "' of this model is a function of its user, which a "
                    "model file cannot hold",
                "load the model from C++ and give its kernel the function again");
  auto parts = std::make_unique<Parts>(Parts{model, rows, arithmetic});
  parts->uses.resize(model.support.count());
  for (std::size_t m = 0; m < model.machines.size(); ++m)
    for (std::size_t k = 0; k < model.machines[m].support.size(); ++k)
      parts->uses[model.machines[m].support[k]].push_back(
          {static_cast<Index>(m), model.machines[m].coefficient[k]});
  visit_list(
      [&](const auto& kernel) {
        if constexpr (requires { kernel.form(); }) parts->form = kernel.form();
      },
      model.kernel);
  if (is_given(model.kernel)) {
    parts->asymmetry = 2.02L * asymmetry_of(rows, Threads(1)).difference;
    for (std::size_t row = 0; row < rows.count && parts->asymmetry > 0; ++row) {
      Extended& root = parts->given_root.emplace_back(0);
      rows.for_each(row, [&](Index feature, double x) {
        if (feature == row) root = std::sqrt(std::abs(static_cast<Extended>(x)));
      });
    }
  }
  if (parts->form) {
    const Rows vectors = model.support;
    for (std::size_t k = 0; k < vectors.count; ++k) {
      parts->support.append(vectors, k);
      double norm = 0;
      with_pairing(parts->form->pairing, [&](auto fixed) {
        vectors.for_each(k, [&](Index, double z) { norm += size_term<fixed.value, double>(z); });
      });
      parts->norm.push_back(norm);
    }
    const Pairing pairing = parts->form->pairing;
    double most = 0;
    parts->exact = (pairing == Pairing::dot || pairing == Pairing::squared_euclidean ||
                    pairing == Pairing::manhattan) &&
                   whole_and_small(rows, most) && whole_and_small(vectors, most) && most < 0x1p48;
    if (rows.columns > most_spread) parts->arithmetic = Arithmetic::extended;
  }
  parts_ = std::move(parts);
}

KernelSums::~KernelSums() = default;

void KernelSums::compute(
    const Threads& threads,
    const std::function<void(std::size_t, std::span<const KernelSum>)>& take) const {
  const Parts& parts = *parts_;
  const std::size_t machines = parts.model.machines.size(), count = parts.rows.count;
  if (!parts.form || parts.arithmetic == Arithmetic::extended) {
    threads.split(count, 4, [&](std::size_t begin, std::size_t end) {
      std::vector<KernelSum> sums(machines);
      for (std::size_t row = begin; row < end; ++row) parts.one_row(row, sums, take);
    });
    return;
  }
  const std::size_t blocks = (count + lanes - 1) / lanes;
  threads.split(blocks, 8 + parts.rows.columns / 512, [&](std::size_t begin, std::size_t end) {
    Parts::Spread spread;
    spread.x.resize(std::max(parts.rows.columns, parts.model.support.columns()) * lanes);
    std::vector<KernelSum> sums(machines * lanes);
    for (std::size_t b = begin; b < end; ++b)
      parts.block(b * lanes, std::min(count, (b + 1) * lanes), spread, sums, take);
  });
}

Extended KernelSums::diagonal(std::size_t row) const {
  const Parts& parts = *parts_;
  if (!parts.form) {
    if (is_given(parts.model.kernel)) {
      Extended value = 0;
      parts.rows.for_each(row, [&](Index feature, double x) {
        if (feature == row) value = std::abs(x);
      });
      return value;
    }
    const Index which = static_cast<Index>(row);
    double value = 0;
    std::get<Custom>(parts.model.kernel)
        .function(parts.rows, {&which, 1}, parts.rows.slice(row, row + 1), 0, 1, &value);
    return std::abs(value);
  }
  Extended squares = 0;
  parts.rows.for_each(row, [&](Index, double x) { squares += static_cast<Extended>(x) * x; });
  const Extended s = parts.form->pairing == Pairing::dot ? squares : 0;
  return visit_list(
      [&](const auto& map) {
        const auto value = mapped<Extended>(map, s, s * 1e-9L);
        return std::abs(value.value) + value.error;
      },
      parts.form->map);
}

}  // namespace maxmargin
