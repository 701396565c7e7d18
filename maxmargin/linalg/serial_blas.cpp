#include "maxmargin/linalg/serial_blas.hpp"

#include <mutex>

#include "maxmargin/linalg/blas.hpp"

namespace maxmargin {
namespace {

// The counterpart of a setting that OpenBLAS itself keeps once per process.
struct Shared {
  std::mutex mutex;
  int users = 0;
  int threads_before = 1;
};

Shared& shared() {
  static Shared one;
  return one;
}

}  // namespace

SerialBlas::SerialBlas() {
  Shared& state = shared();
  const std::lock_guard lock(state.mutex);
  if (state.users++ > 0) return;
  state.threads_before = blas().openblas_get_num_threads();
  if (state.threads_before != 1) blas().openblas_set_num_threads(1);
}

SerialBlas::~SerialBlas() {
  Shared& state = shared();
  const std::lock_guard lock(state.mutex);
  if (--state.users == 0 && state.threads_before != 1)
    blas().openblas_set_num_threads(state.threads_before);
}

}  // namespace maxmargin
