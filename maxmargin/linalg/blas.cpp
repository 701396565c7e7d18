#include "maxmargin/linalg/blas.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "maxmargin/base/error.hpp"

namespace maxmargin {
namespace {

constexpr const char* library_name = "libopenblas.so.0";

// Fortran passes everything by address, and the lengths of texts behind all else.
using Length = std::size_t;
struct Lapack {
  void (*dpotrf_)(const char*, const int*, double*, const int*, int*, Length);
  void (*dsytrf_)(const char*, const int*, double*, const int*, int*, double*, const int*, int*,
                  Length);
  void (*dsytrs_)(const char*, const int*, const int*, const double*, const int*, const int*,
                  double*, const int*, int*, Length);
  void (*dsyev_)(const char*, const char*, const int*, double*, const int*, double*, double*,
                 const int*, int*, Length, Length);
  void (*dsyevd_)(const char*, const char*, const int*, double*, const int*, double*, double*,
                  const int*, int*, const int*, int*, Length, Length);
  void (*dsyevr_)(const char*, const char*, const char*, const int*, double*, const int*,
                  const double*, const double*, const int*, const int*, const double*, int*,
                  double*, double*, const int*, int*, double*, const int*, int*, const int*, int*,
                  Length, Length, Length);
};

struct Loaded {
  Blas blas;
  Lapack lapack;
};

[[noreturn]] void fail() {
  const char* reason = dlerror();
  throw Error(Fault::io, std::string("OpenBLAS cannot be used: ") + (reason ? reason : "unknown"),
              "install libopenblas0");
}

// OpenBLAS maps a buffer for each thread of its own, and for each that calls it while others do,
// keeps them for later calls, and tries for ever where there is no room.
constexpr std::size_t megabyte = std::size_t{1} << 20, buffer_bytes = 128 * megabyte;
constexpr std::size_t library_bytes = 64 * megabyte;  ///< the code, and stacks
constexpr std::size_t callers = 2;                    ///< at the same time, at least

bool is_room_for(std::size_t bytes) {
  void* room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, bytes);
  return true;
}

/// Of this machine, as OpenBLAS counts them.
std::size_t processors() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 64);
}

void require_room() {
  const std::size_t bytes = library_bytes + (processors() - 1 + callers) * buffer_bytes;
  if (!is_room_for(bytes))
    throw Error(Fault::io,
                "there is no room for the buffers of OpenBLAS: " +
                    std::to_string(bytes / megabyte) + " MB of address space",
                "allow more (ulimit -v)");
}

/// Lets the buffers of callers be mapped while there is room for all that may come: nobody knows
/// what is left when they call. Pages are touched by calls alone.
void map_buffers(void* library) {
  const auto take = reinterpret_cast<void* (*)(int)>(dlsym(library, "blas_memory_alloc"));
  const auto give_back = reinterpret_cast<void (*)(void*)>(dlsym(library, "blas_memory_free"));
  if (take == nullptr || give_back == nullptr) return;
  std::vector<void*> buffers;
  while (buffers.size() < callers ||
         (buffers.size() < processors() && is_room_for(2 * processors() * buffer_bytes)))
    buffers.push_back(take(0));
  for (void* buffer : buffers) give_back(buffer);
}

void* opened() {
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail();
  return library;
}

/// A processor that OpenBLAS does not know, mostly a newer one, gets its loops of 2004: it is told
/// which ones fit.
void* opened_for_this_processor() {
  void* library = opened();
#if defined(__x86_64__)
  constexpr const char* variable = "OPENBLAS_CORETYPE";
  const auto core = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_corename"));
  const bool is_unknown = core != nullptr && std::string_view(core()) == "Prescott";
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (!is_unknown || !has_avx2 || std::getenv(variable) != nullptr) return library;
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  dlclose(library);
  setenv(variable, has_avx512 ? "SkylakeX" : "Haswell", 0);
  library = opened();
  unsetenv(variable);
#endif
  return library;
}

