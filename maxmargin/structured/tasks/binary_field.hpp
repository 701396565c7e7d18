#pragma once

#include <cstdint>
#include <vector>

#include "maxmargin/structured/oracle.hpp"

namespace maxmargin {

/// Two nodes of a field.
struct FieldLink {
  std::uint32_t a = 0, b = 0;
};

/// A function of zeros and ones to be maximised over x:
///
///   sum_i node[i] x_i + sum_e together[e] x_a x_b,   e = (a, b)
///
/// Its relaxation has a number from 0 to 1 for each node and for each link, the latter at most
/// either node's and at least their sum - 1. Some best one has only 0, 1/2 and 1. As structure a
/// point of zeros and ones is its nodes; any other is nodes and links, in halves.
struct BinaryField {
  std::vector<double> node;
  const std::vector<FieldLink>& links;
  std::vector<double> together;

  std::size_t size() const { return node.size(); }
  double value(StructureView x) const;
};

/// Whether it has zeros and ones only.
inline bool is_whole(StructureView x, std::size_t nodes) { return x.size() == nodes; }
/// What a structure gives a node, or the k-th link: 0, 1/2 or 1.
inline double field_node(StructureView x, std::size_t nodes, std::size_t i) {
  return is_whole(x, nodes) ? x[i] : 0.5 * x[i];
}
inline double field_link(StructureView x, std::size_t nodes, std::size_t k, const FieldLink& link) {
  return is_whole(x, nodes) ? x[link.a] * x[link.b] : 0.5 * x[nodes + k];
}
bool is_field_structure(StructureView x, std::size_t nodes, const std::vector<FieldLink>& links);

/// By looking at all 2^n points, each one node away from the last (Gray's code).
Structure best_of_all(const BinaryField& field);
/// From leaves to roots; the links are a forest.
Structure best_of_forest(const BinaryField& field);
/// The relaxation by a minimum cut in the doubled graph (roof duality: Hammer, Hansen and Simeone,
/// 1984; Boros and Hammer, 2002). Without a negative link it is whole, and so exact.
Structure best_relaxed(const BinaryField& field);
/// A whole structure from a relaxed one: halves one after the other as the rest suggests, then each
/// node as its neighbours suggest, until nothing changes.
Structure made_whole(const BinaryField& field, const Structure& x);

/// The same as best_relaxed(), by shortest paths in a matrix of capacities: plain, for verify.
Structure best_relaxed_plainly(const BinaryField& field);
/// The next of all whole structures; see EnumerationOracle.
bool next_whole(std::size_t nodes, Structure& x);

}  // namespace maxmargin
