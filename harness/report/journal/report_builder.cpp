#include "harness/report/journal/report_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace assay {
namespace {

/// Whether a row that has ended has all the events that such a row must have.
bool is_whole(const RowEvents& row) {
  if (!row.end) return false;
  const bool is_numbered =
      std::ranges::all_of(row.blocks, [next = std::int64_t{0}](const Block& block) mutable {
        const bool follows = block.skipped >= 0 && block.round == next + block.skipped;
        next = std::int64_t{block.round} + 1;
        return follows;
      });
  if (!is_numbered || (row.end->perf && row.blocks.empty())) return false;
  return row.end->status != Status::Pass || row.info.mode != "accu" || row.judged;
}

/// The part of a damaged journal's row that can be trusted.
RowEvents salvaged(RowEvents row) {
  if (is_whole(row)) return row;
  return {.info = std::move(row.info),
          .end = RowEnd{.status = Status::Missing,
                        .reason = "incomplete in the journal, which has damaged lines"}};
}

bool was_killed(const std::optional<RowEnd>& end) {
  return end && end->status == Status::Interrupted && end->reason == killed_while_running;
}

/// The number of kills while the row ran, the last one included.
int kills_of(const RowEvents& events) {
  return events.killed + (was_killed(events.end) ? 1 : 0);
}

bool is_running(const RowEvents& events) {
  return events.running && !events.end;
}

bool runs_alone(const RowEvents& events) {
  return kills_of(events) >= kills_before_alone && !events.is_finished();
}

RowEnd killed_end(const RowEvents& events, bool ran_alone) {
  if (!ran_alone) return {.status = Status::Interrupted, .reason = std::string(killed_while_running)};
  return {
      .status = Status::Crash,
      .reason = fmt::format("the run was killed while this row ran alone, and {} times before while it ran: "
                            "the row may be what takes the machine down",
                            events.killed)};
}

/// Whether the rounds are plausible, as later rounds continue from them: a journal that was edited by hand
/// may hold any number.
bool has_possible_rounds(std::span<const Block> blocks) {
  constexpr int most_rounds = 1'000'000;
  return std::ranges::all_of(
      blocks, [](const Block& block) { return block.round >= 0 && block.round < most_rounds; });
}

}  // namespace

/// Stores the decoded events.
class ReportBuilder::Store final : public RunListener {
 public:
  explicit Store(ReportBuilder& builder) : builder_(builder) { builder_.done_ = false; }

  void run(const RunInfo& info) override {
    // A resumed run keeps the run info of the run that it resumes. The notes on rules are known only at its
    // end.
    if (!builder_.run_) builder_.run_ = info;
    builder_.run_->rule_notes = info.rule_notes;
    if (info.ceilings.measured()) builder_.run_->ceilings = info.ceilings;
  }
  void plan(std::span<const RowInfo> rows) override {
    for (const RowInfo& info : rows) {
      builder_.groups_.add(builder_.rows_.size(), info);
      builder_.rows_.push_back({.info = info});
    }
  }
  void begin(RowIndex index) override {
    RowEvents& row = builder_.rows_[index];
    if (builder_.timed_) builder_.rows_[*builder_.timed_].running = false;  // it waits for its next turn
    builder_.timed_ = row.info.mode == "perf" ? std::optional(index) : std::nullopt;
    row.begin();
    row.running = true;
  }
  void judged(RowIndex index, const AccuracyResult& accuracy) override {
    builder_.rows_[index].judge(accuracy);
  }
  void block(RowIndex index, const Block& block) override { builder_.rows_[index].blocks.push_back(block); }
  void end(RowIndex index, const RowEnd& end) override { builder_.rows_[index].end = end; }
  void done() override { builder_.done_ = true; }

 private:
  ReportBuilder& builder_;
};

/// Passes events to the store first, so that the other listener may query it.
class ReportBuilder::Both final : public RunListener {
 public:
  Both(Store& store, RunListener& other) : store_(store), other_(other) {}

  void run(const RunInfo& info) override {
    tell([&](RunListener& to) { to.run(info); });
  }
  void plan(std::span<const RowInfo> rows) override {
    tell([&](RunListener& to) { to.plan(rows); });
  }
  void begin(RowIndex row) override {
    tell([&](RunListener& to) { to.begin(row); });
  }
  void judged(RowIndex row, const AccuracyResult& accuracy) override {
    tell([&](RunListener& to) { to.judged(row, accuracy); });
  }
  void block(RowIndex row, const Block& block) override {
    tell([&](RunListener& to) { to.block(row, block); });
  }
  void end(RowIndex row, const RowEnd& end) override {
    tell([&](RunListener& to) { to.end(row, end); });
  }
  void done() override {
    tell([](RunListener& to) { to.done(); });
  }

 private:
  template <class Event>
  void tell(const Event& event) {
    event(store_);
    event(other_);
  }

  Store& store_;
  RunListener& other_;
};

void ReportBuilder::line(std::string_view line) {
  Store store(*this);
  decoder_.line(line, store);
}

void ReportBuilder::line(std::string_view line, RunListener& also) {
  Store store(*this);
  Both both(store, also);
  decoder_.line(line, both);
}

Record ReportBuilder::record(RowIndex row) const {
  static const RunInfo unknown;
  const RunInfo& run = run_ ? *run_ : unknown;
  Record record = record_of(run, rows_.at(row));
  if (lacks_comparison(row)) {
    const ComparedPair pair = pair_of(row, baseline_of(row));
    std::optional<Record> baseline;
    if (pair.baseline) baseline = record_of(run, rows_[*pair.baseline]);
    record.comparison = comparison_of(record, baseline ? &*baseline : nullptr, pair.ratio);
  }
  if (lacks_regret(record)) record.perf->regret_pct = regret_so_far(record);
  return record;
}

