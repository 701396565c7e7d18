#pragma once

#include <cstdint>
#include <vector>

#include "maxmargin/structured/oracle.hpp"

namespace maxmargin {

/// An edge of a field.
struct FieldLink {
  std::uint32_t a = 0, b = 0;
};

/// A pairwise binary Markov random field, to be maximised over x in {0,1}^n:
///
///   sum_i node[i] x_i + sum_e together[e] x_a x_b,   e = (a, b)
///
/// The linear relaxation has a variable in [0, 1] for each node and each link, with
/// max(0, x_a + x_b - 1) <= x_e <= min(x_a, x_b). It has a half-integral optimum: all variables are
/// 0, 1/2 or 1. As structure, an integral point is the list of its nodes, any other that of its
/// nodes and links in units of 1/2.
struct BinaryField {
  std::vector<double> node;
  const std::vector<FieldLink>& links;
  std::vector<double> together;

  std::size_t size() const { return node.size(); }
  double value(StructureView x) const;
};

inline bool is_integral(StructureView x, std::size_t nodes) { return x.size() == nodes; }
/// The variable of a node, or of the k-th link: 0, 1/2 or 1.
inline double field_node(StructureView x, std::size_t nodes, std::size_t i) {
  return is_integral(x, nodes) ? x[i] : 0.5 * x[i];
}
inline double field_link(StructureView x, std::size_t nodes, std::size_t k, const FieldLink& link) {
  return is_integral(x, nodes) ? x[link.a] * x[link.b] : 0.5 * x[nodes + k];
}
bool is_field_structure(StructureView x, std::size_t nodes, const std::vector<FieldLink>& links);

/// The maximum by enumeration of all 2^n points in the order of a Gray code.
Structure best_of_all(const BinaryField& field);
/// The maximum by max-product messages from leaves to roots, where the links are a forest.
Structure best_of_forest(const BinaryField& field);
/// The maximum of the relaxation by roof duality, a minimum cut in the doubled graph (Hammer,
/// Hansen and Simeone 1984; Boros and Hammer 2002). Without a negative link it is integral, and so
/// exact.
Structure best_relaxed(const BinaryField& field);
/// Rounds a relaxed structure: each node at 1/2 becomes what is best given all others, then
/// coordinate ascent (iterated conditional modes, Besag 1986) until nothing changes.
Structure rounded(const BinaryField& field, const Structure& x);

/// best_relaxed() by another algorithm, Edmonds and Karp's on a dense matrix: for verify.
Structure best_relaxed_plainly(const BinaryField& field);
/// The successor of an integral structure; see EnumerationOracle::next().
bool next_integral(std::size_t nodes, Structure& x);

}  // namespace maxmargin
