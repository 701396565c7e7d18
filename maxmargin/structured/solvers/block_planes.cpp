#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/structured/solvers/plane_blocks.hpp"
#include "maxmargin/structured/solvers/rounds.hpp"

namespace maxmargin {
namespace {

/// A sum tree: draws numbers below n with probabilities in proportion to weights, and changes a
/// weight, in O(log n).
class WeightedDraw {
 public:
  explicit WeightedDraw(const std::vector<double>& weights) {
    while (leaves_ < weights.size()) leaves_ *= 2;
    tree_.assign(2 * leaves_, 0.0);
    std::ranges::copy(weights, tree_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (std::size_t k = leaves_; k-- > 1;) tree_[k] = tree_[2 * k] + tree_[2 * k + 1];
  }
  double total() const { return tree_[1]; }
  void set(std::size_t i, double weight) {
    std::size_t k = leaves_ + i;
    tree_[k] = weight;
    for (k /= 2; k > 0; k /= 2) tree_[k] = tree_[2 * k] + tree_[2 * k + 1];
  }
  std::size_t draw(Rng& rng) const {
    double left = rng.uniform() * total();
    std::size_t k = 1;
    while (k < leaves_) {
      k *= 2;
      // With rounding, `left` may exceed the left sum where the right one is 0.
      if (left >= tree_[k] && tree_[k + 1] > 0) left -= tree_[k++];
    }
    return k - leaves_;
  }

 private:
  std::size_t leaves_ = 1;
  std::vector<double> tree_;
};

class BlockRun {
 public:
  BlockRun(const Structured& problem, const BlockPlanes& options, const Stop& stop,
           const StructuredRun& run)
      : problem_(problem),
        options_(options),
        relative_gap_(stop.relative_gap),
        run_(run),
        rng_(run.seed),
        blocks_(problem, run.start, run.costs),
        rounds_(problem, stop, run) {
    const std::size_t n = problem.oracle.examples();
    batch_ = std::clamp<std::size_t>(n / 8, 1, std::max<std::size_t>(1, options.batch));
    order_.resize(n);
    for (std::size_t i = 0; i < n; ++i) order_[i] = i;
  }

  StructuredSolution solve() {
    // Features of very different size make steps of single examples undo each other without end. In
    // few dimensions few joint planes suffice.
    constexpr std::size_t most_passes = 200;
    for (std::size_t passes = 0;; ++passes) {
      const auto made = rounds_.pass([&](const Threads& each) { return blocks_.exact_pass(each); });
      if (!made || !rounds_.record(*made, blocks_)) break;
      const ExactPass& pass = *made;
      if (passes == most_passes && blocks_.stores_vectors())
        return cut_joint_planes(problem_, run_, blocks_.take(), rounds_);
      double gained = 0;
      weights_ = pass.terms;
      for (std::size_t i = 0; i < order_.size() && problem_.slack == Slack::none; ++i)
        weights_[i] += problem_.share() * pass.violation[i];
      blocks_.begin_steps();
      const bool added = all_and_drawn(pass, gained);
      blocks_.end_steps();
      gained += blocks_.stretch();
      blocks_.drop_idle(options_.idle);
      rounds_.record_gain(gained, added);
    }
    return rounds_.finish(blocks_);
  }

 private:
  /// A step for every example with the structure that the exact pass found, then passes over drawn
  /// examples; returns whether the exact pass found new planes.
  bool all_and_drawn(const ExactPass& pass, double& gained) {
    bool added = false;
    for (const auto& visit : blocks_.visit(order_, pass.violators, run_.threads)) {
      gained += visit.gain;
      added = added || visit.added;
    }
    sweep(order_, pass.gap, gained);
    const double least = 0.1 * pass.gap / static_cast<double>(order_.size());
    // Drawing ends when the gap, as the oracles last saw it, is small enough: then an exact pass
    // decides.
    const double wanted = relative_gap_ * (std::abs(pass.primal) + std::abs(pass.dual)) / 2;
    // Close to the goal the planes of this pass may suffice: no draws before the next exact pass.
    const std::size_t draws = pass.gap <= 2 * wanted ? 0 : drawn_passes();
    for (std::size_t k = 0; k < draws && rounds_.running(); ++k) {
      if (k > 0 && std::accumulate(weights_.begin(), weights_.end(), 0.0) <= wanted) break;
      gained += drawn_pass(least);
    }
    return added;
  }

