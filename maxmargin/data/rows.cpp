#include "maxmargin/data/rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/like.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t grain = std::size_t{1} << 20;  // values per task

constexpr std::size_t rows_a_task = 256;

bool exact_float(double value) { return static_cast<double>(static_cast<float>(value)) == value; }

/// Room for growth comes in one large step, which the system can back with large pages.
template <class T>
void grow(Buffer<T>& buffer, std::size_t size, double times) {
  if (size > buffer.room())
    buffer.reserve(static_cast<std::size_t>(static_cast<double>(size) * times));
  buffer.resize(size);
}

template <class Value>
void copy_values(const Rows& from, std::uint64_t first, std::uint64_t size, Value* to) {
  if (from.floats != nullptr)
    std::copy_n(from.floats + first, size, to);
  else
    for (std::uint64_t k = 0; k < size; ++k) to[k] = static_cast<Value>(from.doubles[first + k]);
}

}  // namespace

bool all_exact_floats(const Rows& rows) {
  if (rows.doubles == nullptr) return true;
  const double* values = rows.doubles + rows.first();
  const std::uint64_t size = rows.stored();
  bool exact = true;
  for (std::uint64_t k = 0; k < size; ++k) exact &= exact_float(values[k]);
  return exact;
}

Features Features::dense(std::size_t columns) {
  Features made;
  made.columns_ = columns;
  return made;
}

Features Features::sparse(std::size_t columns) {
  Features made;
  made.columns_ = columns;
  made.sparse_ = true;
  made.start_.push_back(0);
  return made;
}

Features Features::dense(std::size_t columns, std::span<const double> values) {
  if (columns == 0 || values.size() % columns != 0)
    throw Error(
        Fault::usage,
        std::to_string(values.size()) + " values do not make rows of " + std::to_string(columns),
        "pass whole rows, one after the other");
  Features made = dense(columns);
  for (std::size_t at = 0; at < values.size(); at += columns)
    made.append(values.subspan(at, columns));
  return made;
}

Features Features::borrow(const Rows& rows) {
  Features made;
  made.count_ = rows.count;
  made.columns_ = rows.columns;
  made.sparse_ = rows.sparse();
  made.borrowed_ = rows;
  return made;
}

void Features::own() {
  if (!borrowed_) return;
  Features copy = sparse_ ? sparse(columns_) : dense(columns_);
  copy.append(*borrowed_);
  *this = std::move(copy);
}

Features Features::compact(const Rows& rows, std::span<const Index> which, const Threads& threads) {
  std::uint64_t stored = 0;
  for (const Index row : which) stored += rows.slice(row, row + 1).stored();
  const std::uint64_t cells = static_cast<std::uint64_t>(which.size()) * rows.columns;
  const std::uint64_t value_bytes = rows.floats != nullptr ? sizeof(float) : sizeof(double);
  if (!rows.sparse() || stored * (value_bytes + sizeof(Index)) < cells * value_bytes) {
    Features made = none_like(rows);
    made.append(rows, which, threads);
    return made;
  }
  Features made = dense(rows.columns);
  std::atomic<bool> exact{true};
  threads.split(which.size(), rows_a_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end && exact; ++k)
      if (!all_exact_floats(rows.slice(which[k], which[k] + 1))) exact = false;
  });
  made.count_ = which.size();
  made.is_double_ = !exact;
  const auto fill = [&](auto& values) {
    values.resize(cells);
    threads.split(which.size(), rows_a_task, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        auto* row = values.data() + k * rows.columns;
        rows.for_each(which[k], [&](Index feature, double value) {
          row[feature] = static_cast<std::remove_reference_t<decltype(*row)>>(value);
        });
      }
    });
  };
  if (made.is_double_)
    fill(made.doubles_);
  else
    fill(made.floats_);
  return made;
}

void Features::promote() {
  doubles_.resize(floats_.size());
  std::copy(floats_.begin(), floats_.end(), doubles_.begin());
  floats_ = Buffer<float>();
  is_double_ = true;
}

void Features::store(double value) {
  if (!is_double_ && !exact_float(value)) promote();
  if (is_double_)
    doubles_.push_back(value);
  else
    floats_.push_back(static_cast<float>(value));
}

void Features::check(std::span<const Index> features, std::span<const double> values) const {
  const auto wrong = [&](Fault fault, const std::string& what, std::string_view mend) {
    throw Error(fault, "row " + std::to_string(count_ + 1) + " has " + what, mend);
  };
  if (features.size() != values.size())
    wrong(Fault::usage,
          std::to_string(features.size()) + " features but " + std::to_string(values.size()) +
              " values",
          "pass one value per feature");
  for (std::size_t k = 0; k < features.size(); ++k) {
    if (features[k] >= columns_)
      wrong(Fault::usage,
            "feature " + std::to_string(features[k]) + " of only " + std::to_string(columns_),
            "number features from 0, or widen() first");
    if (k > 0 && features[k] <= features[k - 1])
      wrong(Fault::usage, "features that do not increase", "sort them and merge repeated ones");
    if (!std::isfinite(values[k]))
      wrong(Fault::data, "a value that is not a finite number", "remove the row or the value");
  }
}

