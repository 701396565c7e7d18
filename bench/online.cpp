// How fast a stream is learned. Prints one JSON object.
//
//   online linear [ROWS]            RCV1-like rows in memory: 76 of 47,236 features, unit length;
//                                   and the loop of Bottou's svmsgd on the same rows
//   online kernel FILE GAMMA BUDGET the rows of a file with a budget, and by a plain loop in double
//   online memory FILE LAMBDA PASSES T0  the rows of a file in memory, linear, averaged:
//                                   progressive hinge loss and error; the rate is
//                                   1 / (LAMBDA (t + T0))
//   online text FILE                what it costs to read a file as a stream, and to learn it too
//   online write FILE ROWS          the rows of `linear` as text
//   online window FILE GAMMA N ROWS one row in and one out of an exact window, and training afresh;
//                                   the rows in random order, as often as it takes; the first class
//                                   against the others
//
// Seconds are those of the processor: one thread, on a machine that may do other things.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/readers/feed.hpp"
#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/data/readers/source.hpp"
#include "maxmargin/online/dual_learner.hpp"
#include "maxmargin/online/learner.hpp"
#include "maxmargin/train/train.hpp"

using namespace maxmargin;

namespace {

class ProcessorTime {
 public:
  double seconds() const { return now() - start_; }

 private:
  static double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
  double start_ = now();
};

/// Sparse rows as a stream has them.
struct InMemory {
  std::vector<Index> index;
  std::vector<double> values;
  std::vector<std::size_t> start{0};
  std::vector<double> y;

  std::size_t rows() const { return y.size(); }
  StreamRow row(std::size_t i) const {
    const std::size_t size = start[i + 1] - start[i];
    return {{index.data() + start[i], size}, {values.data() + start[i], size}, i};
  }
};

InMemory from_file(const std::string& path) {
  const Dataset data = read(path, {}, Threads(1));
  InMemory made;
  const Rows rows = data.x;
  for (std::size_t i = 0; i < rows.count; ++i) {
    rows.for_each(i, [&](Index feature, double value) {
      if (value == 0) return;
      made.index.push_back(feature);
      made.values.push_back(value);
    });
    made.start.push_back(made.index.size());
  }
  made.y = data.y;
  return made;
}

InMemory like_rcv1(std::size_t rows) {
  constexpr std::size_t features = 47236, nonzeros = 76;
  Rng rng(1);
  // Rare words say nothing: about as many errors are left as on RCV1 itself.
  std::vector<double> truth(features, 0.0);
  for (std::size_t j = 0; j < 2000; ++j) truth[j] = rng.normal();
  InMemory made;
  std::vector<Index> chosen(nonzeros);
  for (std::size_t i = 0; i < rows; ++i) {
    // Frequent features have low numbers, as words by rank.
    for (Index& each : chosen)
      each = static_cast<Index>(std::pow(static_cast<double>(features), rng.uniform())) - 1;
    std::ranges::sort(chosen);
    double sum = 0;
    const std::size_t first = made.index.size();
    for (std::size_t k = 0; k < nonzeros; ++k) {
      Index feature = chosen[k];
      if (made.index.size() > first && feature <= made.index.back())
        feature = made.index.back() + 1;
      made.index.push_back(feature);
      made.values.push_back(1 / std::sqrt(static_cast<double>(nonzeros)));
      sum += feature < features ? truth[feature] : 0;
    }
    made.start.push_back(made.index.size());
    made.y.push_back(sum + rng.normal() > 0 ? 1 : -1);
  }
  return made;
}

/// The loop of Bottou's svmsgd: weights with a scale, rate 1 / (lambda (t + t0)), no bias.
struct Svmsgd {
  double lambda, first;
  std::vector<double> w{};
  double scale = 1, t = 0;
  std::size_t errors = 0, updates = 0;

