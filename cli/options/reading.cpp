#include "cli/options/reading.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/text.hpp"
#include "maxmargin/data/serials.hpp"
#include "maxmargin/libsvm/text.hpp"

namespace maxmargin::cli {
namespace {

template <class Value, std::size_t size>
Value choice(std::string_view option, const std::string& text,
             const std::array<std::pair<const char*, Value>, size>& words) {
  std::vector<std::string> known;
  for (const auto& [word, value] : words) {
    if (text == word) return value;
    known.emplace_back(word);
  }
  throw Error(Fault::usage, fmt::format("{}: unknown choice '{}'", option, text),
              suggestion(text, known));
}

constexpr std::array<std::pair<const char*, Format>, 5> formats{{{"auto", Format::automatic},
                                                                 {"libsvm", Format::libsvm},
                                                                 {"csv", Format::csv},
                                                                 {"tsv", Format::tsv},
                                                                 {"idx", Format::idx}}};
constexpr std::array<std::pair<const char*, ReadOptions::Base>, 4> bases{
    {{"auto", ReadOptions::Base::automatic},
     {"0", ReadOptions::Base::zero},
     {"1", ReadOptions::Base::one},
     {"serial", ReadOptions::Base::serial}}};
constexpr std::array<std::pair<const char*, ReadOptions::Header>, 3> headers{
    {{"auto", ReadOptions::Header::automatic},
     {"yes", ReadOptions::Header::yes},
     {"no", ReadOptions::Header::no}}};

}  // namespace

void ReadingOptions::add_to(CLI::App& app, Weights weights) {
  const auto add = [&](const std::string& name, std::string& target, const std::string& type,
                       const std::string& help) {
    app.add_option(name, target, help)->type_name(type)->take_last()->group("Reading");
  };
  add("--format", format_, "NAME", "auto, libsvm, csv, tsv or idx [auto]");
  add("--label", label_, "NAME",
      "label column of a CSV file, by name or number from 1; none: there are no labels [label, "
      "class, target or y, else the first]");
  add("--labels", label_file_, "FILE", "label file of an idx file [found by its usual name]");
  add("--base", base_, "auto|0|1|serial",
      "first feature index of a LIBSVM file; serial: 1, and index 0 numbers the rows [auto]");
  add("--header", header_, "auto|yes|no", "whether a CSV file starts with names [auto]");
  if (weights == Weights::no) return;
  add("--weights", weight_file_, "FILE",
      "weight of each row, one per line; or two, of predicting too little and too much (svr)");
  add("--weight-column", weight_column_, "NAME", "column of a CSV file that holds the row weights");
  add("--over-weight-column", over_column_, "NAME",
      "column with the weights of predicting too much; --weight-column has those of too little");
}

ReadOptions ReadingOptions::make() const {
  ReadOptions options;
  if (!format_.empty()) options.format = choice("--format", format_, formats);
  if (!base_.empty()) options.base = choice("--base", base_, bases);
  if (!header_.empty()) options.header = choice("--header", header_, headers);
  if (label_ == "none")
    options.labels = LabelKind::none;
  else
    options.label_column = label_;
  options.label_file = label_file_;
  options.weight_file = weight_file_;
  options.weight_column = weight_column_;
  options.over_column = over_column_;
  if (!weight_file_.empty() && !weight_column_.empty())
    throw Error(Fault::usage, "--weights and --weight-column exclude each other", "give one");
  if (weight_column_.empty() && !over_column_.empty())
    throw Error(Fault::usage, "--over-weight-column needs --weight-column",
                "name the column with the weights of predicting too little");
  return options;
}

std::vector<std::pair<std::string, std::string>> ReadingOptions::given() const {
  std::vector<std::pair<std::string, std::string>> options;
  const auto keep = [&](const char* name, const std::string& value) {
    if (!value.empty()) options.emplace_back(name, value);
  };
  keep("format", format_);
  keep("label", label_);
  keep("labels", label_file_);
  keep("base", base_);
  keep("header", header_);
  keep("weights", weight_file_);
  keep("weight-column", weight_column_);
  keep("over-weight-column", over_column_);
  return options;
}

void ReadingOptions::fill_in(const std::vector<std::pair<std::string, std::string>>& stored,
                             File file) {
  std::vector<std::pair<std::string_view, std::string*>> targets{
      {"label", &label_},
      {"base", &base_},
      {"weight-column", &weight_column_},
      {"over-weight-column", &over_column_}};
  if (file == File::trained_on) {
    targets.emplace_back("format", &format_);
    targets.emplace_back("header", &header_);
    targets.emplace_back("labels", &label_file_);
    targets.emplace_back("weights", &weight_file_);
  }
  for (const auto& [name, value] : stored)
    for (const auto& [known, target] : targets)
      if (name == known && target->empty()) *target = value;
}

ReadOptions ReadingOptions::make_for(const Model& model, File file) {
  fill_in(model.options, file);
  ReadOptions options = make();
  options.columns = model.features;
  if (model.outcome == Outcome::number && options.labels == LabelKind::any)
    options.labels = LabelKind::number;
  return options;
}

bool take_serials(Dataset& data) {
  const std::size_t rows = data.rows(), columns = data.x.columns();
  if (!data.counts_from_zero || columns <= rows) return false;
  if (const auto wrong = row_without_serial(data.x)) {
    if (columns > rows + 1) return false;
    throw Error(Fault::data,
                fmt::format("index 0 of row {} is not {}: with index 0, a precomputed kernel has "
                            "LIBSVM's form, where it is the number of the row",
                            *wrong + 1, *wrong + 1),
                "number the rows from 1 on, in the order of the kernel's columns, or leave index 0 "
                "out");
  }
  data.x = without_serials(data.x);
  data.counts_from_zero = false;
  return true;
}

ModelFormat model_format(const std::string& path) {
  std::error_code code;
  if (path == "-" || !std::filesystem::is_regular_file(path, code)) return ModelFormat::none;
  std::string start(32, '\0');
  std::ifstream(path, std::ios::binary)
      .read(start.data(), static_cast<std::streamsize>(start.size()));
  if (start.starts_with("maxmargin model ")) return ModelFormat::own;
  return is_libsvm_text(start) ? ModelFormat::libsvm : ModelFormat::none;
}

void refuse_model(const std::string& data, const char* order) {
  if (model_format(data) != ModelFormat::none)
    throw Error(Fault::usage, fmt::format("'{}' is a model, not data", data),
                fmt::format("the order is {}", order));
}

}  // namespace maxmargin::cli
