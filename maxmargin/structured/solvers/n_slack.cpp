#include "maxmargin/structured/solvers/rounds.hpp"

namespace maxmargin {

void cut_planes(PlaneBlocks& blocks, Rounds& rounds, std::size_t idle) {
  constexpr std::size_t most_sweeps = 1000, examples_between_looks = 256;
  while (true) {
    const auto made = rounds.pass([&](const Threads& each) { return blocks.exact_pass(each); });
    if (!made || !rounds.record(*made, blocks)) break;
    const ExactPass& pass = *made;
    double gained = 0;
    bool added = false;
    blocks.begin_steps();
    for (std::size_t k = 0; k < most_sweeps && rounds.running(); ++k) {
      double rest = 0;
      for (std::size_t i = 0; i < pass.violators.size(); ++i) {
        if (i % examples_between_looks == examples_between_looks - 1 && !rounds.running()) break;
        const PlaneBlocks::Visit visit = blocks.visit(i, k == 0 ? &pass.violators[i] : nullptr);
        gained += visit.gain;
        rest += visit.gap;
        added = added || visit.added;
      }
      if (rest <= 0.1 * pass.gap) break;
    }
    blocks.end_steps();
    gained += blocks.stretch();
    blocks.drop_idle(idle);
    rounds.record_gain(gained, added);
  }
}

StructuredSolution run(const Structured& problem, const NSlack& options, const Stop& stop,
                       const StructuredRun& how) {
  PlaneBlocks blocks(problem, how.start, how.costs);
  Rounds rounds(problem, stop, how);
  cut_planes(blocks, rounds, options.idle);
  return rounds.finish(blocks);
}

}  // namespace maxmargin
