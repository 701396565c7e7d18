#pragma once

#include <string>
#include <string_view>

#include "maxmargin/structured/model.hpp"

// Models as SVMstruct's family writes them, for linear machines: SVM-light's text (svm_rank,
// svm_perf), and the same with a longer head (svm_multiclass, svm_hmm). It has a line for each
// number of the head, `VALUE # what it is`, then lines `alpha index:value ... #`, whose sum is w.
// Indices of w count from 1:
//
//   svm_rank, svm_perf   feature f                        f
//   svm_multiclass       feature f of F, class c          (c - 1) F + f
//   svm_hmm              tag b after a, of K              a K + b
//                        tag c after b after a            a K^2 + b K + c
//                        feature f of F, tag c            1 + K + K^2 [+ K^3] + c F + f
//
// There is no place for a certificate or its planes.

namespace maxmargin::cli::svmstruct {

/// Whether a file begins like one of them.
bool is_text_model(const std::string& path);

/// Reads a file whose bytes are not trusted, as the model of a task: what `predict` needs, or an
/// Error with file, line and column; no more memory than the file's size justifies.
StructuredModel read_text_model(const std::string& path, std::string_view task);

/// Throws Error where the format has no place for what the model knows: kernels, words as labels,
/// costs of ends.
std::string text_model(const StructuredModel& model);

/// Writes it whole or not at all.
void save_text_model(const StructuredModel& model, const std::string& path);

}  // namespace maxmargin::cli::svmstruct
