#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "maxmargin/task/multiclass/sides.hpp"
#include "maxmargin/train/formulate/formulate.hpp"

namespace maxmargin {

/// A list whose copies share it until one of them is changed.
template <class T>
class SharedList {
 public:
  std::size_t size() const { return items_ ? items_->size() : 0; }
  bool empty() const { return size() == 0; }
  const T& operator[](std::size_t k) const { return (*items_)[k]; }
  const T* data() const { return items_ ? items_->data() : nullptr; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }

  /// For whoever changes it.
  std::vector<T>& own() {
    if (!items_)
      items_ = std::make_shared<std::vector<T>>();
    else if (items_.use_count() > 1)
      items_ = std::make_shared<std::vector<T>>(*items_);
    return *items_;
  }

 private:
  std::shared_ptr<std::vector<T>> items_;
};

/// One machine to be trained: its examples and their loss.
struct Subproblem : Sides {
  SharedList<Example> examples;
  Loss loss;
  Bias bias = Bias::unpenalised;
  /// Coefficients to start from, of rows that are the first of equal ones; see start.hpp.
  SharedList<std::pair<Index, double>> start{};
};

/// The machines of a task. A few of them are kept as they are. Thousands of classes have millions
/// of pairs: these are stated when they are asked for, from the rows of their classes, and a list
/// of them takes 8 bytes for each.
class SubproblemList {
 public:
  /// So many are kept.
  static constexpr std::size_t most_kept = 100;
  using Members = std::vector<std::vector<Example>>;  ///< the rows of each class, in their order

  SubproblemList() = default;
  /// A machine for each of `sides`; loss and bias are those of `like`.
  SubproblemList(Members members, std::vector<Sides> sides, Subproblem like);
  /// One more that is kept.
  void push_back(Subproblem problem);

  std::size_t size() const { return sides_ ? sides_->size() : kept_.size(); }
  bool empty() const { return size() == 0; }
  Subproblem operator[](std::size_t k) const { return sides_ ? stated(k) : kept_[k]; }
  Subproblem front() const { return (*this)[0]; }
  Sides sides(std::size_t k) const { return sides_ ? (*sides_)[k] : Sides(kept_[k]); }
  /// How many examples it has.
  std::size_t examples(std::size_t k) const;

  class Iterator {
   public:
    Iterator(const SubproblemList& list, std::size_t k) : list_(&list), k_(k) {}
    Subproblem operator*() const { return (*list_)[k_]; }
    Iterator& operator++() {
      ++k_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return k_ == other.k_; }

   private:
    const SubproblemList* list_;
    std::size_t k_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  bool is_kept() const { return sides_ == nullptr; }
  /// What the rows of each class cost; of a list that is not kept.
  std::vector<double> costs_of_classes() const;
  /// The rows of a class alone, as examples of +1.
  Subproblem of_class(int number) const;
  /// Those with these increasing numbers.
  SubproblemList only(std::span<const std::size_t> numbers) const;
  /// Those that have rows of both sides left without some of them; of tasks without classes, those
  /// that have any.
  SubproblemList without(const std::vector<bool>& left_out) const;
  void multiply_costs(double factor);
  void set_start(std::size_t k, std::vector<std::pair<Index, double>> start);

 private:
  using Starts = std::vector<SharedList<std::pair<Index, double>>>;

  Subproblem stated(std::size_t k) const;
  Subproblem of_kept_class(int number) const;

  std::vector<Subproblem> kept_;
  // Of machines that are stated when they are asked for:
  std::shared_ptr<const std::vector<Sides>> sides_;
  std::shared_ptr<const Members> members_;
  std::size_t rows_ = 0;  // of all classes
  Subproblem like_{};
  std::shared_ptr<Starts> starts_;
};

}  // namespace maxmargin
