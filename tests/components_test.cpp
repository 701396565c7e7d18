// What it costs to add a component: the files that know one by its name, counted. Those looked at
// here are special to nobody; a fast path may know the linear kernel, LIBSVM its own four.
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "tests/source_tree.hpp"

namespace maxmargin::components_test {
namespace {

using namespace testing_tree;
using Names = std::set<std::string>;

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool says(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end])))
      return true;
  }
  return false;
}

/// The source files, tests aside, that say one of these words.
Names known_in(const std::vector<std::string>& words) {
  static const auto sources = [] {
    std::vector<std::pair<std::string, std::string>> list;
    for (const char* folder : {"maxmargin", "cli", "capi", "include"})
      for (const fs::path& path : files(folder, {".cpp", ".hpp"})) {
        if (path.stem().string().ends_with("_test")) continue;
        list.emplace_back(shown(path), text_of(path));
      }
    return list;
  }();
  Names found;
  for (const auto& [name, text] : sources)
    for (const std::string& word : words)
      if (says(text, word)) found.insert(name);
  return found;
}

TEST(Components, AKernelCostsItsHeaderTheListAndItsRowInTheDocs) {
  EXPECT_EQ(known_in({"Laplacian", "\"laplacian\""}),
            (Names{"maxmargin/kernel/kernels.hpp", "maxmargin/kernel/laplacian.hpp"}));
  EXPECT_EQ(known_in({"ChiSquared"}),
            (Names{"maxmargin/kernel/kernels.hpp", "maxmargin/kernel/chi_squared.hpp"}));
}

// Whoever asks whether kernel values come with the data asks `is_given`. LIBSVM's formats have a
// number and a name for such a kernel.
TEST(Components, TheGivenMatrixIsKnownToItsEngineAndToFormatsThatNameIt) {
  EXPECT_EQ(known_in({"Precomputed", "\"precomputed\""}),
            (Names{"capi/libsvm/nodes.cpp", "maxmargin/kernel/engine/engine.cpp",
                   "maxmargin/kernel/kernels.hpp", "maxmargin/kernel/precomputed.hpp",
                   "maxmargin/libsvm/parameters.cpp", "maxmargin/libsvm/parse.cpp"}));
}

TEST(Components, ALossCostsItsHeaderTheListTheJudgeAndItsRowInTheDocs) {
  const std::string list = "maxmargin/loss/losses.hpp",
                    judge = "maxmargin/model/verify/dual_pieces.cpp";
  EXPECT_EQ(known_in({"Pinball", "\"pinball\""}),
            (Names{"maxmargin/loss/pinball.hpp", list, judge}));
  EXPECT_EQ(known_in({"HuberisedHinge", "\"huberised-hinge\""}),
            (Names{"maxmargin/loss/huberised_hinge.hpp", list, judge}));
  EXPECT_EQ(known_in({"Logistic", "\"logistic\""}),
            (Names{"maxmargin/loss/logistic.hpp", list, judge}));
}

TEST(Components, ASolverCostsItsTwoFilesTheListAndItsPlaceInTheDocs) {
  EXPECT_EQ(known_in({"Decomposition"}), (Names{"maxmargin/solver/decomposition/decomposition.cpp",
                                                "maxmargin/solver/decomposition/decomposition.hpp",
                                                "maxmargin/solver/solvers.hpp"}));
}

TEST(Components, ASchemeForSeveralClassesCostsItsHeaderTheListAndItsSentenceInTheDocs) {
  const std::string list = "maxmargin/task/multiclass/multiclass.hpp";
  EXPECT_EQ(known_in({"CrammerSingerScheme", "Multiclass::crammer_singer"}),
            (Names{"maxmargin/task/multiclass/crammer_singer.hpp", list}));
}

// The declaration is all that there is to an option of a component.
TEST(Components, AnOptionCostsItsDeclaration) {
  EXPECT_EQ(known_in({"\"tau\"", "--tau"}), Names{"maxmargin/loss/pinball.hpp"});
}

}  // namespace
}  // namespace maxmargin::components_test
