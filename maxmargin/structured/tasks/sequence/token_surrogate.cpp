#include "maxmargin/structured/tasks/sequence/token_surrogate.hpp"

#include <algorithm>

#include "maxmargin/structured/tasks/sequence/label_loops.hpp"

namespace maxmargin {

TokenGroups::TokenGroups(std::span<const JointFeatures> examples, std::size_t labels_,
                         std::size_t first_linear_)
    : labels(labels_), first_linear(first_linear_) {
  position.resize(first_linear / labels);
  example.resize(first_linear / labels);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    for (const Index index : examples[i].index) {
      if (index >= first_linear) continue;
      const std::size_t token = index / labels;
      position[token] = static_cast<Index>(tokens.size());
      example[token] = static_cast<Index>(i);
      tokens.push_back(static_cast<Index>(token));
    }
    first.push_back(tokens.size());
    const std::size_t count = first[i + 1] - first[i];
    square.push_back(square.back() + count * count);
  }
}

TokenSurrogate::TokenSurrogate(TokenGroups groups, std::vector<float> Z)
    : groups_(std::move(groups)),
      rank_(groups_.tokens.empty() ? 0 : Z.size() / groups_.tokens.size()),
      stride_(label_stride(groups_.labels)),
      Z_(std::move(Z)) {
  rest_.reserve(groups_.within.size());
  for (std::size_t i = 0; i + 1 < groups_.first.size(); ++i)
    for (std::size_t s = groups_.first[i]; s < groups_.first[i + 1]; ++s)
      for (std::size_t t = groups_.first[i]; t < groups_.first[i + 1]; ++t) {
        double sum = groups_.within[rest_.size()];
        for (std::size_t k = 0; k < rank_; ++k)
          sum -= static_cast<double>(Z_[s * rank_ + k]) * static_cast<double>(Z_[t * rank_ + k]);
        rest_.push_back(static_cast<float>(sum));
      }
}

void TokenSurrogate::begin(std::span<const double> scores) {
  const std::size_t L = groups_.labels;
  scores_.resize(groups_.tokens.size() * L);
  for (std::size_t k = 0; k < groups_.tokens.size(); ++k)
    std::copy_n(scores.data() + groups_.tokens[k] * L, L, scores_.data() + k * L);
  changes_.assign(scores_.size(), 0.0);
  w_.assign(rank_ * stride_, 0.0F);
}

void TokenSurrogate::add(const JointFeatures& delta, double scale, std::span<double> scores) {
  const std::size_t L = groups_.labels;
  change_.clear();
  rows_.clear();
  std::size_t last = static_cast<std::size_t>(-1);
  for (std::size_t k = 0; k < delta.size(); ++k) {
    const double change = scale * delta.value[k];
    if (delta.index[k] >= groups_.first_linear) {
      scores[delta.index[k]] += change;
      continue;
    }
    const std::size_t token = delta.index[k] / L, label = delta.index[k] % L,
                      position = groups_.position[token];
    if (token != last) {
      rows_.push_back(Z_.data() + position * rank_);
      change_.resize(change_.size() + stride_, 0.0F);
      last = token;
    }
    change_[change_.size() - stride_ + label] += static_cast<float>(change);
    changes_[position * L + label] += change;
  }
  add_label_changes(rows_, rank_, change_.data(), stride_, w_.data());
}

void TokenSurrogate::update(std::size_t example, std::span<double> scores) const {
  const std::size_t L = groups_.labels, begin = groups_.first[example],
                    count = groups_.first[example + 1] - begin;
  std::vector<float> sums(count * stride_);
  label_sums(Z_.data() + begin * rank_, count, rank_, w_.data(), stride_, sums.data());
  const float* rest = rest_.data() + groups_.square[example];
  for (std::size_t k = 0; k < count; ++k) {
    double* to = scores.data() + groups_.tokens[begin + k] * L;
    for (std::size_t l = 0; l < L; ++l)
      to[l] = scores_[(begin + k) * L + l] + static_cast<double>(sums[k * stride_ + l]);
    for (std::size_t s = 0; s < count; ++s)
      for (std::size_t l = 0; l < L; ++l)
        to[l] += static_cast<double>(rest[k * count + s]) * changes_[(begin + s) * L + l];
  }
}

double TokenSurrogate::inner(const JointFeatures& a, const JointFeatures& b) const {
  std::size_t example = 0;
  for (const JointFeatures* each : {&a, &b})
    for (const Index index : each->index)
      if (index < groups_.first_linear) example = groups_.example[index / groups_.labels];
  const std::size_t begin = groups_.first[example], count = groups_.first[example + 1] - begin;
  const double* K = groups_.within.data() + groups_.square[example];
  return token_inner_product(
      a, b, groups_.labels, groups_.first_linear,
      [&](std::size_t token) { return groups_.position[token] - begin; },
      [&](std::size_t s, std::size_t t) { return K[s * count + t]; });
}

}  // namespace maxmargin
