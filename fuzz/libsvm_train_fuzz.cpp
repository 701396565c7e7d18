// LIBSVM's C interface with structures from hostile callers: any parameters, labels, values and
// indices. Whoever was told that the parameters are good gets a model that can be asked, saved,
// loaded and freed.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "capi/libsvm/svm.h"

namespace {

// Without these some problems take LIBSVM's ten million steps: those whose rows are alike, or whose
// kernel is not definite.
constexpr double largest_c = 1e4, least_eps = 1e-6;

/// Takes bytes off the front; zeros when they are used up.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  std::uint8_t byte() { return at_ < end_ ? *at_++ : 0; }
  template <class Value>
  Value raw() {
    Value value{};
    for (std::size_t k = 0; k < sizeof value; ++k) {
      const std::uint8_t one = byte();
      std::memcpy(reinterpret_cast<char*>(&value) + k, &one, 1);
    }
    return value;
  }
  /// Mostly a plain number, sometimes any bits. Not large: with powers of these training takes
  /// long.
  double number() {
    const std::uint8_t kind = byte();
    if (kind >= 240) return raw<double>();
    return (kind - 120) / 64.0;
  }

 private:
  const std::uint8_t *at_, *end_;
};

svm_parameter parameter_from(Bytes& bytes, int& label, double& weight) {
  svm_parameter param{};
  param.svm_type = bytes.byte() % 6;
  param.kernel_type = bytes.byte() % 6;
  param.degree = bytes.byte() < 200 ? bytes.byte() % 5 : bytes.raw<int>();
  param.gamma = bytes.number();
  param.coef0 = bytes.number();
  param.cache_size = 1;
  param.eps = bytes.byte() < 200 ? 1e-2 : bytes.number();
  if (param.eps > 0 && param.eps < least_eps) param.eps = least_eps;
  param.C = bytes.number();
  if (param.C > largest_c && std::isfinite(param.C)) param.C = largest_c;
  param.nu = bytes.byte() / 200.0;
  param.p = bytes.byte() / 100.0;
  param.shrinking = bytes.byte() % 2;
  param.probability = bytes.byte() % 8 == 0;
  label = static_cast<std::int8_t>(bytes.byte()) % 4;
  weight = bytes.number();
  param.nr_weight = bytes.byte() % 2;
  param.weight_label = &label;
  param.weight = &weight;
  return param;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // What is wrong with a problem would fill the log; the fuzzer has kept the stream for its own
  // words.
  [[maybe_unused]] static std::FILE* const quiet = stderr = std::fopen("/dev/null", "w");
  Bytes bytes(data, size);
  svm_set_print_string_function([](const char*) {});
  int label = 0;
  double weight = 1;
  const svm_parameter param = parameter_from(bytes, label, weight);
  const std::size_t rows = bytes.byte() % 12;
  std::vector<std::vector<svm_node>> nodes(rows);
  std::vector<svm_node*> x(rows);
  std::vector<double> y(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    y[i] = bytes.byte() < 230 ? bytes.byte() % 3 : bytes.number();
    int index = 0;
    for (std::size_t k = bytes.byte() % 5; k > 0; --k) {
      const std::uint8_t kind = bytes.byte();
      // Past the largest index it goes on from the least: that is wrong too, and defined.
      index =
          kind < 240 ? static_cast<int>(static_cast<unsigned>(index) + kind % 3) : bytes.raw<int>();
      if (index == -1) break;
      nodes[i].push_back({index, bytes.number()});
    }
    nodes[i].push_back({-1, 0});
    x[i] = nodes[i].data();
  }
  const svm_problem problem{static_cast<int>(rows), y.data(), x.data()};
  const bool good = svm_check_parameter(&problem, &param) == nullptr;
  svm_model* model = svm_train(&problem, &param);
  if (good && model == nullptr) std::abort();
  if (model == nullptr) return 0;
  std::vector<double> values(256), p(256);
  for (const svm_node* row : x) {
    svm_predict_values(model, row, values.data());
    svm_predict_probability(model, row, p.data());
  }
  if (good && rows >= 2) svm_cross_validation(&problem, &param, 2, values.data());
  svm_free_and_destroy_model(&model);
  return 0;
}
