#include "maxmargin/structured/tasks/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/structured/tasks/feature_row.hpp"

namespace maxmargin {
namespace {

/// Reads graphs and paths, line by line.
class PlanReader {
 public:
  PlanReader(const std::string& path, std::size_t steps, const Vocabulary* known)
      : lines_(path), rows_(known), known_(known != nullptr) {
    data_.steps = steps;
    if (known_)
      for (const std::string& kind : words_of(*known, "kinds")) kinds_.push_back(kind);
  }

  PlanExamples read() {
    while (lines_.next()) {
      const auto words = lines_.words();
      if (words.empty() || words[0].starts_with('#')) continue;
      if (words[0] == "graph" || words[0] == "grid")
        begin(words[0] == "grid");
      else if (data_.graphs.empty())
        refuse(shown(words[0]) + " before a graph or grid", "begin with a line 'graph' or 'grid'");
      else if (words[0] == "path" || words[0] == "from")
        way(words);
      else if (grid_)
        cells(lines_.line());
      else
        edge(words);
    }
    if (data_.examples.empty())
      throw Error(Fault::data, lines_.place(), "there are no paths", "write 'path A B C'");
    data_.x = rows_.take();
    return std::move(data_);
  }
  const std::vector<std::string>& kinds() const { return kinds_; }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& mend) const {
    throw Error(Fault::data, lines_.place(), what, mend);
  }

  void begin(bool grid) {
    grid_ = grid;
    data_.graphs.emplace_back().first_row = rows_.x().count();
    node_.clear();
    edge_.clear();
    above_.clear();
    height_ = 0;
  }

  std::uint32_t node(const std::string& name) {
    const auto [found, added] =
        node_.emplace(name, static_cast<std::uint32_t>(data_.graphs.back().nodes.size()));
    if (added) data_.graphs.back().nodes.push_back(name);
    return found->second;
  }

  void add(std::uint32_t from, std::uint32_t to, const FeatureRow& row) {
    PlanGraph& graph = data_.graphs.back();
    if (!edge_.emplace(std::pair(from, to), graph.edges.size()).second)
      refuse("the edge from " + graph.nodes[from] + " to " + graph.nodes[to] + " is there already",
             "write it once");
    graph.edges.push_back({from, to});
    rows_.append(row);
  }

  void edge(const std::vector<std::string_view>& words) {
    if (words[0] != "edge" || words.size() < 3)
      refuse(shown(words[0]) + " is no edge, path or graph", "write 'edge A B index:value ...'");
    if (!data_.examples.empty() && data_.examples.back().graph + 1 == data_.graphs.size())
      refuse("an edge stands after the paths", "write all edges of a graph first");
    FeatureRow row;
    for (std::size_t k = 3; k < words.size(); ++k) append_feature(row, words[k], lines_);
    const std::uint32_t from = node(std::string(words[1])), to = node(std::string(words[2]));
    add(from, to, row);
  }

  /// A row of a grid: edges to and from the cells to the left and above, whose feature is the kind
  /// of the cell that is entered.
  void cells(std::string_view line) {
    if (!data_.examples.empty() && data_.examples.back().graph + 1 == data_.graphs.size())
      refuse("a row of the grid stands after the paths", "write all rows of a grid first");
    const std::string_view row = trimmed(line);
    if (height_ > 0 && row.size() != above_.size())
      refuse("a row of " + std::to_string(row.size()) + " cells after one of " +
                 std::to_string(above_.size()),
             "write rows of the same length");
    const auto name = [](std::size_t r, std::size_t c) {
      return std::to_string(r) + "," + std::to_string(c);
    };
    const auto join = [&](std::uint32_t a, char kind_a, std::uint32_t b, char kind_b) {
      add(a, b, kind(kind_b));
      add(b, a, kind(kind_a));
    };
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::uint32_t here = node(name(height_, c));
      if (c > 0) join(node(name(height_, c - 1)), row[c - 1], here, row[c]);
      if (height_ > 0) join(node(name(height_ - 1, c)), above_[c], here, row[c]);
    }
    above_ = row;
    ++height_;
  }

  FeatureRow kind(char cell) {
    const std::string word(1, cell);
    auto found = std::ranges::find(kinds_, word);
    FeatureRow row;
    if (found == kinds_.end()) {
      if (known_) return row;  // it has no weight
      kinds_.push_back(word);
      found = std::prev(kinds_.end());
    }
    row.index.push_back(static_cast<Index>(found - kinds_.begin()));
    row.value.push_back(1);
    return row;
  }

  std::uint32_t known_node(std::string_view word) const {
    const auto found = node_.find(std::string(word));
    if (found == node_.end())
      refuse(shown(word) + " is no node of the graph", "name nodes as edges do, cells ROW,COLUMN");
    return found->second;
  }

