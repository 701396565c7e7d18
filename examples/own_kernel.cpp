// A kernel of one's own: similarity of strings of letters by the pairs of neighbours they share.
// The rows hold letters, so a built-in kernel would make no sense of them. The function is called
// by blocks, perhaps from several threads at once.
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/train.hpp"

using namespace maxmargin;

namespace {

std::map<std::pair<int, int>, int> neighbours(const Rows& rows, std::size_t row) {
  std::map<std::pair<int, int>, int> counts;
  int before = 0;
  rows.for_each(row, [&](Index, double letter) {
    const int now = static_cast<int>(letter);
    if (before != 0 && now != 0) ++counts[{before, now}];
    before = now;
  });
  return counts;
}

/// The dot product of the counts of all pairs of neighbours, so positive semi-definite.
void shared_neighbours(const Rows& left, std::span<const Index> left_rows, const Rows& right,
                       std::size_t right_begin, std::size_t right_count, double* out) {
  for (const Index row : left_rows) {
    const auto counts = neighbours(left, row);
    for (std::size_t c = 0; c < right_count; ++c) {
      double sum = 0;
      for (const auto& [pair, count] : neighbours(right, right_begin + c)) {
        const auto found = counts.find(pair);
        if (found != counts.end()) sum += count * found->second;
      }
      *out++ = sum;
    }
  }
}

Features letters(std::initializer_list<std::string> words) {
  constexpr std::size_t longest = 16;
  Features rows = Features::dense(longest);
  for (const std::string& word : words) {
    std::vector<double> row(longest, 0.0);
    for (std::size_t i = 0; i < word.size(); ++i) row[i] = word[i];
    rows.append(row);
  }
  return rows;
}

}  // namespace

int main() {
  Dataset data;
  data.x = letters({"der", "weiter", "schreiben", "nicht", "eine", "sicher",  //
                    "the", "with", "thought", "ough", "this", "other"});
  data.words = {"english", "german"};
  data.y = {1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};

  const Threads threads;
  TrainOptions options;
  options.task = Svc{.cost = 10};
  options.kernel = Custom{.label = "shared neighbours", .function = shared_neighbours};
  const Trained trained = train(std::move(data), options, threads);

  const Predictor predictor(trained.model);
  const Features fresh = letters({"reiben", "though"});
  const auto values = predictor.decision_values(fresh, threads);
  const std::string first =
      trained.model.classes[static_cast<std::size_t>(predictor.predict({&values[0], 1}))];
  const std::string second =
      trained.model.classes[static_cast<std::size_t>(predictor.predict({&values[1], 1}))];
  std::printf("reiben: %s, though: %s\n", first.c_str(), second.c_str());
  return first == "german" && second == "english" ? 0 : 1;
}
