#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "maxmargin/online/archive.hpp"
#include "maxmargin/online/expansion/expansion.hpp"

namespace maxmargin {

// The rows of an expansion in a checkpoint.

struct SlotState {
  Expansion::Slot slot;

  template <class Archive>
  void pass(Archive& archive) {
    archive(slot.features);
    archive(slot.values);
    archive(slot.number);
  }
};

inline void check_slot(const StateReader& reader, const Expansion::Slot& slot,
                       std::size_t most_features) {
  reader.demand(slot.features.size() == slot.values.size(),
                "a row has another number of values than of features");
  for (std::size_t k = 0; k < slot.features.size(); ++k)
    reader.demand(slot.features[k] < most_features && std::isfinite(slot.values[k]) &&
                      (k == 0 || slot.features[k] > slot.features[k - 1]),
                  "the features of a row are not in order");
}

template <class Archive>
void pass_rows(Archive& archive, Expansion& expansion, std::size_t most_features) {
  std::vector<SlotState> slots;
  std::vector<Index> free_slots(expansion.free_slots().begin(), expansion.free_slots().end());
  if constexpr (!Archive::reads)
    for (std::size_t i = 0; i < expansion.slots(); ++i) {
      const StreamRow row = expansion.row(i);
      slots.push_back({{{row.features.begin(), row.features.end()},
                        {row.values.begin(), row.values.end()},
                        row.number}});
    }
  archive(slots);
  archive(free_slots);
  if constexpr (Archive::reads) {
    std::vector<bool> is_free(slots.size(), false);
    for (const Index slot : free_slots) {
      archive.demand(slot < slots.size() && !is_free[slot], "a free slot is not right");
      is_free[slot] = true;
    }
    std::vector<Expansion::Slot> rows;
    for (SlotState& each : slots) {
      check_slot(archive, each.slot, most_features);
      expansion.check({each.slot.features, each.slot.values, each.slot.number});
      rows.push_back(std::move(each.slot));
    }
    expansion.restore(std::move(rows), std::move(free_slots));
  }
}

/// Whether every name of a class is a finite number.
bool are_numbers(const std::vector<std::string>& names);

}  // namespace maxmargin
