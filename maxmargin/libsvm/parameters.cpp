#include "maxmargin/libsvm/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace maxmargin {
namespace {

// LIBSVM's default of -m is small; at most this much is not taken as a limit.
constexpr double least_cache_mb = 100;
// A class of weight 0 is never predicted, nor is it with a negligible weight.
constexpr double least_weight = 1e-12;
// Any duality gap will do.
constexpr double any_gap = 1e9;

Task task_of(const LibsvmParameters& parameters, std::span<const int> classes) {
  switch (parameters.type()) {
    case LibsvmType::c_svc: {
      Svc svc{.cost = parameters.C};
      for (const int label : classes)
        if (const double factor = parameters.weight_of(label); factor != 1)
          svc.class_weights.emplace_back(std::to_string(label), std::max(factor, least_weight));
      return svc;
    }
    case LibsvmType::nu_svc:
      return NuSvc{.nu = parameters.nu};
    case LibsvmType::one_class:
      return OneClass{.nu = parameters.nu};
    case LibsvmType::epsilon_svr:
      return Svr{.cost = parameters.C, .loss = EpsilonInsensitive{parameters.p}};
    case LibsvmType::nu_svr:
      return NuSvr{.cost = parameters.C, .nu = parameters.nu};
  }
  return Svc{};
}

}  // namespace

double LibsvmParameters::weight_of(int label) const {
  double factor = 1;
  for (const auto& [of, given] : weight)
    if (of == label) factor *= given;
  return factor;
}

Kernel kernel_of(const LibsvmParameters& parameters) {
  const double gamma =
      parameters.gamma == 0 ? std::numeric_limits<double>::min() : parameters.gamma;
  switch (parameters.kernel_type) {
    case 0:
      return Linear{};
    case 1:
      return Polynomial{gamma, parameters.degree, parameters.coef0};
    case 2:
      return Rbf{gamma};
    case 3:
      return Sigmoid{gamma, parameters.coef0};
    default:
      return Precomputed{};
  }
}

const char* check(const LibsvmParameters& given) {
  if (given.svm_type < 0 || given.svm_type > 4) return "unknown svm type";
  if (given.kernel_type < 0 || given.kernel_type > 4) return "unknown kernel type";
  const LibsvmType type = given.type();
  const bool takes_gamma = given.kernel_type >= 1 && given.kernel_type <= 3;
  // Written so that NaN is refused, too.
  if (takes_gamma && !(given.gamma >= 0)) return "gamma < 0";
  if (given.kernel_type == 1 && given.degree < 0) return "degree of polynomial kernel < 0";
  if (given.kernel_type == 1 && given.degree > 100) return "degree of polynomial kernel > 100";
  if (!(given.cache_size > 0)) return "cache_size <= 0";
  if (!(given.eps > 0)) return "eps <= 0";
  const bool takes_cost = type != LibsvmType::nu_svc && type != LibsvmType::one_class;
  if (takes_cost && !(given.C > 0)) return "C <= 0";
  const bool takes_nu = type != LibsvmType::c_svc && type != LibsvmType::epsilon_svr;
  if (takes_nu && !(given.nu > 0 && given.nu <= 1)) return "nu <= 0 or nu > 1";
  if (type == LibsvmType::epsilon_svr && !(given.p >= 0)) return "p < 0";
  for (const auto& [label, factor] : given.weight)
    if (!(factor >= 0) || std::isinf(factor)) return "weight < 0";
  if (given.shrinking != 0 && given.shrinking != 1) return "shrinking != 0 and shrinking != 1";
  if (given.probability != 0 && given.probability != 1)
    return "probability != 0 and probability != 1";
  return nullptr;
}

namespace {

/// Of the pairs of classes the one that allows the smallest nu.
struct Tightest {
  double least = 1, both = 2;  ///< rows of the smaller class, and of the two

  explicit Tightest(std::span<const double> labels) {
    std::map<double, double> sizes;
    for (const double label : labels) ++sizes[label];
    for (auto one = sizes.begin(); one != sizes.end(); ++one)
      for (auto other = std::next(one); other != sizes.end(); ++other) {
        const double smaller = std::min(one->second, other->second);
        const double sum = one->second + other->second;
        if (smaller * both >= least * sum) continue;
        least = smaller;
        both = sum;
      }
  }
};

}  // namespace

double largest_nu(std::span<const double> labels) {
  const Tightest pair(labels);
  return 2 * pair.least / pair.both;
}

const char* check_nu(const LibsvmParameters& given, std::span<const double> labels) {
  if (given.type() != LibsvmType::nu_svc) return nullptr;
  const Tightest pair(labels);
  return given.nu * pair.both / 2 > pair.least ? "specified nu is infeasible" : nullptr;
}

std::optional<std::size_t> first_broken_label(std::span<const double> labels) {
  constexpr double low = std::numeric_limits<int>::min(), high = std::numeric_limits<int>::max();
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (!(labels[i] >= low && labels[i] <= high) || labels[i] != std::trunc(labels[i])) return i;
  return std::nullopt;
}

std::vector<int> libsvm_classes(std::span<const double> labels) {
  std::vector<int> classes, sorted;
  for (const double label : labels) {
    const int whole = static_cast<int>(label);
    if (!classes.empty() && whole == classes.back()) continue;
    const auto position = std::ranges::lower_bound(sorted, whole);
    if (position != sorted.end() && *position == whole) continue;
    sorted.insert(position, whole);
    classes.push_back(whole);
  }
  if (classes == std::vector{-1, 1}) std::swap(classes[0], classes[1]);
  return classes;
}

TrainOptions train_options(const LibsvmParameters& parameters, std::span<const int> classes) {
  TrainOptions options;
  options.task = task_of(parameters, classes);
  options.kernel = kernel_of(parameters);
  // Degree 0: a kernel that is 1 everywhere.
  if (parameters.kernel_type == 1 && parameters.degree == 0)
    options.kernel = Polynomial{std::numeric_limits<double>::min(), 1, 1};
  options.stop.kkt = parameters.eps;
  options.stop.relative_gap = any_gap;
  options.certified = false;  // not reported
  if (parameters.cache_size > least_cache_mb)
    options.memory_bytes = static_cast<std::size_t>(std::min(parameters.cache_size, 1e9)) << 20;
  return options;
}

}  // namespace maxmargin
