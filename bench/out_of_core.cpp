// Trains on made rows that never are in memory: `out_of_core ROWS FEATURES MEMORY [FOLDER [THREADS
// [GAP]]]`. The rows go straight into a scratch file. The memory is in bytes. Prints one JSON
// object.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/streamed.hpp"
#include "maxmargin/train/disk/out_of_core.hpp"

namespace {

using namespace maxmargin;

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr std::size_t batch_rows = 4096;

/// Uniform features in [-1, 1); the label is the side of a hyperplane, blurred so that about a
/// tenth of the rows are on the wrong one.
SpilledData made(std::size_t rows, std::size_t features, std::size_t memory,
                 const std::string& folder) {
  const Stopwatch clock;
  SpilledData data;
  data.rows = std::make_unique<RowFile>(folder, chunk_bytes);
  data.features = features;
  data.memory_bytes = memory;
  Rng rng(1);
  std::vector<double> w(features);
  for (double& value : w) value = rng.normal() / std::sqrt(static_cast<double>(features));
  double counts[2] = {0, 0};
  for (std::size_t done = 0; done < rows;) {
    const std::size_t count = std::min(batch_rows, rows - done);
    std::vector<float> x(count * features);
    std::vector<double> y(count);
    for (std::size_t i = 0; i < count; ++i) {
      double f = 0.3 * rng.uniform(-1, 1);
      for (std::size_t j = 0; j < features; ++j) {
        x[i * features + j] = static_cast<float>(rng.uniform(-1, 1));
        f += w[j] * x[i * features + j];
      }
      y[i] = f > 0 ? 1 : 0;
      ++counts[f > 0 ? 1 : 0];
    }
    Rows view;
    view.count = count;
    view.columns = features;
    view.floats = x.data();
    data.rows->append(view, y, {});
    done += count;
  }
  data.rows->finish();
  data.outline.x = Features::sparse(0);
  for (int k = 0; k < 2; ++k)
    data.outline.x.append(std::span<const Index>{}, std::span<const double>{});
  data.outline.y = {-1, 1};
  data.outline.weight = {counts[0], counts[1]};
  data.appearance = {0, 1};
  data.seconds = clock.seconds();
  return data;
}

/// Nothing but reading the scratch file from its start to its end, in the same large pieces.
double plain_rate(const RowFile& rows) {
  const Stopwatch clock;
  rows.read(stream_parts, [](std::span<const RowChunk>) { return true; });
  return static_cast<double>(rows.bytes()) / clock.seconds();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: out_of_core ROWS FEATURES MEMORY [FOLDER [THREADS [GAP]]]\n");
    return 2;
  }
  try {
    const std::size_t rows = std::strtoull(argv[1], nullptr, 10);
    const std::size_t features = std::strtoull(argv[2], nullptr, 10);
    const std::size_t memory = std::strtoull(argv[3], nullptr, 10);
    const Threads threads(argc > 5 ? std::atoi(argv[5]) : 0);
    const SpilledData data = made(rows, features, memory, argc > 4 ? argv[4] : scratch_folder());
    const double before = plain_rate(*data.rows);
    TrainOptions options;
    options.kernel = Linear{};
    options.task = Svc{};
    options.stop.relative_gap = options.stop.kkt = argc > 6 ? std::atof(argv[6]) : 1e-6;
    const TrainedOutOfCore result = train(data, options, threads);
    const double after = plain_rate(*data.rows);
    const Trained& trained = result.trained;
    const DiskReport& disk = result.disk;
    std::printf(
        "{\"rows\": %zu, \"features\": %zu, \"memory_limit\": %zu, \"peak_memory\": %zu,\n"
        " \"scratch_bytes\": %llu, \"direct\": %s, \"threads\": %d, \"make_seconds\": %.2f,\n"
        " \"train_seconds\": %.2f, \"certify_seconds\": %.2f, \"passes\": %zu,\n"
        " \"seconds_in_passes\": %.2f, \"waiting_for_disk\": %.2f, \"read_rate\": %.0f,\n"
        " \"plain_rate_before\": %.0f, \"plain_rate_after\": %.0f, \"rows_in_memory\": %zu,\n"
        " \"ended\": \"%s\", \"primal\": %.17g, \"relative_gap\": %.3g, \"kkt\": %.3g}\n",
        rows, features, memory, peak_memory_bytes(),
        static_cast<unsigned long long>(disk.scratch_bytes), disk.direct ? "true" : "false",
        threads.count(), data.seconds, trained.train_seconds, trained.certify_seconds, disk.passes,
        disk.seconds, disk.waiting, static_cast<double>(disk.bytes_read) / disk.seconds, before,
        after, disk.rows_in_memory, std::string(to_string(trained.ended)).c_str(),
        trained.certificate.primal, trained.certificate.relative_gap, trained.certificate.kkt);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "out_of_core: %s\n", error.what());
    return 3;
  }
}
