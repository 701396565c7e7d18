// Changes every field of a model file's header and every section, one at a time, with the checksum
// made right again. Whoever reads or verifies the file must refuse it, unless the field is on the
// list of those that neither predictions nor any claim depend on.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::tamper_test {
namespace {

using Json = nlohmann::ordered_json;

/// A model file in parts.
struct Parts {
  std::string opening;  ///< the first line
  Json header;
  std::string sections;

  explicit Parts(const std::string& bytes) {
    const std::size_t line = bytes.find('\n') + 1, next = bytes.find('\n', line) + 1;
    opening = bytes.substr(0, line);
    const std::size_t size = std::stoul(bytes.substr(line + 7, next - line - 8));
    header = Json::parse(bytes.substr(next, size));
    sections = bytes.substr(next + size, bytes.size() - next - size - 33);
  }
  std::string bytes() const {
    std::string text = header.dump(), front;
    for (std::size_t spaces = 0; spaces < 64; ++spaces) {
      text += ' ';
      front = opening + "header " + std::to_string(text.size() + 1) + "\n" + text + "\n";
      if (front.size() % 8 == 0) break;
    }
    front += sections;
    return front + checksum(std::as_bytes(std::span(front))) + "\n";
  }
};

/// What becomes of a file: refused when it is read, or the verdict and the field that is named.
std::string fate(const std::string& bytes, const Dataset& data) {
  try {
    const Model model = from_bytes(std::as_bytes(std::span(bytes)), "model");
    const Judgement found = judge(model, data, Threads(1));
    return std::string(to_string(found.verdict));
  } catch (const Error&) {
    return "refused";
  }
}

/// The other values that a field is given.
std::vector<Json> changed(const Json& value) {
  if (value.is_boolean()) return {!value.get<bool>()};
  if (value.is_number_integer() || value.is_number_unsigned())
    return {value.get<std::int64_t>() + 1, value.get<std::int64_t>() - 1};
  if (value.is_number()) {
    const double x = value.get<double>();
    return {x * 1.01 + 1e-3, x * 0.99 - 1e-3, -x - 5, 0.0};
  }
  const std::string text = value.get<std::string>();
  const Json number = Json::parse(text, nullptr, false);
  if (number.is_number()) {
    const double x = number.get<double>();
    return {shortest(x * 1.5 + 0.5), shortest(x * 0.5)};
  }
  return {text + "x", text.empty() ? "y" : text.substr(1)};
}

/// Calls visit(path without numbers, leaf) for everything in the header.
template <class Visit>
void for_each_leaf(Json& json, const std::string& path, Visit&& visit) {
  if (json.is_object()) {
    for (auto& [key, value] : json.items()) for_each_leaf(value, path + "/" + key, visit);
  } else if (json.is_array()) {
    if (path == "/options" && !json.empty() && json[0].is_array()) {
      for (auto& option : json) {
        const std::string name = option[0];
        visit("/options (names)", option[0]);
        visit("/options/" + name, option[1]);
      }
      return;
    }
    for (auto& value : json) for_each_leaf(value, path, visit);
  } else {
    visit(path, json);
  }
}

struct Harmless {
  const char* path;
  const char* why;
};
// Neither predictions nor a claim that verify could find false depend on these.
constexpr Harmless harmless[] = {
    {"/program", "a name"},
    {"/seed", "without calibration nothing in a model is random"},
    {"/machines/iterations", "says nothing of the result"},
    {"/machines/rounding", "no allowance is taken from it"},
    {"/machines/ended", "other ends than converged claim nothing"},
    {"/machines/kkt", "a larger violation claims less; smaller ones are refused"},
    {"/machines/equality_residual", "the same"},
    {"/machines/bound_residual", "the same"},
    {"/machines/sampled", "claims less; where it is false all rows are looked at"},
    {"/numeric_classes", "of models without classes; else refused: ClassesAreThoseOfTheData"},
    {"/options/solver", "says who found the coefficients, which are judged themselves"},
    {"/options/reason", "says why that one"},
    {"/options/tolerance", "with a larger one converged claims less; smaller ones are refused"},
    {"/options/gap", "the same"},
    {"/options/sigma", "of another loss than the one that was chosen"},
    {"/options/tau", "the same"},
    {"/options (names)",
     "what is left out has its preset, or is typed elsewhere; another value than "
     "that makes other objectives"},
    {"/scaling", "the kind of a scaling that is not there"},
};
bool is_harmless(const std::string& path) {
  return std::ranges::any_of(harmless, [&](const Harmless& each) { return path == each.path; });
}

struct Case {
  std::string name;
  TrainOptions options;
  Dataset data;
};

Trained trained(const Case& each) {
  return train(made::copy_of(each.data), each.options, Threads(1));
}

/// The same rows with their last feature far behind the others.
Dataset far(Dataset data) {
  constexpr Index last = 3000000;
  Features apart = Features::sparse(last + 1);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    std::vector<Index> features;
    std::vector<double> values;
    data.x.view().for_each(i, [&](Index feature, double value) {
      features.push_back(feature + 1 == data.x.columns() ? last : feature);
      values.push_back(value);
    });
    apart.append(features, values);
  }
  data.x = std::move(apart);
  return data;
}

