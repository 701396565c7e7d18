#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "maxmargin/kernel/form.hpp"

// Kernel values of one row at a time in LIBSVM's form: nodes (index, value) in the order of their
// indices, the last with the index -1.
namespace maxmargin {

template <class Node>
double node_product(const Node* x, const Node* z) {
  double sum = 0;
  while (x->index != -1 && z->index != -1) {
    if (x->index == z->index)
      sum += (x++)->value * (z++)->value;
    else if (x->index > z->index)
      ++z;
    else
      ++x;
  }
  return sum;
}

template <class Node>
double node_distance(const Node* x, const Node* z) {
  double sum = 0;
  const auto add = [&](double difference) { sum += difference * difference; };
  while (x->index != -1 && z->index != -1) {
    if (x->index == z->index)
      add((x++)->value - (z++)->value);
    else if (x->index > z->index)
      add((z++)->value);
    else
      add((x++)->value);
  }
  for (; x->index != -1; ++x) add(x->value);
  for (; z->index != -1; ++z) add(z->value);
  return sum;
}

/// A row scattered into a dense array, so that an inner product reads the nodes of a support vector
/// once. As long as both have the same indices, as in dense data, they are read side by side.
template <class Node>
class SpreadRow {
 public:
  /// False where indices do not increase, or are so large that spreading the row takes longer than
  /// it saves with this many support vectors.
  static bool takes(const Node* x, std::size_t vectors) {
    std::int64_t previous = -1;
    for (; x->index != -1; ++x) {
      if (x->index <= previous) return false;
      previous = x->index;
    }
    return previous < static_cast<std::int64_t>(std::max<std::size_t>(4096, 8 * vectors));
  }

  explicit SpreadRow(const Node* x) : nodes_(x) {
    std::size_t count = 0;
    while (x[count].index != -1) ++count;
    // Indices beyond the end read the zero stored there.
    beyond_ = count == 0 ? 0 : static_cast<std::uint32_t>(x[count - 1].index) + 1;
    values_.assign(beyond_ + 1, 0.0);
    rest_.resize(count + 1);
    for (std::size_t k = count; k-- > 0;) {
      const double value = x[k].value;
      values_[static_cast<std::size_t>(x[k].index)] = value;
      rest_[k] = {rest_[k + 1].square + value * value, rest_[k + 1].nonzeros + (value != 0)};
    }
  }

  double dot(const Node* z) const {
    double even = 0, odd = 0;
    const Node* x = nodes_;
    for (; agree(x, z); x += 2, z += 2) {
      even += x[0].value * z[0].value;
      odd += x[1].value * z[1].value;
    }
    for (; z->index != -1; ++z) even += at(z->index) * z->value;
    return even + odd;
  }

  double squared_distance(const Node* z) const {
    const Node *begin = z, *x = nodes_;
    double common = 0, odd = 0;  // over the nodes of z
    for (; agree(x, z); x += 2, z += 2) {
      const double first = x[0].value - z[0].value, second = x[1].value - z[1].value;
      common += first * first;
      odd += second * second;
    }
    common += odd;
    const Rest& rest = rest_[static_cast<std::size_t>(x - nodes_)];
    double square = 0;  // of the values of x at the nodes of z
    std::size_t found = 0;
    for (; z->index != -1; ++z) {
      const double value = at(z->index), difference = value - z->value;
      common += difference * difference;
      square += value * value;
      found += value != 0;
    }
    if (found == rest.nonzeros) return common;
    // The difference of large sums cancels.
    const double others = rest.square - square;
    return others > least_share * rest.square ? common + others : node_distance(nodes_, begin);
  }

 private:
  static constexpr double least_share = 1e-5;
  /// Of the nodes from one on.
  struct Rest {
    double square = 0;
    std::size_t nonzeros = 0;
  };

  /// Whether the next two nodes of both have the same indices.
  static bool agree(const Node* x, const Node* z) {
    return x[0].index == z[0].index && x[0].index != -1 && x[1].index == z[1].index &&
           x[1].index != -1;
  }
  double at(int index) const {
    return values_[std::min(static_cast<std::uint32_t>(index), beyond_)];
  }

  const Node* nodes_;
  std::vector<double> values_;
  std::vector<Rest> rest_;
  std::uint32_t beyond_ = 0;
};

/// values[k] = K(x, support[k]), in double; 0 without a form.
template <class Node>
void node_values(const std::optional<Form>& form, const Node* x,
                 std::span<const Node* const> support, std::span<double> values) {
  if (!form) {
    std::ranges::fill(values, 0.0);
    return;
  }
  const bool by_product = form->pairing == Pairing::dot;
  const auto fill = [&](auto&& product, auto&& distance) {
    std::visit(
        [&](const auto& map) {
          for (std::size_t k = 0; k < values.size(); ++k)
            values[k] = map(by_product ? product(support[k]) : distance(support[k]));
        },
        form->map);
  };
  if (SpreadRow<Node>::takes(x, values.size())) {
    const SpreadRow<Node> row(x);
    fill([&](const Node* z) { return row.dot(z); },
         [&](const Node* z) { return row.squared_distance(z); });
  } else {
    fill([&](const Node* z) { return node_product(x, z); },
         [&](const Node* z) { return node_distance(x, z); });
  }
}

/// Of a precomputed kernel: the values of x that stand at the numbers of the support vectors.
template <class Node>
void look_up_node_values(const Node* x, std::span<const Node* const> support,
                         std::span<double> values) {
  const Node* end = x;
  while (end->index != -1) ++end;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto number = static_cast<int>(support[k]->value);
    const Node* found = std::lower_bound(
        x, end, number, [](const Node& node, int index) { return node.index < index; });
    values[k] = found != end && found->index == number ? found->value : 0;
  }
}

}  // namespace maxmargin
