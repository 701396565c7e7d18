#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// One program holds all targets, because each would have the whole library in it; the name that it
// is called by says which one runs. fuzz_targets.inc, which the build writes, has a line
// FUZZ_TARGET(name) for each *_fuzz.cpp, where the function that libFuzzer calls goes by that name.

extern "C" {
#define FUZZ_TARGET(name) int name(const std::uint8_t* data, std::size_t size);
#include "fuzz_targets.inc"
#undef FUZZ_TARGET
}

namespace {

struct Target {
  std::string_view name;
  int (*run)(const std::uint8_t*, std::size_t);
};

constexpr Target targets[] = {
#define FUZZ_TARGET(name) {#name, name},
#include "fuzz_targets.inc"
#undef FUZZ_TARGET
};

const Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** arguments) {
  const std::string_view path = (*arguments)[0];
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const Target& target : targets)
    if (target.name == name) chosen = &target;
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "call this program by the name of a target:\n");
  for (const Target& target : targets) std::fprintf(stderr, "  %s\n", target.name.data());
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return chosen->run(data, size);
}
