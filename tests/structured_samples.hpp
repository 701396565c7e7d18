#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "maxmargin/base/rng.hpp"

// Small files of every task of structural machines, for tests that all tasks have to pass.
namespace maxmargin::structured_samples {

struct Sample {
  std::string task;
  std::map<std::string, std::string> settings;
  std::string text;
  double C = 10;
};

inline std::string row_of(Rng& rng, double shift, std::size_t size = 3) {
  std::ostringstream text;
  for (std::size_t j = 1; j <= size; ++j) {
    text << ' ' << j << ':';
    text << (rng.normal() + (j == 1 ? shift : 0));
  }
  return text.str();
}

inline std::string multiclass_text() {
  Rng rng(1);
  std::string text;
  for (int i = 0; i < 20; ++i) text += std::to_string(i % 3) + row_of(rng, i % 3) + "\n";
  return text;
}

inline std::string sequence_text() {
  return "He PRP B-NP\nsees VBZ B-VP\na DT B-NP\ndog NN I-NP\n\nDogs NNS B-NP\nrun VBP B-VP\n"
         ". . O\n\nA DT B-NP\ncat NN I-NP\nruns VBZ B-VP\n";
}

inline std::string ranking_text() {
  Rng rng(2);
  std::string text;
  for (int i = 0; i < 20; ++i)
    text += std::to_string(i % 2) + " qid:" + std::to_string(i / 4) + row_of(rng, i % 2) + "\n";
  return text;
}

inline std::string multilabel_text(std::size_t labels, int rows = 16) {
  Rng rng(3);
  std::string text;
  for (int i = 0; i < rows; ++i) {
    std::string on;
    double shift = 0;
    for (std::size_t l = 0; l < labels; ++l) {
      // The last row has none, the first one all.
      const bool has = i == 0 || (i < rows - 1 && rng.uniform() < 0.4);
      if (!has) continue;
      on += (on.empty() ? "" : ",") + std::to_string(l);
      shift += l % 2 == 0 ? 1 : -1;
    }
    text += on + row_of(rng, shift) + "\n";
  }
  return text;
}

inline std::vector<Sample> all() {
  return {
      {"multiclass-structured", {}, multiclass_text()},
      {"sequence", {}, sequence_text()},
      {"sequence", {{"order", "2"}}, sequence_text()},
      {"ranking", {}, ranking_text()},
      {"ranking", {{"loss", "ap"}}, ranking_text()},
      {"ranking", {{"loss", "ndcg"}}, ranking_text()},
      {"multilabel", {{"edges", "none"}}, multilabel_text(5)},
      {"multilabel", {{"edges", "tree"}}, multilabel_text(9)},
      {"multilabel", {{"edges", "full"}}, multilabel_text(5)},
      {"multilabel", {{"edges", "full"}}, multilabel_text(8)},
      {"multilabel", {{"edges", "full"}}, multilabel_text(18, 5), 0.3},
  };
}

}  // namespace maxmargin::structured_samples