  void learn(const StreamRow& x, double y) {
    double sum = 0;
    for (std::size_t k = 0; k < x.features.size(); ++k) sum += w[x.features[k]] * x.values[k];
    const double margin = y * sum * scale, rate = 1 / (lambda * (t++ + first));
    errors += margin <= 0;
    scale *= 1 - lambda * rate;
    if (scale < 1e-9) {
      for (double& each : w) each *= scale;
      scale = 1;
    }
    if (margin >= 1) return;
    ++updates;
    const double factor = rate * y / scale;
    for (std::size_t k = 0; k < x.features.size(); ++k) w[x.features[k]] += factor * x.values[k];
  }
};

void linear(std::size_t rows) {
  const InMemory data = like_rcv1(rows);
  constexpr double lambda = 1e-4;
  Learner learner({.rule = PegasosRule{}, .kernel = Linear{}, .lambda = lambda});
  std::size_t errors = 0;
  const double sign = data.y[0];
  Svmsgd peer{lambda, 2, std::vector<double>(learner.options().most_features >> 8)};
  const auto timed = [&](auto&& one_row) {
    const ProcessorTime watch;
    for (std::size_t i = 0; i < rows; ++i) one_row(i);
    return watch.seconds();
  };
  const auto own_row = [&](std::size_t i) {
    errors += !learner.learn(data.row(i), data.y[i]).correct;
  };
  const auto peer_row = [&](std::size_t i) { peer.learn(data.row(i), sign * data.y[i]); };
  timed(own_row);
  timed(peer_row);
  errors = peer.errors = peer.updates = 0;
  const std::uint64_t before = learner.updates();
  const double seconds = timed(own_row), peer_seconds = timed(peer_row);
  const auto count = static_cast<double>(rows);
  fmt::print(
      "{{\"rows_per_second\": {:.4g}, \"error\": {:.4f}, \"update_rate\": {:.4f}, "
      "\"svmsgd\": {:.4g}, \"svmsgd_error\": {:.4f}, \"svmsgd_update_rate\": {:.4f}}}\n",
      count / seconds, static_cast<double>(errors) / count,
      static_cast<double>(learner.updates() - before) / count, count / peer_seconds,
      static_cast<double>(peer.errors) / count, static_cast<double>(peer.updates) / count);
}

/// The same updates by a loop over the expansion, each pair of rows merged, std::exp.
struct Plain {
  const InMemory& data;
  double gamma, lambda, eta;
  std::size_t budget;
  std::vector<std::size_t> row{};
  std::vector<double> alpha{};
  double bias = 0;

  double k(std::size_t i, std::size_t j) const {
    const StreamRow x = data.row(i), z = data.row(j);
    double sum = 0;
    std::size_t a = 0, b = 0;
    while (a < x.features.size() || b < z.features.size()) {
      if (b == z.features.size() || (a < x.features.size() && x.features[a] < z.features[b])) {
        sum += x.values[a] * x.values[a];
        ++a;
      } else if (a == x.features.size() || z.features[b] < x.features[a]) {
        sum += z.values[b] * z.values[b];
        ++b;
      } else {
        const double d = x.values[a++] - z.values[b++];
        sum += d * d;
      }
    }
    return std::exp(-gamma * sum);
  }
  /// g before the row.
  double learn(std::size_t t, double y, double step) {
    double g = bias;
    for (std::size_t s = 0; s < row.size(); ++s) g += alpha[s] * k(row[s], t);
    const double rate = eta / std::sqrt(step);
    for (double& each : alpha) each *= 1 - lambda * rate;
    if (y * g < 1) {
      row.push_back(t);
      alpha.push_back(rate * y);
      bias += rate * y;
    }
    if (row.size() > budget) {
      std::size_t least = 0;
      for (std::size_t s = 1; s < alpha.size(); ++s)
        if (std::abs(alpha[s]) < std::abs(alpha[least])) least = s;
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(least));
      alpha.erase(alpha.begin() + static_cast<std::ptrdiff_t>(least));
    }
    return g;
  }
};

