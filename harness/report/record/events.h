#pragma once

#include "harness/report/record/record.h"

#include <span>

namespace assay {

/// What happens in a run, told to whoever listens: the journal, the live report, the console.
///
/// Order: run, plan, then begin and record for each case, end. A resumed run tells run again, and plan for
/// the cases that are left. A case is known by its id, mode and cache (RowKey): one of mode both is
/// planned, begun and recorded once for each, one of cache both likewise. Rows that are timed together take
/// turns: begin is told again for the one whose turn it is, so that at any time the row that began last is
/// the one that runs.
class RunListener {
 public:
  virtual ~RunListener() = default;

  /// The run's circumstances are known.
  virtual void run(const RunInfo& info) = 0;
  /// The cases that shall be run, all of them, in the order that reports list them.
  virtual void plan(std::span<const RowInfo> cases) = 0;
  /// This case is about to run, or goes on: if nothing more is heard, it is to blame, and no other.
  virtual void begin(const RowInfo& info) = 0;
  /// This case has ended.
  virtual void record(const Record& record) = 0;
  /// Every planned case has been recorded or given up.
  virtual void end() = 0;
};

}  // namespace assay
