#include "harness/report/record/report_builder.h"

#include <algorithm>

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
    // A resumed run keeps the name of the run that it goes on with.
    if (!builder_.run_) builder_.run_ = info;
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

void ReportBuilder::line(std::string_view line) {
  Store store(*this);
  decoder_.line(line, store);
}

Record ReportBuilder::record(RowIndex row) const {
  return record_of(run_.value_or(RunInfo{}), rows_.at(row));
}

RunReport ReportBuilder::report() const {
  RunReport report;
  if (run_) report.run = *run_;
  report.complete = done_ && !cut_off_ && lines_left_out_ == 0;
  report.cut_off = cut_off_;
  report.lines_left_out = lines_left_out_;
  report.records.reserve(rows_.size());
  for (const RowEvents& row : rows_)
    report.records.push_back(record_of(report.run, lines_left_out_ == 0 ? row : salvaged(row)));
  return report;
}

}  // namespace assay