void kernel(const std::string& path, double gamma, int budget) {
  const InMemory data = from_file(path);
  Learner learner({.rule = SoftMarginRule{}, .kernel = Rbf{gamma}, .truncation = Budget{budget}});
  Plain plain{data, gamma, 1e-4, 1, static_cast<std::size_t>(budget)};
  const double sign = data.y[0];
  // The plain loop is timed on some rows behind those that fill the budget.
  const std::size_t rows = data.rows(), some = std::min<std::size_t>(rows, 8000), from = some / 2;
  std::vector<double> said;
  double seconds = 0, plain_seconds = 0, worst = 0;
  std::size_t differing = 0;
  ProcessorTime watch;
  for (std::size_t i = 0; i < rows; ++i) {
    learner.learn(data.row(i), data.y[i]);
    if (i < some) said.push_back(i == 0 ? 0 : learner.decision_values()[0]);
  }
  seconds = watch.seconds();
  for (std::size_t i = 0; i < some; ++i) {
    if (i == from) watch = ProcessorTime();
    const double g = plain.learn(i, data.y[i] * sign, static_cast<double>(i + 1));
    worst = std::max(worst, std::abs(g - said[i]));
    differing += (g > 0) != (said[i] > 0);
  }
  plain_seconds = watch.seconds();
  const double fast = static_cast<double>(rows) / seconds,
               slow = static_cast<double>(some - from) / plain_seconds;
  fmt::print(
      "{{\"rows_per_second\": {:.4g}, \"plain\": {:.4g}, \"ratio\": {:.1f}, \"support\": {}, "
      "\"largest_difference\": {:.2e}, \"predictions_that_differ\": {}}}\n",
      fast, slow, fast / slow, learner.terms(), worst, differing);
}

void memory(const std::string& path, double lambda, std::size_t passes, double t0) {
  const InMemory data = from_file(path);
  Learner learner(
      {.rule = PegasosRule{}, .kernel = Linear{}, .lambda = lambda, .t0 = t0, .average = true});
  double loss = 0, errors = 0;
  const double positive = data.y[0];
  const ProcessorTime watch;
  for (std::size_t i = 0; i < passes * data.rows(); ++i) {
    const std::size_t at = i % data.rows();
    errors += !learner.learn(data.row(at), data.y[at]).correct;
    // Of what is predicted with, the average.
    const double g = learner.decision_values()[0];
    loss += std::max(0.0, 1 - (data.y[at] == positive ? g : -g));
  }
  const double seconds = watch.seconds(), rows = static_cast<double>(passes * data.rows());
  fmt::print("{{\"rows\": {}, \"seconds\": {:.4g}, \"loss\": {:.5f}, \"error\": {:.5f}}}\n",
             passes * data.rows(), seconds, loss / rows, errors / rows);
}

void text(const std::string& path) {
  Learner learner({.rule = PegasosRule{}, .kernel = Linear{}, .lambda = 1e-4});
  const auto timed = [&](auto&& take) {
    const ProcessorTime watch;
    const auto source = open_source(path);
    Feed feed(path, {});
    FeedBatch batch;
    std::string chunk(std::size_t{1} << 16, '\0');
    while (const std::size_t got = source->read(chunk.data(), chunk.size())) {
      feed.append({chunk.data(), got});
      while (feed.next(batch, 4096)) take(batch);
    }
    return watch.seconds();
  };
  std::size_t rows = 0, errors = 0;
  const double reading = timed([&](const FeedBatch& batch) { rows += batch.rows.count; });
  const double learning = timed([&](const FeedBatch& batch) {
    for (std::size_t i = 0; i < batch.rows.count; ++i) {
      const std::size_t begin = batch.rows.start[i], size = batch.rows.start[i + 1] - begin;
      const StreamRow x{{batch.rows.index + begin, size}, {batch.rows.doubles + begin, size}, i};
      errors += !learner.learn(x, batch.labels[i].number).correct;
    }
  });
  const ProcessorTime watch;
  const Dataset whole = read(path, {}, Threads(1));
  fmt::print(
      "{{\"rows\": {}, \"reading\": {:.4g}, \"and_learning\": {:.4g}, \"whole_file\": {:.4g}, "
      "\"error\": {:.5f}}}\n",
      rows, reading, learning, watch.seconds(),
      static_cast<double>(errors) / static_cast<double>(rows));
}

