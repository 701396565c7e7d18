// dlib's structural machines on the files that ours read: the peer of bench/structural.
//
//   structural sequence TRAIN TEST COST EPSILON THREADS     SVM-hmm's format
//   structural rank     TRAIN TEST COST EPSILON THREADS     LETOR's format
//
// prints one line of JSON (and each round of a sequence's training on standard error): processor
// and clock seconds of training, the last objective and gap that dlib reports, its objective by
// definition for rank, the share of wrong labels in TEST.
#include <dlib/svm.h>
#include <dlib/svm_threaded.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace {

using Token = std::vector<std::pair<unsigned long, double>>;
struct Sequences {
  std::vector<std::vector<Token>> x;
  std::vector<std::vector<unsigned long>> y;
};

Sequences read_sequences(const std::string& path, std::map<std::string, unsigned long>& labels,
                         unsigned long& features) {
  Sequences read;
  std::ifstream file(path);
  std::string line, last;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string label, qid, word;
    if (!(words >> label >> qid)) continue;
    if (read.x.empty() || qid != last) {
      read.x.emplace_back();
      read.y.emplace_back();
      last = qid;
    }
    Token token;
    while (words >> word && word[0] != '#') {
      const std::size_t colon = word.find(':');
      token.emplace_back(std::stoul(word.substr(0, colon)), std::stod(word.substr(colon + 1)));
      features = std::max(features, token.back().first + 1);
    }
    read.x.back().push_back(token);
    read.y.back().push_back(labels.emplace(label, labels.size()).first->second);
  }
  return read;
}

class Extractor {
 public:
  typedef std::vector<Token> sequence_type;
  unsigned long features = 0, labels = 0;

  unsigned long order() const { return 1; }
  unsigned long num_labels() const { return labels; }
  unsigned long num_features() const { return features * labels + labels * labels; }
  template <typename feature_setter, typename EXP>
  void get_features(feature_setter& set, const sequence_type& x, const dlib::matrix_exp<EXP>& y,
                    unsigned long position) const {
    for (const auto& [feature, value] : x[position]) set(y(0) * features + feature, value);
    if (y.size() > 1) set(features * labels + y(1) * labels + y(0));
  }
};
void serialize(const Extractor&, std::ostream&) {}
void deserialize(Extractor&, std::istream&) {}

double wall() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What dlib writes while it runs. Each round goes to standard error with the seconds so far: a run
/// that is ended before its time has then shown what it reached.
class Listening : private std::streambuf {
 public:
  Listening() : before_(std::cout.rdbuf(this)) {}
  ~Listening() override { std::cout.rdbuf(before_); }
  double last(const std::string& name) const {
    const std::size_t at = text_.rfind("\n" + name + ":");
    return at == std::string::npos ? -1 : std::stod(text_.substr(at + name.size() + 2));
  }

 private:
  int_type overflow(int_type c) override {
    text_ += static_cast<char>(c);
    if (c == '\n' && text_.find("\niter:", start_) != std::string::npos) {
      start_ = text_.size() - 1;
      std::fprintf(stderr, "%.2f s, %.2f of the processor: objective %.8g, gap %.6g, planes %.0f\n",
                   wall() - began_, static_cast<double>(std::clock() - ticks_) / CLOCKS_PER_SEC,
                   last("objective"), last("objective gap"), last("num planes"));
    }
    return c;
  }

  const double began_ = wall();
  const std::clock_t ticks_ = std::clock();
  std::string text_ = "\n";
  std::size_t start_ = 0;
  std::streambuf* before_;
};

