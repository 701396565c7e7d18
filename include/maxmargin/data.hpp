#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace maxmargin {

// What the door offers stands in a namespace of its own, so that a program compiled against one
// version of it never meets another; it is written maxmargin::Dataset.
inline namespace v0 {

/// A container that ends with the expression it stands in, such as a vector that a function
/// returns.
template <class T>
concept Temporary = std::ranges::range<T> && !std::ranges::borrowed_range<T>;

/// Rows of features, dense or sparse, with labels and weights where they have some.
///
/// Example: four points of two features in an array of one's own, which is not copied.
///
///   const std::vector<double> values{0, 0, 1, 1, 0, 1, 1, 0};
///   const std::vector<double> labels{1, 1, 2, 2};
///   const auto data = maxmargin::Dataset::dense(values, 2).labels(labels);
class Dataset {
 public:
  // Arrays of the caller's are not copied: they must stay as they are until the last use of this
  // Dataset and its copies; a model made from them does not need them any more. Vectors that are
  // temporary or moved in become a part of the Dataset, and other temporaries do not compile.

  /// Rows of `columns` numbers each, one after the other.
  /// Before: columns > 0, a whole number of rows, finite values; anything else is an Error.
  static Dataset dense(std::span<const double> values, std::size_t columns);
  static Dataset dense(std::span<const float> values, std::size_t columns);
  static Dataset dense(std::vector<double>&& values, std::size_t columns);
  static Dataset dense(std::vector<float>&& values, std::size_t columns);
  static Dataset dense(Temporary auto&& values, std::size_t columns) = delete;

  /// Compressed sparse rows: row i has the values[k] in the columns index[k] for start[i] <= k <
  /// start[i + 1]; what is not stored is zero.
  /// Before: start begins at 0, does not fall and ends at values.size() == index.size(); within a
  /// row the columns increase and are below `columns`; finite values. Anything else is an Error.
  static Dataset csr(std::span<const std::uint64_t> start, std::span<const std::uint32_t> index,
                     std::span<const double> values, std::size_t columns);
  static Dataset csr(std::span<const std::uint64_t> start, std::span<const std::uint32_t> index,
                     std::span<const float> values, std::size_t columns);
  static Dataset csr(std::vector<std::uint64_t>&& start, std::vector<std::uint32_t>&& index,
                     std::vector<double>&& values, std::size_t columns);
  static Dataset csr(std::vector<std::uint64_t>&& start, std::vector<std::uint32_t>&& index,
                     std::vector<float>&& values, std::size_t columns);
  template <class Start, class Columns, class Values>
  requires(Temporary<Start> || Temporary<Columns> || Temporary<Values>)  //
      static Dataset csr(Start&&, Columns&&, Values&&, std::size_t columns) = delete;

  /// A copy of rows that all have the same length.
  static Dataset from(const std::vector<std::vector<double>>& rows);

  /// A file: LIBSVM, CSV, TSV or idx, plain or packed (gzip, zstd). `label` names the column of a
  /// CSV file with the labels; without it "label", "class", "target" or "y", else the first.
  /// After: what stands in the file, or an Error with file, line and column.
  static Dataset read(const std::string& path, const std::string& label = {});

  // What belongs to the rows is copied. Before: one entry a row.

  /// Labels that are numbers: classes, or what is to be regressed. Finite.
  Dataset& labels(std::span<const double> numbers) &;
  Dataset labels(std::span<const double> numbers) &&;
  /// Labels that are words.
  Dataset& labels(std::span<const std::string> words) &;
  Dataset labels(std::span<const std::string> words) &&;
  /// A row of weight 3 counts as that row three times; 0: it does not count.
  Dataset& weights(std::span<const double> weights) &;
  Dataset weights(std::span<const double> weights) &&;
  /// For task svr: a weight of predicting too little and one of predicting too much, row by row.
  Dataset& weights(std::span<const double> under, std::span<const double> over) &;
  Dataset weights(std::span<const double> under, std::span<const double> over) &&;

  std::size_t rows() const;
  std::size_t columns() const;
  bool labelled() const;
  /// The labels as text, "1", "-1", "setosa"; empty where there are none.
  std::vector<std::string> label_texts() const;

  Dataset(const Dataset&);
  Dataset(Dataset&&) noexcept;
  Dataset& operator=(const Dataset&);
  Dataset& operator=(Dataset&&) noexcept;
  ~Dataset();

 private:
  struct Parts;
  explicit Dataset(std::unique_ptr<Parts> parts);
  friend struct Inside;
  std::unique_ptr<Parts> parts_;
};

}  // namespace v0
}  // namespace maxmargin
