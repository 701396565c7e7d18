#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "maxmargin/base/named.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// The cache of a classical solver (Learning with Kernels, 10.1.3).
enum class CachePolicy {
  row,      ///< rows, least recently used evicted; f at bound points is summed again
  element,  ///< single values; f at bound points is summed again
  function  ///< f at all points, carried along by rows (10.26) and recomputed against drift
};
template <>
struct Named<CachePolicy> {
  static constexpr std::array<std::pair<CachePolicy, std::string_view>, 3> values = {
      {{CachePolicy::row, "row"},
       {CachePolicy::element, "element"},
       {CachePolicy::function, "function"}}};
};

/// For solvers that update f at all points in any case.
inline constexpr std::string_view cache_help =
    "what --memory keeps beside f: kernel rows (row), single kernel values (element), or neither "
    "(function)";

/// How often a value that was asked for was found, counted in kernel values.
struct CacheUse {
  std::uint64_t asked = 0, found = 0;
};

/// Values of a Quadratic within a budget: whole rows, the least recently used evicted first, or
/// single values in a hash table where a new one replaces the one that it collides with. Values are
/// floats, as those of rows(), or doubles, as those of exact_block().
template <class Real>
class BasicValueCache {
 public:
  enum class Unit { row, element };
  /// Room for at least three rows, whatever the budget.
  BasicValueCache(std::shared_ptr<const Quadratic> K, std::size_t bytes, Unit unit,
                  const Threads& threads);

  /// As a policy says; `function` caches no more than it must.
  BasicValueCache(std::shared_ptr<const Quadratic> K, std::size_t bytes, CachePolicy policy,
                  const Threads& threads)
      : BasicValueCache(std::move(K), policy == CachePolicy::function ? 0 : bytes,
                        policy == CachePolicy::element ? Unit::element : Unit::row, threads) {}

  /// A whole row, valid until two other rows have been asked for; where single values are
  /// cached, until the next.
  const Real* row(Index point);
  /// K(i, j); computes the one value, and no row, where it is not cached.
  double value(Index i, Index j);
  /// out[c] = K(point, columns[c]).
  void values(Index point, std::span<const Index> columns, Real* out);

  const CacheUse& use() const { return use_; }
  std::size_t capacity() const { return capacity_; }  ///< in rows, or in values

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr std::uint64_t empty = ~std::uint64_t{0};

  struct Element {
    std::uint64_t key = empty;
    Real value = 0;
  };

  std::uint64_t key(Index i, Index j) const;
  Element& element(std::uint64_t key) { return elements_[(key * 0x9e3779b97f4a7c15u) >> shift_]; }
  void touch(std::uint32_t slot);

  std::shared_ptr<const Quadratic> K_;
  Unit unit_;
  const Threads& threads_;
  std::size_t m_;
  std::size_t capacity_;
  CacheUse use_;
  std::vector<std::vector<Real>> rows_;        // of each slot
  std::vector<Index> point_of_;                // of each slot
  std::vector<std::uint32_t> slot_of_;         // of each point
  std::vector<std::uint32_t> before_, after_;  // slots in the order of their use, a ring over `end`
  std::vector<Element> elements_;
  int shift_ = 0;
  std::vector<Index> missing_;
  std::vector<Real> computed_;
  std::vector<Index> all_;    // columns, where single values are cached,
  std::vector<Real> single_;  // and the row that was last put together of them
};

extern template class BasicValueCache<float>;
extern template class BasicValueCache<double>;
using ValueCache = BasicValueCache<float>;
using ExactValueCache = BasicValueCache<double>;

}  // namespace maxmargin
