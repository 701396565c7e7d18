#pragma once

// The implementation of the public interface, whose Dataset, Model and Learner have the names of
// the library's own: these get a second name here before the public ones are declared.

#include <memory>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/libsvm/text.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/settings.hpp"
#include "maxmargin/train/stream/stream_settings.hpp"
#include "maxmargin/train/train.hpp"

namespace maxmargin::inside {
using Dataset = maxmargin::Dataset;
using Model = maxmargin::Model;
}  // namespace maxmargin::inside

#include "maxmargin/maxmargin.hpp"

namespace maxmargin {
inline namespace v0 {

/// The rows are shared by all copies; `data` has labels and weights, but no rows.
struct Dataset::Parts {
  explicit Parts(inside::Dataset given);
  Parts(const Parts& other);
  std::shared_ptr<const void> arrays;  ///< that x borrows, where they are not the caller's
  std::shared_ptr<const Features> x;
  inside::Dataset data;
};

struct Model::Parts {
  explicit Parts(inside::Model made) : model(std::move(made)) {}
  inside::Model model;
  /// None where a kernel of the user's own has no function, as after loading.
  std::unique_ptr<const Predictor> predictor;
};

/// The one friend of the door's classes.
struct Inside {
  /// The same data, with the rows borrowed.
  static inside::Dataset of(const Dataset& data);
  static Model model(inside::Model made);
  static Dataset dataset(inside::Dataset data);
  /// The same data, which keeps the arrays that its rows are in.
  static Dataset owning(std::shared_ptr<const void> arrays, Dataset data);

  /// The training options for this data. Throws Error for whatever is wrong with them.
  struct Asked {
    TrainOptions options;
    int threads = 0;
    Observer observer;
  };
  static Asked asked(const Options& options, const inside::Dataset& data);
  static std::unique_ptr<StreamLearner> learner(const Options& options);
};

/// A kernel of the user's own by blocks.
Custom custom_kernel(std::string label, KernelFunction kernel, bool mercer);

}  // namespace v0
}  // namespace maxmargin
