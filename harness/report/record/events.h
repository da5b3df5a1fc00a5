#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Which row an event is about: its place among all rows that were planned, from 0 on.
using RowIndex = std::size_t;

/// One block of a row's samples, as it was measured.
struct Block {
  /// Of those in which rows take turns; a row's blocks count up from 0, but for rounds that it took no part
  /// in. Blocks of rows that are compared were sampled together where their rounds are equal.
  int round = 0;
  int skipped = 0;                 ///< rounds just before this one that others had without this row
  int batch = 1;                   ///< programs in a sample
  std::vector<double> samples_ns;  ///< of one submission each, so of `batch` programs
  double probe_ns = 0;             ///< median of the clock probes beside the samples; 0: none ran
  /// Of the timed outputs, where it is not that of the judged ones: in journals from before what is timed
  /// had guards too. Now a block's outputs are the judged ones, or it is wrong.
  std::string output_hash;
  bool wrong = false;  ///< the timed outputs are not the ones that were judged

  /// ns of one program in each sample.
  std::vector<double> program_ns() const {
    std::vector<double> values;
    for (const double ns : samples_ns) values.push_back(ns / batch);
    return values;
  }
};

/// How a row ended, and what only its end knows.
/// In the reason of each row that was cut short or not reached because the run was stopped, by whatever.
inline constexpr std::string_view stopped_because = "the run was interrupted";

struct RowEnd {
  Status status = Status::Missing;
  std::string reason;  ///< of every status but PASS, a sentence with numbers
  /// What a second try of a failed row showed: "REPRODUCED" or "ORDER_DEPENDENT"; empty: there was none. (A
  /// row that passed and failed is FLAKY, which is a status.)
  std::string retry;
  std::optional<PerfResult> perf;        ///< where the row has a time; what its blocks tell is not in here
  std::optional<Comparison> comparison;  ///< of older journals: now the reports compute it
  std::int64_t validation_messages = 0;
  std::vector<std::string> validation_texts;  ///< see Record
  double total_ms = 0;
  std::optional<TimeSpent> spent;
  std::string repro;  ///< of older journals, where the line is another than repro_line() gives
};

/// What happens in a run, told to whoever listens: the journal, the live report. These events are all there
/// is to know of a run: a record is a pure function of its row's events (record_of).
///
/// Order: run, plan, then of each row begin, judged, its blocks, end; last done. Rows that are timed together
/// take turns: begin is told again for the one whose turn it is, so that at any time only the row that began
/// last of all can be a timed one that runs. Rows of mode accu do not wait once they have begun, and several
/// workers may run some side by side: each that has begun runs until it ends. A row that cannot run has no
/// judged, one that is not timed has no block, one that is not reached (MISSING) has an end alone.
///
/// A row that begins again after its end begins anew: what was told of it before no longer counts. But after
/// an end that only says that the run was cut short (MISSING, INTERRUPTED), or after none, it goes on. It is
/// judged again then: where its outputs are what they were, it needs only the blocks that it lacks, and those
/// that were told before count; where they are others, those do not.
///
/// What is to be told later has its place here: which worker runs a row and for which time it tries goes into
/// `begin`, what a second try showed into `end` (RowEnd::retry), how a run is divided (shard, resumed from)
/// into `run`. Fields that have their initial value are not written, so that adding one costs older journals
/// nothing.
class RunListener {
 public:
  virtual ~RunListener() = default;

  /// The run's circumstances are known, or have changed: the ceilings were measured anew.
  virtual void run(const RunInfo& info) = 0;
  /// Rows that shall be run, in the order that reports list them, each once. Their indices go on where those
  /// of the plan before ended.
  virtual void plan(std::span<const RowInfo> rows) = 0;
  /// This row is about to run, or goes on: if nothing more is heard, it is to blame, or one that runs beside
  /// it.
  virtual void begin(RowIndex row) = 0;
  /// Its answer was held against the reference.
  virtual void judged(RowIndex row, const AccuracyResult& accuracy) = 0;
  /// A block of its samples has ended.
  virtual void block(RowIndex row, const Block& block) = 0;
  /// It has ended.
  virtual void end(RowIndex row, const RowEnd& end) = 0;
  /// Every planned row has ended.
  virtual void done() = 0;
};

}  // namespace assay
