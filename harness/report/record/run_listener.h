#pragma once

#include "harness/report/record/row_info.h"

#include <cstddef>
#include <span>

namespace assay {

struct AccuracyResult;
struct Block;
struct RowEnd;
struct RunInfo;

/// Identifies the row that an event is about: its place among all planned rows, from 0 on.
using RowIndex = std::size_t;

/// Receives the events of a run: the journal and the live report listen. The events hold all that is known
/// about a run: a record is a pure function of its row's events (record_of).
///
/// Order: run, plan, then for each row begin, judged, its blocks, end; last done. Rows that are timed
/// together alternate: begin is sent again for the row whose turn it is, so that the only timed row that can
/// be running is the one that began last. Rows of mode accu do not wait once they have begun, and several
/// workers may run some in parallel: each row that has begun runs until it ends. A row that cannot run has no
/// judged, a row that is not timed has no block, and a row that is not reached (MISSING) has only an end.
///
/// A row that begins again after its end starts over: its earlier events no longer count. But after an end
/// that only says that the run was cut short (MISSING, INTERRUPTED), or after no end, it is resumed. It is
/// then judged again: if its outputs are unchanged, its earlier blocks count and only the missing ones are
/// sampled; if they differ, the earlier blocks do not count.
///
/// New facts have their place in one of these events: which worker runs a row and which try it is belong in
/// `begin`, the result of a second try in `end` (RowEnd::retry), how a run is divided (shard, resumed from)
/// in `run`. Fields that have their initial value are not written, so that adding one does not change older
/// journals.
class RunListener {
 public:
  virtual ~RunListener() = default;

  /// The run's circumstances are known, or have changed because the ceilings were measured again.
  virtual void run(const RunInfo& info) = 0;
  /// Rows to run, in the order in which reports list them, each once. Their indices continue those of the
  /// plan before.
  virtual void plan(std::span<const RowInfo> rows) = 0;
  /// This row is about to run, or is resumed. If no further event arrives, this row or one that runs in
  /// parallel is to blame.
  virtual void begin(RowIndex row) = 0;
  /// The row's answer was compared with the reference.
  virtual void judged(RowIndex row, const AccuracyResult& accuracy) = 0;
  /// A block of the row's samples has ended.
  virtual void block(RowIndex row, const Block& block) = 0;
  /// The row has ended.
  virtual void end(RowIndex row, const RowEnd& end) = 0;
  /// Every planned row has ended.
  virtual void done() = 0;
};

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
