#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/model/model.hpp"

namespace maxmargin::cli {

/// The options that say how a data file is to be read.
class ReadingOptions {
 public:
  enum class Weights { yes, no };
  void add_to(CLI::App& app, Weights weights);

  /// Throws a usage Error for a word that is not known.
  ReadOptions make() const;

  /// What was given, as (option name, value), to be kept in a model.
  std::vector<std::pair<std::string, std::string>> given() const;
  enum class File { trained_on, another };
  /// How to read a file for a model. What the command line left open is taken from the model's
  /// options: everything for the file it was trained on, for another one what must be the same in
  /// both (first index, label and weight columns).
  ReadOptions make_for(const Model& model, File file);
  bool names_label() const { return !label_.empty(); }

 private:
  void fill_in(const std::vector<std::pair<std::string, std::string>>& stored, File file);

  std::string format_, label_, label_file_, base_, header_, weight_file_, weight_column_,
      over_column_;
};

/// Rows of a precomputed kernel in LIBSVM's form: takes index 0, the number of each row, away.
/// False where they have another form; an Error where the numbers are wrong.
bool take_serials(Dataset& data);

/// What kind of model a file is, by its first bytes.
enum class ModelFormat { none, own, libsvm };
ModelFormat model_format(const std::string& path);

/// Throws a usage Error when a model is given where data is expected; `order`: the right one.
void refuse_model(const std::string& data, const char* order);

}  // namespace maxmargin::cli
