#include "maxmargin/model/verify/plain_kernel.hpp"

#include <algorithm>
#include <type_traits>

namespace maxmargin {
namespace {

// Sparse support vectors are spread out while that takes no more than this, or four times their own
// memory.
constexpr std::size_t small_bytes = std::size_t{16} << 20;

template <Pairing pairing>
using Fixed = std::integral_constant<Pairing, pairing>;

/// Decides on the pairing once, outside the loop over the features.
template <class Body>
void with_pairing(Pairing pairing, Body&& body) {
  switch (pairing) {
    case Pairing::dot:
      return body(Fixed<Pairing::dot>{});
    case Pairing::squared_euclidean:
      return body(Fixed<Pairing::squared_euclidean>{});
    case Pairing::manhattan:
      return body(Fixed<Pairing::manhattan>{});
    case Pairing::chi_squared:
      return body(Fixed<Pairing::chi_squared>{});
    case Pairing::hellinger:
      return body(Fixed<Pairing::hellinger>{});
  }
}

/// The sum of a pairing between two dense rows. In four parts, since each addition has to wait for
/// the one before.
template <Pairing pairing>
double dense_sum(std::span<const double> x, const double* z) {
  double part[4] = {0, 0, 0, 0};
  std::size_t j = 0;
  for (; j + 4 <= x.size(); j += 4)
    for (std::size_t i = 0; i < 4; ++i) part[i] += pair_term(pairing, x[j + i], z[j + i]);
  for (; j < x.size(); ++j) part[0] += pair_term(pairing, x[j], z[j]);
  return (part[0] + part[1]) + (part[2] + part[3]);
}

/// The same with sparse rows, walked in step. Where both are zero every pairing adds nothing.
template <Pairing pairing>
double sparse_sum(std::span<const Index> features, std::span<const double> values,
                  const Rows& others, std::size_t k) {
  double sum = 0;
  std::size_t i = 0;
  for (std::uint64_t p = others.start[k]; p < others.start[k + 1]; ++p) {
    for (; i < features.size() && features[i] < others.index[p]; ++i)
      sum += pair_term(pairing, values[i], 0);
    const bool both = i < features.size() && features[i] == others.index[p];
    sum += pair_term(pairing, both ? values[i] : 0, others.value(p));
    i += both ? 1 : 0;
  }
  for (; i < features.size(); ++i) sum += pair_term(pairing, values[i], 0);
  return sum;
}

}  // namespace

PlainKernel::PlainKernel(const Model& model, const Rows& rows)
    : model_(model), rows_(rows), support_(model.support) {
  const auto* custom = std::get_if<Custom>(&model.kernel);
  if (custom != nullptr && !custom->function)
    throw Error(Fault::usage,
                "the kernel '" + custom->label +
                    "' of this model is a function of its user, which a "
                    "model file cannot hold",
                "load the model from C++ and give its kernel the function again");
  if (custom != nullptr || std::holds_alternative<Precomputed>(model.kernel)) return;
  const double bytes = static_cast<double>(support_.count) * static_cast<double>(support_.columns) *
                       static_cast<double>(sizeof(double));
  if (support_.sparse() &&
      bytes > static_cast<double>(std::max(small_bytes, 4 * model.support.bytes())))
    return;
  is_spread_ = true;
  spread_.resize(support_.count * support_.columns);
  for (std::size_t k = 0; k < support_.count; ++k)
    support_.for_each(
        k, [&](Index feature, double value) { spread_[k * support_.columns + feature] = value; });
}

void PlainKernel::from_form(const Form& form, std::size_t row, std::span<double> values) const {
  const std::size_t columns = support_.columns;
  std::vector<Index> features;
  std::vector<double> nonzeros;
  std::vector<double> x(is_spread_ ? columns : 0);
  rows_.for_each(row, [&](Index feature, double value) {
    if (value == 0) return;
    features.push_back(feature);
    nonzeros.push_back(value);
    if (is_spread_) x[feature] = value;
  });
  with_pairing(form.pairing, [&](auto fixed) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double sum = is_spread_ ? dense_sum<fixed.value>(x, spread_.data() + k * columns)
                                    : sparse_sum<fixed.value>(features, nonzeros, support_, k);
      values[k] = std::visit([&](const auto& map) { return map(sum); }, form.map);
    }
  });
}

void PlainKernel::row(std::size_t row, std::span<double> values) const {
  if (const auto* custom = std::get_if<Custom>(&model_.kernel)) {
    const Index which = static_cast<Index>(row);
    custom->function(rows_, {&which, 1}, support_, 0, values.size(), values.data());
    return;
  }
  if (std::holds_alternative<Precomputed>(model_.kernel)) {
    std::vector<double> matrix_row(std::max(rows_.columns, model_.features), 0.0);
    rows_.for_each(row, [&](Index feature, double value) { matrix_row[feature] = value; });
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = matrix_row[model_.support_row[k]];
    return;
  }
  std::visit(
      [&](const auto& kernel) {
        if constexpr (requires { kernel.form(); }) from_form(kernel.form(), row, values);
      },
      model_.kernel);
}

}  // namespace maxmargin
