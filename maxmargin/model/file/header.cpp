#include "maxmargin/model/file/header.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "maxmargin/model/file/header_json.hpp"

namespace maxmargin {
namespace {

struct CertificateField {
  const char* name;
  double Certificate::*member;
};
constexpr std::array certificate_fields{
    CertificateField{"primal", &Certificate::primal},
    CertificateField{"dual", &Certificate::dual},
    CertificateField{"gap", &Certificate::gap},
    CertificateField{"relative_gap", &Certificate::relative_gap},
    CertificateField{"kkt", &Certificate::kkt},
    CertificateField{"equality_residual", &Certificate::equality_residual},
    CertificateField{"bound_residual", &Certificate::bound_residual},
    CertificateField{"rounding", &Certificate::rounding},
    CertificateField{"best_primal", &Certificate::best_primal},
    CertificateField{"best_dual", &Certificate::best_dual}};
static_assert(sizeof(Certificate) == (certificate_fields.size() + 1) * sizeof(double),
              "a new member of Certificate belongs into the table above and into the file");

constexpr std::array all_ended{Ended::converged, Ended::iteration_limit, Ended::time_limit,
                               Ended::stalled,   Ended::unbounded,       Ended::cancelled};
constexpr std::array all_function_kinds{ParametricFunction::Kind::expression,
                                        ParametricFunction::Kind::column,
                                        ParametricFunction::Kind::own};
constexpr std::array all_scalings{ScalingKind::range, ScalingKind::unit, ScalingKind::deviation,
                                  ScalingKind::maximum};

template <class List>
auto take_named(const CheckedJson& text, const List& list) {
  const std::string name = text.text();
  for (const auto each : list)
    if (to_string(each) == name) return each;
  text.refuse("unknown name '" + name.substr(0, 40) + "'");
}

template <class E>
E take_named(const CheckedJson& text, std::string_view (*name_of)(E)) {
  const std::string name = text.text();
  for (const auto& [each, short_name] : Named<E>::values)
    if (name_of(each) == name) return each;
  text.refuse("unknown name '" + name.substr(0, 40) + "'");
}

Json texts_json(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text_json(text));
  return list;
}

std::vector<std::string> take_texts(const CheckedJson& list) {
  std::vector<std::string> texts(list.array_size());
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = list[i].text();
  return texts;
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return number_json(value).dump();
  std::array<char, 64> digits{};
  return {digits.data(), nlohmann::detail::to_chars(digits.data(), &digits.back(), value)};
}

/// The members of the machines, a list each. Machines stand as columns: of many machines, a list of
/// objects would be many times as large. Of millions, a tree of values would take longer to make
/// than to train them: this is its text.
class MachineColumns {
 public:
  MachineColumns(const Model& model, std::string& text) : model_(model), text_(text) {}

  void write() {
    text_ += "{\n";
    column("positive", [](const Machine& m) { return std::to_string(m.positive); });
    column("negative", [](const Machine& m) { return std::to_string(m.negative); });
    column("support", [](const Machine& m) { return std::to_string(m.support.size()); });
    column("lambda", [](const Machine& m) { return std::to_string(m.lambda.size()); });
    column("ended", [](const Machine& m) { return Json(std::string(to_string(m.ended))).dump(); });
    column("iterations", [](const Machine& m) { return std::to_string(m.iterations); });
    for (const CertificateField& field : certificate_fields)
      column(field.name,
             [&](const Machine& m) { return number_text(m.certificate.*field.member); });
    const auto yes = [](bool value) { return std::string(value ? "true" : "false"); };
    column("mercer", [&](const Machine& m) { return yes(m.certificate.mercer); });
    if (any([](const Machine& m) { return m.certificate.sampled; }))
      column("sampled", [&](const Machine& m) { return yes(m.certificate.sampled); });
    if (any([](const Machine& m) { return m.width != 0; }))
      column("width", [](const Machine& m) { return number_text(m.width); });
    text_.erase(text_.size() - 2, 1);
    text_ += " }";
  }

 private:
  template <class Has>
  bool any(Has&& has) const {
    return std::ranges::any_of(model_.machines, has);
  }
  template <class Get>
  void column(std::string_view name, Get&& get) {
    text_.append("  \"").append(name).append("\": [");
    for (std::size_t k = 0; k < model_.machines.size(); ++k) {
      if (k > 0) text_ += ',';
      text_ += get(model_.machines[k]);
    }
    text_ += "],\n";
  }

