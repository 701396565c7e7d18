// Arbitrary words as the command line of each command, up to where files would be opened: options
// are taken, or refused by an exception that the program turns into one line.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/libsvm/arguments.hpp"
#include "cli/options/train_options.hpp"
#include "cli/terminal/help.hpp"
#include "cli/verbs/verbs.hpp"
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

/// One command a time: listing the options of all takes longer than everything else.
void parse_own(const cli::NamedVerb& named, std::vector<std::string> words) {
  CLI::App program("", "maxmargin");
  program.require_subcommand(1);
  const cli::Verb verb = named.add(program);
  std::reverse(words.begin(), words.end());  // as the library wants them
  words.emplace_back(named.name);
  try {
    program.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    cli::explain(program, error);
  } catch (const Error&) {
  }
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

// The first byte chooses who reads the words behind it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::vector<std::string> words = words_of(data + 1, size - 1);
  const std::size_t verbs = std::size(cli::all_verbs), chosen = data[0] % (verbs + 2);
  if (chosen < verbs)
    parse_own(cli::all_verbs[chosen], words);
  else if (chosen == verbs)
    check_training(words);
  else
    parse_libsvm(words);
  return 0;
}
