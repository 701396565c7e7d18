#include "maxmargin/structured/model.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/file/header_json.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin {
namespace {

constexpr std::string_view magic = "maxmargin structured 1\n";
constexpr std::string_view header_word = "header ";
constexpr std::size_t checksum_size = 33;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

constexpr std::array endings{Ended::converged, Ended::iteration_limit, Ended::time_limit,
                             Ended::stalled,   Ended::unbounded,       Ended::cancelled};
constexpr std::array kinds{Exactness::exact, Exactness::relaxed, Exactness::heuristic};

/// The member of the list with this name.
template <class List>
auto value_of(const CheckedJson& taken, const List& list) {
  const std::string name = taken.text();
  for (const auto each : list)
    if (to_string(each) == name) return each;
  taken.refuse("unknown word '" + name + "'");
}

struct Counts {
  std::uint64_t w = 0, planes = 0, labels = 0;
};

Json header_json(const StructuredModel& model, const Counts& counts) {
  const StructuredCertificate& c = model.certificate;
  Json header;
  header["program"] = text_json(model.program);
  header["task"] = text_json(model.task);
  header["solver"] = text_json(model.solver);
  header["settings"] = Json::object();
  for (const auto& [name, value] : model.settings) header["settings"][name] = text_json(value);
  header["cost"] = number_json(model.C);
  header["rescaling"] = std::string(to_string(model.rescaling));
  header["slack"] = std::string(to_string(model.slack));
  header["seed"] = model.seed;
  header["examples"] = model.planes.size();
  header["w_is_of_planes"] = model.w_is_of_planes;
  header["certificate"] = {{"primal", number_json(c.primal)},
                           {"dual", number_json(c.dual)},
                           {"gap", number_json(c.gap)},
                           {"relative_gap", number_json(c.relative_gap)},
                           {"rounding", number_json(c.rounding)},
                           {"violation", number_json(c.violation)},
                           {"oracle", std::string(to_string(c.exactness))},
                           {"planes", c.planes}};
  header["ended"] = std::string(to_string(model.ended));
  header["oracle_calls"] = model.oracle_calls;
  header["iterations"] = model.iterations;
  header["seconds"] = number_json(model.seconds);
  header["weights"] = counts.w;
  header["planes"] = counts.planes;
  header["labels"] = counts.labels;
  header["vocabulary"] = Json::array();
  for (const auto& [name, words] : model.vocabulary) {
    std::uint64_t bytes = 0;
    for (const std::string& word : words) bytes += word.size() + 1;
    header["vocabulary"].push_back({{"name", name}, {"words", words.size()}, {"bytes", bytes}});
  }
  return header;
}

std::string header_text(const Json& header, std::size_t before) {
  std::string text = "{\n";
  for (auto member = header.begin(); member != header.end(); ++member)
    text += Json(member.key()).dump() + ": " + member.value().dump() +
            (std::next(member) == header.end() ? "\n" : ",\n");
  text += "}";
  while (true) {
    const std::string first = std::string(header_word) + std::to_string(text.size() + 1) + "\n";
    if ((before + first.size() + text.size() + 1) % 8 == 0) return first + text + "\n";
    text += ' ';
  }
}

template <class T>
void append(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

/// The planes of all examples, as one array per member.
struct PlaneLists {
  std::vector<double> alpha, loss;
  std::vector<std::uint32_t> example, length;
  std::vector<std::int32_t> labels;
};

/// Reads the sections of a file one after another.
class Sections {
 public:
  Sections(std::string_view bytes, const std::string& name) : rest_(bytes), name_(name) {}

  std::string_view text(std::uint64_t size) {
    if (size > rest_.size()) throw_damaged(name_, "it ends too early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  template <class T>
  std::vector<T> list(std::uint64_t count) {
    if (count > rest_.size() / sizeof(T)) throw_damaged(name_, "it ends too early");
    std::vector<T> values(count);
    const std::string_view taken = text(count * sizeof(T));
    if (count > 0) std::memcpy(values.data(), taken.data(), taken.size());
    return values;
  }
  std::vector<std::string> words(std::uint64_t count, std::uint64_t bytes) {
    std::string_view taken = text(bytes);
    std::vector<std::string> words;
    while (!taken.empty()) {
      const std::size_t end = taken.find('\n');
      if (end == std::string_view::npos) throw_damaged(name_, "a word has no end");
      words.emplace_back(taken.substr(0, end));
      taken.remove_prefix(end + 1);
    }
    if (words.size() != count) throw_damaged(name_, "a list has another number of words");
    return words;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  const std::string& name_;
};

void put_planes(StructuredModel& model, const PlaneLists& lists, const std::string& name) {
  std::size_t at = 0;
  for (std::size_t k = 0; k < lists.alpha.size(); ++k) {
    if (lists.example[k] >= model.planes.size())
      throw_damaged(name, "a plane belongs to no example");
    if (!std::isfinite(lists.alpha[k]) || lists.alpha[k] < 0 || !std::isfinite(lists.loss[k]) ||
        lists.loss[k] < 0)
      throw_damaged(name, "a plane has an impossible number");
    if (lists.length[k] > lists.labels.size() - at)
      throw_damaged(name, "a plane's structure is too long");
    Plane plane;
    plane.alpha = lists.alpha[k];
    plane.loss = lists.loss[k];
    const auto first = lists.labels.begin() + static_cast<std::ptrdiff_t>(at);
    plane.y.assign(first, first + static_cast<std::ptrdiff_t>(lists.length[k]));
    at += lists.length[k];
    model.planes[lists.example[k]].push_back(std::move(plane));
  }
  if (at != lists.labels.size()) throw_damaged(name, "structures are left over");
}

StructuredCertificate take_certificate(const CheckedJson& taken) {
  StructuredCertificate c;
  c.primal = taken["primal"].number();
  c.dual = taken["dual"].number();
  c.gap = taken["gap"].number();
  c.relative_gap = taken["relative_gap"].number();
  c.rounding = taken["rounding"].number();
  c.violation = taken["violation"].number();
  c.exactness = value_of(taken["oracle"], kinds);
  c.planes = taken["planes"].count();
  return c;
}

StructuredModel take_model(const Json& header, Sections& sections, const std::string& name,
                           std::uint64_t file_bytes) {
  const CheckedJson taken(header, name);
  StructuredModel model;
  model.program = taken["program"].text();
  model.task = taken["task"].text();
  model.solver = taken["solver"].text();
  const Json& settings = taken["settings"].json();
  if (!settings.is_object()) throw_damaged(name, "its settings are no object");
  for (const auto& [key, value] : settings.items())
    model.settings[key] = CheckedJson(value, name).text();
  model.C = taken["cost"].number();
  if (!(model.C > 0) || !std::isfinite(model.C)) throw_damaged(name, "its cost is not positive");
  model.rescaling = value_of(taken["rescaling"], all_rescalings);
  model.slack = value_of(taken["slack"], all_slacks);
  model.seed = taken["seed"].count();
  model.w_is_of_planes = taken["w_is_of_planes"].yes();
  model.certificate = take_certificate(taken["certificate"]);
  model.ended = value_of(taken["ended"], endings);
  model.oracle_calls = taken["oracle_calls"].count();
  model.iterations = taken["iterations"].count();
  model.seconds = taken["seconds"].number();
  // An example takes 24 bytes of memory and, without planes, none of the file.
  const std::uint64_t examples = taken["examples"].count();
  if (examples > 64 * file_bytes) throw_damaged(name, "it has more examples than it can");
  model.planes.resize(examples);
  const std::uint64_t planes = taken["planes"].count();
  model.w = sections.list<double>(taken["weights"].count());
  for (const double each : model.w)
    if (!std::isfinite(each)) throw_damaged(name, "a weight is not finite");
  PlaneLists lists;
  lists.alpha = sections.list<double>(planes);
  lists.loss = sections.list<double>(planes);
  lists.example = sections.list<std::uint32_t>(planes);
  lists.length = sections.list<std::uint32_t>(planes);
  lists.labels = sections.list<std::int32_t>(taken["labels"].count());
  put_planes(model, lists, name);
  const CheckedJson vocabulary = taken["vocabulary"];
  for (std::size_t k = 0; k < vocabulary.array_size(); ++k) {
    const CheckedJson list = vocabulary[k];
    model.vocabulary[list["name"].text()] =
        sections.words(list["words"].count(), list["bytes"].count());
  }
  if (!sections.empty()) throw_damaged(name, "something is left over at its end");
  return model;
}

std::string content(const StructuredModel& model) {
  PlaneLists lists;
  for (std::size_t i = 0; i < model.planes.size(); ++i)
    for (const Plane& plane : model.planes[i]) {
      lists.alpha.push_back(plane.alpha);
      lists.loss.push_back(plane.loss);
      lists.example.push_back(static_cast<std::uint32_t>(i));
      lists.length.push_back(static_cast<std::uint32_t>(plane.y.size()));
      lists.labels.insert(lists.labels.end(), plane.y.begin(), plane.y.end());
    }
  std::string bytes(magic);
  bytes += header_text(
      header_json(model, {model.w.size(), lists.alpha.size(), lists.labels.size()}), bytes.size());
  append(bytes, model.w);
  append(bytes, lists.alpha);
  append(bytes, lists.loss);
  append(bytes, lists.example);
  append(bytes, lists.length);
  append(bytes, lists.labels);
  for (const auto& [name, words] : model.vocabulary)
    for (const std::string& word : words) bytes += word + "\n";
  return bytes;
}

}  // namespace

std::string structured_bytes(const StructuredModel& model) {
  std::string bytes = content(model);
  bytes += checksum(bytes_of(bytes)) + "\n";
  return bytes;
}

void save(const StructuredModel& model, const std::string& path) {
  WholeFile file(path);
  file.write(bytes_of(structured_bytes(model)));
  file.commit();
}

bool begins_structured_model(std::string_view start) { return start.starts_with(magic); }

bool is_structured_model(const std::string& path) {
  // A pipe can be read only once.
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return false;
  std::ifstream file(path, std::ios::binary);
  char start[magic.size()];
  file.read(start, sizeof start);
  if (!file.is_open() || file.bad())
    throw Error(Fault::io, Place{path}, "cannot read", "check the path and its permissions");
  return file && begins_structured_model(std::string_view(start, sizeof start));
}

StructuredModel structured_from_bytes(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(magic))
    throw Error(Fault::data, Place{name}, "this is not the model of a structural machine",
                "give one that 'maxmargin train --task' wrote");
  if (bytes.size() < magic.size() + checksum_size) throw_damaged(name, "it ends too early");
  const std::string_view front = bytes.substr(0, bytes.size() - checksum_size);
  if (bytes.substr(front.size()) != checksum(bytes_of(front)) + "\n")
    throw_damaged(name, "its checksum does not match its content");
  Sections sections(front.substr(magic.size()), name);
  if (sections.text(header_word.size()) != header_word) throw_damaged(name, "it has no header");
  std::uint64_t size = 0;
  for (int digits = 0;; ++digits) {
    const char c = sections.text(1)[0];
    if (c == '\n' && digits > 0) break;
    if (c < '0' || c > '9' || digits > 18) throw_damaged(name, "its header has no length");
    size = 10 * size + static_cast<std::uint64_t>(c - '0');
  }
  const std::string_view text = sections.text(size);
  const Json header = Json::parse(text, nullptr, false);
  if (header.is_discarded() || !header.is_object()) throw_damaged(name, "its header is no JSON");
  return take_model(header, sections, name, bytes.size());
}

StructuredModel load_structured(const std::string& path) {
  const Buffer<char> bytes = read_whole_file(path, [&](std::string_view start) {
    if (!begins_structured_model(start))
      throw Error(Fault::data, Place{path}, "this is not the model of a structural machine",
                  "give one that 'maxmargin train --task' wrote");
  });
  return structured_from_bytes({bytes.data(), bytes.size()}, path);
}

std::string digest(const StructuredModel& model) {
  StructuredModel bare;
  bare.task = model.task;
  bare.settings = model.settings;
  bare.vocabulary = model.vocabulary;
  bare.w = model.w;
  return checksum(bytes_of(content(bare)));
}

}  // namespace maxmargin
