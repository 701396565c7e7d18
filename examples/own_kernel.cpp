// A kernel of one's own: similarity of strings of letters by the pairs of neighbours they share.
// The rows hold letters, so a built-in kernel would make no sense of them. The function is called
// from several threads at once.
#include <cstdio>
#include <map>
#include <maxmargin/maxmargin.hpp>
#include <string>
#include <utility>

namespace {

std::map<std::pair<int, int>, int> neighbours(const maxmargin::Row& row) {
  std::map<std::pair<int, int>, int> counts;
  int before = 0;
  row.for_each([&](std::size_t, double letter) {
    const int now = static_cast<int>(letter);
    if (before != 0 && now != 0) ++counts[{before, now}];
    before = now;
  });
  return counts;
}

/// The dot product of the counts of all pairs of neighbours, so positive semi-definite.
double shared_neighbours(const maxmargin::Row& left, const maxmargin::Row& right) {
  const auto counts = neighbours(left);
  double sum = 0;
  for (const auto& [pair, count] : neighbours(right)) {
    const auto found = counts.find(pair);
    if (found != counts.end()) sum += count * found->second;
  }
  return sum;
}

maxmargin::Dataset letters(const std::vector<std::string>& words) {
  constexpr std::size_t longest = 16;
  std::vector<std::vector<double>> rows;
  for (const std::string& word : words) {
    std::vector<double> row(longest, 0.0);
    for (std::size_t i = 0; i < word.size(); ++i) row[i] = word[i];
    rows.push_back(std::move(row));
  }
  return maxmargin::Dataset::from(rows);
}

}  // namespace

int main() {
  const std::vector<std::string> languages{"german",  "german",  "german",  "german",
                                           "german",  "german",  "english", "english",
                                           "english", "english", "english", "english"};
  const auto data = letters({"der", "weiter", "schreiben", "nicht", "eine", "sicher",  //
                             "the", "with", "thought", "ough", "this", "other"})
                        .labels(languages);
  maxmargin::Options options{{"cost", 10}};
  options.own_kernel("shared neighbours", shared_neighbours);
  const auto predicted =
      maxmargin::train(data, options).predict_labels(letters({"reiben", "though"}));
  std::printf("reiben: %s, though: %s\n", predicted[0].c_str(), predicted[1].c_str());
  return predicted[0] == "german" && predicted[1] == "english" ? 0 : 1;
}