  const Model& model_;
  std::string& text_;
};

template <class Set>
void take_column(const CheckedJson& machines, const char* name, std::size_t size, Set&& set) {
  const CheckedJson list = machines[name];
  if (list.array_size() != size) list.refuse("its decision functions differ in count");
  for (std::size_t i = 0; i < size; ++i) set(i, list[i]);
}

void take_machines(const CheckedJson& json, ModelHeader& header) {
  std::vector<Machine>& machines = header.model.machines;
  SectionSizes& sizes = header.sizes;
  const std::size_t size = json["positive"].array_size();
  machines.resize(size);
  sizes.support.resize(size);
  sizes.lambda.resize(size);
  const auto each = [&](const char* name, auto&& set) { take_column(json, name, size, set); };
  each("positive", [&](std::size_t i, const CheckedJson& v) { machines[i].positive = v.whole(); });
  each("negative", [&](std::size_t i, const CheckedJson& v) { machines[i].negative = v.whole(); });
  each("support", [&](std::size_t i, const CheckedJson& v) { sizes.support[i] = v.count(); });
  each("lambda", [&](std::size_t i, const CheckedJson& v) { sizes.lambda[i] = v.count(); });
  each("ended",
       [&](std::size_t i, const CheckedJson& v) { machines[i].ended = take_named(v, all_ended); });
  each("iterations",
       [&](std::size_t i, const CheckedJson& v) { machines[i].iterations = v.count(); });
  for (const CertificateField& field : certificate_fields)
    each(field.name, [&](std::size_t i, const CheckedJson& v) {
      machines[i].certificate.*field.member = v.number();
    });
  each("mercer",
       [&](std::size_t i, const CheckedJson& v) { machines[i].certificate.mercer = v.yes(); });
  if (json.has("sampled"))
    each("sampled",
         [&](std::size_t i, const CheckedJson& v) { machines[i].certificate.sampled = v.yes(); });
  if (json.has("width"))
    each("width", [&](std::size_t i, const CheckedJson& v) { machines[i].width = v.number(); });
}

Json untrained_json(const Untrained& untrained) {
  Json loss = Json::array();
  for (const double each : untrained.loss) loss.push_back(number_json(each));
  return {{"ended", std::string(to_string(untrained.ended))}, {"loss", std::move(loss)}};
}

Untrained take_untrained(const CheckedJson& json) {
  Untrained untrained;
  untrained.ended = take_named(json["ended"], all_ended);
  untrained.loss.resize(json["loss"].array_size());
  take_column(json, "loss", untrained.loss.size(),
              [&](std::size_t k, const CheckedJson& v) { untrained.loss[k] = v.number(); });
  return untrained;
}

template <class List, class Get>
Json numbers_json(const List& list, Get&& get) {
  Json numbers = Json::array();
  for (const auto& each : list) numbers.push_back(number_json(get(each)));
  return numbers;
}

Json calibration_json(const Calibration& calibration) {
  return {
      {"folds", calibration.folds},
      {"weight", number_json(calibration.weight)},
      {"slope", numbers_json(calibration.sigmoid, [](const PlattSigmoid& s) { return s.slope; })},
      {"offset", numbers_json(calibration.sigmoid, [](const PlattSigmoid& s) { return s.offset; })},
      {"noise", number_json(calibration.noise)},
      {"marks", numbers_json(calibration.marks, [](double mark) { return mark; })}};
}

Calibration take_calibration(const CheckedJson& json) {
  Calibration calibration;
  calibration.folds = json["folds"].whole();
  calibration.weight = json["weight"].number();
  calibration.sigmoid.resize(json["slope"].array_size());
  take_column(json, "slope", calibration.sigmoid.size(), [&](std::size_t i, const CheckedJson& v) {
    calibration.sigmoid[i].slope = v.number();
  });
  take_column(json, "offset", calibration.sigmoid.size(), [&](std::size_t i, const CheckedJson& v) {
    calibration.sigmoid[i].offset = v.number();
  });
  calibration.noise = json["noise"].number();
  calibration.marks.resize(json["marks"].array_size());
  take_column(json, "marks", calibration.marks.size(),
              [&](std::size_t i, const CheckedJson& v) { calibration.marks[i] = v.number(); });
  return calibration;
}

Json functions_json(const std::vector<ParametricFunction>& functions) {
  Json list = Json::array();
  for (const ParametricFunction& each : functions)
    list.push_back(Json::array({std::string(to_string(each.kind)), text_json(each.text)}));
  return list;
}

std::vector<ParametricFunction> take_functions(const CheckedJson& list) {
  std::vector<ParametricFunction> functions(list.array_size());
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (list[i].array_size() != 2) list.refuse("a function is not a kind and a text");
    functions[i].kind = take_named(list[i][std::size_t{0}], all_function_kinds);
    functions[i].text = list[i][1].text();
  }
  return functions;
}

