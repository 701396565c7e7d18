// Arbitrary bytes as a model file for LIBSVM's C interface. What svm_load_model takes must predict,
// and come back the same when it is saved and loaded; everything else must be NULL.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "capi/libsvm/svm.h"
#include "fuzz/memory_file.hpp"

namespace {

// Predicting may use memory and time in proportion to the pairs of classes.
constexpr int most_classes = 100;

void require(bool good) {
  if (!good) std::abort();
}

bool equal(double one, double other) { return one == other || (one != one && other != other); }

/// What a model makes of one row.
std::vector<double> answers(const svm_model* model) {
  const svm_node row[] = {{0, 1}, {1, 0.5}, {2, -0.25}, {7, 1e3}, {-1, 0}};
  const auto classes = static_cast<std::size_t>(svm_get_nr_class(model));
  std::vector<double> values(classes * classes + 2, 0.0);
  values.push_back(svm_predict_values(model, row, values.data()));
  values.push_back(svm_predict(model, row));
  if (svm_check_probability_model(model) != 0) {
    std::vector<double> probabilities(classes + 2, 0.0);
    values.push_back(svm_predict_probability(model, row, probabilities.data()));
    values.insert(values.end(), probabilities.begin(), probabilities.end());
  }
  return values;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Why a file is refused would fill the log; the fuzzer has kept the stream for its own words.
  [[maybe_unused]] static std::FILE* const quiet = stderr = std::fopen("/dev/null", "w");
  const maxmargin::MemoryFile input(std::as_bytes(std::span(data, size)));
  svm_model* model = svm_load_model(input.path().c_str());
  if (model == nullptr) return 0;
  if (svm_get_nr_class(model) <= most_classes) {
    const std::string saved =
        std::filesystem::temp_directory_path() / ("libsvm_load_fuzz." + std::to_string(getpid()));
    require(svm_save_model(saved.c_str(), model) == 0);
    svm_model* again = svm_load_model(saved.c_str());
    std::filesystem::remove(saved);
    require(again != nullptr);
    const std::vector<double> one = answers(model), other = answers(again);
    require(one.size() == other.size());
    for (std::size_t k = 0; k < one.size(); ++k) require(equal(one[k], other[k]));
    svm_free_and_destroy_model(&again);
  }
  svm_free_and_destroy_model(&model);
  return 0;
}