const Loaded& loaded() {
  static const Loaded one = [] {
    require_room();
    void* library = opened_for_this_processor();
    const auto find = [&](const char* name, auto& function) {
      void* found = dlsym(library, name);
      if (found == nullptr) fail();
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    };
    Loaded all{};
#define MAXMARGIN_FIND(name) find(#name, all.blas.name);
    MAXMARGIN_BLAS(MAXMARGIN_FIND)
#undef MAXMARGIN_FIND
    find("dpotrf_", all.lapack.dpotrf_);
    find("dsytrf_", all.lapack.dsytrf_);
    find("dsytrs_", all.lapack.dsytrs_);
    find("dsyev_", all.lapack.dsyev_);
    find("dsyevd_", all.lapack.dsyevd_);
    find("dsyevr_", all.lapack.dsyevr_);
    map_buffers(library);
    return all;
  }();
  return one;
}

const Lapack& lapack() { return loaded().lapack; }

constexpr int ask = -1;  // a workspace of this length asks for the best one

/// Room for what LAPACK has answered to that.
template <class Value>
std::vector<Value> room(double answer) {
  return std::vector<Value>(static_cast<std::size_t>(std::max(1.0, answer)));
}
int length(const auto& space) { return static_cast<int>(space.size()); }

}  // namespace

const Blas& blas() { return loaded().blas; }

int potrf(char part, int n, double* a, int stride) {
  int info = 0;
  lapack().dpotrf_(&part, &n, a, &stride, &info, 1);
  return info;
}

int sytrf(char part, int n, double* a, int stride, int* pivots) {
  int info = 0;
  double best = 0;
  lapack().dsytrf_(&part, &n, a, &stride, pivots, &best, &ask, &info, 1);
  auto work = room<double>(best);
  const int size = length(work);
  lapack().dsytrf_(&part, &n, a, &stride, pivots, work.data(), &size, &info, 1);
  return info;
}

int sytrs(char part, int n, int count, const double* a, int stride, const int* pivots, double* b,
          int b_stride) {
  int info = 0;
  lapack().dsytrs_(&part, &n, &count, a, &stride, pivots, b, &b_stride, &info, 1);
  return info;
}

int syev(char part, int n, double* a, int stride, double* values) {
  int info = 0;
  double best = 0;
  constexpr char vectors = 'V';
  lapack().dsyev_(&vectors, &part, &n, a, &stride, values, &best, &ask, &info, 1, 1);
  auto work = room<double>(best);
  const int size = length(work);
  lapack().dsyev_(&vectors, &part, &n, a, &stride, values, work.data(), &size, &info, 1, 1);
  return info;
}

int syevd(char part, int n, double* a, int stride, double* values) {
  int info = 0, best_whole = 0;
  double best = 0;
  constexpr char none = 'N';
  lapack().dsyevd_(&none, &part, &n, a, &stride, values, &best, &ask, &best_whole, &ask, &info, 1,
                   1);
  auto work = room<double>(best);
  auto whole = room<int>(best_whole);
  const int size = length(work), whole_size = length(whole);
  lapack().dsyevd_(&none, &part, &n, a, &stride, values, work.data(), &size, whole.data(),
                   &whole_size, &info, 1, 1);
  return info;
}

int syevr(char part, int n, double* a, int stride, int first, int last, double* values) {
  int info = 0, found = 0, best_whole = 0;
  double best = 0, no_vectors = 0;
  constexpr double unused = 0;
  constexpr int one = 1;
  constexpr char none = 'N', by_number = 'I';
  std::vector<int> support(2 * static_cast<std::size_t>(std::max(n, 1)));
  const auto run = [&](double* work, int size, int* whole, int whole_size) {
    lapack().dsyevr_(&none, &by_number, &part, &n, a, &stride, &unused, &unused, &first, &last,
                     &unused, &found, values, &no_vectors, &one, support.data(), work, &size, whole,
                     &whole_size, &info, 1, 1, 1);
  };
  run(&best, ask, &best_whole, ask);
  auto work = room<double>(best);
  auto whole = room<int>(best_whole);
  run(work.data(), length(work), whole.data(), length(whole));
  return info;
}

}  // namespace maxmargin