void Features::append(std::span<const Index> features, std::span<const double> values) {
  own();
  check(features, values);
  if (sparse_) {
    for (std::size_t k = 0; k < features.size(); ++k) {
      index_.push_back(features[k]);
      store(values[k]);
    }
    start_.push_back(index_.size());
  } else {
    std::size_t next = 0;
    for (std::size_t k = 0; k < features.size(); ++k) {
      for (; next < features[k]; ++next) store(0);
      store(values[k]);
      ++next;
    }
    for (; next < columns_; ++next) store(0);
  }
  ++count_;
}

void Features::append(std::span<const double> values) {
  if (values.size() != columns_)
    throw Error(Fault::usage,
                "row " + std::to_string(count_ + 1) + " has " + std::to_string(values.size()) +
                    " values where " + std::to_string(columns_) + " are expected",
                "give every row the same number of values");
  for (const double value : values)
    if (!std::isfinite(value))
      throw Error(Fault::data,
                  "row " + std::to_string(count_ + 1) + " has a value that is not a finite number",
                  "remove the row or the value");
  own();
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (sparse_) {
      if (values[j] == 0) continue;
      index_.push_back(static_cast<Index>(j));
    }
    store(values[j]);
  }
  if (sparse_) start_.push_back(index_.size());
  ++count_;
}

void Features::append(const Rows& others) {
  const Threads one(1);
  append(std::span(&others, 1), one);
}

void Features::copy_part(const Rows& part, std::size_t row, std::uint64_t position) {
  const std::uint64_t first = part.first();
  const std::uint64_t size = part.stored();
  if (sparse_) {
    std::copy_n(part.index + first, size, index_.data() + position);
    for (std::size_t i = 1; i <= part.count; ++i)
      start_[row + i] = part.start[i] - first + position;
  }
  if (is_double_)
    copy_values(part, first, size, doubles_.data() + position);
  else
    copy_values(part, first, size, floats_.data() + position);
}

void Features::append(std::span<const Rows> parts, const Threads& threads, double times) {
  own();
  std::vector<std::size_t> row{count_};
  std::vector<std::uint64_t> position{view().stored()};
  for (const Rows& part : parts) {
    if (part.count > 0 && part.sparse() != sparse_)
      throw Error(Fault::usage, "dense and sparse rows cannot be mixed",
                  "convert one of the two first");
    if (sparse_ && part.count > 0)
      columns_ = std::max(columns_, part.columns);
    else if (part.count > 0 && part.columns != columns_)
      throw Error(Fault::usage,
                  "rows of " + std::to_string(part.columns) + " and of " +
                      std::to_string(columns_) + " features cannot be mixed",
                  "give every row the same number of features");
    row.push_back(row.back() + part.count);
    position.push_back(position.back() + (part.count > 0 ? part.stored() : 0));
  }
  if (!is_double_) {
    std::atomic<bool> exact{true};
    threads.run(parts.size(), [&](std::size_t i) {
      if (exact && parts[i].count > 0 && !all_exact_floats(parts[i])) exact = false;
    });
    if (!exact) promote();
  }
  if (sparse_) {
    grow(start_, row.back() + 1, times);
    grow(index_, position.back(), times);
  }
  if (is_double_)
    grow(doubles_, position.back(), times);
  else
    grow(floats_, position.back(), times);
  threads.run(parts.size(), [&](std::size_t i) {
    if (parts[i].count > 0) copy_part(parts[i], row[i], position[i]);
  });
  count_ = row.back();
}

void Features::append(const Rows& others, std::span<const Index> which, const Threads& threads) {
  std::vector<Rows> parts;
  std::uint64_t stored = 0;
  for (std::size_t k = 0; k < which.size();) {
    std::size_t end = k + 1;
    while (end < which.size() && which[end] == which[end - 1] + 1) ++end;
    parts.push_back(others.slice(which[k], std::size_t{which[end - 1]} + 1));
    stored += parts.back().stored();
    k = end;
  }
  // Threads that begin to use the same large page both clear it.
  const Threads alone(1);
  append(parts, stored >= grain ? threads : alone);
}

void Features::widen(std::size_t columns) {
  if (columns <= columns_) return;
  if (!sparse_)
    throw Error(Fault::usage, "dense rows cannot get more features", "make them sparse first");
  columns_ = columns;
}

void Features::shift_features(const Threads& threads) {
  own();
  threads.split(index_.size(), grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) ++index_[k];
  });
}

void Features::fit() {
  floats_.fit();
  doubles_.fit();
  start_.fit();
  index_.fit();
}

Rows Features::view() const {
  if (borrowed_) {
    Rows rows = *borrowed_;
    rows.columns = columns_;
    return rows;
  }
  Rows rows;
  rows.count = count_;
  rows.columns = columns_;
  if (sparse_) {
    rows.start = start_.data();
    rows.index = index_.data();
  }
  if (is_double_)
    rows.doubles = doubles_.data();
  else
    rows.floats = floats_.data();
  return rows;
}

std::size_t Features::bytes() const {
  return floats_.size() * sizeof(float) + doubles_.size() * sizeof(double) +
         start_.size() * sizeof(std::uint64_t) + index_.size() * sizeof(Index);
}

}  // namespace maxmargin
