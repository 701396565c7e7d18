#pragma once

#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "cli/terminal/units.hpp"
#include "maxmargin/base/error.hpp"

namespace maxmargin::cli {

// Options that say how to run, the same for every command. What they fill must live as long as the
// command line is parsed.

inline CLI::Option* add_threads(CLI::App& app, int& threads) {
  return app
      .add_option_function<std::string>(
          "--threads",
          [&threads](const std::string& text) {
            threads = static_cast<int>(parse_count("--threads", text, 0, 1024));
          },
          "how many threads; 0: one per core [0]")
      ->type_name("N")
      ->take_last();
}

inline CLI::Option* add_seed(CLI::App& app, std::uint64_t& seed, const std::string& help) {
  return app
      .add_option_function<std::string>(
          "--seed",
          [&seed](const std::string& text) { seed = parse_count("--seed", text, 0, UINT64_MAX); },
          help)
      ->type_name("N")
      ->take_last();
}

/// The value of --memory. Under a limit, what the heap keeps for later counts like what is in use,
/// and caches of one size after another leave holes in it: large arrays get pages of their own,
/// which go back at once.
inline auto parse_memory_limit(const std::string& text) {
  constexpr int pages_of_their_own_from = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, pages_of_their_own_from);
  return parse_bytes("--memory", text);
}

/// "sampled" or "full".
inline CLI::Option* add_mercer(CLI::App& app, std::string& mercer) {
  return app
      .add_option_function<std::string>(
          "--mercer",
          [&mercer](const std::string& text) {
            if (text != "sampled" && text != "full")
              throw Error(Fault::usage, "--mercer: unknown choice '" + text + "'",
                          "choose sampled or full");
            mercer = text;
          },
          "whether a matrix is positive semi-definite: full, of all rows however many, or sampled, "
          "of "
          "all up to 5000 [sampled]")
      ->type_name("HOW")
      ->take_last();
}

}  // namespace maxmargin::cli
