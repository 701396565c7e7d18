// Times the reading of a data file: `reading FILE [threads]`. Prints one JSON object.

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/data/readers/read.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: reading FILE [threads]\n");
    return 2;
  }
  try {
    const maxmargin::Threads threads(argc > 2 ? std::atoi(argv[2]) : 0);
    const std::size_t before = maxmargin::peak_memory_bytes();
    const maxmargin::Stopwatch watch;
    const maxmargin::Dataset data = maxmargin::read(argv[1], {}, threads);
    const double seconds = watch.seconds();
    std::printf(
        "{\"seconds\": %.4f, \"threads\": %d, \"rows\": %zu, \"features\": %zu, \"stored\": %llu, "
        "\"matrix_bytes\": %zu, \"peak_memory_bytes\": %zu, \"peak_before_bytes\": %zu}\n",
        seconds, threads.count(), data.rows(), data.x.columns(),
        static_cast<unsigned long long>(data.x.view().stored()), data.x.bytes(),
        maxmargin::peak_memory_bytes(), before);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reading: %s\n", error.what());
    return 3;
  }
}
