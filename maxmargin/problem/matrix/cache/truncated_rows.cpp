#include "maxmargin/problem/matrix/cache/truncated_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/kernel/engine/locality.hpp"
#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/problem/matrix/forwarding.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t truncated_rows_at_once = 1024;
constexpr std::size_t rows_per_task = 32;
constexpr std::size_t stripes_a_thread = 4, least_columns = 1024;
constexpr std::uint32_t none = 0xffffffffu;
// The error by truncation, as a share of that by the rounding of values.
constexpr double left_out = 0.25;

/// The blocks of columns of a row with non-negligible values.
struct Piece {
  std::vector<Index> blocks;
  std::vector<float> values;

  void clear() {
    blocks.clear();
    values.clear();
  }

  /// Columns must increase from call to call.
  void add(std::size_t column, std::span<const float> fresh, float least) {
    for (std::size_t i = 0; i < fresh.size();) {
      const std::size_t block = (column + i) / block_columns, at = (column + i) % block_columns;
      const std::size_t here = std::min(block_columns - at, fresh.size() - i);
      if (any_above(fresh.data() + i, here, least)) {
        if (blocks.empty() || blocks.back() != block) {
          constexpr float zeros[block_columns] = {};
          blocks.push_back(static_cast<Index>(block));
          values.insert(values.end(), zeros, zeros + block_columns);
        }
        std::copy_n(fresh.data() + i, here,
                    values.end() - static_cast<std::ptrdiff_t>(block_columns - at));
      }
      i += here;
    }
  }
};

/// Some points of a matrix, in increasing order, by their blocks of columns.
struct Members {
  std::vector<std::uint16_t> bits;   ///< the columns of each block that are such points
  std::vector<std::uint32_t> first;  ///< position of each block's first one

  Members(std::span<const Index> points, std::size_t size)
      : bits(size / block_columns + 1, 0), first(bits.size(), 0) {
    for (const Index p : points) {
      bits[p / block_columns] |= static_cast<std::uint16_t>(1u << p % block_columns);
      ++first[p / block_columns];
    }
    std::exclusive_scan(first.begin(), first.end(), first.begin(), 0u);
  }
};

class CachedTruncatedRows final : public ForwardingQuadratic, StoredRows {
 public:
  CachedTruncatedRows(std::shared_ptr<const Quadratic> K, std::size_t bytes)
      : ForwardingQuadratic(std::move(K)), bytes_(bytes), slot_(size(), none) {
    // Values below this, however many, change a product with x by no more than this share of
    // deviation * largest value * |x|.
    shift_ = inner().can().truncated->shift();
    const auto largest = std::ranges::max(diagonal());
    const double share = left_out * deviation() / std::sqrt(static_cast<double>(size()));
    least_ = static_cast<float>(std::max(share * largest, negligible_value));
  }

  MatrixCapabilities can() const override {
    MatrixCapabilities own = ForwardingQuadratic::can();
    own.stored = this;
    return own;
  }

  bool has_room() const override { return room() >= rows_per_task; }
  bool are_truncated() const override { return true; }
  const float* row(Index) const override { return nullptr; }
  std::optional<BlockRow> truncated_row(Index point) const override {
    if (slot_[point] == none) return std::nullopt;
    return values(slot_[point]);
  }

  void keep(std::span<const Index> which, const Threads& threads) const override {
    std::vector<Index> missing;
    for (const Index point : which)
      if (slot_[point] == none) missing.push_back(point);
    // Close points are neighbours, so that tasks share few columns.
    std::sort(missing.begin(), missing.end());
    for (std::size_t done = 0; done < missing.size(); done += truncated_rows_at_once) {
      const std::size_t many = std::min({truncated_rows_at_once, missing.size() - done, room()});
      if (many == 0) return;
      append(std::span(missing).subspan(done, many), threads);
    }
  }

