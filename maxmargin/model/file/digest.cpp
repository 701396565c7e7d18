#include <bit>

#include "maxmargin/kernel/given.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/file/hash_state.hpp"
#include "maxmargin/model/file/header_json.hpp"

namespace maxmargin {
namespace {

// Every list is preceded by its length, so that no two models give the same bytes.
class Digest {
 public:
  void add(std::uint64_t value) { hash_.add(std::as_bytes(std::span(&value, 1))); }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value + 0.0)); }  // -0 becomes 0
  void add(const std::string& text) {
    add(std::uint64_t{text.size()});
    hash_.add(std::as_bytes(std::span(text)));
  }
  template <class Value>
  void add(const std::vector<Value>& values) {
    add(std::uint64_t{values.size()});
    for (const Value& value : values) {
      if constexpr (std::is_integral_v<Value>)
        add(static_cast<std::uint64_t>(value));
      else
        add(value);
    }
  }
  /// Dense or sparse, float or double: what counts is where the non-zeros are and their values.
  void add(const Rows& rows) {
    add(std::uint64_t{rows.count});
    add(std::uint64_t{rows.columns});
    for (std::size_t i = 0; i < rows.count; ++i) {
      std::uint64_t nonzeros = 0;
      rows.for_each(i, [&](Index feature, double value) {
        if (value == 0) return;
        add(std::uint64_t{feature});
        add(value);
        ++nonzeros;
      });
      add(nonzeros);
    }
  }
  std::string hex() const { return hash_.hex(); }

 private:
  HashState hash_;
};

}  // namespace

std::string digest(const Model& model) {
  Digest all;
  all.add(std::string(to_string(model.outcome)));
  all.add(std::string(full_name(model.multiclass)));
  all.add(
      visit_list([](const auto& kernel) { return component_json(kernel).dump(); }, model.kernel));
  all.add(std::uint64_t{model.features});
  all.add(model.support.view());
  if (is_given(model.kernel)) all.add(model.support_row);
  all.add(std::uint64_t{model.machines.size()});
  for (const Machine& machine : model.machines) {
    all.add(static_cast<std::uint64_t>(machine.positive));
    all.add(static_cast<std::uint64_t>(machine.negative));
    all.add(machine.support);
    all.add(machine.coefficient);
    all.add(machine.lambda);
  }
  all.add(model.classes);
  all.add(model.scaling.offset);
  all.add(model.scaling.factor);
  if (model.scaling.lists_features()) all.add(model.scaling.feature);
  for (const ParametricFunction& function : model.functions) {
    all.add(std::string(to_string(function.kind)));
    all.add(function.text);
  }
  if (!model.calibration.none()) {
    all.add(model.calibration.weight);
    all.add(model.calibration.noise);
    all.add(model.calibration.marks);
    for (const PlattSigmoid& sigmoid : model.calibration.sigmoid) {
      all.add(sigmoid.slope);
      all.add(sigmoid.offset);
    }
  }
  return all.hex();
}

}  // namespace maxmargin