int run_sequence(char** argv) {
  std::map<std::string, unsigned long> names;
  unsigned long features = 0;
  const Sequences train = read_sequences(argv[2], names, features);
  const Sequences test = read_sequences(argv[3], names, features);
  Extractor extractor;
  extractor.features = features;
  extractor.labels = names.size();
  dlib::structural_sequence_labeling_trainer<Extractor> trainer(extractor);
  trainer.set_c(std::stod(argv[4]));
  trainer.set_epsilon(std::stod(argv[5]));
  trainer.set_num_threads(std::stoul(argv[6]));
  trainer.be_verbose();
  const double start = wall();
  const std::clock_t ticks = std::clock();
  double objective, gap;
  const auto labeler = [&] {
    const Listening listening;
    auto trained = trainer.train(train.x, train.y);
    objective = listening.last("objective");
    gap = listening.last("objective gap");
    return trained;
  }();
  const double processor = static_cast<double>(std::clock() - ticks) / CLOCKS_PER_SEC;
  const double seconds = wall() - start;
  double wrong = 0, all = 0;
  for (std::size_t i = 0; i < test.x.size(); ++i) {
    const auto found = labeler(test.x[i]);
    for (std::size_t t = 0; t < found.size(); ++t) wrong += found[t] != test.y[i][t] ? 1 : 0;
    all += static_cast<double>(found.size());
  }
  std::printf(
      "{\"seconds\": %.4f, \"processor\": %.4f, \"objective\": %.10g, \"gap\": %.6g, "
      "\"token_error\": %.6f}\n",
      seconds, processor, objective, gap, wrong / all);
  return 0;
}

using Document = dlib::matrix<double, 0, 1>;

int run_rank(char** argv) {
  std::ifstream file(argv[2]);
  std::string line;
  std::map<std::string, std::vector<std::pair<double, Document>>> queries;
  std::vector<std::string> order;
  unsigned long features = 0;
  std::vector<std::tuple<std::string, double, Token>> rows;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string relevance, qid, word;
    if (!(words >> relevance >> qid)) continue;
    Token row;
    while (words >> word && word[0] != '#') {
      const std::size_t colon = word.find(':');
      row.emplace_back(std::stoul(word.substr(0, colon)), std::stod(word.substr(colon + 1)));
      features = std::max(features, row.back().first + 1);
    }
    rows.emplace_back(qid, std::stod(relevance), row);
  }
  for (const auto& [qid, relevance, row] : rows) {
    Document x = dlib::zeros_matrix<double>(static_cast<long>(features), 1);
    for (const auto& [feature, value] : row) x(static_cast<long>(feature)) = value;
    queries[qid].emplace_back(relevance, x);
  }
  // dlib knows two levels: a query of several is one pair of sets for each level.
  std::vector<dlib::ranking_pair<Document>> samples;
  for (const auto& [qid, documents] : queries) {
    std::set<double> levels;
    for (const auto& [relevance, x] : documents) levels.insert(relevance);
    for (const double level : levels) {
      dlib::ranking_pair<Document> pair;
      for (const auto& [relevance, x] : documents) {
        if (relevance == level) pair.relevant.push_back(x);
        if (relevance < level) pair.nonrelevant.push_back(x);
      }
      if (!pair.relevant.empty() && !pair.nonrelevant.empty()) samples.push_back(pair);
    }
  }
  dlib::svm_rank_trainer<dlib::linear_kernel<Document>> trainer;
  const double C = std::stod(argv[4]);
  trainer.set_c(C);
  trainer.set_epsilon(std::stod(argv[5]));
  const double start = wall();
  const std::clock_t ticks = std::clock();
  const auto ranked = trainer.train(samples);
  const double processor = static_cast<double>(std::clock() - ticks) / CLOCKS_PER_SEC;
  const double seconds = wall() - start;
  const Document w = ranked.basis_vectors(0);
  double loss = 0, pairs = 0;
  for (const auto& pair : samples)
    for (const Document& a : pair.relevant)
      for (const Document& b : pair.nonrelevant) {
        loss += std::max(0.0, 1 - dlib::dot(w, a) + dlib::dot(w, b));
        ++pairs;
      }
  std::printf("{\"seconds\": %.4f, \"processor\": %.4f, \"objective\": %.12g}\n", seconds,
              processor, dlib::dot(w, w) / 2 + C * loss / pairs);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "sequence|rank TRAIN TEST COST EPSILON THREADS\n");
    return 2;
  }
  return std::string(argv[1]) == "rank" ? run_rank(argv) : run_sequence(argv);
}
