// Trains a structural machine and scores it, without files of models: what bench/structural times.
//
//   structured_run TASK TRAIN TEST COST GAP SOLVER THREADS [option value]...
//
// prints one line of JSON. TEST may be "-": no scores.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/structured/train.hpp"

using namespace maxmargin;

int main(int argc, char** argv) try {
  if (argc < 8) {
    fmt::print(stderr, "TASK TRAIN TEST COST GAP SOLVER THREADS [option value]...\n");
    return 2;
  }
  const StructuredTask* task = structured_task_named(argv[1]);
  if (task == nullptr) throw Error(Fault::usage, "unknown task");
  std::map<std::string, std::string> given;
  for (int k = 8; k + 1 < argc; k += 2) given[argv[k]] = argv[k + 1];
  const auto limit = given.extract("time-limit");
  const auto curve = given.extract("curve");
  const auto slack = given.extract("slack");
  BlockPlanes blocks;
  for_each_field(blocks, [&](const auto& declared, auto& value) {
    if (const auto text = given.extract(std::string(declared.name)))
      value = static_cast<std::size_t>(std::atoll(text.mapped().c_str()));
  });
  const Settings settings = task->settings(given);
  const Threads threads(std::atoi(argv[7]));
  const Stopwatch reading;
  const auto data = task->read(argv[2], settings, nullptr, threads);
  const double read_seconds = reading.seconds();
  const std::uint64_t data_bytes = peak_memory_bytes();
  StructuredTraining training;
  training.C = std::atof(argv[4]);
  training.stop.relative_gap = std::atof(argv[5]);
  if (limit) training.stop.seconds = std::atof(limit.mapped().c_str());
  for (const Slack each : all_slacks)
    if (slack && slack.mapped() == to_string(each)) training.slack = each;
  training.solver = structured_solver_named(argv[6]);
  if (std::holds_alternative<BlockPlanes>(training.solver)) training.solver = blocks;
  const std::clock_t ticks = std::clock();
  const TrainedStructured trained = train_structured(*task, settings, *data, training, threads);
  const double processor = static_cast<double>(std::clock() - ticks) / CLOCKS_PER_SEC;
  const StructuredModel& model = trained.model;
  std::string text = fmt::format(
      "{{\"task\": \"{}\", \"contents\": \"{}\", \"cost\": {}, \"solver\": \"{}\", \"ended\": "
      "\"{}\", "
      "\"read_seconds\": {:.3f}, \"seconds\": {:.4f}, \"processor_seconds\": {:.4f}, "
      "\"oracle_calls\": {}, \"examples\": {}, "
      "\"primal\": {:.10g}, \"dual\": {:.10g}, \"relative_gap\": {:.3g}, \"planes\": {}, "
      "\"data_bytes\": {}, \"peak_bytes\": {}",
      model.task, data->contents(), model.C, model.solver, to_string(model.ended), read_seconds,
      model.seconds, processor, model.oracle_calls, data->oracle().examples(),
      model.certificate.primal, model.certificate.dual, model.certificate.relative_gap,
      model.certificate.planes, data_bytes, peak_memory_bytes());
  if (std::string(argv[3]) != "-") {
    const auto test = task->read(argv[3], settings, &model.vocabulary, threads);
    const std::vector<double> w = scores_of(model, *test);
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < test->oracle().examples(); ++i) all.push_back(i);
    for (const auto& [name, value] :
         test->score(all, predict_structures(test->oracle(), w, threads), w))
      text += fmt::format(", \"{}\": {:.6g}", name, value);
  }
  fmt::print("{}}}\n", text);
  if (curve)
    if (std::FILE* file = std::fopen(curve.mapped().c_str(), "w")) {
      for (const StructuredPoint& point : trained.curve)
        fmt::print(file, "{} {:.6f} {:.17g} {:.17g} {}\n", point.oracle_calls, point.seconds,
                   point.primal, point.dual, point.planes);
      std::fclose(file);
    }
  return 0;
} catch (const Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
