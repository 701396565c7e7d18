#include "maxmargin/structured/tasks/clustering/clustering.hpp"

#include <map>

#include "maxmargin/base/error.hpp"

namespace maxmargin {
namespace {

class ClusteringData : public StructuredData {
 public:
  explicit ClusteringData(ClusteringExamples data)
      : data_(std::move(data)), oracle_(data_), witness_(oracle_) {}

  const Oracle& oracle() const override { return oracle_; }
  const Oracle& witness() const override { return witness_; }
  Vocabulary vocabulary() const override { return {columns_word(data_.items.x)}; }
  std::string contents() const override {
    return std::to_string(data_.size()) + " sets of " + std::to_string(data_.cluster.size()) +
           " items, " + std::to_string(data_.items.x.columns()) + " features";
  }
  void print(std::size_t i, StructureView y, std::span<const double>,
             std::string& out) const override {
    for (const std::int32_t each : y)
      out += std::to_string(each + 1) + " qid:" + data_.items.name[i] + "\n";
  }
  StructuredScores score(std::span<const std::size_t> examples,
                         std::span<const Structure> predicted,
                         std::span<const double>) const override {
    double both = 0, found = 0, wanted = 0, loss = 0;
    for (std::size_t k = 0; k < examples.size(); ++k) {
      const Structure right = oracle_.truth(examples[k]);
      loss += oracle_.loss(examples[k], predicted[k]);
      for (std::size_t a = 0; a < right.size(); ++a)
        for (std::size_t b = a + 1; b < right.size(); ++b) {
          const bool is = predicted[k][a] == predicted[k][b], should = right[a] == right[b];
          both += is && should ? 1 : 0;
          found += is ? 1 : 0;
          wanted += should ? 1 : 0;
        }
    }
    const double mean = loss / static_cast<double>(examples.size());
    return {{"rand_index", 1 - mean},
            {"precision", found > 0 ? both / found : 1},
            {"recall", wanted > 0 ? both / wanted : 1},
            {"f1", found + wanted > 0 ? 2 * both / (found + wanted) : 1},
            {"mean_loss", mean}};
  }

 private:
  ClusteringExamples data_;
  ClusteringOracle oracle_;
  ClusteringWitness witness_;
};

std::unique_ptr<StructuredData> read_clustering(const std::string& path, const Settings&,
                                                const Vocabulary* known, const Threads&) {
  ClusteringExamples data;
  std::map<std::string, std::int32_t> number;
  const GroupReader reader{"item", "set", [&](const FeatureRow& row, const TextLines&) {
                             const auto next = static_cast<std::int32_t>(number.size());
                             data.cluster.push_back(number.emplace(row.label, next).first->second);
                           }};
  data.items = read_grouped_rows(path, known, reader);
  Structure numbered;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const Structure part = numbered_by_occurrence(
        StructureView(data.cluster).subspan(data.items.start[i], data.count(i)));
    numbered.insert(numbered.end(), part.begin(), part.end());
  }
  data.cluster = std::move(numbered);
  return std::make_unique<ClusteringData>(std::move(data));
}

}  // namespace

StructuredTask clustering_task() {
  return {"clustering",
          "which items of a set belong together (correlation clustering)",
          {},
          read_clustering};
}

}  // namespace maxmargin
