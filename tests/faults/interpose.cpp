// A library to be preloaded: lets the FAULT_AT-th call of FAULT_CALL in a process fail with
// FAULT_ERRNO, once or (FAULT_ONWARD) from then on, and makes the file FAULT_MARK when it did. See
// scripts/faults.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace {

struct Plan {
  const char* call = nullptr;  // null until the library is ready: then nothing fails
  const char* mark = nullptr;
  long at = 0;
  int code = 0;
  bool onward = false;
};
Plan plan;
std::atomic<long> calls{0};
thread_local int loading = 0;  // libraries

/// Whether this call is to fail; errno says why.
bool fails(const char* call) {
  if (plan.call == nullptr || loading > 0 || std::strcmp(call, plan.call) != 0) return false;
  const long number = ++calls;
  if (number < plan.at || (number > plan.at && !plan.onward)) return false;
  if (number == plan.at && plan.mark != nullptr) {
    const long file = syscall(SYS_openat, AT_FDCWD, plan.mark, O_CREAT | O_WRONLY, 0600);
    if (file >= 0) syscall(SYS_close, file);
  }
  errno = plan.code;
  return true;
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void read_plan() {
  const char* call = std::getenv("FAULT_CALL");
  const char* at = std::getenv("FAULT_AT");
  const char* code = std::getenv("FAULT_ERRNO");
  if (call == nullptr || at == nullptr || code == nullptr) return;
  plan.mark = std::getenv("FAULT_MARK");
  plan.at = std::atol(at);
  plan.code = std::atoi(code);
  plan.onward = std::getenv("FAULT_ONWARD") != nullptr;
  plan.call = call;
}

using Main = int (*)(int, char**, char**);
Main program;

/// What the loader does before is not the program's: calls are counted from here.
int planned_main(int count, char** words, char** environment) {
  read_plan();
  return program(count, words, environment);
}

}  // namespace

// glibc's own names of what it would do: dlsym itself allocates.
extern "C" {

int __libc_start_main(Main main, int count, char** words, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  program = main;
  return real<decltype(&__libc_start_main)>("__libc_start_main")(planned_main, count, words, init,
                                                                 fini, loader_fini, stack_end);
}

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) { return fails("malloc") ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) {
  return fails("malloc") ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  return fails("malloc") ? nullptr : __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return fails("malloc") ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** to, size_t alignment, size_t size) {
  if (fails("malloc")) return ENOMEM;
  *to = __libc_memalign(alignment, size);
  return *to == nullptr ? ENOMEM : 0;
}

void* mmap(void* at, size_t length, int protection, int flags, int file, off_t offset) {
  if (fails("mmap")) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, length, protection, flags, file, offset));
}
void* mmap64(void* at, size_t length, int protection, int flags, int file, off_t offset) {
  return mmap(at, length, protection, flags, file, offset);
}
void* mremap(void* old, size_t from, size_t to, int flags, ...) {
  if (fails("mmap")) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mremap, old, from, to, flags, nullptr));
}

ssize_t write(int file, const void* bytes, size_t size) {
  return fails("write") ? -1 : syscall(SYS_write, file, bytes, size);
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  return fails("write") ? -1 : syscall(SYS_pwrite64, file, bytes, size, offset);
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off_t offset) {
  return pwrite(file, bytes, size, offset);
}
ssize_t read(int file, void* bytes, size_t size) {
  return fails("read") ? -1 : syscall(SYS_read, file, bytes, size);
}
ssize_t pread(int file, void* bytes, size_t size, off_t offset) {
  return fails("read") ? -1 : syscall(SYS_pread64, file, bytes, size, offset);
}
ssize_t pread64(int file, void* bytes, size_t size, off_t offset) {
  return pread(file, bytes, size, offset);
}

int fsync(int file) { return fails("fsync") ? -1 : static_cast<int>(syscall(SYS_fsync, file)); }

int rename(const char* from, const char* to) {
  return fails("rename") ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  if (fails("rename")) return -1;
  return static_cast<int>(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}

int open(const char* path, int flags, ...) {
  if (fails("open")) return -1;
  va_list more;
  va_start(more, flags);
  const int mode = va_arg(more, int);
  va_end(more);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = va_arg(more, int);
  va_end(more);
  return open(path, flags, mode);
}

/// Fails as a whole. What a library does while it is loaded is not the program's, and nobody can
/// answer for it: OpenBLAS's Fortran run-time calls exit(1) where it gets no memory.
void* dlopen(const char* name, int flags) {
  if (fails("dlopen")) return nullptr;
  static const auto load = real<decltype(&dlopen)>("dlopen");
  ++loading;
  void* library = load(name, flags);
  --loading;
  return library;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  if (fails("pthread_create")) return plan.code;
  static const auto create = real<decltype(&pthread_create)>("pthread_create");
  return create(thread, attributes, start, argument);
}

}  // extern "C"