  void way(const std::vector<std::string_view>& words) {
    PlanExample example;
    example.graph = data_.graphs.size() - 1;
    example.line = lines_.number();
    const bool query = words[0] == "from";
    if (query ? words.size() != 4 || words[2] != "to" : words.size() < 3)
      refuse("a path has a start and a goal",
             "write 'path A B C', or 'from A to C' to ask for one");
    example.start = known_node(words[1]);
    example.goal = known_node(words.back());
    if (example.start == example.goal)
      refuse("a path ends where it begins", "give paths with two ends");
    std::vector<std::uint32_t> seen{example.start};
    for (std::size_t k = 2; k < words.size() && !query; ++k) {
      const std::uint32_t to = known_node(words[k]);
      const auto found = edge_.find({seen.back(), to});
      if (found == edge_.end())
        refuse(
            "there is no edge from " + std::string(words[k - 1]) + " to " + std::string(words[k]),
            "a path follows edges");
      if (std::ranges::find(seen, to) != seen.end())
        refuse("the path comes to " + std::string(words[k]) + " twice", "give paths without loops");
      seen.push_back(to);
      example.path.push_back(static_cast<std::int32_t>(found->second));
    }
    data_.examples.push_back(std::move(example));
    const std::size_t most = data_.most_steps(data_.examples.size() - 1);
    if (data_.examples.back().path.size() > most)
      refuse("the path has more than " + std::to_string(most) + " steps",
             "choose a larger --steps");
    if (query && !reaches(data_.examples.back(), most))
      refuse("no walk of " + std::to_string(most) + " steps leads there", "look at the edges");
  }

  bool reaches(const PlanExample& example, std::size_t most) const {
    std::vector<char> reached(data_.graphs.back().nodes.size(), 0);
    reached[example.start] = 1;
    for (std::size_t t = 0; t < most; ++t) {
      const std::vector<char> before = reached;
      for (const auto& [from, to] : data_.graphs.back().edges)
        if (before[from]) reached[to] = 1;
    }
    return reached[example.goal] == 1;
  }

  TextLines lines_;
  FeatureRows rows_;
  bool known_;
  std::vector<std::string> kinds_;
  PlanExamples data_;
  bool grid_ = false;
  std::map<std::string, std::uint32_t> node_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> edge_;
  std::string above_;
  std::size_t height_ = 0;
};

class PlanData : public StructuredData {
 public:
  PlanData(PlanExamples data, std::vector<std::string> kinds)
      : data_(std::move(data)), kinds_(std::move(kinds)), oracle_(data_), witness_(oracle_) {}

  const Oracle& oracle() const override { return oracle_; }
  const Oracle& witness() const override { return witness_; }
  Vocabulary vocabulary() const override { return {columns_word(data_.x), {"kinds", kinds_}}; }
  std::string contents() const override {
    return std::to_string(data_.examples.size()) + " paths in " +
           std::to_string(data_.graphs.size()) + " graphs of " + std::to_string(data_.x.count()) +
           " edges, " + std::to_string(data_.x.columns()) + " features";
  }
  bool labelled() const override {
    return std::ranges::none_of(data_.examples,
                                [](const PlanExample& each) { return each.path.empty(); });
  }
  std::string unknown() const override {
    return labelled() ? "" : "some lines ask for a path and do not show one";
  }
  void print(std::size_t i, StructureView y, std::span<const double>,
             std::string& out) const override {
    const PlanGraph& graph = data_.graph(i);
    out += "path " + graph.nodes[data_.examples[i].start];
    for (const std::int32_t edge : y)
      out += " " + graph.nodes[graph.edges[static_cast<std::size_t>(edge)].to];
    out += "\n";
  }
  StructuredScores score(std::span<const std::size_t> examples,
                         std::span<const Structure> predicted,
                         std::span<const double>) const override {
    double right = 0, steps = 0, wrong = 0;
    for (std::size_t k = 0; k < examples.size(); ++k) {
      right += predicted[k] == data_.examples[examples[k]].path ? 1 : 0;
      steps += static_cast<double>(predicted[k].size());
      wrong += oracle_.loss(examples[k], predicted[k]);
    }
    const double n = static_cast<double>(examples.size());
    return {{"accuracy", right / n}, {"step_error", wrong / steps}, {"mean_loss", wrong / n}};
  }

 private:
  PlanExamples data_;
  std::vector<std::string> kinds_;
  PlanOracle oracle_;
  PlanWitness witness_;
};

std::unique_ptr<StructuredData> read_plan(const std::string& path, const Settings& settings,
                                          const Vocabulary* known, const Threads&) {
  PlanReader reader(path, settings.count("steps", 0, 1000000), known);
  PlanExamples data = reader.read();
  return std::make_unique<PlanData>(std::move(data), reader.kinds());
}

constexpr std::array plan_options{
    TaskOption{"steps", "N", "0", "longest walk; 0: as many steps as a graph has nodes"}};

}  // namespace

StructuredTask plan_task() {
  return {"plan", "rewards of a graph or grid that make the best ways those shown", plan_options,
          read_plan};
}

}  // namespace maxmargin
