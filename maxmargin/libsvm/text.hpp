#pragma once

#include <string>
#include <string_view>

#include "maxmargin/libsvm/model.hpp"
#include "maxmargin/model/file/whole_file.hpp"

// The text files in which LIBSVM keeps models:
//
//   svm_type c_svc
//   kernel_type rbf
//   gamma 0.5                 degree, gamma, coef0: as the kernel has them
//   nr_class 2
//   total_sv 3
//   rho 0.25
//   label 1 -1                classes only
//   probA -1.5                with probabilities only, as probB and prob_density_marks
//   nr_sv 2 1                 classes only
//   SV
//   1 1:0.5 3:-1              coefficients of a support vector, and its features

namespace maxmargin {

/// Whether a file that begins like this is one of them.
bool is_libsvm_text(std::string_view start);

/// The text of a model. Numbers read back to the same bits; those of at most 8 digits look as
/// LIBSVM writes them.
std::string libsvm_text(const LibsvmModel& model);

/// Reads such a text. It is not trusted: whatever it is, the result is a consistent model or an
/// Error that says where, and no more memory is taken than its length justifies.
LibsvmModel parse_libsvm_text(std::string_view text, const std::string& name);

/// A model of either kind, LIBSVM's or our own.
Model load_any(const std::string& path);
LibsvmModel load_any_as_libsvm(const std::string& path);

/// The same from and to a file, which is written whole or not at all.
LibsvmModel load_libsvm(const std::string& path);
void save_libsvm(const LibsvmModel& model, const std::string& path, Sync sync = Sync::wait,
                 const Threads& threads = Threads(1));

}  // namespace maxmargin
