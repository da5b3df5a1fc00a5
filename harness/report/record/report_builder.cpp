#include "harness/report/record/report_builder.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

/// Whether all is there that a row which came to its end has told.
bool is_whole(const RowEvents& row) {
  if (!row.end) return false;
  const bool is_numbered = std::ranges::all_of(
      row.blocks, [&, round = 0](const Block& block) mutable { return block.round == round++; });
  if (!is_numbered || (row.end->perf && row.blocks.empty())) return false;
  return row.end->status != Status::Pass || row.info.mode != "accu" || row.judged;
}

/// A row of a damaged journal as far as it can be trusted.
RowEvents salvaged(const RowEvents& row) {
  if (is_whole(row)) return row;
  return {.info = row.info,
          .end = RowEnd{.status = Status::Missing,
                        .reason = "not whole in the journal, of which lines are damaged"}};
}

}  // namespace

/// Keeps what was decoded.
class ReportBuilder::Store final : public RunListener {
 public:
  explicit Store(ReportBuilder& builder) : builder_(builder) { builder_.done_ = false; }

  void run(const RunInfo& info) override {
    // A resumed run keeps the name of the run that it goes on with. Only its end knows of the rules.
    if (!builder_.run_) builder_.run_ = info;
    builder_.run_->rule_notes = info.rule_notes;
  }
  void plan(std::span<const RowInfo> rows) override {
    for (const RowInfo& info : rows) builder_.rows_.push_back({.info = info});
  }
  void begin(RowIndex index) override {
    RowEvents& row = builder_.rows_[index];
    if (builder_.running_) builder_.rows_[*builder_.running_].running = false;
    builder_.running_ = index;
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

/// The store first, so that the other may ask it.
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

ReportBuilder::ReportBuilder(Decoder::StoredRecord stored_record) : decoder_(std::move(stored_record)) {}

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
  return record_of(run_.value_or(RunInfo{}), rows_.at(row));
}

RunReport ReportBuilder::report_without_records() const {
  RunReport report;
  if (run_) report.run = *run_;
  report.complete = done_ && !cut_off_ && lines_left_out_ == 0;
  report.cut_off = cut_off_;
  report.lines_left_out = lines_left_out_;
  report.records.reserve(rows_.size());
  return report;
}

Record ReportBuilder::record_in_report(const RunInfo& run, const RowEvents& row) const {
  return record_of(run, lines_left_out_ == 0 ? row : salvaged(row));
}

RunReport ReportBuilder::report() const {
  RunReport report = report_without_records();
  for (const RowEvents& row : rows_) report.records.push_back(record_in_report(report.run, row));
  return report;
}

RunReport ReportBuilder::take_report() && {
  RunReport report = report_without_records();
  for (; !rows_.empty(); rows_.pop_front())
    report.records.push_back(record_in_report(report.run, rows_.front()));
  return report;
}

}  // namespace assay
