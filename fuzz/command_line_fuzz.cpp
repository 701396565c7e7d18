// Arbitrary words as the command line of each command, up to where files would be opened: options
// are taken, or refused by an exception that the program turns into one line.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/help.hpp"
#include "cli/libsvm/arguments.hpp"
#include "cli/train_options.hpp"
#include "cli/verbs.hpp"
#include "maxmargin/base/error.hpp"

namespace {

using namespace maxmargin;

std::vector<std::string> words_of(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> words(1);
  for (std::size_t k = 0; k < size; ++k)
    if (data[k] == '\n' || data[k] == '\0')
      words.emplace_back();
    else
      words.back() += static_cast<char>(data[k]);
  return words;
}

void parse_own(std::vector<std::string> words) {
  CLI::App program("", "maxmargin");
  program.require_subcommand(1);
  const cli::Verb verbs[] = {cli::add_train(program),   cli::add_predict(program),
                             cli::add_verify(program),  cli::add_check(program),
                             cli::add_inspect(program), cli::add_convert(program),
                             cli::add_solvers(program), cli::add_race(program)};
  std::reverse(words.begin(), words.end());  // as the library wants them
  try {
    program.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    cli::explain(program, error);
  } catch (const Error&) {
  }
  static_cast<void>(verbs);
}

/// The options of training, checked as far as that goes without data.
void check_training(std::vector<std::string> words) {
  CLI::App app("", "train");
  cli::TrainArguments arguments;
  arguments.add_to(app);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
    arguments.check();
    arguments.read_options();
  } catch (const CLI::ParseError&) {
  } catch (const Error&) {
  }
}

void parse_libsvm(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  try {
    cli::libsvm::OptionReader options(pointers, "usage");
    while (options.next()) switch (options.letter()) {
        case 's':
          options.whole();
          break;
        case 'w':
        case 'c':
          options.number();
          break;
        case 'r':
          options.text();
          break;
        default:
          options.unknown();
      }
    options.files(1, 2);
  } catch (const std::runtime_error&) {
    // Misused or Worded.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> words = words_of(data, size);
  parse_own(words);
  check_training(words);
  parse_libsvm(words);
  return 0;
}