std::vector<Case> cases() {
  std::vector<Case> list;
  Svc svc;
  svc.cost = 2;
  svc.class_weights = {{"1", 1.5}};
  list.push_back({"svc, three classes, scaled",
                  {.task = svc, .kernel = Rbf{1.5}, .scaling = ScalingKind::range},
                  made::classification(40, 3, made::Storage::dense_doubles, 1, 3)});
  Svr svr;
  svr.cost = 3;
  svr.loss = EpsilonInsensitive{0.05};
  list.push_back({"svr, sparse",
                  {.task = svr, .kernel = Polynomial{0.5, 2, 1}},
                  made::regression(40, 3, made::Storage::sparse, 2)});
  list.push_back({"nu-svc",
                  {.task = NuSvc{.nu = 0.4}, .kernel = Laplacian{1}},
                  made::classification(40, 2, made::Storage::dense_floats, 3)});
  list.push_back({"one-class",
                  {.task = OneClass{.nu = 0.3}, .kernel = Rbf{2}},
                  made::classification(30, 2, made::Storage::dense_floats, 4)});
  Svc together;
  together.bias = Bias::penalised;
  together.multiclass = Multiclass::crammer_singer;
  list.push_back({"all classes in one problem",
                  {.task = together, .kernel = Rbf{1.5}},
                  made::classification(30, 2, made::Storage::dense_doubles, 6, 3)});
  TrainOptions beside{.task = Svc{.cost = 2}, .kernel = Rbf{1}};
  beside.functions = {{ParametricFunction::Kind::expression, "x1"}};
  list.push_back({"with a function beside the bias", beside,
                  made::classification(30, 2, made::Storage::dense_doubles, 8)});
  list.push_back({"svc, features far apart, scaled",
                  {.task = Svc{}, .kernel = Rbf{1}, .scaling = ScalingKind::range},
                  far(made::classification(30, 3, made::Storage::dense_floats, 5))});
  return list;
}

TEST(Tamper, HonestModelsAreTrue) {
  for (const Case& each : cases()) {
    const Parts parts(to_bytes(trained(each).model));
    EXPECT_EQ(fate(parts.bytes(), each.data), "true") << each.name;
  }
}

TEST(Tamper, EveryFieldOfTheHeader) {
  for (const Case& each : cases()) {
    Parts parts(to_bytes(trained(each).model));
    for_each_leaf(parts.header, "", [&](const std::string& path, Json& leaf) {
      const Json honest = leaf;
      for (const Json& other : changed(honest)) {
        if (other == honest) continue;
        leaf = other;
        const std::string result = fate(parts.bytes(), each.data);
        EXPECT_TRUE(result != "true" || is_harmless(path))
            << each.name << ": " << path << " from " << honest << " to " << other;
        leaf = honest;
      }
    });
  }
}

TEST(Tamper, SmallerViolationsAreNotHarmless) {
  for (Case& each : cases()) {
    each.options.stop.iterations = 3;
    each.options.stop.kkt = each.options.stop.relative_gap = 1e-7;
    Model model = trained(each).model;
    for (double Certificate::*field : {&Certificate::kkt, &Certificate::gap,
                                       &Certificate::relative_gap, &Certificate::best_primal}) {
      double& number = model.machines[0].certificate.*field;
      if (number < 1e-3) continue;
      const double honest = std::exchange(number, number / 2);
      EXPECT_EQ(fate(to_bytes(model), each.data), "false") << each.name;
      number = honest;
    }
  }
}

TEST(Tamper, LessThanWasAskedForIsNotConverged) {
  for (const Case& each : cases()) {
    Model model = trained(each).model;
    for (auto& [name, value] : model.options)
      if (name == "tolerance" || name == "gap") value = "1e-30";
    EXPECT_EQ(fate(to_bytes(model), each.data), "false") << each.name;
  }
}

// A limit of three iterations, then called converged.
TEST(Tamper, AnEarlyEndIsNotConverged) {
  for (Case& each : cases()) {
    each.options.stop.iterations = 3;
    each.options.stop.kkt = each.options.stop.relative_gap = 1e-7;
    Model model = trained(each).model;
    if (model.machines[0].ended != Ended::iteration_limit) continue;
    EXPECT_EQ(fate(to_bytes(model), each.data), "true") << each.name;
    model.machines[0].ended = Ended::converged;
    EXPECT_EQ(fate(to_bytes(model), each.data), "false") << each.name;
  }
}

