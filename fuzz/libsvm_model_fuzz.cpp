// Arbitrary bytes as a model of LIBSVM. What is read must come back the same from its own text, and
// as a model of maxmargin it must be consistent and survive the way back.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "maxmargin/libsvm/text.hpp"
#include "maxmargin/model/file/consistency.hpp"

namespace {

using namespace maxmargin;

void require(bool good) {
  if (!good) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  is_libsvm_text(text);
  try {
    const LibsvmModel model = parse_libsvm_text(text, "input");
    const std::string again = libsvm_text(model);
    require(libsvm_text(parse_libsvm_text(again, "again")) == again);
    if (model.labels.size() == 1) return 0;  // not a model that decides anything
    for (const Numbering numbering : {Numbering::libsvm, Numbering::own}) {
      const Model own = to_model(model, numbering);
      check_model(own, "own");
    }
  } catch (const Error& error) {
    require(error.fault() == Fault::data);
  }
  return 0;
}
