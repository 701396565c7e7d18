#include <hwy/targets.h>

#include <atomic>

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

// Which of the instruction sets that code was compiled for this processor has. Highway keeps these
// functions in a library of its own, which measures the processor's clock for 3 ms whenever a
// program starts: longer than a small problem takes. Nothing else of that library is
// used.

namespace hwy {
namespace {

#if HWY_ARCH_X86

/// Answers of the processor about itself.
struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
  Leaf(unsigned number, unsigned part) {
    if (__get_cpuid_count(number, part, &a, &b, &c, &d) == 0) a = b = c = d = 0;
  }
};
bool all(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

/// Which registers the operating system saves.
unsigned saved_registers() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

int64_t supported() {
  const Leaf basic(1, 0), more(7, 0), extended(0x80000001u, 0);
  int64_t targets = 0;
  if (all(basic.c, bit_SSE3 | bit_SSSE3)) targets |= HWY_SSSE3;
  if (all(basic.c, bit_SSE4_1 | bit_SSE4_2 | bit_PCLMUL | bit_AES)) targets |= HWY_SSE4;
  if (!all(basic.c, bit_OSXSAVE)) return targets;

  constexpr unsigned lower_halves = 0x6, all_of_avx512 = 0xe6;
  const unsigned saved = saved_registers();
  const bool avx2 = all(saved, lower_halves) && all(basic.c, bit_AVX | bit_FMA | bit_F16C) &&
                    all(more.b, bit_AVX2 | bit_BMI | bit_BMI2) && all(extended.c, bit_LZCNT);
  if (!avx2) return targets;
  targets |= HWY_AVX2;
  const bool avx512 =
      all(saved, all_of_avx512) &&
      all(more.b, bit_AVX512F | bit_AVX512VL | bit_AVX512DQ | bit_AVX512BW | bit_AVX512CD);
  if (!avx512) return targets;
  targets |= HWY_AVX3;
  if (all(more.c, bit_AVX512VBMI | bit_AVX512VBMI2 | bit_AVX512VNNI | bit_AVX512BITALG |
                      bit_AVX512VPOPCNTDQ | bit_VPCLMULQDQ | bit_VAES | bit_GFNI))
    targets |= HWY_AVX3_DL;
  return targets;
}

#else

int64_t supported() { return HWY_STATIC_TARGET; }

#endif

/// What tests pretend the processor has; 0: they do not.
std::atomic<int64_t>& for_test() {
  static std::atomic<int64_t> targets = 0;
  return targets;
}

}  // namespace

int64_t SupportedTargets() {
  static const int64_t targets = supported() | HWY_STATIC_TARGET | HWY_EMU128 | HWY_SCALAR;
  const int64_t pretended = for_test().load();
  return pretended != 0 ? pretended : targets;
}

void SetSupportedTargetsForTest(int64_t targets) { for_test().store(targets); }

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

/// Where Highway's headers, in builds with sanitizers, find one of their own conditions broken.
void Abort(const char*, int, const char*, ...) { __builtin_trap(); }

}  // namespace hwy
