#include "maxmargin/libsvm/text.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <new>

#include "maxmargin/base/error.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/file/number_text.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin {
namespace {

// Vectors whose text is made by one task.
constexpr std::size_t vectors_a_task = 64;
// So many tasks are formatted while those before them are written.
constexpr std::size_t tasks_at_once = 8;

char* put_size(char* to, std::uint64_t size) { return put_whole(to, size); }

/// Appends what `put` writes of a number.
template <class Put, class Number>
void append(std::string& text, Put&& put, Number number) {
  std::array<char, number_room> room;
  text.append(room.data(), put(room.data(), number));
}

template <class Values, class Put>
void put_list(std::string& text, std::string_view name, const Values& values, Put&& put) {
  text += name;
  for (const auto value : values) {
    text += ' ';
    append(text, put, value);
  }
  text += '\n';
}

void put_kernel(std::string& text, const Kernel& kernel) {
  text += "kernel_type ";
  text += name_of(kernel);  // LIBSVM calls its kernels as maxmargin does
  text += '\n';
  const auto put = [&](const char* name, double value) {
    text += name;
    append(text, put_long, value);
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

char* put_coefficients(char* at, const LibsvmModel& model, std::size_t vector) {
  const std::size_t columns = model.columns();
  for (std::size_t c = 0; c < columns; ++c) {
    at = put_long(at, model.coefficients[vector * columns + c]);
    *at++ = ' ';
  }
  return at;
}

char* put_features(char* at, const LibsvmModel& model, const Rows& row, std::size_t vector) {
  if (is_given(model.kernel)) {
    *at++ = '0';
    *at++ = ':';
    at = put_whole(at, model.serial[vector]);
    *at++ = ' ';
    return at;
  }
  // Values are often repeated: their text is cached.
  double last = 0;
  const char* text = at;
  std::size_t length = 0;
  row.for_each(0, [&](Index feature, double value) {
    if (value == 0) return;
    at = put_whole(at, feature);
    *at++ = ':';
    if (value == last) {
      at = std::copy_n(text, length, at);
    } else {
      text = at;
      at = put_value(at, value);
      length = static_cast<std::size_t>(at - text);
      last = value;
    }
    *at++ = ' ';
  });
  return at;
}

/// The lines of some support vectors.
std::string vector_lines(const LibsvmModel& model, std::size_t begin, std::size_t end) {
  const bool precomputed = is_given(model.kernel);
  std::string text;
  Buffer<char> line;
  for (std::size_t k = begin; k < end; ++k) {
    const Rows row = precomputed ? Rows() : model.features_of(k);
    const std::size_t numbers = model.columns() + 2 * (precomputed ? 1 : row.stored());
    if (line.size() < (numbers + 1) * number_room)
      line.resize_for_overwrite((numbers + 1) * number_room);
    char* at = put_coefficients(line.data(), model, k);
    at = put_features(at, model, row, k);
    *at++ = '\n';
    text.append(line.data(), at);
  }
  return text;
}

std::string head_lines(const LibsvmModel& model) {
  std::string text = "svm_type ";
  text += to_string(model.type);
  text += '\n';
  put_kernel(text, model.kernel);
  // LIBSVM counts two classes where there are none.
  text += "nr_class ";
  append(text, put_size, model.labels.empty() ? std::size_t{2} : model.labels.size());
  text += "\ntotal_sv ";
  append(text, put_size, model.vectors());
  text += '\n';
  const auto put_some = [&](std::string_view name, const auto& values, auto&& put) {
    if (!values.empty()) put_list(text, name, values, put);
  };
  put_list(text, "rho", model.rho, put_long);
  put_some("label", model.labels, [](char* to, int label) { return put_whole(to, label); });
  put_some("probA", model.prob_a, put_long);
  put_some("probB", model.prob_b, put_long);
  put_some("prob_density_marks", model.marks, put_long);
  put_some("nr_sv", model.sizes, put_size);
  return text + "SV\n";
}

/// Makes the text in parts, and hands each to `put` while the next ones are made.
void put_text(const LibsvmModel& model, const Threads& threads,
              const std::function<void(std::string_view)>& put) {
  const std::size_t tasks = (model.vectors() + vectors_a_task - 1) / vectors_a_task;
  std::vector<std::string> ready{head_lines(model)}, next;
  for (std::size_t first = 0; !ready.empty(); first += tasks_at_once) {
    next.assign(first < tasks ? std::min(tasks_at_once, tasks - first) : 0, {});
    threads.run(1 + next.size(), [&](std::size_t task) {
      if (task == 0) {
        for (const std::string& part : ready) put(part);
        return;
      }
      const std::size_t begin = (first + task - 1) * vectors_a_task;
      next[task - 1] =
          vector_lines(model, begin, std::min(begin + vectors_a_task, model.vectors()));
    });
    ready.swap(next);
  }
}

}  // namespace

std::string libsvm_text(const LibsvmModel& model) {
  std::string text;
  put_text(model, Threads(1), [&](std::string_view part) { text += part; });
  return text;
}

Model load_any(const std::string& path) {
  const ForeignFormat libsvm{is_libsvm_text, [](std::string_view text, const std::string& name) {
                               return to_model(parse_libsvm_text(text, name), Numbering::own);
                             }};
  return load(path, &libsvm);
}

namespace {

/// A file that begins like a model of our own may be `own_too`.
LibsvmModel load_as_libsvm(const std::string& path, bool own_too) {
  try {
    bool own = false;
    const Buffer<char> content = read_whole_file(path, [&](std::string_view start) {
      own = own_too && start.starts_with("maxmargin model ");
      if (!own && !is_libsvm_text(start))
        throw Error(Fault::data, Place{path, 1}, "this is not a model of LIBSVM",
                    "give a file that svm-train wrote");
    });
    if (own)
      return to_libsvm(from_bytes(std::as_bytes(std::span(content.data(), content.size())), path),
                       Numbering::own);
    return parse_libsvm_text({content.data(), content.size()}, path);
  } catch (const std::bad_alloc&) {
    throw Error(Fault::io, Place{path}, "there is not enough memory to read this model",
                "use a machine with more memory");
  }
}

}  // namespace

LibsvmModel load_libsvm(const std::string& path) { return load_as_libsvm(path, false); }

LibsvmModel load_any_as_libsvm(const std::string& path) { return load_as_libsvm(path, true); }

void save_libsvm(const LibsvmModel& model, const std::string& path, Sync sync,
                 const Threads& threads) {
  WholeFile file(path);
  put_text(model, threads,
           [&](std::string_view part) { file.write(std::as_bytes(std::span(part))); });
  file.commit(sync);
}

}  // namespace maxmargin
