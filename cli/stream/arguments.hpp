#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/components.hpp"
#include "cli/options/kernel_options.hpp"
#include "cli/options/reading.hpp"
#include "maxmargin/data/readers/feed.hpp"
#include "maxmargin/train/stream/stream_settings.hpp"

namespace maxmargin::cli::streaming {

/// When something happens: after so many rows, after so many seconds, or whenever the rows have
/// doubled.
struct Every {
  std::uint64_t rows = 0;
  double seconds = 0;
  bool doubled = false;
  bool never() const { return rows == 0 && seconds == 0 && !doubled; }
};

enum class OnError { skip, stop };

/// The command line of `stream`.
class StreamArguments {
 public:
  void add_to(CLI::App& app);
  /// Throws a usage Error for everything that is wrong whatever the stream is.
  void check();

  std::unique_ptr<StreamLearner> make_learner() const { return learning.make(); }
  FeedOptions feed() const;
  bool is_listening() const { return !listen.empty(); }

  std::string input = "-", listen, model, predictions, checkpoint;
  bool resume = false, follow = false, json = false, quiet = false, margins = false, doubts = false;
  bool certificates = false, finish = false;
  OnError on_error = OnError::stop;
  Every report{.doubled = true}, every{};
  StreamSettings learning{"--"};
  double drift_level = 0.01;
  bool named = false;  ///< rows have ids
  std::uint64_t delay = 0;
  std::uint64_t most_bytes = std::uint64_t{1} << 20, connections = 16;

 private:
  void add_learning(CLI::App& app);
  void add_dual(CLI::App& app);
  void add_service(CLI::App& app);

  KernelOptions kernel_;
  ReadingOptions reading_;
  std::string id_, report_text_, every_text_, on_error_text_, delay_text_;
};

}  // namespace maxmargin::cli::streaming
