#pragma once

#include <gtest/gtest.h>

#include "maxmargin/data/dataset.hpp"
#include "maxmargin/loss/losses.hpp"
#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"
#include "maxmargin/problem/streamed.hpp"

namespace maxmargin {

/// A data set on disk in small chunks, and in memory: the same machine of either.
struct Both {
  Dataset data;
  std::size_t functions;  ///< so many of the last columns cost nothing
  RowFile file{testing::TempDir(), 4096};

  explicit Both(Dataset given, std::size_t functions_behind = 0)
      : data(std::move(given)), functions(functions_behind) {
    file.append(data.x, data.y, data.weight);
    file.finish();
  }
  StreamedProblem streamed(const Loss& loss, double cost,
                           StreamedProblem::Constant constant) const {
    return {&file, constant,
            [loss, cost](double label, double weight, Block* out) {
              return std::visit(
                  [&](const auto& chosen) {
                    const auto blocks = chosen.blocks(label, cost * weight);
                    std::copy(blocks.begin(), blocks.end(), out);
                    return blocks.size();
                  },
                  loss);
            },
            functions};
  }
  /// The same problem as every solver knows it, one point a row.
  DualQp in_memory(const Loss& loss, double cost, StreamedProblem::Constant constant) const {
    const Rows x = data.x;
    const std::size_t features = x.columns - functions;
    const std::size_t N = features + (constant == StreamedProblem::Constant::penalised ? 1 : 0);
    std::vector<std::vector<double>> psi(x.count, std::vector<double>(functions));
    LowRank Z(x.count, N);
    DualQp qp;
    for (std::size_t i = 0; i < x.count; ++i) {
      x.for_each(i, [&](Index j, double value) {
        (j < features ? Z.row(i)[j] : psi[i][j - features]) = value;
      });
      if (constant == StreamedProblem::Constant::penalised) Z.row(i)[N - 1] = 1;
      const double weight = data.weight.empty() ? 1 : data.weight[i];
      std::visit(
          [&](const auto& chosen) {
            for (const Block& block : chosen.blocks(data.y[i], cost * weight)) {
              qp.block.push_back(block);
              qp.row.push_back(static_cast<Index>(i));
            }
          },
          loss);
    }
    qp.K = make_low_rank_quadratic(std::make_shared<const LowRank>(std::move(Z)));
    if (constant == StreamedProblem::Constant::free) {
      auto& row = qp.A.emplace_back();
      for (const Block& block : qp.block) row.push_back(block.sign);
    }
    for (std::size_t c = 0; c < functions; ++c) {
      auto& row = qp.A.emplace_back();
      for (std::size_t v = 0; v < qp.size(); ++v)
        row.push_back(qp.block[v].sign * psi[qp.row[v]][c]);
    }
    qp.d.assign(qp.A.size(), 0.0);
    return qp;
  }
};

}  // namespace maxmargin