Json sections_json(const SectionSizes& sizes) {
  Json list = Json::array();
  for (const FileSection& section : sizes.sections())
    list.push_back(Json::array({section.name, section.type, section.count}));
  return list;
}

Json support_json(const SectionSizes& sizes) {
  return {{"vectors", sizes.vectors},
          {"features", sizes.columns},
          {"stored", sizes.stored},
          {"rows", sizes.sparse ? "sparse" : "dense"},
          {"values", sizes.doubles ? "double" : "float"}};
}

void take_support(const CheckedJson& json, SectionSizes& sizes) {
  sizes.vectors = json["vectors"].count();
  sizes.columns = json["features"].count();
  sizes.stored = json["stored"].count();
  const std::string rows = json["rows"].text();
  const std::string values = json["values"].text();
  if ((rows != "sparse" && rows != "dense") || (values != "double" && values != "float"))
    json.refuse("its support vectors are of an unknown kind");
  sizes.sparse = rows == "sparse";
  sizes.doubles = values == "double";
}

Json model_json(const Model& model) {
  const SectionSizes sizes = sizes_of(model);
  Json json;
  json["program"] = text_json(model.program);
  json["byte_order"] = "little";
  json["outcome"] = std::string(to_string(model.outcome));
  json["multiclass"] = std::string(full_name(model.multiclass));
  json["kernel"] =
      visit_list([](const auto& kernel) { return component_json(kernel); }, model.kernel);
  json["features"] = model.features;
  json["rows"] = model.rows;
  json["seed"] = model.seed;
  json["data_hash"] = text_json(model.data_hash);
  json["options"] = Json::array();
  for (const auto& [name, value] : recorded_options(model))
    json["options"].push_back(Json::array({text_json(name), text_json(value)}));
  json["scaling"] = std::string(to_string(model.scaling.kind));
  json["scaled_features"] = sizes.scaled;
  if (sizes.lists_scaled) json["scaling_lists_features"] = true;
  json["support"] = support_json(sizes);
  json["machines"] = nullptr;  // see header_text
  if (!model.untrained.none()) json["untrained"] = untrained_json(model.untrained);
  if (!model.functions.empty()) json["functions"] = functions_json(model.functions);
  if (!model.calibration.none()) json["calibration"] = calibration_json(model.calibration);
  json["sections"] = sections_json(sizes);
  json["numeric_classes"] = model.numeric_classes;
  json["classes"] = texts_json(model.classes);
  json["feature_names"] = texts_json(model.feature_names);
  return json;
}

/// One member a line; those that `own` writes itself it does.
template <class Own>
void add_lines(const Json& object, const std::string& indent, std::string& text, Own&& own) {
  text += "{\n";
  for (const auto& [key, value] : object.items()) {
    text += indent + " " + Json(key).dump() + ": ";
    if (!own(key, value)) text += value.dump();
    text += ",\n";
  }
  text.erase(text.size() - 2, 1);
  text += indent + "}";
}

// The parser does not recurse, but nothing in a header is nested deeper than this.
constexpr int most_nested = 8;

bool too_nested(const std::string& text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > most_nested) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

std::uint64_t total(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// After this, no count in `sizes` is larger than the bytes that are there, nor is any sum of them.
void check_sizes(const SectionSizes& sizes, std::uint64_t most_bytes, const std::string& name) {
  std::uint64_t left = most_bytes;
  const auto spend = [&](std::uint64_t count, std::uint64_t bytes) {
    if (count > left / bytes) throw_damaged(name, "it is shorter than its header says");
    left -= count * bytes;
  };
  spend(sizes.vectors, sizeof(std::uint64_t));
  spend(sizes.stored, sizes.doubles ? sizeof(double) : sizeof(float));
  spend(sizes.scaled, 2 * sizeof(double) + (sizes.lists_scaled ? sizeof(Index) : 0));
  for (const std::uint64_t count : sizes.support) spend(count, sizeof(double) + sizeof(Index));
  for (const std::uint64_t count : sizes.lambda) spend(count, sizeof(double));
  std::uint64_t cells = 0;
  const bool overflow = __builtin_mul_overflow(sizes.vectors, sizes.columns, &cells);
  if (!sizes.sparse && (overflow || cells != sizes.stored))
    throw_damaged(name, "its dense support vectors do not have the values that they need");
}

}  // namespace

