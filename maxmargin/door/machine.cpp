#include "maxmargin/machine.h"

#include "maxmargin/base/error.hpp"
#include "maxmargin/door/guarded.hpp"
#include "maxmargin/maxmargin.hpp"

struct maxmargin_model {
  maxmargin::v0::Model model;
  std::vector<std::string> classes;
};

namespace maxmargin {
namespace {

template <class... Pointers>
void require_pointers(const Pointers*... pointers) {
  const bool all = (... && static_cast<bool>(pointers));
  if (!all) throw Error(Fault::usage, "a pointer is null");
}

v0::Dataset given_rows(const maxmargin_rows* rows) {
  require_pointers(rows);
  if ((rows->start == nullptr) != (rows->index == nullptr))
    throw Error(Fault::usage, "one of start and index is null",
                "sparse rows need both, dense ones neither");
  const auto made = [&] {
    if (rows->start == nullptr) {
      if (rows->columns > 0 && rows->count > SIZE_MAX / rows->columns)
        throw Error(Fault::usage, "there are more values than can be addressed");
      const std::size_t values = rows->count * rows->columns;
      if (values > 0) require_pointers(rows->values);
      return v0::Dataset::dense(std::span(rows->values, values), rows->columns);
    }
    const std::uint64_t stored = rows->start[rows->count];
    if (stored > 0) require_pointers(rows->values);
    return v0::Dataset::csr(std::span(rows->start, rows->count + 1), std::span(rows->index, stored),
                            std::span(rows->values, stored), rows->columns);
  };
  v0::Dataset data = made();
  if (rows->label != nullptr) data.labels(std::span(rows->label, rows->count));
  if (rows->weight != nullptr) data.weights(std::span(rows->weight, rows->count));
  return data;
}

maxmargin_model* handle_of(v0::Model model) {
  std::vector<std::string> classes;
  if (model.classifies()) classes = model.classes();
  return new maxmargin_model{std::move(model), std::move(classes)};
}

template <class Values>
int fill_predicted(const maxmargin_model* model, const maxmargin_rows* rows, double* out,
                   char* message, std::size_t room, Values&& values) {
  return guarded(message, room, [&] {
    require_pointers(model, out);
    const std::vector<double> found = values(given_rows(rows));
    std::copy(found.begin(), found.end(), out);
  });
}

}  // namespace
}  // namespace maxmargin

using maxmargin::fill_predicted;
using maxmargin::given_rows;
using maxmargin::guarded;
using maxmargin::handle_of;
using maxmargin::require_pointers;

int maxmargin_model_train(const maxmargin_rows* rows, const maxmargin_option* options,
                          size_t option_count, maxmargin_model** model, char* message,
                          size_t message_room) {
  return guarded(message, message_room, [&] {
    require_pointers(model);
    if (option_count > 0) require_pointers(options);
    maxmargin::v0::Options asked;
    for (std::size_t k = 0; k < option_count; ++k) {
      require_pointers(options[k].name, options[k].value);
      asked.set(options[k].name, options[k].value);
    }
    *model = handle_of(maxmargin::v0::train(given_rows(rows), asked));
  });
}

int maxmargin_model_save(const maxmargin_model* model, const char* path, char* message,
                         size_t message_room) {
  return guarded(message, message_room, [&] {
    require_pointers(model, path);
    model->model.save(path);
  });
}

int maxmargin_model_load(const char* path, maxmargin_model** model, char* message,
                         size_t message_room) {
  return guarded(message, message_room, [&] {
    require_pointers(path, model);
    *model = handle_of(maxmargin::v0::Model::load(path));
  });
}

void maxmargin_model_free(maxmargin_model* model) { delete model; }

size_t maxmargin_model_classes(const maxmargin_model* model) {
  return model == nullptr ? 0 : model->classes.size();
}

const char* maxmargin_model_class(const maxmargin_model* model, size_t number) {
  return number < maxmargin_model_classes(model) ? model->classes[number].c_str() : nullptr;
}

size_t maxmargin_model_machines(const maxmargin_model* model) {
  return model == nullptr ? 0 : model->model.machines();
}

int maxmargin_model_certificate(const maxmargin_model* model, maxmargin_certificate* certificate,
                                char* message, size_t message_room) {
  return guarded(message, message_room, [&] {
    require_pointers(model, certificate);
    const maxmargin::v0::ModelCertificate known = model->model.certificate();
    *certificate = {known.primal, known.dual,           known.relative_gap,
                    known.kkt,    known.mercer ? 1 : 0, known.converged ? 1 : 0};
  });
}

int maxmargin_model_predict(const maxmargin_model* model, const maxmargin_rows* rows, int threads,
                            double* out, char* message, size_t message_room) {
  return fill_predicted(model, rows, out, message, message_room,
                        [&](const auto& data) { return model->model.predict(data, threads); });
}

int maxmargin_model_decision_values(const maxmargin_model* model, const maxmargin_rows* rows,
                                    int threads, double* out, char* message, size_t message_room) {
  return fill_predicted(model, rows, out, message, message_room, [&](const auto& data) {
    return model->model.decision_values(data, threads);
  });
}

int maxmargin_model_probabilities(const maxmargin_model* model, const maxmargin_rows* rows,
                                  int threads, double* out, char* message, size_t message_room) {
  return fill_predicted(model, rows, out, message, message_room, [&](const auto& data) {
    return model->model.probabilities(data, threads);
  });
}
