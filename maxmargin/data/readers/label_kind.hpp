#pragma once

namespace maxmargin {

/// What the labels of a file must be.
enum class LabelKind {
  any,       ///< numbers or words
  number,    ///< a label that is not a finite number is an Error with its place
  optional,  ///< numbers or words, and rows may have none ("?", "NA", nothing)
  none       ///< the file has no labels (CSV without a label column, idx without a label file)
};

}  // namespace maxmargin