  void among(std::span<const Index> points, std::span<const Index> which,
             std::span<float* const> out, const Threads& threads) const override {
    if (!std::is_sorted(points.begin(), points.end()))
      return inner().among(points, which, out, threads);
    std::vector<Index> asked;
    for (const Index r : which) asked.push_back(points[r]);
    keep(asked, threads);
    std::vector<Index> missing, slots;
    std::vector<float*> of_missing, of_kept;
    for (std::size_t r = 0; r < which.size(); ++r)
      if (const std::uint32_t slot = slot_[asked[r]]; slot != none) {
        slots.push_back(slot);
        of_kept.push_back(out[r]);
      } else {
        missing.push_back(which[r]);
        of_missing.push_back(out[r]);
      }
    if (!missing.empty()) inner().among(points, missing, of_missing, threads);
    const Members members(points, size());
    threads.split(slots.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
      std::vector<BlockRow> rows;
      for (std::size_t r = begin; r < end; ++r) {
        std::fill_n(of_kept[r], points.size(), 0.0f);
        rows.push_back(values(slots[r]));
      }
      pick_of_blocks(rows, members.bits.data(), members.first.data(), of_kept.data() + begin);
      if (shift_ == 0) return;
      for (std::size_t r = begin; r < end; ++r)
        for (std::size_t c = 0; c < points.size(); ++c) of_kept[r][c] += static_cast<float>(shift_);
    });
  }

  void add_product(std::span<const Index> which, std::span<const double> coefficients,
                   std::span<double> y, const Threads& threads) const override {
    keep(which, threads);
    std::vector<Index> missing, slots;
    std::vector<double> of_missing, of_kept;
    for (std::size_t k = 0; k < which.size(); ++k)
      if (const std::uint32_t slot = slot_[which[k]]; slot != none) {
        slots.push_back(slot);
        of_kept.push_back(coefficients[k]);
      } else {
        missing.push_back(which[k]);
        of_missing.push_back(coefficients[k]);
      }
    // No sum depends on how the columns are cut.
    const auto tasks = stripes_a_thread * static_cast<std::size_t>(threads.count());
    const std::size_t columns =
        threads.count() == 1 ? size() : std::max(least_columns, size() / tasks);
    const std::size_t blocks = (columns + block_columns - 1) / block_columns;
    threads.split(size() / block_columns + 1, blocks, [&](std::size_t begin, std::size_t end) {
      std::vector<BlockRow> rows;
      for (const std::uint32_t slot : slots) rows.push_back(part(values(slot), begin, end));
      add_scaled_blocks(rows, of_kept, size(), y.data());
    });
    if (shift_ != 0) {
      const double sum = shift_ * std::accumulate(of_kept.begin(), of_kept.end(), 0.0);
      for (double& value : y) value += sum;
    }
    inner().add_product(missing, of_missing, y, threads);
  }

 private:
  std::size_t used() const {
    return blocks_.size() * sizeof(Index) + values_.size() * sizeof(float);
  }

  /// Rows there is room for: by the size of those that are there, at first by a guess.
  std::size_t room() const {
    const double guess = 2 * nonzero_share() * static_cast<double>(size() * sizeof(float));
    const std::size_t kept = first_.size() - 1;
    const double row = kept == 0 ? guess : static_cast<double>(used()) / static_cast<double>(kept);
    return used() >= bytes_ ? 0
                            : static_cast<std::size_t>(static_cast<double>(bytes_ - used()) / row);
  }

  BlockRow values(std::size_t slot) const {
    return {{blocks_.data() + first_[slot], first_[slot + 1] - first_[slot]},
            values_.data() + block_columns * first_[slot]};
  }

  /// The blocks from `begin` to before `end`.
  static BlockRow part(const BlockRow& row, std::size_t begin, std::size_t end) {
    const auto from = std::ranges::lower_bound(row.blocks, begin);
    const auto to = std::lower_bound(from, row.blocks.end(), end);
    return {{from, to},
            row.values + block_columns * static_cast<std::size_t>(from - row.blocks.begin())};
  }

  void append(std::span<const Index> which, const Threads& threads) const {
    pieces_.resize(std::max(pieces_.size(), which.size()));
    threads.split(which.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) pieces_[r].clear();
      nonzero_values(which.subspan(begin, end - begin), 0, size(), static_cast<double>(least_),
                     [&](std::size_t r, std::size_t column, std::span<const float> fresh) {
                       pieces_[begin + r].add(column, fresh, least_);
                     });
    });
    const std::size_t slots = first_.size() - 1;
    for (std::size_t r = 0; r < which.size(); ++r) {
      slot_[which[r]] = static_cast<std::uint32_t>(slots + r);
      first_.push_back(first_.back() + pieces_[r].blocks.size());
    }
    // Reserves memory for all rows of this size: untouched pages cost nothing, and memory that is
    // not moved keeps its large pages.
    const std::size_t most = std::min(first_.back() / which.size() * size(),
                                      bytes_ / (block_columns * sizeof(float) + sizeof(Index)));
    if (slots == 0) {
      blocks_.reserve(most);
      values_.reserve(block_columns * most);
    }
    blocks_.reserve(first_.back());
    blocks_.resize(first_.back());
    values_.reserve(block_columns * first_.back());
    values_.resize(block_columns * first_.back());
    threads.split(which.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        std::ranges::copy(pieces_[r].blocks, blocks_.data() + first_[slots + r]);
        std::ranges::copy(pieces_[r].values, values_.data() + block_columns * first_[slots + r]);
      }
    });
  }

  std::size_t bytes_;
  double shift_;                               ///< the value of all others
  float least_;                                ///< smaller values are negligible
  mutable std::vector<std::uint32_t> slot_;    ///< of each point's row
  mutable std::vector<std::size_t> first_{0};  ///< block of each slot
  mutable Buffer<Index> blocks_;
  mutable Buffer<float> values_;
  mutable std::vector<Piece> pieces_;
};

}  // namespace

std::shared_ptr<const Quadratic> cache_truncated_rows(std::shared_ptr<const Quadratic> K,
                                                      std::size_t bytes, const CostModel& costs) {
  if (nonzero_share(*K) > costs.engines.most_near_stored || K->can().stored != nullptr) return K;
  return std::make_shared<const CachedTruncatedRows>(std::move(K), bytes);
}

}  // namespace maxmargin
