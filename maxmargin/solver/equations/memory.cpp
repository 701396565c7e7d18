#include "maxmargin/solver/equations/memory.hpp"

#include "maxmargin/solver/equations/point_matrix.hpp"

namespace maxmargin {
namespace {

/// Rounded up to hundredths, so that giving as much is enough.
std::string gibibytes(std::size_t bytes) {
  const std::size_t hundredths = bytes / 10737418 + 1;
  const std::string rest = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + (rest.size() < 2 ? ".0" : ".") + rest + " GiB";
}

}  // namespace

std::optional<std::string> lacking_memory(const Quadratic& K, std::size_t memory_bytes) {
  const bool low_rank = K.columns() <= low_rank_columns(K);
  const std::size_t needed =
      low_rank ? low_rank_points_bytes(K.size(), K.columns()) : dense_points_bytes(K.size());
  if (needed <= memory_bytes) return std::nullopt;
  return "it needs " + gibibytes(needed) + " for the matrix of " + std::to_string(K.size()) +
         " points and may use " + gibibytes(memory_bytes);
}

}  // namespace maxmargin
