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

inline std::string ranking_text(int documents = 4) {
  Rng rng(2);
  std::string text;
  for (int i = 0; i < 5 * documents; ++i)
    text +=
        std::to_string(i % 2) + " qid:" + std::to_string(i / documents) + row_of(rng, i % 2) + "\n";
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

inline std::string clustering_text() {
  Rng rng(4);
  std::string text;
  for (int i = 0; i < 24; ++i)
    text +=
        std::to_string(i % 3) + " qid:" + std::to_string(i / 6) + row_of(rng, 3 * (i % 3)) + "\n";
  return text;
}

inline std::string alignment_text() {
  return "GAT-TACA\nGCTATACA\n\nCCTAG--A\nCC-AGTTA\n\nAC\nAC\n\nTT-G\n--AG\n";
}
inline std::string local_alignment_text() {
  return "ccGAT-TAtt\ngGCTATAgc\n\nttCTAGat\nCTAGcc\n\nacaGA\nGAtt\n";
}

inline std::string graph_text() {
  return "graph\nedge a b 1:1\nedge b c 1:1\nedge a c 2:1\nedge c d 1:1 2:0.5\nedge b d 2:1\n"
         "edge d a 3:1\npath a b c d\npath a b c\npath b c d\n"
         "graph\nedge s t 2:2\nedge s u 1:1\nedge u t 1:1\npath s u t\n";
}
inline std::string grid_text() {
  return "grid\n..~.\n.~~.\n....\npath 0,0 1,0 2,0 2,1 2,2 2,3 1,3\npath 0,1 0,0 1,0 2,0\n"
         "grid\n.~.\n...\npath 0,0 1,0 1,1 1,2 0,2\n";
}

inline std::string sample_text(int rows) {
  Rng rng(6);
  std::string text;
  for (int i = 0; i < rows; ++i)
    text += (i % 3 == 0 ? "+1" : "-1") + row_of(rng, i % 3 == 0 ? 1 : 0) + "\n";
  return text;
}

inline std::string parse_text() {
  return "(S (NP (DT the) (NN dog)) (VP (VB sees) (NP (DT a) (JJ old) (NN cat))))\n"
         "( (S (NP (NNS dogs)) (VP (VB run))) )\n"
         "(S (NP (DT the) (NN cat)) (VP (VP (VB sees) (NP (DT the) (NN dog)))\n"
         "  (PP (IN with) (NP (DT the) (NN cat)))))\n"
         "(S (NP (NP (DT a) (NN dog)) (PP (IN with) (NP (DT a) (NN cat)))) (VP (VB run)))\n";
}

inline std::string collective_text(int labels) {
  Rng rng(7);
  std::string text;
  for (int g = 0; g < 6; ++g) {
    for (int d = 0; d < 5; ++d) {
      const int label = (g + d / 3) % labels;
      text += "abc"[label] + (" qid:" + std::to_string(g)) + row_of(rng, label) + "\n";
    }
    text += "edge 1 2\nedge 2 3\nedge 1 3\nedge 4 5\nedge 3 4\n";
  }
  return text;
}

inline std::vector<Sample> all() {
  return {
      {"multiclass-structured", {}, multiclass_text()},
      {"sequence", {}, sequence_text()},
      {"sequence", {{"order", "2"}}, sequence_text()},
      {"sequence", {{"kernel", "polynomial"}}, sequence_text()},
      {"sequence", {{"kernel", "rbf"}, {"gamma", "0.1"}, {"order", "2"}}, sequence_text()},
      {"ranking", {}, ranking_text()},
      {"ranking", {{"loss", "ap"}}, ranking_text(9)},
      {"ranking", {{"loss", "ndcg"}}, ranking_text(9)},
      {"ranking", {{"loss", "ap"}}, ranking_text()},
      {"ranking", {{"loss", "ndcg"}}, ranking_text()},
      {"multilabel", {{"edges", "none"}}, multilabel_text(5)},
      {"multilabel", {{"edges", "tree"}}, multilabel_text(9)},
      {"multilabel", {{"edges", "full"}}, multilabel_text(5)},
      {"multilabel", {{"edges", "full"}}, multilabel_text(8)},
      {"multilabel", {{"edges", "full"}}, multilabel_text(18, 5), 0.3},
      {"alignment", {}, alignment_text()},
      {"alignment", {{"mode", "local"}}, local_alignment_text()},
      {"clustering", {}, clustering_text()},
      {"collective", {}, collective_text(2)},
      {"collective", {}, collective_text(3)},
      {"parse", {}, parse_text()},
      {"parse", {{"min-count", "1"}}, parse_text()},
      {"plan", {}, graph_text()},
      {"sample", {{"loss", "f1"}}, sample_text(9)},
      {"sample", {{"loss", "f1"}}, sample_text(30)},
      {"sample", {{"loss", "error"}}, sample_text(20)},
      {"sample", {{"loss", "precision"}, {"k", "4"}}, sample_text(20)},
      {"sample", {{"loss", "recall"}}, sample_text(9)},
      {"sample", {{"loss", "ap"}}, sample_text(5)},
      {"sample", {{"loss", "ap"}}, sample_text(20)},
      {"sample", {{"loss", "roc"}}, sample_text(20)},
      {"plan", {{"steps", "9"}}, grid_text()},
  };
}

}  // namespace maxmargin::structured_samples
