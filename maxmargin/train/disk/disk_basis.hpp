#pragma once

#include <memory>
#include <vector>

#include "maxmargin/kernel/kernels.hpp"
#include "maxmargin/problem/matrix/low_rank/approximate.hpp"
#include "maxmargin/train/disk/reshape.hpp"

namespace maxmargin {

/// A kernel approximated by few basis functions, for rows on disk (S6): K~ = Z Z' with the rows of
/// Z in a file, so that a machine with K~ is a linear one over that file.
struct DiskBasis {
  std::unique_ptr<RowFile> rows;  ///< Z, one row for each of the data
  Features basis;                 ///< the rows that the basis functions are of
  std::vector<std::size_t> row;   ///< their numbers in the data
  Approximated factor;            ///< T, the rows of Z at the basis
  double residual = 0;            ///< tr(K - K~) / tr K over all rows

  /// Of f = Z w: the coefficients of the basis functions.
  std::vector<double> coefficients(std::vector<double> w) const {
    return factor.combined(std::move(w));
  }
};

/// The memory beside that of a pass over the rows, and the folder of the file.
struct DiskRoom {
  std::string folder;
  std::size_t chunk_bytes = 0;
  std::size_t sample_bytes = 0;
  std::size_t functions = 0;  ///< so many columns behind the features are taken over as they are
};

/// Basis functions are chosen as `how` says among rows drawn at random, as many as fit into memory
/// with their part of Z (all, where these are few); then one pass computes K_mn and writes
/// Z = K_mn T'^-1. The same bits for any number of threads. Nothing where `go_on` said no.
std::optional<DiskBasis> approximate_on_disk(const RowFile& rows, const Kernel& kernel,
                                             const Approximate& how, const DiskRoom& room,
                                             const Threads& threads, const GoOn& go_on = {});

}  // namespace maxmargin