  /// With one example every pass is exact.
  std::size_t drawn_passes() const { return order_.size() > 1 ? options_.drawn_passes : 0; }

  /// In few dimensions a sweep costs little, and all examples share the same few weights, so that
  /// one step undoes another: there are more sweeps, to a smaller share of the gap.
  std::size_t most_sweeps() const {
    return blocks_.stores_vectors() ? 10 * options_.sweeps : options_.sweeps;
  }
  double share_left() const { return blocks_.stores_vectors() ? 0.1 : 0.3; }

  /// Draws, without replacement within a batch, as many examples as have a gap above `least`.
  double drawn_pass(double least) {
    std::size_t draws = 0;
    double gained = 0, gap = 0;
    for (const double weight : weights_) draws += weight > least ? 1 : 0;
    WeightedDraw draw(weights_);
    while (draws > 0 && draw.total() > 0 && rounds_.running()) {
      std::vector<std::size_t> chosen;
      while (chosen.size() < std::min(draws, batch_) && draw.total() > 0) {
        chosen.push_back(draw.draw(rng_));
        draw.set(chosen.back(), 0);
      }
      draws -= chosen.size();
      blocks_.update(chosen, run_.threads);
      const std::vector<Structure> found =
          problem_.oracle.most_violated(chosen, blocks_.w().scores(), problem_.ask(), run_.threads);
      rounds_.count_calls(chosen.size());
      const auto visits = blocks_.visit(chosen, found, run_.threads);
      for (std::size_t k = 0; k < chosen.size(); ++k) {
        gained += visits[k].gain;
        gap += visits[k].gap;
        weights_[chosen[k]] = std::max(0.0, visits[k].gap);
        draw.set(chosen[k], weights_[chosen[k]]);
      }
    }
    sweep(order_, gap, gained);
    return gained;
  }

  /// Block-coordinate sweeps over the known planes of these examples, until their gap is small
  /// beside the gap that the oracles saw.
  void sweep(std::span<const std::size_t> examples, double gap, double& gained) {
    std::vector<std::size_t> active;
    for (const std::size_t i : examples)
      if (!blocks_.planes()[i].empty()) active.push_back(i);
    for (std::size_t k = 0; k < most_sweeps() && !active.empty() && rounds_.running(); ++k) {
      for (std::size_t j = active.size(); j > 1; --j)
        std::swap(active[j - 1], active[rng_.below(j)]);
      double remaining = 0;
      std::vector<std::size_t> again;
      const auto visits = blocks_.visit(active, {}, run_.threads);
      for (std::size_t j = 0; j < active.size(); ++j) {
        gained += visits[j].gain;
        remaining += visits[j].gap;
        if (visits[j].gap > 0.01 * gap / static_cast<double>(examples.size()))
          again.push_back(active[j]);
      }
      if (remaining <= share_left() * gap) break;
      active = std::move(again);
    }
  }

  const Structured& problem_;
  const BlockPlanes& options_;
  double relative_gap_;
  const StructuredRun& run_;
  Rng rng_;
  PlaneBlocks blocks_;
  Rounds rounds_;
  std::size_t batch_ = 1;
  std::vector<std::size_t> order_;
  std::vector<double> weights_;
};

}  // namespace

StructuredSolution run(const Structured& problem, const BlockPlanes& options, const Stop& stop,
                       const StructuredRun& how) {
  return BlockRun(problem, options, stop, how).solve();
}

}  // namespace maxmargin
