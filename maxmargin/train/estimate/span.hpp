#pragma once

#include <optional>
#include <vector>

#include "maxmargin/certify/certify.hpp"
#include "maxmargin/train/formulate/problems.hpp"

namespace maxmargin {

/// The span rule of Vapnik and Chapelle: f at an example of the machine trained without it, as long
/// as the same variables stay free,
///
///   f_p(x_p) = f(x_p) - beta_p S_p^2,   S_p^2 = min |x_p - sum_j l_j x_j|^2 over the other free j,
///
/// sum l = 1 where b costs nothing. With M = [K 1; 1' 0] over the free points S_p^2 is
/// 1/(M^-1)_pp for a free p, and K_pp - v'M^-1 v, v = (K_pj, 1), for one at its bound. Takes O(n^3)
/// for n free points and O(n^2) for each at its bound; nothing where n^2 numbers do not fit. Where
/// `threads` are interrupted, so is this.
std::optional<std::vector<double>> without_one(const Formulated& formulated,
                                               const Subproblem& problem,
                                               const Certified& certified, std::size_t memory,
                                               const Threads& threads);

}  // namespace maxmargin
