#pragma once

#include "harness/report/record/events.h"

namespace assay {

/// Passes every event on to another listener. A listener between two others overrides the events that it
/// changes.
class ForwardedEvents : public RunListener {
 public:
  /// `next` must outlive this.
  explicit ForwardedEvents(RunListener& next) : next_(next) {}

  void run(const RunInfo& info) override { next_.run(info); }
  void plan(std::span<const RowInfo> rows) override { next_.plan(rows); }
  void begin(RowIndex row) override { next_.begin(row); }
  void judged(RowIndex row, const AccuracyResult& accuracy) override { next_.judged(row, accuracy); }
  void block(RowIndex row, const Block& block) override { next_.block(row, block); }
  void end(RowIndex row, const RowEnd& end) override { next_.end(row, end); }
  void done() override { next_.done(); }

 private:
  RunListener& next_;
};

}  // namespace assay
