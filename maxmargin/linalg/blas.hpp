#pragma once

#include <cblas.h>

#include <cstddef>

// OpenBLAS, loaded when one of these functions is first called. Loading takes several milliseconds,
// more than a small problem does from beginning to end, and most problems need none of it. A
// function that is missing here is one line more in the list.

namespace maxmargin {

#define MAXMARGIN_BLAS(use)                                                           \
  use(cblas_ddot) use(cblas_dgemm) use(cblas_dgemv) use(cblas_dsymv) use(cblas_dsyrk) \
      use(cblas_dtrsm) use(openblas_get_num_threads) use(openblas_set_num_threads)

/// The functions under their own names: blas().cblas_dgemm(...).
struct Blas {
#define MAXMARGIN_MEMBER(name) decltype(&::name) name;
  MAXMARGIN_BLAS(MAXMARGIN_MEMBER)
#undef MAXMARGIN_MEMBER
};

/// Throws Error when OpenBLAS cannot be loaded.
const Blas& blas();

/// A size as OpenBLAS counts.
inline int as_int(std::size_t n) { return static_cast<int>(n); }

// LAPACK, from the same library. Matrices stand by columns, `part` is 'U' or 'L', the answer is
// LAPACK's: 0 if it is done.

int potrf(char part, int n, double* a, int stride);
int sytrf(char part, int n, double* a, int stride, int* pivots);
int sytrs(char part, int n, int count, const double* a, int stride, const int* pivots, double* b,
          int b_stride);
/// Eigenvalues in increasing order; the columns of `a` become the eigenvectors.
int syev(char part, int n, double* a, int stride, double* values);
/// Eigenvalues only; `a` is lost.
int syevd(char part, int n, double* a, int stride, double* values);
/// Eigenvalues from number `first` to `last`, counting from 1; `a` is lost.
int syevr(char part, int n, double* a, int stride, int first, int last, double* values);

}  // namespace maxmargin