std::vector<FileSection> SectionSizes::sections() const {
  std::vector<FileSection> list;
  if (sparse) list.push_back({"support start", "u64", vectors + 1});
  list.push_back({"support row", "u64", vectors});
  list.push_back({"machine coefficient", "f64", total(support)});
  list.push_back({"machine lambda", "f64", total(lambda)});
  list.push_back({"scaling offset", "f64", scaled});
  list.push_back({"scaling factor", "f64", scaled});
  list.push_back({"support value", doubles ? "f64" : "f32", stored});
  if (sparse) list.push_back({"support index", "u32", stored});
  if (lists_scaled) list.push_back({"scaling feature", "u32", scaled});
  list.push_back({"machine support", "u32", total(support)});
  return list;
}

SectionSizes sizes_of(const Model& model) {
  const Rows rows = model.support;
  SectionSizes sizes{rows.count,
                     rows.columns,
                     rows.count == 0 ? 0 : rows.stored(),
                     rows.sparse(),
                     rows.floats == nullptr && rows.doubles != nullptr,
                     model.scaling.factor.size(),
                     model.scaling.lists_features(),
                     {},
                     {}};
  for (const Machine& machine : model.machines) {
    sizes.support.push_back(machine.support.size());
    sizes.lambda.push_back(machine.lambda.size());
  }
  return sizes;
}

std::string header_text(const Model& model) {
  std::string text;
  const auto nothing = [](const std::string&, const Json&) { return false; };
  add_lines(model_json(model), "", text, [&](const std::string& key, const Json& value) {
    if (key == "machines") MachineColumns(model, text).write();
    if (key == "calibration") add_lines(value, " ", text, nothing);
    return key == "machines" || key == "calibration";
  });
  return text;
}

ModelHeader read_header(const std::string& text, std::uint64_t most_bytes,
                        const std::string& name) {
  if (too_nested(text)) throw_damaged(name, "its header is nested too deeply");
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) throw_damaged(name, "its header is not JSON");
  const CheckedJson top(json, name);
  ModelHeader header;
  Model& model = header.model;
  model.program = top["program"].text();
  if (top["byte_order"].text() != "little") top.refuse("its byte order is not little-endian");
  model.outcome = take_named<Outcome>(top["outcome"], to_string);
  model.multiclass = take_named<Multiclass>(top["multiclass"], full_name);
  model.kernel = take_listed<Kernel>(top["kernel"]);
  model.features = top["features"].count();
  model.rows = top["rows"].count();
  model.seed = top["seed"].count();
  model.data_hash = top["data_hash"].text();
  const CheckedJson options = top["options"];
  Texts texts;
  for (std::size_t i = 0; i < options.array_size(); ++i) {
    if (options[i].array_size() != 2) options.refuse("an option is not a name and a value");
    texts.emplace_back(options[i][std::size_t{0}].text(), options[i][1].text());
  }
  StatedTask stated = task_stated_in(texts);
  model.task = std::move(stated.task);
  model.options = std::move(stated.rest);
  model.scaling.kind = take_named(top["scaling"], all_scalings);
  header.sizes.scaled = top["scaled_features"].count();
  if (top.has("scaling_lists_features"))
    header.sizes.lists_scaled = top["scaling_lists_features"].yes();
  take_support(top["support"], header.sizes);
  take_machines(top["machines"], header);
  if (top.has("untrained")) model.untrained = take_untrained(top["untrained"]);
  if (top.has("functions")) model.functions = take_functions(top["functions"]);
  if (top.has("calibration")) model.calibration = take_calibration(top["calibration"]);
  model.numeric_classes = top["numeric_classes"].yes();
  model.classes = take_texts(top["classes"]);
  model.feature_names = take_texts(top["feature_names"]);
  check_sizes(header.sizes, most_bytes, name);
  if (sections_json(header.sizes) != top["sections"].json())
    top.refuse("its list of sections does not match its counts");
  return header;
}

}  // namespace maxmargin
