#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/libsvm/text.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t density_marks = 10;
constexpr std::string_view hint = "fetch a fresh copy of it or train it again";
constexpr std::array<std::string_view, 13> keywords{
    "svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class",          "total_sv",
    "rho",      "label",       "probA",  "probB", "nr_sv", "prob_density_marks"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The lines of a text, and in each of them its words.
class Lines {
 public:
  Lines(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  /// Goes to the next line; false at the end of the text.
  bool next() {
    if (rest_.empty()) {
      line_ = word_ = {};
      return false;
    }
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    left_ = line_;
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return true;
  }
  /// The next word of the line; empty at its end.
  std::string_view word() {
    while (!left_.empty() && is_blank(left_.front())) left_.remove_prefix(1);
    std::size_t size = 0;
    while (size < left_.size() && !is_blank(left_[size])) ++size;
    word_ = left_.substr(0, size);
    left_.remove_prefix(size);
    return word_;
  }
  std::size_t bytes_left() const { return rest_.size(); }

  /// About the word that was read last.
  [[noreturn]] void fail(const std::string& what) const {
    const auto column =
        word_.data() == nullptr ? 1 : static_cast<std::size_t>(word_.data() - line_.data()) + 1;
    throw Error(Fault::data, Place{name_, number_, column}, what, hint);
  }
  /// About the file as a whole.
  [[noreturn]] void fail_whole(const std::string& what) const {
    throw Error(Fault::data, Place{name_}, "this model is damaged: " + what, hint);
  }

 private:
  std::string_view rest_, line_, left_, word_;
  const std::string& name_;
  std::size_t number_ = 0;
};

double number_of(const Lines& lines, std::string_view word) {
  std::string_view digits = word;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [end, fault] =
      fast_float::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = end == digits.data() + digits.size();
  if (!whole || (fault != std::errc{} && fault != std::errc::result_out_of_range))
    lines.fail(shown(word) + " is not a number");
  if (!std::isfinite(value)) lines.fail(shown(word) + " is not a finite number");
  return value + 0.0;
}

template <class Whole>
Whole whole_of(const Lines& lines, std::string_view word, Whole low) {
  constexpr auto high = static_cast<std::int64_t>(std::numeric_limits<int>::max());
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size() || word.empty() || fault == std::errc::invalid_argument)
    lines.fail(shown(word) + " is not a whole number");
  if (fault != std::errc{} || value < static_cast<std::int64_t>(low) || value > high)
    lines.fail(shown(word) + " is out of range");
  return static_cast<Whole>(value);
}

/// What stands above the support vectors.
struct Header {
  std::optional<LibsvmType> type;
  std::optional<std::string> kernel;
  std::optional<int> degree;
  std::optional<double> gamma, coef0;
  std::optional<std::uint64_t> classes, vectors;
  std::optional<std::vector<double>> rho, prob_a, prob_b, marks;
  std::optional<std::vector<int>> labels;
  std::optional<std::vector<std::uint64_t>> sizes;
};

class HeaderReader {
 public:
  explicit HeaderReader(Lines& lines) : lines_(lines) {}

  Header read() {
    while (true) {
      if (!lines_.next()) lines_.fail_whole("it has no support vectors ('SV' is missing)");
      const std::string_view keyword = lines_.word();
      if (keyword.empty()) continue;
      if (keyword == "SV") return std::move(header_);
      read_entry(keyword);
      if (!lines_.word().empty())
        lines_.fail("there is more here than '" + std::string(keyword) + "' takes");
    }
  }

 private:
  void read_entry(std::string_view keyword) {
    if (keyword == "svm_type") return once(keyword, header_.type, [&] { return type(); });
    if (keyword == "kernel_type") return once(keyword, header_.kernel, [&] { return kernel(); });
    if (keyword == "degree") return once(keyword, header_.degree, [&] { return whole(0); });
    if (keyword == "gamma") return once(keyword, header_.gamma, [&] { return number(); });
    if (keyword == "coef0") return once(keyword, header_.coef0, [&] { return number(); });
    if (keyword == "nr_class") return once(keyword, header_.classes, [&] { return count(); });
    if (keyword == "total_sv") return once(keyword, header_.vectors, [&] { return count(); });
    if (keyword == "rho") return once(keyword, header_.rho, [&] { return numbers(); });
    if (keyword == "probA") return once(keyword, header_.prob_a, [&] { return numbers(); });
    if (keyword == "probB") return once(keyword, header_.prob_b, [&] { return numbers(); });
    if (keyword == "prob_density_marks")
      return once(keyword, header_.marks, [&] { return numbers(); });
    if (keyword == "label") return once(keyword, header_.labels, [&] { return labels(); });
    if (keyword == "nr_sv") return once(keyword, header_.sizes, [&] { return counts(); });
    lines_.fail("unknown word " + shown(keyword));
  }

  template <class Value, class Take>
  void once(std::string_view keyword, std::optional<Value>& into, Take&& take) {
    if (into) lines_.fail("'" + std::string(keyword) + "' is there twice");
    into = take();
  }

  LibsvmType type() {
    const std::string_view name = lines_.word();
    for (int k = 0; k < 5; ++k)
      if (to_string(static_cast<LibsvmType>(k)) == name) return static_cast<LibsvmType>(k);
    lines_.fail("unknown svm type " + shown(name));
  }
  std::string kernel() {
    const std::string_view name = lines_.word();
    for (const std::string_view known : {"linear", "polynomial", "rbf", "sigmoid", "precomputed"})
      if (known == name) return std::string(name);
    lines_.fail("unknown kernel " + shown(name));
  }
  int whole(int low) { return whole_of<int>(lines_, lines_.word(), low); }
  double number() { return number_of(lines_, lines_.word()); }
  std::uint64_t count() { return whole_of<std::uint64_t>(lines_, lines_.word(), 0); }
  template <class Take>
  auto list(Take&& take) {
    std::vector<decltype(take(std::string_view{}))> values;
    for (std::string_view word = lines_.word(); !word.empty(); word = lines_.word())
      values.push_back(take(word));
    return values;
  }
  std::vector<double> numbers() {
    return list([&](std::string_view word) { return number_of(lines_, word); });
  }
  std::vector<int> labels() {
    return list([&](std::string_view word) {
      return whole_of<int>(lines_, word, std::numeric_limits<int>::min());
    });
  }
  std::vector<std::uint64_t> counts() {
    return list([&](std::string_view word) { return whole_of<std::uint64_t>(lines_, word, 0); });
  }

  Lines& lines_;
  Header header_;
};

Kernel kernel_of(const Header& header, const Lines& lines) {
  const auto needed = [&](const auto& value, const char* name) {
    if (!value)
      lines.fail_whole("its kernel is " + *header.kernel + ", but it has no '" + name + "'");
    return *value;
  };
  // A factor of 0 makes a kernel constant; so does the smallest number there is.
  const auto gamma = [&] {
    const double value = needed(header.gamma, "gamma");
    return value == 0 ? std::numeric_limits<double>::min() : value;
  };
  Kernel kernel = Linear{};
  if (header.kernel == "polynomial")
    kernel = Polynomial{gamma(), needed(header.degree, "degree"), needed(header.coef0, "coef0")};
  if (header.kernel == "rbf") kernel = Rbf{gamma()};
  if (header.kernel == "sigmoid") kernel = Sigmoid{gamma(), needed(header.coef0, "coef0")};
  if (header.kernel == "precomputed") kernel = Precomputed{};
  try {
    visit_list([](const auto& chosen) { validate(chosen); }, kernel);
  } catch (const Error& error) {
    lines.fail_whole(error.what());
  }
  return kernel;
}

/// The header's part of a model, when all that belongs together fits.
LibsvmModel begin_model(Header header, const Lines& lines) {
  const auto demand = [&](bool good, const std::string& otherwise) {
    if (!good) lines.fail_whole(otherwise);
  };
  const auto needed = [&](const auto& value, const char* name) {
    demand(value.has_value(), std::string("'") + name + "' is missing");
    return *value;
  };
  LibsvmModel model;
  model.type = needed(header.type, "svm_type");
  needed(header.kernel, "kernel_type");
  model.kernel = kernel_of(header, lines);
  const std::uint64_t classes = needed(header.classes, "nr_class");
  const std::uint64_t vectors = needed(header.vectors, "total_sv");
  model.rho = needed(header.rho, "rho");
  model.prob_a = header.prob_a.value_or(std::vector<double>{});
  model.prob_b = header.prob_b.value_or(std::vector<double>{});
  model.marks = header.marks.value_or(std::vector<double>{});

  const bool of_classes = predicts_classes(model.type);
  demand(of_classes ? classes >= 1 : classes == 2,
         of_classes ? "it has no class" : "'nr_class' is not 2");
  const std::uint64_t pairs = classes * (classes - 1) / 2;
  demand(model.rho.size() == pairs, "'rho' does not have a number for each pair of classes");
  if (of_classes) {
    model.labels = needed(header.labels, "label");
    model.sizes = needed(header.sizes, "nr_sv");
    demand(model.labels.size() == classes, "'label' does not have a number for each class");
    demand(model.sizes.size() == classes, "'nr_sv' does not have a number for each class");
    std::vector<int> sorted = model.labels;
    std::ranges::sort(sorted);
    demand(std::ranges::adjacent_find(sorted) == sorted.end(), "a label is there twice");
    demand(std::reduce(model.sizes.begin(), model.sizes.end()) == vectors,
           "the numbers of 'nr_sv' do not add up to 'total_sv'");
    demand(model.prob_a.size() == model.prob_b.size(), "it has one of 'probA' and 'probB' only");
    demand(model.prob_a.empty() || model.prob_a.size() == pairs,
           "'probA' does not have a number for each pair of classes");
  }
  const bool regression = !of_classes && model.type != LibsvmType::one_class;
  demand(!regression || model.prob_a.empty() || (model.prob_a.size() == 1 && model.prob_a[0] >= 0),
         "'probA' is not one number of at least 0");
  demand(of_classes || model.prob_b.empty(), "'probB' has no meaning here");
  demand(model.type != LibsvmType::one_class || model.prob_a.empty(),
         "'probA' has no meaning here");
  demand(model.marks.empty() ||
             (model.type == LibsvmType::one_class && model.marks.size() == density_marks &&
              std::ranges::is_sorted(model.marks)),
         "'prob_density_marks' are not ten increasing numbers of a one-class model");
  demand(vectors <= lines.bytes_left() / 2 + 1, "it is shorter than 'total_sv' says");
  return model;
}

/// Reads the lines behind 'SV'.
class VectorReader {
 public:
  VectorReader(Lines& lines, LibsvmModel& model)
      : lines_(lines), model_(model), precomputed_(is_given(model.kernel)) {
    model.support = Features::sparse(0);
  }

  void read(std::uint64_t vectors) {
    const std::size_t columns = model_.columns();
    for (std::uint64_t k = 0; k < vectors; ++k) {
      if (!lines_.next())
        lines_.fail_whole("it ends behind " + std::to_string(k) + " of " + std::to_string(vectors) +
                          " support vectors");
      for (std::size_t c = 0; c < columns; ++c) {
        const std::string_view word = lines_.word();
        if (word.empty()) lines_.fail("a coefficient is missing");
        model_.coefficients.push_back(number_of(lines_, word));
      }
      if (precomputed_)
        read_serial();
      else
        read_features();
    }
    while (lines_.next())
      if (!lines_.word().empty())
        lines_.fail("there are more support vectors than 'total_sv' says");
    model_.support.fit();
  }

 private:
  /// The two halves of "index:value".
  std::pair<std::int64_t, double> entry(std::string_view word) {
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) lines_.fail(shown(word) + " has no colon");
    return {whole_of<std::int64_t>(lines_, word.substr(0, colon), 0),
            number_of(lines_, word.substr(colon + 1))};
  }

  void read_features() {
    features_.clear();
    values_.clear();
    std::int64_t previous = -1;
    for (std::string_view word = lines_.word(); !word.empty(); word = lines_.word()) {
      const auto [index, value] = entry(word);
      if (index <= previous) lines_.fail("the indices do not increase at " + shown(word));
      previous = index;
      if (value == 0) continue;
      features_.push_back(static_cast<Index>(index));
      values_.push_back(value);
    }
    model_.support.widen(static_cast<std::size_t>(previous + 1));
    model_.support.append(features_, values_);
  }

  void read_serial() {
    const std::string_view word = lines_.word();
    if (!word.starts_with("0:"))
      lines_.fail("with a precomputed kernel 0:number is expected, not " + shown(word));
    model_.serial.push_back(whole_of<std::uint64_t>(lines_, word.substr(2), 1));
    if (const std::string_view more = lines_.word(); !more.empty())
      lines_.fail("there is more than the number of a row here: " + shown(more));
  }

  Lines& lines_;
  LibsvmModel& model_;
  bool precomputed_;
  std::vector<Index> features_;
  std::vector<double> values_;
};

}  // namespace

bool is_libsvm_text(std::string_view start) {
  return std::ranges::any_of(keywords, [&](std::string_view keyword) {
    return start.starts_with(keyword) && start.size() > keyword.size() &&
           is_blank(start[keyword.size()]);
  });
}

LibsvmModel parse_libsvm_text(std::string_view text, const std::string& name) {
  Lines lines(text, name);
  Header header = HeaderReader(lines).read();
  const std::uint64_t vectors = header.vectors.value_or(0);
  LibsvmModel model = begin_model(std::move(header), lines);
  VectorReader(lines, model).read(vectors);
  return model;
}

}  // namespace maxmargin
