#pragma once

#include "harness/report/record/accuracy_result.h"
#include "harness/report/record/block.h"
#include "harness/report/record/row_end.h"
#include "harness/report/record/row_info.h"
#include "harness/report/record/run_info.h"
#include "harness/report/record/run_listener.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Record;

/// The largest number of rows of a run, and so of their groups. A row takes 3 KiB of memory when a journal is
/// read, so that a larger number, as a damaged journal may name, would take all memory.
inline constexpr std::size_t most_rows_of_a_run = 2'000'000;

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
