#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// content_hash (dataset.hpp) piece by piece: all rows, then all labels, then all weights, which
/// are only added where one of them is not 1.
class ContentHash {
 public:
  explicit ContentHash(std::uint64_t rows);
  ~ContentHash();

  void add(const Rows& rows);
  enum class Labels { none, numbers, words };
  void begin_labels(Labels kind);
  void begin_weights(bool any);
  void add_number(double number);  ///< a label or a weight
  void add_word(const std::string& word);
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace maxmargin
