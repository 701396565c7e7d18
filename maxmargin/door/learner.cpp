#include <algorithm>
#include <cmath>

#include "maxmargin/door/inside.hpp"
#include "maxmargin/online/archive.hpp"

namespace maxmargin {
inline namespace v0 {
namespace {

constexpr std::string_view state_name = "the state of a learner";

/// The settings that the options give, each by its name.
StreamSettings stream_settings(const std::vector<std::pair<std::string, std::string>>& given,
                               const Kernel* own_kernel) {
  StreamSettings settings;
  FieldSettings kernel = kernel_settings();
  std::string kernel_name = own_kernel == nullptr ? "linear" : "";
  const auto flag = [](std::string_view name, const std::string& text) {
    bool yes = false;
    parse_field(name, text, finite, yes);
    return yes;
  };
  const std::pair<std::string_view, std::string*> texts[] = {
      {"rule", &settings.rule_name},
      {"truncate", &settings.truncation_name},
      {"kernel", &kernel_name},
      {"lambda", &settings.lambda},
      {"rate", &settings.rate},
      {"eta", &settings.eta},
      {"t0", &settings.t0},
      {"cost", &settings.cost},
      {"tolerance", &settings.tolerance}};
  const std::pair<std::string_view, bool*> flags[] = {{"no-bias", &settings.no_bias},
                                                      {"average", &settings.average},
                                                      {"lasvm", &settings.lasvm},
                                                      {"exact", &settings.exact}};
  for (const auto& [asked, text] : given) {
    bool known = asked == "window";
    if (known) settings.window = parse_count("window", text, 2, std::uint64_t{1} << 40);
    for (const auto& [name, target] : texts)
      if (name == asked) {
        *target = text;
        known = true;
      }
    for (const auto& [name, target] : flags)
      if (name == asked) {
        *target = flag(name, text);
        known = true;
      }
    for (FieldSettings* each : {&settings.rule, &settings.truncation, &kernel})
      if (each->has("", asked)) {
        each->give(asked, text);
        known = true;
      }
    if (known) continue;
    std::vector<std::string> names{"window"};
    for (const auto& [name, target] : texts) names.emplace_back(name);
    for (const auto& [name, target] : flags) names.emplace_back(name);
    for (const FieldSettings* each : {&settings.rule, &settings.truncation, &kernel})
      for (const Setting& setting : each->list()) names.push_back(setting.name);
    throw Error(Fault::usage, "unknown option '" + asked + "'", suggestion(asked, names));
  }
  if (own_kernel != nullptr && (!kernel_name.empty() || !kernel.first_given().empty()))
    throw Error(Fault::usage, "a kernel of one's own leaves no other kernel to choose",
                "leave out kernel and its options");
  settings.kernel = own_kernel != nullptr ? *own_kernel : kernel_of_stream(kernel, kernel_name);
  return settings;
}

}  // namespace

struct Learner::Parts {
  std::unique_ptr<StreamLearner> learner;
  std::uint64_t rows = 0;
  std::vector<std::uint32_t> features{};
  std::vector<double> values{};

  /// The row without its zeros.
  StreamRow row(std::span<const std::uint32_t> given, std::span<const double> numbers) {
    if (given.size() != numbers.size())
      throw Error(Fault::data, "a row has not a value per feature", "give as many of each");
    features.clear();
    values.clear();
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (k > 0 && given[k] <= given[k - 1])
        throw Error(Fault::data, "the features of a row do not increase", "sort them");
      add(given[k], numbers[k]);
    }
    return {features, values, rows};
  }
  StreamRow row(std::span<const double> numbers) {
    features.clear();
    values.clear();
    for (std::size_t k = 0; k < numbers.size(); ++k) add(static_cast<std::uint32_t>(k), numbers[k]);
    return {features, values, rows};
  }
  Prediction said(const OnlinePrediction& from) const {
    Prediction to;
    if (from.class_number >= 0)
      to.label = learner->classes()[static_cast<std::size_t>(from.class_number)];
    to.value = from.value;
    to.margin = from.margin;
    to.doubtful = from.doubtful;
    return to;
  }
  template <class Label>
  Learned learn(const StreamRow& x, const Label& label) {
    const maxmargin::Learned from = learner->learn(x, label);
    ++rows;
    return {said(from.before), from.loss, from.correct, from.updated};
  }

 private:
  void add(std::uint32_t feature, double value) {
    if (!std::isfinite(value))
      throw Error(Fault::data, "feature " + std::to_string(feature) + " is not a finite number",
                  "give finite values");
    if (value == 0) return;
    features.push_back(feature);
    values.push_back(value);
  }
};

Learner::Learner(const Options& options)
    : parts_(std::make_unique<Parts>(Parts{Inside::learner(options)})) {}
Learner::Learner(Learner&&) noexcept = default;
Learner& Learner::operator=(Learner&&) noexcept = default;
Learner::~Learner() = default;

std::unique_ptr<StreamLearner> Inside::learner(const Options& options) {
  std::optional<Kernel> own;
  if (options.kernel_) own = custom_kernel(options.kernel_label_, options.kernel_, options.mercer_);
  return stream_settings(options.given_, own ? &*own : nullptr).make();
}

Learner::Prediction Learner::predict(std::span<const double> values) {
  return parts_->said(parts_->learner->predict(parts_->row(values)));
}
Learner::Prediction Learner::predict(std::span<const std::uint32_t> features,
                                     std::span<const double> values) {
  return parts_->said(parts_->learner->predict(parts_->row(features, values)));
}
Learner::Learned Learner::learn(std::span<const double> values, double label) {
  return parts_->learn(parts_->row(values), label);
}
Learner::Learned Learner::learn(std::span<const std::uint32_t> features,
                                std::span<const double> values, double label) {
  return parts_->learn(parts_->row(features, values), label);
}
Learner::Learned Learner::learn(std::span<const double> values, std::string_view label) {
  return parts_->learn(parts_->row(values), label);
}
Learner::Learned Learner::learn(std::span<const std::uint32_t> features,
                                std::span<const double> values, std::string_view label) {
  return parts_->learn(parts_->row(features, values), label);
}
bool Learner::forget(std::uint64_t row) { return parts_->learner->forget(row); }

std::uint64_t Learner::rows() const { return parts_->rows; }
std::vector<std::string> Learner::classes() const { return parts_->learner->classes(); }
std::size_t Learner::support_vectors() const { return parts_->learner->terms(); }
double Learner::truncation_bound() const { return parts_->learner->dropped(); }

Model Learner::model() const { return Inside::model(parts_->learner->model(parts_->rows)); }
void Learner::save(const std::string& path) const {
  maxmargin::save(parts_->learner->model(parts_->rows), path);
}

std::string Learner::state() const {
  StateWriter writer;
  writer(parts_->rows);
  writer(parts_->learner->state());
  return writer.take();
}
void Learner::restore(std::string_view state) {
  const std::string name(state_name);
  StateReader reader(std::as_bytes(std::span(state)), name);
  std::uint64_t rows = 0;
  std::string learner;
  reader(rows);
  reader(learner);
  reader.end();
  parts_->learner->restore(std::as_bytes(std::span(learner)), name);
  parts_->rows = rows;
}

}  // namespace v0
}  // namespace maxmargin
