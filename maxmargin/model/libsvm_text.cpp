#include "maxmargin/model/libsvm_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <new>

#include "maxmargin/base/error.hpp"
#include "maxmargin/model/whole_file.hpp"

namespace maxmargin {
namespace {

/// Appends what std::to_chars makes of a number.
template <class... Form>
void put_chars(std::string& text, Form... form) {
  std::array<char, 32> digits;  // long enough for every double and every integer
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), form...).ptr;
  text.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

/// As "%.17g" prints it.
void put_long(std::string& text, double value) {
  put_chars(text, value + 0.0, std::chars_format::general, 17);
}

/// The fewest digits that read back to the same bits, laid out as "%.8g" does where 8 suffice.
void put_value(std::string& text, double value) {
  if (value == std::trunc(value) && std::abs(value) < 1e8)
    return put_chars(text, static_cast<std::int64_t>(value));
  const bool small = std::abs(value) < 1e-4;
  const bool large = std::abs(value) >= 1e8;
  put_chars(text, value, small || large ? std::chars_format::scientific : std::chars_format::fixed);
}

template <class Values, class Put>
void put_list(std::string& text, std::string_view name, const Values& values, Put&& put) {
  text += name;
  for (const auto value : values) {
    text += ' ';
    put(value);
  }
  text += '\n';
}

void put_kernel(std::string& text, const Kernel& kernel) {
  text += "kernel_type ";
  text += name_of(kernel);  // LIBSVM calls its kernels as maxmargin does
  text += '\n';
  const auto put = [&](const char* name, double value) {
    text += name;
    put_long(text, value);
    text += '\n';
  };
  if (const auto* polynomial = std::get_if<Polynomial>(&kernel)) {
    put("degree ", polynomial->degree);
    put("gamma ", polynomial->gamma);
    put("coef0 ", polynomial->coef0);
  } else if (const auto* rbf = std::get_if<Rbf>(&kernel)) {
    put("gamma ", rbf->gamma);
  } else if (const auto* sigmoid = std::get_if<Sigmoid>(&kernel)) {
    put("gamma ", sigmoid->gamma);
    put("coef0 ", sigmoid->coef0);
  }
}

void put_vectors(std::string& text, const LibsvmModel& model) {
  const bool precomputed = std::holds_alternative<Precomputed>(model.kernel);
  const Rows rows = model.support;
  const std::size_t columns = model.columns();
  for (std::size_t k = 0; k < model.vectors(); ++k) {
    for (std::size_t c = 0; c < columns; ++c) {
      put_long(text, model.coefficients[k * columns + c]);
      text += ' ';
    }
    if (precomputed) {
      text += "0:";
      put_chars(text, model.serial[k]);
      text += ' ';
    } else {
      rows.for_each(k, [&](Index feature, double value) {
        if (value == 0) return;
        put_chars(text, feature);
        text += ':';
        put_value(text, value);
        text += ' ';
      });
    }
    text += '\n';
  }
}

}  // namespace

std::string libsvm_text(const LibsvmModel& model) {
  std::string text = "svm_type ";
  text += to_string(model.type);
  text += '\n';
  put_kernel(text, model.kernel);
  // LIBSVM counts two classes where there are none.
  text += "nr_class ";
  put_chars(text, model.labels.empty() ? std::size_t{2} : model.labels.size());
  text += "\ntotal_sv ";
  put_chars(text, model.vectors());
  text += '\n';
  const auto put_double = [&](double value) { put_long(text, value); };
  const auto put_some = [&](std::string_view name, const auto& values, auto&& put) {
    if (!values.empty()) put_list(text, name, values, put);
  };
  put_list(text, "rho", model.rho, put_double);
  put_some("label", model.labels, [&](int label) { put_chars(text, label); });
  put_some("probA", model.prob_a, put_double);
  put_some("probB", model.prob_b, put_double);
  put_some("prob_density_marks", model.marks, put_double);
  put_some("nr_sv", model.sizes, [&](std::uint64_t size) { put_chars(text, size); });
  text += "SV\n";
  put_vectors(text, model);
  return text;
}

LibsvmModel load_libsvm(const std::string& path) {
  try {
    const Buffer<char> content = read_whole_file(path, [&](std::string_view start) {
      if (!is_libsvm_text(start))
        throw Error(Fault::data, Place{path, 1}, "this is not a model of LIBSVM",
                    "give a file that svm-train wrote");
    });
    return parse_libsvm_text({content.data(), content.size()}, path);
  } catch (const std::bad_alloc&) {
    throw Error(Fault::io, Place{path}, "there is not enough memory to read this model",
                "use a machine with more memory");
  }
}

void save_libsvm(const LibsvmModel& model, const std::string& path, Sync sync) {
  WholeFile file(path);
  const std::string text = libsvm_text(model);
  file.write(std::as_bytes(std::span(text)));
  file.commit(sync);
}

}  // namespace maxmargin
