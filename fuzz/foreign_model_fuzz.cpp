// Arbitrary bytes as what the programs of others have learned: models of SVMstruct's family, the
// ranges of svm-scale. What is taken is written again, and that is read to the same text.

#include <cstdint>
#include <cstdlib>

#include "cli/libsvm/range_file.hpp"
#include "cli/svmstruct/text_model.hpp"
#include "fuzz/memory_file.hpp"
#include "maxmargin/base/error.hpp"

namespace {

using namespace maxmargin;
using cli::libsvm::load_ranges, cli::libsvm::range_text;
using cli::svmstruct::is_text_model, cli::svmstruct::read_text_model, cli::svmstruct::text_model;

void require(bool holds) {
  if (!holds) std::abort();
}

/// `rewritten` reads a file, and gives what it has read as text.
template <class Rewritten>
void comes_back(const std::string& path, const Rewritten& rewritten) {
  const std::string text = rewritten(path);
  const MemoryFile file(std::as_bytes(std::span(text)));
  require(rewritten(file.path()) == text);
}

}  // namespace

// The first byte says what it is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr const char* tasks[] = {"ranking", "sample", "multiclass-structured", "sequence"};
  if (size == 0) return 0;
  const MemoryFile file(std::as_bytes(std::span(data + 1, size - 1)));
  const std::size_t kind = data[0] % (std::size(tasks) + 1);
  try {
    if (kind == std::size(tasks)) {
      comes_back(file.path(),
                 [](const std::string& path) { return range_text(load_ranges(path)); });
    } else {
      is_text_model(file.path());
      comes_back(file.path(), [&](const std::string& path) {
        return text_model(read_text_model(path, tasks[kind]));
      });
    }
  } catch (const Error&) {
    // No such file.
  }
  return 0;
}
