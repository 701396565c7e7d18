#include "maxmargin/structured/oracle.hpp"

namespace maxmargin {

std::string_view to_string(Exactness exactness) {
  switch (exactness) {
    case Exactness::exact:
      return "exact";
    case Exactness::relaxed:
      return "relaxed";
    case Exactness::heuristic:
      return "heuristic";
  }
  return {};
}

void Oracle::difference(std::size_t example, StructureView y, double scale,
                        JointFeatures& out) const {
  features(example, truth(example), scale, out);
  features(example, y, -scale, out);
}

void Oracle::margins(std::size_t example, std::span<const StructureView> ys,
                     std::span<const double> w, std::span<double> out) const {
  JointFeatures psi;
  for (std::size_t k = 0; k < ys.size(); ++k) {
    psi.clear();
    difference(example, ys[k], 1, psi);
    out[k] = psi.dot(w);
  }
}

void Oracle::combine(std::size_t example, std::span<const StructureView> ys,
                     std::span<const double> scale, JointFeatures& out) const {
  for (std::size_t k = 0; k < ys.size(); ++k)
    if (scale[k] != 0) difference(example, ys[k], scale[k], out);
}

std::vector<Structure> Oracle::most_violated(std::span<const std::size_t> examples,
                                             std::span<const double> w, Ask ask,
                                             const Threads& threads) const {
  std::vector<Structure> found(examples.size());
  constexpr std::size_t grain = 8;
  threads.split(examples.size(), grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) found[k] = most_violated(examples[k], w, ask);
  });
  return found;
}

std::string Oracle::example_name(std::size_t example) const {
  return "example " + std::to_string(example + 1);
}

std::vector<Structure> OracleSubset::most_violated(std::span<const std::size_t> examples,
                                                   std::span<const double> w, Ask ask,
                                                   const Threads& threads) const {
  std::vector<std::size_t> mapped;
  for (const std::size_t i : examples) mapped.push_back(which_[i]);
  return whole_.most_violated(mapped, w, ask, threads);
}

}  // namespace maxmargin
