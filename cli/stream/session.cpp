#include "cli/stream/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "maxmargin/online/archive.hpp"

namespace maxmargin::cli::streaming {
namespace {

/// The label that unlearns a row.
constexpr std::string_view forget_word = "!forget";

}  // namespace

Session::Session(const StreamArguments& arguments)
    : arguments_(arguments),
      learner_(arguments.make_learner()),
      progressive_(learner_->outcome(), arguments.learning.window, arguments.drift_level) {}

StreamRow Session::row_of(const Rows& rows, std::size_t row) {
  StreamRow x;
  x.number = rows_;
  if (rows.sparse()) {
    const std::size_t begin = rows.start[row], size = rows.start[row + 1] - begin;
    x.features = {rows.index + begin, size};
    x.values = {rows.doubles + begin, size};
    return x;
  }
  features_.clear();
  values_.clear();
  rows.for_each(row, [&](Index feature, double value) {
    if (value == 0) return;
    features_.push_back(feature);
    values_.push_back(value);
  });
  x.features = features_;
  x.values = values_;
  return x;
}

void Session::take(const FeedBatch& batch, const Feed& feed, const Answer& answer,
                   const std::function<void(const Error&)>& complain) {
  const auto refuse = [&](const Error& error) {
    ++faults_;
    if (!complain) throw Halted{error};
    complain(error);
  };
  const std::size_t rows = batch.is_late_label ? 1 : batch.rows.count;
  for (std::size_t i = 0; i < rows; ++i) {
    try {
      if (batch.is_late_label)
        take_late_label(batch, answer);
      else
        take_row(batch, i, answer);
    } catch (const Error& error) {
      const Feed::RowPosition position = feed.position_of(i);
      line = position.line;
      offset = position.begin;
      refuse(Error(Fault::data, Place{feed.name(), static_cast<std::size_t>(position.line)},
                   error.what()));
      continue;
    }
    if (batch.is_late_label) continue;  // no row more: nothing is due by their number
    report_if_due();
    if (!is_checkpoint_due() || !on_checkpoint) continue;
    const Feed::RowPosition position = feed.position_of(i);
    line = position.end_line;
    offset = position.end;
    on_checkpoint();
  }
  line = feed.line();
  offset = feed.offset();
  if (!batch.fault) return;
  line = batch.fault->place().line;
  offset = feed.fault_offset();
  refuse(*batch.fault);
  line = feed.line();
  offset = feed.offset();
}

Learned Session::learn(const StreamRow& x, const Label& label, std::span<const std::string> words) {
  return label.word < words.size() ? learner_->learn(x, std::string_view(words[label.word]))
                                   : learner_->learn(x, label.number);
}

void Session::judge(const Learned& learned, double label) {
  if (const auto drift = progressive_.add(learned, label); drift && reports != nullptr)
    reports->notice(*drift, progressive_.drift());
}

void Session::take_row(const FeedBatch& batch, std::size_t row, const Answer& answer) {
  const StreamRow x = row_of(batch.rows, row);
  const Label& label = batch.labels[row];
  const bool labelled = label.word != no_label;
  if (labelled || learner_->outcome() == Outcome::novelty) {
    const Learned learned = learner_->outcome() == Outcome::novelty ? learner_->learn(x, 0.0)
                                                                    : learn(x, label, batch.words);
    if (!batch.ids.empty()) hold(batch.ids[row], rows_);
    ++rows_;
    judge(learned, label.number);
    answer_row(batch, row, learned.before, answer);
    return;
  }
  if (arguments_.delay > 0 && !batch.ids.empty() && waiting_at_.contains(batch.ids[row]))
    throw Error(Fault::data, fmt::format("a row with the id '{}' waits already", batch.ids[row]),
                "give each row an id of its own");
  const OnlinePrediction said = learner_->predict(x);
  if (arguments_.delay > 0 && !batch.ids.empty()) wait(batch.ids[row], x, said);
  ++rows_;
  answer_row(batch, row, said, answer);
}

/// Holds a row until its label comes; drops the oldest where too many wait.
void Session::wait(const std::string& id, const StreamRow& x, const OnlinePrediction& said) {
  if (waiting_.size() >= arguments_.delay) {
    waiting_at_.erase(waiting_.front().id);
    waiting_.pop_front();
    ++expired_;
  }
  waiting_.push_back({id,
                      {x.features.begin(), x.features.end()},
                      {x.values.begin(), x.values.end()},
                      x.number,
                      said.class_number,
                      said.value});
  waiting_at_.emplace(id, x.number);
}

/// Notes which rows an exact window holds: as there, a full one loses its first row before the new
/// one takes its place by its number.
void Session::hold(const std::string& id, std::uint64_t number) {
  if (!arguments_.learning.exact) return;
  if (held_.size() >= arguments_.learning.window) held_.pop_front();
  held_.emplace(std::ranges::upper_bound(held_, number, {}, &HeldRow::second), id, number);
}

/// Unlearns a row of an exact window.
void Session::forget(const FeedBatch& batch, const Answer& answer) {
  const auto row = std::ranges::find(held_, batch.ids[0], &HeldRow::first);
  if (row == held_.end() || !learner_->forget(row->second))
    throw Error(Fault::data, fmt::format("no row with the id '{}' is held", batch.ids[0]),
                "only rows of a window (--exact) can be forgotten");
  held_.erase(row);
  if (answer) answer(batch.ids[0] + " forgotten\n");
}

void Session::take_late_label(const FeedBatch& batch, const Answer& answer) {
  if (batch.labels[0].word < batch.words.size() && batch.words[batch.labels[0].word] == forget_word)
    return forget(batch, answer);
  const auto known = waiting_at_.find(batch.ids[0]);
  if (known == waiting_at_.end())
    throw Error(Fault::data, fmt::format("no row with the id '{}' waits for a label", batch.ids[0]),
                arguments_.delay > 0 ? "check the id, or let more rows wait with --delay"
                                     : "let rows wait for their labels with --delay");
  const auto row = std::ranges::find(waiting_, known->second, &Waiting::number);
  const StreamRow x{row->features, row->values, row->number};
  Learned learned = learn(x, batch.labels[0], batch.words);
  hold(row->id, row->number);
  // The prediction made when the row came is the one that counts.
  const auto learned_class = [&]() -> std::int64_t {
    const std::string name = batch.labels[0].word < batch.words.size()
                                 ? batch.words[batch.labels[0].word]
                                 : shortest(batch.labels[0].number);
    const auto found = std::ranges::find(learner_->classes(), name);
    return found - learner_->classes().begin();
  };
  learned.before.class_number = static_cast<int>(row->said_class);
  learned.before.value = row->said_value;
  if (learner_->outcome() == Outcome::classes) learned.correct = row->said_class == learned_class();
  judge(learned, batch.labels[0].number);
  ++late_;
  waiting_.erase(row);
  waiting_at_.erase(known);
  if (answer) answer(batch.ids[0] + " learned\n");
}

void Session::answer_row(const FeedBatch& batch, std::size_t row, const OnlinePrediction& said,
                         const Answer& answer) {
  if (!answer) return;
  std::string text;
  if (!batch.ids.empty()) text = batch.ids[row] + " ";
  if (learner_->outcome() != Outcome::classes)
    text += shortest(said.value);
  else
    text += said.class_number < 0
                ? "?"
                : learner_->classes()[static_cast<std::size_t>(said.class_number)];
  if (arguments_.margins) text += " " + shortest(said.margin);
  if (arguments_.doubts) text += said.doubtful ? " doubtful" : " sure";
  answer(text + "\n");
}

void Session::report_if_due() {
  const Every& every = arguments_.report;
  const bool due = every.doubled ? rows_ >= next_report_ : rows_ % every.rows == 0;
  if (!due) return;
  while (every.doubled && next_report_ <= rows_) next_report_ *= 2;
  if (reports != nullptr) reports->report(snapshot());
  progressive_.mark();
}

bool Session::is_checkpoint_due() const {
  return arguments_.every.rows > 0 && rows_ % arguments_.every.rows == 0;
}

bool Session::is_checkpoint_late() const {
  return arguments_.every.seconds > 0 && since_checkpoint_.seconds() >= arguments_.every.seconds;
}

Model Session::model() const { return learner_->model(rows_); }

Snapshot Session::snapshot() const {
  Snapshot now;
  now.outcome = learner_->outcome();
  now.rows = rows_;
  now.faults = faults_;
  now.late = late_;
  now.waiting = waiting_.size();
  now.expired = expired_;
  now.doubtful = progressive_.doubtful();
  now.seconds = watch_.seconds();
  now.rows_per_second = static_cast<double>(rows_ - rows_before_) / std::max(1e-9, now.seconds);
  now.overall = progressive_.overall();
  now.since_last = progressive_.since_last();
  now.window = progressive_.window();
  now.terms = learner_->terms();
  now.classes = learner_->classes().size();
  now.updates = learner_->updates();
  now.dropped = learner_->dropped();
  now.truncates = learner_->truncates();
  if (arguments_.certificates || arguments_.finish)
    now.certificate = learner_->certificate(Threads(1));
  now.horizon_bound = learner_->horizon_bound();
  now.risk_bound = learner_->risk_bound();
  return now;
}

template <class Archive>
void Session::pass(Archive& archive) {
  archive(input);
  for (std::uint64_t* count :
       {&line, &offset, &predictions_bytes, &rows_, &faults_, &late_, &expired_, &next_report_})
    archive(*count);
  progressive_.pass(archive);
  std::vector<Waiting> waiting(waiting_.begin(), waiting_.end());
  archive(waiting);
  std::vector<std::string> held_ids;
  std::vector<std::uint64_t> held_numbers;
  for (const auto& [id, number] : held_) {
    held_ids.push_back(id);
    held_numbers.push_back(number);
  }
  archive(held_ids);
  archive(held_numbers);
  if constexpr (Archive::reads) {
    waiting_.assign(waiting.begin(), waiting.end());
    waiting_at_.clear();
    archive.demand(held_ids.size() == held_numbers.size(), "counts do not agree");
    held_.clear();
    for (std::size_t k = 0; k < held_ids.size(); ++k)
      held_.emplace_back(held_ids[k], held_numbers[k]);
    for (const Waiting& each : waiting_) {
      archive.demand(each.features.size() == each.values.size() &&
                         std::ranges::is_sorted(each.features) &&
                         waiting_at_.emplace(each.id, each.number).second,
                     "a row that waits for its label is not right");
    }
  }
}

std::string Session::state() const {
  StateWriter writer;
  writer(arguments_.learning.window);
  writer(arguments_.drift_level);
  writer(learner_->state());
  const_cast<Session*>(this)->pass(writer);
  return writer.take();
}

void Session::restore(const std::string& state, const std::string& name) {
  StateReader reader(std::as_bytes(std::span(state)), name);
  std::uint64_t window = 0;
  double level = 0;
  std::string learner;
  reader(window);
  reader(level);
  reader(learner);
  learner_->restore(std::as_bytes(std::span(learner)), name);
  if (window != arguments_.learning.window || level != arguments_.drift_level)
    throw Error(Fault::usage, Place{name}, "this checkpoint has another --window or --drift-level",
                "repeat the options it was made with");
  pass(reader);
  reader.end();
  rows_before_ = rows_;
}

}  // namespace maxmargin::cli::streaming
