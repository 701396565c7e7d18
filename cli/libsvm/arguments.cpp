#include "cli/libsvm/arguments.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "cli/terminal/output.hpp"
#include "maxmargin/data/readers/formats/number.hpp"

namespace maxmargin::cli::libsvm {
namespace {

// Files of a few hundred rows: read, trained and written in a millisecond or two.
constexpr std::uintmax_t few_bytes = 64 << 10;

}  // namespace

bool OptionReader::next() {
  // A dash alone is standard input.
  if (left_.empty() || left_[0][0] != '-' || left_[0][1] == '\0') return false;
  option_ = left_[0];
  left_ = left_.subspan(1);
  return true;
}

std::string OptionReader::text() {
  if (left_.empty()) throw Misused(fmt::format("Missing value: {}", option_), usage_);
  std::string value = left_[0];
  left_ = left_.subspan(1);
  return value;
}

double OptionReader::number() {
  if (letter() != 'w' && !glued().empty()) unknown();
  return number_in_option(option_, text());
}

int OptionReader::whole() {
  if (!glued().empty()) unknown();
  return whole_in_option(option_, text());
}

void OptionReader::unknown() const {
  throw Misused(fmt::format("Unknown option: {}", option_), usage_);
}

Arguments OptionReader::files(std::size_t least, std::size_t most) const {
  if (left_.size() < least) throw Misused("", usage_);
  for (const char* word : left_)
    if (word[0] == '-' && word[1] != '\0')
      throw Misused(fmt::format("Option behind a file name: {} (options come first)", word),
                    usage_);
  if (left_.size() > most) throw Misused(fmt::format("One word too many: {}", left_[most]), usage_);
  return left_;
}

double number_in_option(const std::string& option, const std::string& text) {
  const auto number = number_in(text);
  if (!number || !std::isfinite(*number))
    throw Worded(fmt::format("ERROR: {} {}: this is not a finite number", option, text));
  return *number;
}

int whole_in_option(const std::string& option, const std::string& text) {
  int number = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, fault] = std::from_chars(begin, text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size())
    throw Worded(fmt::format("ERROR: {} {}: this is not a whole number", option, text));
  return number;
}

ReadOptions read_options() {
  ReadOptions options;
  options.format = Format::libsvm;
  options.labels = LabelKind::number;
  options.base = ReadOptions::Base::zero;
  return options;
}

int thread_count(std::initializer_list<std::string> files) {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const int count = std::atoi(text);
    if (count >= 1 && count <= 1024) return count;
  }
  std::uintmax_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code fault;
    const std::uintmax_t size = std::filesystem::file_size(file, fault);
    if (fault) return 0;  // not a regular file: no size is known
    bytes += size;
  }
  return bytes <= few_bytes ? 1 : 0;
}

Command command_named(std::string_view name) {
  if (name == "svm-train") return train;
  if (name == "svm-predict") return predict;
  if (name == "svm-scale") return scale;
  return nullptr;
}

int reporting(const std::function<int()>& command) {
  try {
    return command();
  } catch (const Misused& misused) {
    if (*misused.what() != '\0') tell(fmt::format("{}\n", misused.what()));
    print(misused.usage());
  } catch (const Worded& worded) {
    tell(fmt::format("{}\n", worded.what()));
  } catch (const std::bad_alloc&) {
    tell("ERROR: out of memory\n");
  } catch (const std::exception& error) {
    tell(fmt::format("ERROR: {}\n", error.what()));
  }
  return 1;
}

int run(Command command, Arguments arguments) {
  return reporting([&] { return command(arguments); });
}

}  // namespace maxmargin::cli::libsvm
