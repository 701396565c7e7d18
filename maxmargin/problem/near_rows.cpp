#include "maxmargin/problem/near_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/kernel/locality.hpp"
#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/problem/same_quadratic.hpp"

namespace maxmargin {
namespace {

// With more values than these the gaps between them do not pay.
constexpr double most_near = 0.25;
constexpr std::size_t rows_at_once = 256;
constexpr std::size_t stripes_a_thread = 4, least_columns = 1024;
constexpr std::size_t rows_per_task = 64;
constexpr std::uint32_t none = 0xffffffffu;

/// The blocks of columns with values that are not negligible, of one row within one stripe.
struct Piece {
  std::vector<Index> blocks;
  std::vector<float> values;

  void clear() {
    blocks.clear();
    values.clear();
  }

  /// Columns must increase from call to call.
  void add(std::size_t column, std::span<const float> fresh) {
    for (std::size_t i = 0; i < fresh.size();) {
      const std::size_t block = (column + i) / block_columns, at = (column + i) % block_columns;
      const std::size_t here = std::min(block_columns - at, fresh.size() - i);
      if (any_above(fresh.data() + i, here, static_cast<float>(negligible_value))) {
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

/// The rows kept, over some of the columns.
class Stripe {
 public:
  explicit Stripe(std::size_t begin, std::size_t count) : begin_(begin), count_(count) {}

  /// Of what does not depend on the number of stripes, and so of threads.
  std::size_t bytes() const {
    return blocks_.size() * sizeof(Index) + values_.size() * sizeof(float);
  }

  /// Appends rows, in their order.
  void append(const Quadratic& K, std::span<const Index> which) {
    pieces_.resize(std::max(pieces_.size(), which.size()));
    for (Piece& piece : pieces_) piece.clear();
    K.near_values(which, begin_, count_,
                  [&](std::size_t r, std::size_t column, std::span<const float> values) {
                    pieces_[r].add(column, values);
                  });
    for (std::size_t r = 0; r < which.size(); ++r) {
      blocks_.append(pieces_[r].blocks);
      values_.append(pieces_[r].values);
      first_.push_back(blocks_.size());
    }
  }

  BlockRow row(std::size_t slot) const {
    return {{blocks_.data() + first_[slot], first_[slot + 1] - first_[slot]},
            values_.data() + block_columns * first_[slot]};
  }

 private:
  std::size_t begin_, count_;
  std::vector<std::size_t> first_{0};  ///< block of each row
  Buffer<Index> blocks_;
  Buffer<float> values_;
  std::vector<Piece> pieces_;
};

/// Some points of a matrix, in increasing order, by the blocks of columns they stand in.
struct Members {
  std::vector<std::uint16_t> bits;   ///< the columns of each block that are such points
  std::vector<std::uint32_t> first;  ///< place of each block's first one

  Members(std::span<const Index> points, std::size_t size)
      : bits(size / block_columns + 1, 0), first(bits.size(), 0) {
    for (const Index p : points) {
      bits[p / block_columns] |= static_cast<std::uint16_t>(1u << p % block_columns);
      ++first[p / block_columns];
    }
    std::exclusive_scan(first.begin(), first.end(), first.begin(), 0u);
  }
};

class NearRows final : public SameQuadratic {
 public:
  NearRows(std::shared_ptr<const Quadratic> K, std::size_t bytes, const Threads& threads)
      : SameQuadratic(std::move(K)), bytes_(bytes), slot_(size(), none) {
    // How the columns are cut cannot be seen in any sum.
    const auto many =
        threads.count() == 1 ? 1 : stripes_a_thread * static_cast<std::size_t>(threads.count());
    const std::size_t columns = std::max(least_columns, (size() / many + 63) / 64 * 64);
    for (std::size_t begin = 0; begin < size(); begin += columns)
      stripes_.emplace_back(begin, std::min(columns, size() - begin));
  }

  bool keeps_rows() const override { return room() >= rows_at_once; }

  void among(std::span<const Index> points, std::span<const Index> which,
             std::span<float* const> out, const Threads& threads) const override {
    if (!std::is_sorted(points.begin(), points.end()))
      return same().among(points, which, out, threads);
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
    if (!missing.empty()) same().among(points, missing, of_missing, threads);
    const Members members(points, size());
    threads.split(slots.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) std::fill_n(of_kept[r], points.size(), 0.0f);
      std::vector<BlockRow> rows(end - begin);
      for (const Stripe& stripe : stripes_) {
        for (std::size_t r = begin; r < end; ++r) rows[r - begin] = stripe.row(slots[r]);
        pick_of_blocks(rows, members.bits.data(), members.first.data(), of_kept.data() + begin);
      }
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
    threads.run(stripes_.size(), [&](std::size_t s) {
      std::vector<BlockRow> rows;
      for (const std::uint32_t slot : slots) rows.push_back(stripes_[s].row(slot));
      add_scaled_blocks(rows, of_kept, size(), y.data());
    });
    same().add_product(missing, of_missing, y, threads);
  }

 private:
  /// Rows there is room for: by the size of those that are there, at first by a guess.
  std::size_t room() const {
    std::size_t used = 0;
    for (const Stripe& stripe : stripes_) used += stripe.bytes();
    const double guess = 2 * same().near_share() * static_cast<double>(size() * sizeof(float));
    const double row = kept_ == 0 ? guess : static_cast<double>(used) / static_cast<double>(kept_);
    return used >= bytes_ ? 0 : static_cast<std::size_t>(static_cast<double>(bytes_ - used) / row);
  }

  void keep(std::span<const Index> which, const Threads& threads) const {
    std::vector<Index> missing;
    for (const Index point : which)
      if (slot_[point] == none) missing.push_back(point);
    for (std::size_t done = 0; done < missing.size(); done += rows_at_once) {
      const std::size_t many = std::min({rows_at_once, missing.size() - done, room()});
      if (many == 0) return;
      const auto some = std::span(missing).subspan(done, many);
      threads.run(stripes_.size(), [&](std::size_t s) { stripes_[s].append(same(), some); });
      for (const Index point : some) slot_[point] = kept_++;
    }
  }

  std::size_t bytes_;
  mutable std::vector<std::uint32_t> slot_;  ///< of each point's row
  mutable std::uint32_t kept_ = 0;
  mutable std::vector<Stripe> stripes_;
};

}  // namespace

std::shared_ptr<const Quadratic> keep_near_rows(std::shared_ptr<const Quadratic> K,
                                                std::size_t bytes, const Threads& threads) {
  if (K->near_share() > most_near) return K;
  return std::make_shared<const NearRows>(std::move(K), bytes, threads);
}

}  // namespace maxmargin
