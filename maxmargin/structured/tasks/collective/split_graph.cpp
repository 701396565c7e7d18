#include "maxmargin/structured/tasks/collective/split_graph.hpp"

#include <algorithm>
#include <numeric>

namespace maxmargin {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// The max-product message: for each label of the receiver the best label of the sender, and its
/// score.
struct Message {
  std::vector<double> value;
  std::vector<std::int32_t> label;
};

Message message_of(std::span<const double> sender, std::span<const double> attraction) {
  const std::size_t L = attraction.size();
  Message message;
  for (std::size_t l = 0; l < L; ++l) {
    std::size_t best = l;
    double most = sender[l] + attraction[l];
    for (std::size_t k = 0; k < L; ++k)
      if (k != l && sender[k] > most) {
        most = sender[k];
        best = k;
      }
    message.value.push_back(most);
    message.label.push_back(static_cast<std::int32_t>(best));
  }
  return message;
}

}  // namespace

SplitGraph::SplitGraph(std::size_t documents, const std::vector<FieldLink>& links)
    : links_(links),
      weight_(documents, 1),
      copy_of_link_(links.size(), none),
      neighbours_(documents) {
  std::vector<std::size_t> root(documents);
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto root_of = [&](std::size_t d) {
    while (root[d] != d) d = root[d] = root[root[d]];
    return d;
  };
  for (std::size_t k = 0; k < links.size(); ++k) {
    const std::size_t a = root_of(links[k].a), b = root_of(links[k].b);
    if (a != b) {
      root[a] = b;
      neighbours_[links[k].a].push_back(links[k].b);
      neighbours_[links[k].b].push_back(links[k].a);
    } else {
      copy_of_link_[k] = copied_.size();
      copied_.push_back(k);
      ++weight_[links[k].b];
    }
  }
  for (double& each : weight_) each = 1 / each;
}

std::int32_t SplitGraph::second_label(StructureView y, std::size_t link) const {
  const std::size_t copy = copy_of_link_[link];
  if (copy == none || y.size() == documents()) return y[links_[link].b];
  return y[documents() + copy];
}

std::vector<double> SplitGraph::folded(std::span<const double> gain,
                                       std::span<const double> attraction,
                                       std::vector<std::int32_t>& of_copy) const {
  const std::size_t L = attraction.size();
  std::vector<double> value(gain.begin(), gain.end());
  for (std::size_t d = 0; d < documents(); ++d)
    for (std::size_t l = 0; l < L; ++l) value[d * L + l] *= weight_[d];
  std::vector<double> sender(L);
  for (const std::size_t link : copied_) {
    const auto [a, b] = links_[link];
    for (std::size_t l = 0; l < L; ++l) sender[l] = weight_[b] * gain[b * L + l];
    const Message message = message_of(sender, attraction);
    for (std::size_t l = 0; l < L; ++l) value[a * L + l] += message.value[l];
    of_copy.insert(of_copy.end(), message.label.begin(), message.label.end());
  }
  return value;
}

Structure SplitGraph::with_copies(Structure y, std::size_t labels,
                                  const std::vector<std::int32_t>& of_copy) const {
  bool agree = true;
  Structure all = y;
  for (std::size_t c = 0; c < copies(); ++c) {
    const auto [a, b] = links_[copied_[c]];
    all.push_back(of_copy[c * labels + static_cast<std::size_t>(y[a])]);
    agree = agree && all.back() == y[b];
  }
  return agree ? y : all;
}

Structure SplitGraph::best(std::span<const double> gain, std::span<const double> attraction) const {
  const std::size_t n = documents(), L = attraction.size();
  std::vector<std::int32_t> of_copy;
  std::vector<double> value = folded(gain, attraction, of_copy);
  const auto of = [&](std::size_t d) { return std::span(value).subspan(d * L, L); };
  // Parents come before their children.
  std::vector<std::size_t> order, parent(n, none);
  std::vector<char> seen(n, 0);
  for (std::size_t root = 0; root < n; ++root) {
    if (seen[root]) continue;
    seen[root] = 1;
    order.push_back(root);
    for (std::size_t at = order.size() - 1; at < order.size(); ++at)
      for (const std::size_t child : neighbours_[order[at]]) {
        if (seen[child]) continue;
        seen[child] = 1;
        parent[child] = order[at];
        order.push_back(child);
      }
  }
  std::vector<Message> message(n);
  for (std::size_t at = n; at-- > 0;) {
    const std::size_t d = order[at];
    if (parent[d] == none) continue;
    message[d] = message_of(of(d), attraction);
    for (std::size_t l = 0; l < L; ++l) value[parent[d] * L + l] += message[d].value[l];
  }
  Structure y(n);
  for (const std::size_t d : order) {
    if (parent[d] == none)
      y[d] = static_cast<std::int32_t>(std::ranges::max_element(of(d)) - of(d).begin());
    else
      y[d] = message[d].label[static_cast<std::size_t>(y[parent[d]])];
  }
  return with_copies(std::move(y), L, of_copy);
}

Structure SplitGraph::best_plainly(std::span<const double> gain,
                                   std::span<const double> attraction) const {
  const std::size_t n = documents(), L = attraction.size();
  std::vector<double> value(n * L);
  for (std::size_t k = 0; k < value.size(); ++k) value[k] = gain[k] * weight_[k / L];
  // A message by a double loop over the labels; `by` has the maximising labels of the sender.
  const auto send = [&](std::span<const double> from, std::size_t to,
                        std::vector<std::int32_t>& by) {
    by.assign(L, 0);
    for (std::size_t l = 0; l < L; ++l) {
      double most = -infinity;
      for (std::size_t k = 0; k < L; ++k) {
        const double sum = from[k] + (k == l ? attraction[l] : 0);
        if (sum <= most) continue;
        most = sum;
        by[l] = static_cast<std::int32_t>(k);
      }
      value[to * L + l] += most;
    }
  };
  std::vector<std::int32_t> of_copy, by;
  for (const std::size_t link : copied_) {
    std::vector<double> from(L);
    for (std::size_t l = 0; l < L; ++l)
      from[l] = gain[links_[link].b * L + l] * weight_[links_[link].b];
    send(from, links_[link].a, by);
    of_copy.insert(of_copy.end(), by.begin(), by.end());
  }
  struct Taken {
    std::size_t leaf, to;
    std::vector<std::int32_t> by;
  };
  std::vector<Taken> taken;
  std::vector<std::vector<std::size_t>> left = neighbours_;
  for (bool any = true; any;) {
    any = false;
    for (std::size_t d = n; d-- > 0;) {
      if (left[d].size() != 1) continue;
      const std::size_t to = left[d][0];
      const std::vector<double> from(value.begin() + static_cast<std::ptrdiff_t>(d * L),
                                     value.begin() + static_cast<std::ptrdiff_t>((d + 1) * L));
      send(from, to, by);
      taken.push_back({d, to, by});
      left[d].clear();
      std::erase(left[to], d);
      any = true;
    }
  }
  Structure y(n, -1);
  for (std::size_t d = 0; d < n; ++d) {
    const auto own = std::span(value).subspan(d * L, L);
    y[d] = static_cast<std::int32_t>(std::ranges::max_element(own) - own.begin());
  }
  for (std::size_t k = taken.size(); k-- > 0;)
    y[taken[k].leaf] = taken[k].by[static_cast<std::size_t>(y[taken[k].to])];
  return with_copies(std::move(y), L, of_copy);
}

}  // namespace maxmargin
