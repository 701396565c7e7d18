#include "maxmargin/structured/enumeration.hpp"

namespace maxmargin {

Structure EnumerationOracle::most_violated(std::size_t i, std::span<const double> w,
                                           Ask ask) const {
  JointFeatures psi;
  Structure y, best;
  double most = 0;
  while (next(i, y)) {
    psi.clear();
    features(i, truth(i), 1, psi);
    features(i, y, -1, psi);
    const double margin = psi.dot(w);
    const double delta = ask == Ask::best ? 0 : loss(i, y);
    const double value = ask == Ask::slack ? delta * (1 - margin) : delta - margin;
    if (best.empty() || value > most) {
      best = y;
      most = value;
    }
  }
  return best;
}

}  // namespace maxmargin
