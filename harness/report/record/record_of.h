#pragma once

#include "harness/report/record/events.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Whether a row that begins again after such an end goes on: the run was cut short, the row is not to blame.
/// After any other it begins anew.
constexpr bool goes_on_after(Status end) {
  return end == Status::Missing || end == Status::Interrupted;
}

/// Whether blocks of a row that was judged before, its outputs of hash `before`, still count once it is
/// judged again. Empty: not known.
inline bool blocks_still_count(const std::string& before, const std::string& again) {
  return !before.empty() && before == again;
}

/// The reason of an end that a run which is gone on with gives the row that ran when it was killed:
/// INTERRUPTED.
inline constexpr std::string_view killed_while_running = "the run was killed while this row ran";

/// What was told of one row.
struct RowEvents {
  RowInfo info;
  bool begun = false;
  bool running = false;  ///< it runs unless it has ended, see RunListener
  std::optional<AccuracyResult> judged;
  std::vector<Block> blocks;
  std::optional<RowEnd> end;
  int killed = 0;  ///< how often a run that was gone on with had been killed while this row ran

  /// It begins, begins anew or goes on (goes_on_after).
  void begin() {
    if (end && !goes_on_after(end->status)) *this = {.info = info};
    if (end && end->reason == killed_while_running) ++killed;
    end.reset();
    begun = true;
  }
  /// Whether it has come to an end that stays: it is not run again when the run is gone on with.
  bool is_finished() const { return end && !goes_on_after(end->status); }
  /// It is judged, perhaps again (blocks_still_count).
  void judge(const AccuracyResult& accuracy) {
    if (!judged || !blocks_still_count(judged->output_hash, accuracy.output_hash)) blocks.clear();
    judged = accuracy;
  }
};

/// The row's record. One that has not ended is a CRASH when it was running ("the run ended while this case
/// was running"); it is MISSING when it waits for its next turn, or was never begun ("not reached").
Record record_of(const RunInfo& run, RowEvents events);

/// The event of the end of a row with that record, `repro` left out: what blocks and `judged` tell is not in
/// it.
RowEnd end_of(const Record& record);

/// The opposite of record_of: tells a listener the events after `begin` that make up a record. Blocks get
/// rounds from 0 on.
void tell_record(const RunInfo& run, RowIndex row, const Record& record, RunListener& listener);

/// Writes what blocks tell of a time: minimum, quartiles, mean, deviation, spread and interval of the block
/// medians, counts, batch and the samples themselves. Nothing where there is no sample.
void describe_blocks(std::span<const Block> blocks, PerfResult& perf);

/// The command that runs just this row again, with the run's options that matter (device, seed) and the row's
/// own folder of shaders.
std::string repro_line(const RunInfo& run, const RowInfo& info);

}  // namespace assay
