#pragma once

#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/model/model.hpp"

// Small models with random coefficients.

namespace maxmargin::sample {

enum class Storage { dense_float, dense_double, sparse_float, sparse_double };
inline constexpr Storage all_storage[] = {Storage::dense_float, Storage::dense_double,
                                          Storage::sparse_float, Storage::sparse_double};

/// Non-negative values, so that every kernel takes them; about half of them zero.
inline Features rows(std::size_t count, std::size_t columns, Storage storage, Rng& rng) {
  const bool sparse = storage == Storage::sparse_float || storage == Storage::sparse_double;
  const bool floats = storage == Storage::dense_float || storage == Storage::sparse_float;
  Features made = no_rows(sparse, columns);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double> row(columns);
    for (double& value : row) {
      if (rng.uniform() < 0.5) continue;
      value = rng.uniform(0.1, 1);
      if (floats) value = static_cast<float>(value);
    }
    made.append(row);
  }
  return made;
}

/// Fills a machine with some of the support vectors.
inline void fill(Machine& machine, std::size_t vectors, double share, Rng& rng) {
  for (std::size_t k = 0; k < vectors; ++k) {
    if (rng.uniform() > share) continue;
    machine.support.push_back(static_cast<Index>(k));
    machine.coefficient.push_back(rng.normal());
  }
  machine.lambda = {rng.normal()};
  machine.ended = Ended::converged;
  machine.iterations = rng.next();
  machine.certificate.primal = rng.normal();
  machine.certificate.dual = -infinity;
  machine.certificate.kkt = rng.uniform();
}

/// A model of `classes` classes with random coefficients.
inline Model classifier(const Kernel& kernel, std::size_t classes, Multiclass multiclass,
                        Storage storage, std::size_t vectors = 12, std::size_t columns = 5,
                        std::uint64_t seed = 1) {
  Rng rng(seed);
  Model model;
  model.kernel = kernel;
  model.multiclass = multiclass;
  model.features = columns;
  model.rows = 3 * vectors;
  if (std::holds_alternative<Precomputed>(kernel)) model.features = model.rows;
  model.support = rows(vectors, model.features, storage, rng);
  for (std::size_t k = 0; k < vectors; ++k) model.support_row.push_back(3 * k + 1);
  for (std::size_t c = 0; c < classes; ++c) model.classes.push_back(std::to_string(c));
  const auto add = [&](int positive, int negative, double share) {
    Machine& machine = model.machines.emplace_back();
    machine.positive = positive;
    machine.negative = negative;
    fill(machine, vectors, share, rng);
  };
  const int many = static_cast<int>(classes);
  if (multiclass == Multiclass::one_vs_rest) {
    for (int c = 0; c < many; ++c) add(c, Machine::nobody, 0.8);
  } else {
    for (int c = 0; c < many; ++c)
      for (int d = c + 1; d < many; ++d) add(c, d, many == 2 ? 1 : 0.4);
  }
  model.program = "maxmargin test";
  model.data_hash = "00112233445566778899aabbccddeeff";
  model.seed = 0xfedcba9876543210u;
  model.task = Svc{.multiclass = multiclass};
  return model;
}

/// What a model needs to give probabilities, made up.
inline void calibrate(Model& model, std::uint64_t seed = 2) {
  Rng rng(seed);
  Calibration& calibration = model.calibration;
  calibration.folds = 5;
  calibration.weight = static_cast<double>(model.rows);
  if (model.outcome == Outcome::classes) {
    for (std::size_t m = 0; m < model.machines.size(); ++m)
      calibration.sigmoid.push_back({rng.normal(), rng.normal()});
    return;
  }
  calibration.noise = rng.uniform();
  for (int k = -10; k <= 10; ++k) calibration.marks.push_back(k + 0.9 * rng.uniform());
}

/// One decision function for regression or novelty.
inline Model single(const Kernel& kernel, Outcome outcome, Storage storage) {
  Model model = classifier(kernel, 2, Multiclass::one_vs_one, storage);
  model.outcome = outcome;
  model.classes.clear();
  model.machines[0].positive = model.machines[0].negative = Machine::nobody;
  return model;
}

}  // namespace maxmargin::sample
