#pragma once

#include "maxmargin/model/verify/examine.hpp"

namespace maxmargin {

/// All machines of Crammer and Singer's problem, which see the same rows in the same order: of each
/// class what its rows contribute to both objectives (certify/simplex.hpp). `a[machine][row]` are
/// the coefficients by row of the data.
std::vector<Examined> examine_together(const Formulation& formulation,
                                       const std::vector<std::vector<SeenRow>>& rows,
                                       const std::vector<std::vector<double>>& a,
                                       const std::vector<Claimed>& claimed,
                                       const std::function<Extended(std::size_t)>& diagonal);

/// The primal of the linear-programming machine, sum |beta| and its losses. Its coefficients are no
/// dual variables, so that nothing else can be told.
Examined examine_expansion(const Formulation& formulation, const std::vector<SeenRow>& rows,
                           const Claimed& claimed);

}  // namespace maxmargin