/// The rows of `linear` as LIBSVM text.
void write_rows(const std::string& path, std::size_t rows) {
  const InMemory data = like_rcv1(rows);
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw Error(Fault::io, Place{path}, "cannot write");
  for (std::size_t i = 0; i < rows; ++i) {
    const StreamRow x = data.row(i);
    fmt::print(file, "{}", data.y[i]);
    // As many digits as RCV1 has.
    for (std::size_t k = 0; k < x.features.size(); ++k)
      fmt::print(file, " {}:{:.6g}", x.features[k] + 1, x.values[k] * (1 + 1e-3 * (i % 97)));
    fmt::print(file, "\n");
  }
  std::fclose(file);
}

void window(const std::string& path, double gamma, std::size_t size, std::size_t rows) {
  const InMemory data = from_file(path);
  Rng rng(1);
  std::vector<std::size_t> order(data.rows());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  const double first = data.y[0];
  const auto row = [&](std::size_t i) {
    StreamRow x = data.row(order[i % order.size()]);
    x.number = i;
    return x;
  };
  const auto label = [&](std::size_t i) {
    return data.y[order[i % order.size()]] == first ? 1.0 : -1.0;
  };
  DualLearner learner({.kernel = Rbf{gamma}, .cost = 1, .window = size});
  ProcessorTime watch;
  double steps = 0;
  for (std::size_t i = 0; i < size + rows; ++i) {
    if (i == size) {
      watch = ProcessorTime();
      steps = static_cast<double>(learner.pair_steps());
    }
    learner.learn(row(i), label(i));
  }
  const double per_row = watch.seconds() / static_cast<double>(rows);
  steps = (static_cast<double>(learner.pair_steps()) - steps) / static_cast<double>(rows);
  const Certificate own = *learner.certificate(Threads(1));
  Dataset afresh;
  afresh.x = Features::sparse(1 << 20);
  for (std::size_t i = rows; i < size + rows; ++i) {
    afresh.x.append(row(i).features, row(i).values);
    afresh.y.push_back(label(i));
  }
  TrainOptions options;
  options.kernel = Rbf{gamma};
  watch = ProcessorTime();
  const Trained trained = train(std::move(afresh), options, Threads(1));
  const double whole = watch.seconds();
  fmt::print(
      "{{\"seconds_per_row\": {:.3e}, \"afresh\": {:.3e}, \"share\": {:.4f}, \"pair_steps\": "
      "{:.1f}, \"kkt\": {:.2e}, \"dual\": {:.9g}, \"dual_afresh\": {:.9g}}}\n",
      per_row, whole, per_row / whole, steps, own.kkt, own.dual, trained.certificate.dual);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "linear") {
    linear(words.size() > 1 ? std::stoul(words[1]) : 400000);
  } else if (words.size() == 4 && words[0] == "kernel") {
    kernel(words[1], std::stod(words[2]), std::stoi(words[3]));
  } else if (words.size() == 5 && words[0] == "memory") {
    memory(words[1], std::stod(words[2]), std::stoul(words[3]), std::stod(words[4]));
  } else if (words.size() == 2 && words[0] == "text") {
    text(words[1]);
  } else if (words.size() == 3 && words[0] == "write") {
    write_rows(words[1], std::stoul(words[2]));
  } else if (words.size() == 5 && words[0] == "window") {
    window(words[1], std::stod(words[2]), std::stoul(words[3]), std::stoul(words[4]));
  } else {
    fmt::print(stderr,
               "online linear [ROWS] | kernel FILE GAMMA BUDGET | memory FILE LAMBDA PASSES T0 | "
               "text FILE | write FILE ROWS | window FILE GAMMA N ROWS\n");
    return 2;
  }
}
