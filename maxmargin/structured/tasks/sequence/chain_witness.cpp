#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/enumeration.hpp"
#include "maxmargin/structured/tasks/sequence/chain.hpp"

namespace maxmargin {
namespace {

bool allowed(const SequenceExamples& data, const Structure& y, std::size_t t) {
  if (data.allowed.empty()) return true;
  const auto label = [&](std::size_t at) { return static_cast<std::size_t>(y[at]); };
  return t == 0 ? data.allowed_first[label(0)] != 0 : data.allowed[label(t - 1)][label(t)] != 0;
}

/// All chains, in the order of counting.
class EveryChain : public EnumerationOracle {
 public:
  explicit EveryChain(const ChainOracle& chain) : EnumerationOracle(chain), data_(chain.data()) {}

 protected:
  bool next(std::size_t i, Structure& y) const override {
    const std::int32_t L = static_cast<std::int32_t>(data_.labels);
    const bool first = y.empty();
    y.resize(data_.length(i), 0);
    bool begin = first;
    while (begin || count_up(y, L)) {
      begin = false;
      bool fine = true;
      for (std::size_t t = 0; t < y.size() && fine; ++t) fine = allowed(data_, y, t);
      if (fine) return true;
    }
    return false;
  }

 private:
  static bool count_up(Structure& y, std::int32_t L) {
    for (std::size_t t = y.size(); t-- > 0;) {
      if (++y[t] < L) return true;
      y[t] = 0;
    }
    return false;
  }
  const SequenceExamples& data_;
};

/// Dynamic programming from the end: the best completion of a chain for each state, the last
/// `order` labels, and with slack rescaling for each number of wrong labels in it.
class Backward {
 public:
  Backward(const ChainOracle& chain, std::size_t i, std::span<const double> w, Ask ask)
      : chain_(chain),
        data_(chain.data()),
        i_(i),
        w_(w),
        ask_(ask),
        L_(data_.labels),
        T_(data_.length(i)),
        right_(chain.truth(i)) {
    node_.resize(T_ * L_);
    for (std::size_t l = 0; l < L_; ++l)
      for (std::size_t t = 0; t < T_; ++t) {
        const std::size_t token = data_.sentence[i] + t;
        for (std::uint64_t k = data_.token[token]; k < data_.token[token + 1]; ++k)
          node_[t * L_ + l] += data_.value_of(k) * w[data_.attribute[k] * L_ + l];
      }
  }

  Structure best() {
    const std::size_t states = chain_.options().order == 2 ? (L_ + 1) * (L_ + 1) : L_ + 1;
    const std::size_t counts = ask_ == Ask::slack ? T_ + 1 : 1;
    // rest_[t]: from token t on; the label L means "before the beginning".
    rest_.assign((T_ + 1) * states * counts, -infinity);
    states_ = states;
    counts_ = counts;
    for (std::size_t s = 0; s < states; ++s) at(T_, s, 0) = 0;
    for (std::size_t t = T_; t-- > 0;)
      for (std::size_t s = 0; s < states; ++s)
        for (std::size_t k = 0; k < counts; ++k) {
          double most = -infinity;
          for (std::size_t l = 0; l < L_; ++l) most = std::max(most, through(t, s, l, k));
          at(t, s, k) = most;
        }
    const std::size_t start = states - 1;
    std::size_t wrong = 0;
    if (ask_ == Ask::slack) {
      JointFeatures psi;
      chain_.features(i_, right_, 1, psi);
      double most = 0;
      for (std::size_t k = 1; k < counts; ++k) {
        if (at(0, start, k) == -infinity) continue;
        const double s =
            static_cast<double>(k) * chain_.unit(i_) * (1 - psi.dot(w_) + at(0, start, k));
        if (s > most) {
          most = s;
          wrong = k;
        }
      }
    }
    return follow(start, wrong);
  }

 private:
  double& at(std::size_t t, std::size_t s, std::size_t k) {
    return rest_[(t * states_ + s) * counts_ + k];
  }
  std::size_t last(std::size_t s) const { return s % (L_ + 1); }
  std::size_t before_last(std::size_t s) const { return s / (L_ + 1); }
  std::size_t after(std::size_t s, std::size_t l) const {
    return chain_.options().order == 2 ? last(s) * (L_ + 1) + l : l;
  }
  std::size_t errors(std::size_t t, std::size_t l) const {
    return ask_ == Ask::slack && static_cast<std::size_t>(right_[t]) != l ? 1 : 0;
  }
  /// The best completion with label l at t after state s, with k wrong labels.
  double through(std::size_t t, std::size_t s, std::size_t l, std::size_t k) {
    const std::size_t p = last(s), wrong = errors(t, l);
    if (wrong > k) return -infinity;
    double score = node_[t * L_ + l];
    if (ask_ == Ask::margin && static_cast<std::size_t>(right_[t]) != l) score += chain_.unit(i_);
    if (p == L_) {
      if (t > 0) return -infinity;
      if (!data_.allowed.empty() && !data_.allowed_first[l]) return -infinity;
      if (chain_.options().ends) score += w_[chain_.first_end() + l];
    } else {
      if (!data_.allowed.empty() && !data_.allowed[p][l]) return -infinity;
      score += w_[chain_.first_pair() + p * L_ + l];
      if (chain_.options().order == 2 && before_last(s) < L_)
        score += w_[chain_.first_triple() + (before_last(s) * L_ + p) * L_ + l];
    }
    if (t + 1 == T_ && chain_.options().ends) score += w_[chain_.first_end() + L_ + l];
    return score + at(t + 1, after(s, l), k - wrong);
  }
  Structure follow(std::size_t s, std::size_t k) {
    Structure y;
    for (std::size_t t = 0; t < T_; ++t) {
      std::size_t best = 0;
      double most = -infinity;
      for (std::size_t l = 0; l < L_; ++l)
        if (const double value = through(t, s, l, k); value > most) {
          most = value;
          best = l;
        }
      y.push_back(static_cast<std::int32_t>(best));
      k -= errors(t, best);
      s = after(s, best);
    }
    return y;
  }

  const ChainOracle& chain_;
  const SequenceExamples& data_;
  std::size_t i_;
  std::span<const double> w_;
  Ask ask_;
  std::size_t L_, T_, states_ = 0, counts_ = 0;
  Structure right_;
  std::vector<double> node_, rest_;
};

}  // namespace

double ChainWitness::loss(std::size_t i, StructureView y) const {
  const Structure right = chain_.truth(i);
  return static_cast<double>(std::inner_product(y.begin(), y.end(), right.begin(), 0, std::plus<>(),
                                                [](auto a, auto b) { return a == b ? 0 : 1; })) *
         chain_.unit(i);
}

Structure ChainWitness::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  constexpr double few = 200;
  const double count = std::pow(static_cast<double>(chain_.data().labels),
                                static_cast<double>(chain_.data().length(i)));
  if (count <= few) return EveryChain(chain_).most_violated(i, w, ask);
  return Backward(chain_, i, w, ask).best();
}

}  // namespace maxmargin
