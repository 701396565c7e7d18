#pragma once

#include <cstddef>
#include <string>

namespace maxmargin::cli::libsvm {

/// The sums from which LIBSVM computes how good predictions are, added up as it does.
class Summary {
 public:
  void add(double predicted, double target) {
    correct_ += predicted == target;
    error_ += (predicted - target) * (predicted - target);
    p_ += predicted;
    y_ += target;
    pp_ += predicted * predicted;
    yy_ += target * target;
    py_ += predicted * target;
    ++total_;
  }
  std::size_t correct() const { return correct_; }
  std::size_t total() const { return total_; }
  double accuracy() const { return static_cast<double>(correct_) / static_cast<double>(total_); }
  double mean_squared_error() const { return error_ / static_cast<double>(total_); }
  double squared_correlation() const {
    const auto n = static_cast<double>(total_);
    const double both = n * py_ - p_ * y_;
    return both * both / ((n * pp_ - p_ * p_) * (n * yy_ - y_ * y_));
  }

 private:
  std::size_t correct_ = 0, total_ = 0;
  double error_ = 0, p_ = 0, y_ = 0, pp_ = 0, yy_ = 0, py_ = 0;
};

}  // namespace maxmargin::cli::libsvm
