#pragma once

#include <cmath>
#include <limits>

namespace maxmargin {

/// How well predicted numbers agree with those of the data: running means and co-moments (Welford),
/// which lose nothing to cancellation whatever the size of the values.
class Agreement {
 public:
  void add(double predicted, double y, double weight = 1) {
    if (!(weight > 0)) return;
    const double error = predicted - y;
    weights_ += weight;
    squares_ += weight * (error * error);
    absolutes_ += weight * std::abs(error);
    const double dp = predicted - mean_p_, dy = y - mean_y_;
    mean_p_ += weight * dp / weights_;
    mean_y_ += weight * dy / weights_;
    moment_pp_ += weight * (dp * (predicted - mean_p_));
    moment_yy_ += weight * (dy * (y - mean_y_));
    moment_py_ += weight * (dp * (y - mean_y_));
  }

  // NaN where nothing was added; the correlation also where one of the two does not vary.
  double mean_squared_error() const { return of_weights(squares_); }
  double mean_absolute_error() const { return of_weights(absolutes_); }
  double squared_correlation() const {
    const double scale = moment_pp_ * moment_yy_;
    return scale > 0 ? moment_py_ * moment_py_ / scale : unknown_;
  }

 private:
  static constexpr double unknown_ = std::numeric_limits<double>::quiet_NaN();
  double of_weights(double sum) const { return weights_ > 0 ? sum / weights_ : unknown_; }

  double weights_ = 0, squares_ = 0, absolutes_ = 0;
  double mean_p_ = 0, mean_y_ = 0, moment_pp_ = 0, moment_yy_ = 0, moment_py_ = 0;
};

}  // namespace maxmargin
