#include "maxmargin/train/disk/disk_basis.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/linalg/serial_blas.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin {
namespace {

// Number of basis functions assumed where only a residual is given.
constexpr std::size_t usual_rank = 1000;
// At least so many candidate rows per basis function.
constexpr std::size_t least_choice = 2;

struct Sample {
  std::shared_ptr<const Features> x;
  std::vector<std::size_t> row;
};

/// Rows in their order, each equally likely.
Sample drawn_rows(const RowFile& rows, std::size_t features, std::size_t count,
                  std::uint64_t seed) {
  Sample sample;
  auto x = std::make_shared<Features>(Features::dense(features));
  Rng rng(seed);
  std::vector<double> values(features);
  std::size_t needed = std::min(count, rows.rows());
  rows.read(1, [&](std::span<const RowChunk> chunks) {
    const RowChunk& chunk = chunks.front();
    for (std::size_t i = 0; i < chunk.rows && needed > 0; ++i) {
      const std::size_t number = chunk.first_row + i;
      if (rng.below(rows.rows() - number) >= needed) continue;
      --needed;
      widen_row(chunk, i, values);
      x->append(values);
      sample.row.push_back(number);
    }
    return needed > 0;
  });
  x->fit();
  sample.x = std::move(x);
  return sample;
}

std::size_t sample_size(const RowFile& rows, const Approximate& how, std::size_t bytes) {
  const std::size_t rank = how.rank > 0 ? how.rank : usual_rank;
  const std::size_t row_bytes = (rows.columns() + rank + 8) * sizeof(double);
  return std::max(bytes / row_bytes, least_choice * rank);
}

/// T alone, as an approximation of the kernel between its basis functions.
Approximated factor_of(const Approximated& found) {
  const std::size_t n = found.basis.size();
  auto T = std::make_shared<LowRank>(n, n);
  for (std::size_t j = 0; j < n; ++j) std::copy_n(found.Z->row(found.basis[j]), n, T->row(j));
  Approximated factor;
  factor.Z = std::move(T);
  factor.basis.resize(n);
  std::iota(factor.basis.begin(), factor.basis.end(), Index{0});
  return factor;
}

/// Z = K_mn T'^-1 of some rows, and the residuals of their K(x, x).
class Projection {
 public:
  Projection(const Kernel& kernel, const DiskBasis& basis, std::size_t functions,
             const Threads& threads)
      : kernel_(kernel),
        engine_(make_engine(kernel, basis.basis, threads)),
        T_(*basis.factor.Z),
        features_(basis.basis.columns()),
        functions_(functions) {}

  void map(const RowChunk& chunk, std::size_t begin, std::size_t count, double* out) {
    const SerialBlas serial;
    const std::size_t n = T_.rank(), wide = n + functions_;
    Features some = Features::dense(features_);
    std::vector<double> x(features_ + functions_);
    for (std::size_t i = 0; i < count; ++i) {
      widen_row(chunk, begin + i, x);
      some.append(std::span(x).first(features_));
      std::copy_n(x.data() + features_, functions_, out + i * wide + n);
    }
    std::vector<Index> which(count);
    std::iota(which.begin(), which.end(), Index{0});
    engine_->exact_block(some, which, 0, n, out, wide);
    blas().cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                       as_int(count), as_int(n), 1, T_.row(0), as_int(n), out, as_int(wide));
    const std::vector<double> own = self_values(kernel_, some);
    double trace = 0, left = 0;
    for (std::size_t i = 0; i < count; ++i) {
      double square = 0;
      for (std::size_t j = 0; j < n; ++j) square += out[i * wide + j] * out[i * wide + j];
      trace += own[i];
      left += std::max(0.0, own[i] - square);
    }
    // In the order of the rows, whichever thread is first.
    const std::lock_guard lock(mutex_);
    parts_.push_back({chunk.first_row + begin, trace, left});
  }

  double residual() {
    std::ranges::sort(parts_, {}, &PartOfTrace::row);
    double trace = 0, left = 0;
    for (const PartOfTrace& part : parts_) {
      trace += part.trace;
      left += part.left;
    }
    return trace > 0 ? left / trace : 0;
  }

 private:
  struct PartOfTrace {
    std::size_t row;
    double trace, left;
  };
  const Kernel& kernel_;
  std::unique_ptr<Engine> engine_;
  const LowRank& T_;
  std::size_t features_, functions_;
  std::mutex mutex_;
  std::vector<PartOfTrace> parts_;
};

}  // namespace

std::optional<DiskBasis> approximate_on_disk(const RowFile& rows, const Kernel& kernel,
                                             const Approximate& how, const DiskRoom& room,
                                             const Threads& threads, const GoOn& go_on) {
  DiskBasis result;
  const std::size_t features = rows.columns() - room.functions;
  {
    const Sample sample =
        drawn_rows(rows, features, sample_size(rows, how, room.sample_bytes), how.seed);
    const Approximated found =
        approximate(*make_kernel_quadratic(kernel, sample.x, {}, Definite::unknown, threads), how,
                    threads, go_on);
    if (found.stopped || found.basis.empty()) return std::nullopt;
    result.factor = factor_of(found);
    result.basis = Features::dense(features);
    result.basis.append(sample.x->view(), found.basis);
    for (const Index each : found.basis) result.row.push_back(sample.row[each]);
  }
  Projection projection(kernel, result, room.functions, threads);
  result.rows = reshaped(
      rows, {room.folder, room.chunk_bytes, result.factor.basis.size() + room.functions},
      [&](const RowChunk& chunk, std::size_t begin, std::size_t count, double* out) {
        projection.map(chunk, begin, count, out);
      },
      threads, go_on);
  if (!result.rows) return std::nullopt;
  result.residual = projection.residual();
  return result;
}

}  // namespace maxmargin
