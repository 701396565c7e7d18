#include "capi/libsvm/kernel_values.hpp"

#include "maxmargin/libsvm/node_values.hpp"

namespace maxmargin::capi {
namespace {

std::optional<Form> form_of(const svm_parameter& param) {
  switch (param.kernel_type) {
    case LINEAR:
      return Form{Pairing::dot, Identity{}};
    case POLY:
      return Form{Pairing::dot, Power{param.gamma, param.coef0, param.degree}};
    case RBF:
      return Form{Pairing::squared_euclidean, Decay{param.gamma}};
    case SIGMOID:
      return Form{Pairing::dot, HyperbolicTangent{param.gamma, param.coef0}};
    default:
      return std::nullopt;
  }
}

}  // namespace

void kernel_values(const svm_model& model, const svm_node* x, std::vector<double>& values) {
  const std::span<const svm_node* const> support(model.SV, values.size());
  if (model.param.kernel_type == PRECOMPUTED)
    look_up_node_values(x, support, std::span(values));
  else
    node_values(form_of(model.param), x, support, std::span(values));
}

}  // namespace maxmargin::capi
