#include "maxmargin/door/inside.hpp"

namespace maxmargin {
inline namespace v0 {
namespace {

/// Decision values of rows, and how many there are for each.
struct Decided {
  std::vector<double> values;
  std::size_t rows, machines;

  std::span<const double> of(std::size_t row) const {
    return {values.data() + row * machines, machines};
  }
};

Decided decide(const inside::Model& model, const Predictor* predictor, const inside::Dataset& data,
               int threads) {
  if (predictor == nullptr)
    throw Error(Fault::usage, "the model's own kernel has no function", "give it by with_kernel()");
  const Threads crew(threads);
  const Rows rows = data.x;
  return {predictor->takes_as_it_is(rows)
              ? predictor->decision_values(rows, crew)
              : predictor->decision_values(predictor->prepared(rows, crew), crew),
          data.rows(), model.machines.size()};
}

}  // namespace

Model Inside::model(inside::Model made) {
  auto parts = std::make_shared<Model::Parts>(std::move(made));
  const auto* custom = std::get_if<Custom>(&parts->model.kernel);
  if (custom == nullptr || custom->function)
    parts->predictor = std::make_unique<const Predictor>(parts->model);
  return Model(std::move(parts));
}

Model train(const Dataset& data, const Options& options) {
  inside::Dataset given = Inside::of(data);
  const Inside::Asked asked = Inside::asked(options, given);
  return Inside::model(
      maxmargin::train(std::move(given), asked.options, {Threads(asked.threads), asked.observer})
          .model);
}

Model Model::load(const std::string& path) { return Inside::model(load_any(path)); }

void Model::save(const std::string& path) const { maxmargin::save(parts_->model, path); }

bool Model::classifies() const { return parts_->model.outcome == Outcome::classes; }
std::vector<std::string> Model::classes() const { return parts_->model.classes; }
std::size_t Model::features() const { return parts_->model.features; }
std::size_t Model::support_vectors() const { return parts_->model.support.count(); }
std::size_t Model::machines() const { return parts_->model.machines.size(); }

ModelCertificate Model::certificate() const {
  ModelCertificate sum;
  sum.converged = true;
  sum.ended = to_string(Ended::converged);
  for (const Machine& machine : parts_->model.machines) {
    const Certificate& each = machine.certificate;
    sum.primal += each.primal;
    sum.dual += each.dual;
    sum.relative_gap = std::max(sum.relative_gap, each.relative_gap);
    sum.kkt = std::max(sum.kkt, each.kkt);
    sum.mercer = sum.mercer && each.mercer;
    if (machine.ended == Ended::converged) continue;
    sum.converged = false;
    sum.ended = to_string(machine.ended);
  }
  return sum;
}

std::vector<double> Model::decision_values(const Dataset& rows, int threads) const {
  return decide(parts_->model, parts_->predictor.get(), Inside::of(rows), threads).values;
}

std::vector<std::string> Model::predict_labels(const Dataset& rows, int threads) const {
  const Decided decided = decide(parts_->model, parts_->predictor.get(), Inside::of(rows), threads);
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < decided.rows; ++i) {
    const double value = parts_->predictor->predict(decided.of(i));
    labels.push_back(classifies() ? parts_->model.classes[static_cast<std::size_t>(value)]
                                  : shortest(value));
  }
  return labels;
}

std::vector<double> Model::predict(const Dataset& rows, int threads) const {
  if (classifies() && !parts_->model.numeric_classes)
    throw Error(Fault::usage, "the labels of this model are words", "use predict_labels()");
  const Decided decided = decide(parts_->model, parts_->predictor.get(), Inside::of(rows), threads);
  std::vector<double> labels(parts_->model.classes.size());
  for (std::size_t k = 0; k < labels.size(); ++k)
    labels[k] = parse_number("class", parts_->model.classes[k]);
  std::vector<double> predicted;
  for (std::size_t i = 0; i < decided.rows; ++i) {
    const double value = parts_->predictor->predict(decided.of(i));
    predicted.push_back(classifies() ? labels[static_cast<std::size_t>(value)] : value);
  }
  return predicted;
}

std::vector<double> Model::probabilities(const Dataset& rows, int threads) const {
  const Decided decided = decide(parts_->model, parts_->predictor.get(), Inside::of(rows), threads);
  std::vector<double> all;
  for (std::size_t i = 0; i < decided.rows; ++i) {
    const std::vector<double> each = parts_->predictor->probabilities(decided.of(i));
    all.insert(all.end(), each.begin(), each.end());
  }
  return all;
}

std::vector<double> Model::function_coefficients(std::size_t machine) const {
  const std::vector<double>& lambda = parts_->model.machines.at(machine).lambda;
  return {lambda.begin() + (lambda.empty() ? 0 : 1), lambda.end()};
}

Model Model::with_kernel(KernelFunction kernel) const {
  const auto* custom = std::get_if<Custom>(&parts_->model.kernel);
  if (custom == nullptr)
    throw Error(Fault::usage, "the model's kernel is one of the library's own",
                "predict with it as it is");
  const std::string bytes = to_bytes(parts_->model);
  inside::Model copy = from_bytes(std::as_bytes(std::span(bytes)), custom->label);
  copy.kernel = custom_kernel(custom->label, std::move(kernel), custom->mercer);
  return Inside::model(std::move(copy));
}

}  // namespace v0
}  // namespace maxmargin
