#include "maxmargin/solver/cached.hpp"

#include <memory>

#include "maxmargin/problem/matrix/cache/cached_values.hpp"

namespace maxmargin {

Solution run_cached(const DualQp& qp, CachePolicy policy, std::size_t bytes, const Threads& threads,
                    const std::function<Solution(const DualQp&)>& body) {
  if (policy == CachePolicy::function) return body(qp);
  const auto use = std::make_shared<CacheUse>();
  Solution solution;
  {
    DualQp cached = qp;
    cached.K = cache_values(qp.K, policy, bytes, use, threads);
    solution = body(cached);
  }
  solution.values_asked += use->asked;
  solution.values_found += use->found;
  return solution;
}

}  // namespace maxmargin
