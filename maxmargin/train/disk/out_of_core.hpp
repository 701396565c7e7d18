#pragma once

#include <optional>
#include <string>

#include "maxmargin/train/disk/spill.hpp"
#include "maxmargin/train/train.hpp"

namespace maxmargin {

/// The disk traffic of a training.
struct DiskReport {
  std::uint64_t scratch_bytes = 0;
  bool direct = false;             ///< past the page cache
  std::size_t passes = 0;          ///< of the solver
  std::uint64_t bytes_read = 0;    ///< in these
  double seconds = 0;              ///< that they took
  double waiting = 0;              ///< of these, for the disk
  std::size_t rows_in_memory = 0;  ///< at the end
};

struct TrainedOutOfCore {
  Trained trained;
  DiskReport disk;
};

/// Why a machine cannot be trained out of core, or nothing.
std::optional<std::string> refuses_out_of_core(const TrainOptions& options);

/// train() for data on disk: a linear machine by streamed interior points or the Lagrangian method,
/// whose model holds w alone; or one with a kernel that is approximated, with K_mn on disk, whose
/// model holds the basis functions. Memory as spill() was told. Throws Error when
/// refuses_out_of_core says why.
TrainedOutOfCore train(const SpilledData& data, const TrainOptions& options,
                       const Context& context);

}  // namespace maxmargin