template <class Number>
void change(std::string& bytes, std::size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  if constexpr (std::is_floating_point_v<Number>)
    number = number == 0 ? Number(0.25) : -number * Number(1.5);
  else
    number ^= 1;
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

TEST(Tamper, EverySection) {
  for (const Case& each : cases()) {
    const Parts honest(to_bytes(trained(each).model));
    std::size_t at = 0;
    for (const Json& section : honest.header["sections"]) {
      const std::string name = section[0], type = section[1];
      const std::size_t count = section[2], width = type.ends_with("64") ? 8 : 4;
      for (std::size_t k = 0; k < count; k += std::max<std::size_t>(1, count / 7)) {
        Parts parts = honest;
        const std::size_t place = at + k * width;
        if (type == "u64") change<std::uint64_t>(parts.sections, place);
        if (type == "f64") change<double>(parts.sections, place);
        if (type == "u32") change<std::uint32_t>(parts.sections, place);
        if (type == "f32") change<float>(parts.sections, place);
        EXPECT_NE(fate(parts.bytes(), each.data), "true")
            << each.name << ": " << name << " at " << k;
      }
      at += count * width;
    }
  }
}

TEST(Tamper, MachinesMayNotBeDropped) {
  for (const Multiclass multiclass : {Multiclass::one_vs_one, Multiclass::one_vs_rest}) {
    Svc svc;
    svc.multiclass = multiclass;
    Case each{"",
              {.task = svc, .kernel = Rbf{1}},
              made::classification(40, 2, made::Storage::dense_doubles, 5, 4)};
    Model model = trained(each).model;
    model.machines.pop_back();
    const Judgement found = judge(model, each.data, Threads(1));
    EXPECT_EQ(found.verdict, Verdict::is_false);
    EXPECT_EQ(found.field, "machines");
  }
}

// Where all numbers are tiny, ten times as much is still false.
TEST(Tamper, TinyCostsExcuseNothing) {
  Case each{"",
            {.task = Svc{.cost = 1e-10}, .kernel = Rbf{1}},
            made::classification(40, 2, made::Storage::dense_doubles, 9)};
  const Model honest = trained(each).model;
  EXPECT_EQ(judge(honest, each.data, Threads(1)).verdict, Verdict::is_true);
  for (const double factor : {0.1, 10.0}) {
    Model model = trained(each).model;
    Certificate& c = model.machines[0].certificate;
    for (double* field : {&c.primal, &c.dual, &c.gap, &c.best_primal, &c.best_dual})
      *field *= factor;
    EXPECT_EQ(judge(model, each.data, Threads(1)).verdict, Verdict::is_false) << factor;
  }
}

TEST(Tamper, ScalingOfConstantFeaturesIsLookedAt) {
  Dataset data;
  data.x = Features::dense(2);
  for (int i = 0; i < 12; ++i) {
    data.x.append(std::vector<double>{i * 0.3 + (i % 2), 7});
    data.y.push_back(i % 2);
  }
  Case each{"", {.task = Svc{}, .kernel = Rbf{1}, .scaling = ScalingKind::range}, std::move(data)};
  EXPECT_EQ(judge(trained(each).model, each.data, Threads(1)).verdict, Verdict::is_true);
  for (std::vector<double> Scaling::*part : {&Scaling::offset, &Scaling::factor}) {
    Model model = trained(each).model;
    (model.scaling.*part)[1] += 0.5;
    const Judgement found = judge(model, each.data, Threads(1));
    EXPECT_EQ(found.verdict, Verdict::is_false);
  }
}

TEST(Tamper, ClassesAreThoseOfTheData) {
  const std::vector<Case> all = cases();
  Model model = trained(all[0]).model;
  model.numeric_classes = false;
  EXPECT_EQ(judge(model, all[0].data, Threads(1)).field, "numeric_classes");
}

// All coefficients 0 with a gap of 0, excused by "mercer false" and a large rounding.
TEST(Tamper, NoExcuseIsTakenFromTheFile) {
  const Case each = std::move(cases()[1]);
  Model model = trained(each).model;
  Machine& machine = model.machines[0];
  for (double& coefficient : machine.coefficient) coefficient = 0;
  machine.certificate.gap = machine.certificate.relative_gap = 0;
  machine.certificate.mercer = false;
  machine.certificate.rounding = 9;
  EXPECT_EQ(judge(model, each.data, Threads(1)).verdict, Verdict::is_false);
}

}  // namespace
}  // namespace maxmargin::tamper_test
