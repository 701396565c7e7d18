#include "cli/libsvm/range_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <sstream>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin::cli::libsvm {
namespace {

/// The lines of a range file, and the words in them.
class RangeReader {
 public:
  RangeReader(std::string_view text, const std::string& name) : left_(text), name_(name) {}

  Ranges read() {
    Ranges ranges;
    next();
    if (words_ == std::vector<std::string_view>{"y"}) {
      const auto [lower, upper] = two_numbers();
      const auto [low, high] = two_numbers();
      ranges.y_target = Target{lower, upper};
      ranges.y = {low, high};
      next();
    }
    if (words_ != std::vector<std::string_view>{"x"}) fail("a line with an x is missing");
    const auto [lower, upper] = two_numbers();
    ranges.x_target = {lower, upper};
    while (next()) {
      if (words_.empty()) continue;
      if (words_.size() != 3) fail("a feature has an index, a smallest and a largest value");
      std::uint32_t index = 0;
      const std::string_view digits = words_[0];
      const auto [end, fault] =
          std::from_chars(digits.data(), digits.data() + digits.size(), index);
      if (fault != std::errc{} || end != digits.data() + digits.size())
        fail(shown(digits) + " is not an index");
      if (!ranges.feature.empty() && index <= ranges.feature.back())
        fail("the indices do not increase");
      ranges.feature.push_back(index);
      ranges.of.push_back({number(1), number(2)});
    }
    return ranges;
  }

 private:
  bool next() {
    words_.clear();
    if (left_.empty()) return false;
    ++line_;
    const std::size_t size = std::min(left_.find('\n'), left_.size());
    std::string_view line = left_.substr(0, size);
    left_.remove_prefix(std::min(size + 1, left_.size()));
    constexpr std::string_view blanks = " \t\r";
    while (true) {
      const std::size_t begin = line.find_first_not_of(blanks);
      if (begin == std::string_view::npos) return true;
      line.remove_prefix(begin);
      const std::size_t end = std::min(line.find_first_of(blanks), line.size());
      words_.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
  }
  double number(std::size_t word) const {
    const auto value = number_in(words_[word]);
    if (!value || !std::isfinite(*value)) fail(shown(words_[word]) + " is not a finite number");
    return *value;
  }
  std::pair<double, double> two_numbers() {
    next();
    if (words_.size() != 2) fail("two numbers are expected here");
    return {number(0), number(1)};
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Fault::data, Place{name_, line_, 1}, what, "give a file that svm-scale -s wrote");
  }

  std::string_view left_;
  const std::string& name_;
  std::vector<std::string_view> words_;
  std::size_t line_ = 0;
};

}  // namespace

std::string range_text(const Ranges& ranges) {
  std::string text;
  const auto two = [&](double one, double other) {
    text += fmt::format("{:.17g} {:.17g}\n", one, other);
  };
  if (ranges.y_target) {
    text += "y\n";
    two(ranges.y_target->lower, ranges.y_target->upper);
    two(ranges.y.low, ranges.y.high);
  }
  text += "x\n";
  two(ranges.x_target.lower, ranges.x_target.upper);
  for (std::size_t k = 0; k < ranges.feature.size(); ++k) {
    if (ranges.of[k].constant()) continue;
    text += fmt::format("{} ", ranges.feature[k]);
    two(ranges.of[k].low, ranges.of[k].high);
  }
  return text;
}

Ranges load_ranges(const std::string& path) {
  const Buffer<char> content = read_whole_file(path, [](std::string_view) {});
  return RangeReader({content.data(), content.size()}, path).read();
}

}  // namespace maxmargin::cli::libsvm