/// Whether a comparison has to be computed: rows that never began are not compared.
bool ReportBuilder::lacks_comparison(RowIndex index) const {
  const RowEvents& row = rows_.at(index);
  return is_compared(row.info) && row.begun && row.end && (lines_left_out_ == 0 || is_whole(row));
}

std::optional<RowIndex> ReportBuilder::baseline_of(RowIndex row) const {
  const RowKey key = baseline_key(rows_[row].info);
  for (const RowIndex other : groups_.with(rows_[row].info)) {
    const RowInfo& info = rows_[other].info;
    if (info.id == key.id && key_of(info) == key) return other;
  }
  return std::nullopt;
}

ComparedPair ReportBuilder::pair_of(RowIndex row, std::optional<RowIndex> baseline) const {
  ComparedPair pair{.row = row, .baseline = baseline};
  if (baseline) pair.ratio = ratio_in_rounds(rows_[row].blocks, rows_[*baseline].blocks);
  return pair;
}

/// Rows that need a comparison with their baselines, found in one pass, as there may be many.
std::vector<ComparedPair> ReportBuilder::lacking_pairs() const {
  std::map<RowKey, std::optional<RowIndex>> baselines;
  std::vector<RowIndex> lacking;
  for (RowIndex row = 0; row < rows_.size(); ++row) {
    if (!lacks_comparison(row)) continue;
    lacking.push_back(row);
    baselines[baseline_key(rows_[row].info)];
  }
  for (RowIndex row = 0; row < rows_.size() && !lacking.empty(); ++row) {
    const auto found = baselines.find(key_of(rows_[row].info));
    if (found != baselines.end()) found->second = row;
  }
  std::vector<ComparedPair> pairs;
  for (const RowIndex row : lacking)
    pairs.push_back(pair_of(row, baselines.at(baseline_key(rows_[row].info))));
  return pairs;
}

std::optional<double> ReportBuilder::regret_so_far(const Record& record) const {
  Rivals rivals;
  for (const RowIndex other : groups_.with(record.info)) {
    if (rows_[other].end && rows_[other].end->perf) rivals.add(record_of({}, rows_[other]));
  }
  return rivals.regret_pct(record);
}

RunReport ReportBuilder::report_without_records() const {
  RunReport report;
  if (run_) report.run = *run_;
  report.complete = is_complete();
  report.cut_off = cut_off_;
  report.lines_left_out = lines_left_out_;
  report.records.reserve(rows_.size());
  return report;
}

Record ReportBuilder::record_in_report(const RunInfo& run, RowEvents row) const {
  return record_of(run, lines_left_out_ == 0 ? std::move(row) : salvaged(std::move(row)));
}

RunReport ReportBuilder::report() const {
  RunReport report = report_without_records();
  for (const RowEvents& row : rows_) report.records.push_back(record_in_report(report.run, row));
  note_comparisons(report.records, lacking_pairs());
  note_regrets(report.records);
  note_ratios(report.records);
  return report;
}

RunReport ReportBuilder::take_report() && {
  RunReport report = report_without_records();
  const std::vector<ComparedPair> pairs =
      lacking_pairs();  // needs the blocks, which are freed with their rows
  for (; !rows_.empty(); rows_.pop_front())
    report.records.push_back(record_in_report(report.run, std::move(rows_.front())));
  note_comparisons(report.records, pairs);
  note_regrets(report.records);
  note_ratios(report.records);
  return report;
}

std::vector<KilledRow> killed_rows(const ReportBuilder& journal) {
  std::vector<RowIndex> running;
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    if (is_running(journal.events(row))) running.push_back(row);
  }
  std::vector<KilledRow> killed;
  for (const RowIndex row : running) {
    const RowEvents& events = journal.events(row);
    killed.push_back({row, killed_end(events, running.size() == 1 && runs_alone(events))});
  }
  return killed;
}

std::vector<RowIndex> rows_to_run_alone(const ReportBuilder& journal) {
  std::vector<RowIndex> rows;
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    if (runs_alone(journal.events(row))) rows.push_back(row);
  }
  return rows;
}

std::set<RowIndex> suspected_rows(const ReportBuilder& journal) {
  std::set<RowIndex> rows;
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    const RowEvents& events = journal.events(row);
    if (was_killed(events.end) && !runs_alone(events)) rows.insert(row);
  }
  return rows;
}

RowsLeft rows_left(const ReportBuilder& journal) {
  const std::set<RowIndex> baselines =
      baselines_in(journal.rows(), [&](RowIndex row) -> const RowInfo& { return journal.info(row); });
  RowsLeft left;
  left.wanted.assign(journal.rows(), false);
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    const RowEvents& events = journal.events(row);
    left.wanted[row] = !events.is_finished();
    const bool matters = left.wanted[row] || baselines.contains(row);
    if (!has_possible_rounds(events.blocks)) continue;
    if (matters && events.judged && !events.blocks.empty())
      left.progress[row] = {events.judged->output_hash, events.blocks};
  }
  return left;
}

std::map<RowIndex, RowEnd> untried_rows(const ReportBuilder& journal) {
  std::map<RowIndex, RowEnd> untried;
  for (RowIndex row = 0; row < journal.rows(); ++row) {
    const RowEvents& events = journal.events(row);
    const bool was_lost = events.is_finished() && is_lost(events.end->status);
    const bool may_kill = events.killed >= kills_before_alone;  // then killed_rows() does not run it again
    if (was_lost && !may_kill && events.end->retry.empty()) untried.emplace(row, *events.end);
  }
  return untried;
}

}  // namespace assay
