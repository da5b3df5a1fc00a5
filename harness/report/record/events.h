#pragma once

#include "harness/base/system_state.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Identifies the row that an event is about: its place among all planned rows, from 0 on.
using RowIndex = std::size_t;

/// The largest number of rows of a run, and so of their groups. A row takes 3 KiB of memory when a journal is
/// read, so that a larger number, as a damaged journal may name, would take all memory.
inline constexpr std::size_t most_rows_of_a_run = 2'000'000;

/// One block of a row's samples, as it was measured.
struct Block {
  static constexpr int most_batch = 20000;  ///< bounds the length of a command buffer

  /// Number of the round, in which rows alternate. A row's blocks count up from 0, except for rounds that it
  /// took no part in. Blocks of compared rows were sampled together if their rounds are equal.
  int round = 0;
  int skipped = 0;                 ///< rounds just before this one that ran without this row
  int batch = 1;                   ///< programs in a sample, most_batch at most
  std::vector<double> samples_ns;  ///< time of one submission each, so of `batch` programs
  double probe_ns = 0;             ///< median of the clock probes run with the samples; 0: none ran
  bool wrong = false;              ///< the timed outputs differ from the judged ones
  SystemState system;              ///< the state of the device's machine when the block ended

  /// Time of one program in each sample, in ns.
  std::vector<double> program_ns() const {
    std::vector<double> values;
    for (const double ns : samples_ns) values.push_back(ns / batch);
    return values;
  }
};

/// The reason of a row that was cut short or not reached because the run was stopped contains these words
/// (RowEnd::stopped says so to programs).
inline constexpr std::string_view stopped_because = "the run was stopped";

/// The event of a row's end: its status, and the facts that no earlier event has.
struct RowEnd {
  Status status = Status::Missing;
  std::string reason;  ///< a sentence with numbers, for every status but PASS
  /// Result of a failed row's second try: "REPRODUCED" or "ORDER_DEPENDENT"; empty: there was none. (A row
  /// that passed once and failed once is FLAKY, which is a status.)
  std::string retry;
  /// What the driver failed to do for the row at first and did when asked again, as a sentence; empty:
  /// nothing.
  std::string driver_retry;
  /// The row did not run, or not to its end, because the run was stopped, and not because its device was
  /// given up.
  bool stopped = false;
  std::optional<OwnEnd> own_end;   ///< see Record
  std::optional<PerfResult> perf;  ///< if the row has a time; without the figures that its blocks give
  std::optional<ChainPlan> chain;  ///< see Record
  std::int64_t validation_messages = 0;
  std::vector<std::string> validation_texts;  ///< see Record
  double total_ms = 0;
  std::optional<TimeSpent> spent;
};

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

/// Whether a row that begins again after this end is resumed: the run was cut short, the row is not to blame.
/// After any other end the row starts over.
constexpr bool goes_on_after(Status end) {
  return end == Status::Missing || end == Status::Interrupted;
}

/// Whether the blocks of a row still count when it is judged again: `before` and `again` are the hashes of
/// its outputs (empty: unknown).
inline bool blocks_still_count(const std::string& before, const std::string& again) {
  return !before.empty() && before == again;
}

/// The reason that a resumed run gives to a row that was running when the run was killed: its end is
/// INTERRUPTED.
inline constexpr std::string_view killed_while_running = "the run was killed while this row ran";

/// The events of one row so far.
struct RowEvents {
  RowInfo info;
  bool begun = false;
  bool running = false;  ///< it is running unless it has ended, see RunListener
  std::optional<AccuracyResult> judged;
  std::vector<Block> blocks;
  std::optional<RowEnd> end;
  int killed = 0;  ///< how often the run was killed while this row ran, and resumed

  /// The row begins, starts over or is resumed (goes_on_after).
  void begin() {
    if (end && !goes_on_after(end->status)) *this = {.info = info};
    if (end && end->reason == killed_while_running) ++killed;
    end.reset();
    begun = true;
  }
  /// Whether the row's end is final: it is not run again when the run is resumed.
  bool is_finished() const { return end && !goes_on_after(end->status); }
  /// The row is judged, perhaps again (blocks_still_count).
  void judge(const AccuracyResult& accuracy) {
    if (!judged || !blocks_still_count(judged->output_hash, accuracy.output_hash)) blocks.clear();
    judged = accuracy;
  }
};

/// The record of a row. A row that has not ended is a CRASH if it was running ("the run ended while this case
/// was running"), and MISSING if it was waiting for its next turn or never began ("not reached").
Record record_of(const RunInfo& run, RowEvents events);

/// The end event of a row with this record, without `repro` and without the figures that its blocks and
/// `judged` hold.
RowEnd end_of(const Record& record);

/// Fills in the figures that the blocks give: minimum, quartiles, mean, deviation, spread and interval of the
/// block medians, counts, batch and the samples themselves. Does nothing if there is no sample.
void describe_blocks(std::span<const Block> blocks, PerfResult& perf);

/// The command that runs just this row again, with the run's relevant options (device, seed) and the row's
/// own folder of shaders.
std::string repro_line(const RunInfo& run, const RowInfo& info);

}  // namespace assay
