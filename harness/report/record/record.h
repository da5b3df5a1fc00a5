#pragma once

#include "harness/base/error.h"
#include "harness/base/status.h"
#include "harness/device/device_info.h"
#include "harness/op/expected.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Version of journal and reports; raised when a column or a field changes its meaning. Journals of older
/// versions can be read: fields that they do not have keep their initial value.
inline constexpr int report_schema = 3;

/// A rule of the device's expectations that needs another look.
struct RuleNote {
  std::string state;     ///< "expired", "stale" or "wide"
  SourceLocation where;  ///< the rule
  std::string match;     ///< its glob
  std::string reason;    ///< why the rule is there, with its link
  std::string note;      ///< what was found, and what to do
};

/// The part of all rows that a run has, if they are divided among several runs (assay run --shard). The unit
/// of division is a group of rows that share their data, in the order of the whole plan.
struct ShardInfo {
  int index = 0;               ///< from 1 on
  int count = 0;               ///< 0: the run has all rows
  std::size_t all_groups = 0;  ///< groups in the whole plan
  std::size_t all_rows = 0;
  std::string plan_hash;  ///< hash of all rows' ids: shards of one plan have the same
  std::vector<std::array<std::size_t, 3>>
      groups;  ///< places of its groups, see number_ranges() (rows_to_run.h)

  bool is_part() const { return count > 0; }
};

/// The first line of a journal: everything that the run's results depend on.
struct RunInfo {
  int schema = report_schema;
  std::string run_id;       ///< "20260102T030405Z-1a2b3c"
  std::string started_utc;  ///< ISO 8601
  DeviceInfo device;
  std::string version;  ///< assay's version, with the commit if known
  std::string compiler;
  std::string build_type;
  std::string host;  ///< name of the machine
  std::string os;
  std::string cpu;
  int cores = 0;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  ///< the Vulkan loader's variables that are set
  std::uint64_t seed = 0;
  /// Drawn at random when the run was planned. Rows of mode perf are also judged on data of this seed, which
  /// no shader can know. 0: they were not.
  std::uint64_t secret_seed = 0;
  bool validation = false;
  bool robust_access = false;  ///< the devices checked each memory access of shaders
  /// Hashes of the run's inputs: "binary", "cases", "expectations", "shaders", "versus_shaders", "tuning". A
  /// run can be resumed only if all are unchanged.
  std::map<std::string, std::string> inputs;
  /// Options of the command line that a row's repro line must repeat, in addition to the row's folder of
  /// shaders: "--device '1' --seed 7".
  std::string repro_options;
  TimerCalibration timer;
  Ceilings ceilings;  ///< nothing measured: the run has no row of mode perf, or was asked not to measure
  std::vector<RuleNote> rule_notes;  ///< known when the rows have ended
  /// What tells the device's energy: "NVML, counter of total energy", or "none" with the sources that were
  /// tried and why each failed. Empty: the run does not measure energy (--energy), or has no timed row.
  std::string energy;
  ShardInfo shard;
  std::vector<std::string> merged;  ///< ids of the shards' runs that this run was merged from
};

/// The case that a record is about, in the words of its file.
struct RowInfo {
  std::string id;
  std::string op;
  std::string name;
  std::string impl;
  std::string group;        ///< hash of op, parameters, fills and seed: rows of one group share their data
  std::string model;        ///< the model that the shape is from: "llama_3_1_8b"
  std::string layer;        ///< the layer of that model: "mlp.down"
  std::int64_t calls = 0;   ///< calls of that layer in one step of the model; 0: not given
  std::int64_t tokens = 0;  ///< tokens of one step: what the case says, else what the op does; 0: unknown
  std::string dtype;        ///< dtype of the op's first tensor
  std::string shape;        ///< shape of the op's first tensor: "1x96x16x9"
  std::string shapes;       ///< shapes of all tensors: "x=1x96x16x9 y=1x24x32x18"
  std::string params;       ///< canonical "name=value" pairs
  std::string forms;  ///< "x=buffer/4W4C y=buffer/CONV2D(4C)", in () the layout that the alias stood for
  std::string tune;   ///< "local_size=128", or empty
  /// What the run's tuning file sets of the tunables that the case leaves open, and the line of its entry:
  /// "local_size=64 (line 12)". Empty: nothing; the row has the built-in defaults.
  std::string tuned;
  std::string fill;   ///< "x=normal scale=normal"
  std::string mode;   ///< "accu" or "perf": a case of mode both is planned twice
  std::string cache;  ///< mode perf: "hot" or "cold"; a case of cache both is planned twice
  std::string tier;
  std::uint64_t seed = 0;
  SourceLocation where;
  std::optional<std::string> shaders;  ///< the folder searched before the embedded sources; absent: none
  bool versus = false;                 ///< runs with the other version of the shaders (--versus-shaders)
  /// Id of the row of the same group, mode and cache that this one is compared with; empty: none.
  std::string baseline;
  std::string baseline_note;  ///< why a row that is to be compared has no baseline
};

/// One wrong element, and the inputs that it depends on.
struct WrongElement {
  std::vector<std::int64_t> at;  ///< tensor coordinates
  double expected = 0;
  double got = 0;
  double bound = 0;
  bool unwritten = false;  ///< nothing was written there: `got` has no meaning
  double relative = 0;     ///< error over |expected|; 0: the expected value is 0, or not finite
  double ulp = 0;          ///< floats: the error in units of the last place of the expected value
  std::optional<double>
      before_rounding;  ///< the reference's value before rounding, if known, zero point included
  /// The input elements that it depends on, if they are few, in order: "x[0,3]=1.5", "scale[0]=0.25".
  std::vector<std::string> made_from;
};

/// The kind of error that the wrong elements of an output show, derived from their values and places.
struct Diagnosis {
  std::string word;  ///< one of known_diagnoses() (words.h)
  std::string text;  ///< a sentence that explains the word here: "got is expected + 3, the zero point of y"
  double share = 0;  ///< share of the wrong elements that it explains, 0.9 to 1
};

/// One of the different answers of a row that was run many times.
struct ReplayedAnswer {
  std::string hash;
  bool right = false;
  int runs = 0;  ///< that gave this answer
};

/// How a row's answer varies over runs of the same program on the same inputs (--replay).
struct Replay {
  int runs = 0;
  int wrong = 0;  ///< runs with a wrong answer, or that wrote where they may not
  int hot_runs = 0,
      hot_wrong = 0;  ///< those on a device that had been kept busy; the others had rested before
  std::vector<ReplayedAnswer> answers;  ///< the different ones, the most frequent first; at most 16
  int more_answers = 0;                 ///< different answers beyond these
};

/// The accuracy of the answer: describes the worst output of the case.
struct AccuracyResult {
  std::string output;
  OutputClass output_class = OutputClass::Exact;
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  double max_abs_err = 0;
  double err_over_bound = 0;  ///< share of the bound that was spent; 0 for a perfect exact output
  std::int64_t flips = 0;     ///< banded: accepted off-by-ones
  double expected_flips = 0;
  /// The failed check, one of: "", "wrong_value", "unwritten", "write_out_of_bounds", "depends_on_padding",
  /// "reads_out_of_bounds", "reads_uninitialized", "depends_on_old_output", "nondeterministic",
  /// "input_modified", "scratch_not_zero", "too_many_flips"; or the reason why a right answer proves little
  /// (MISTRUSTED): the trivial answer that would pass, "all_zeros", "constant", "copied_input" or "shifted",
  /// or "saturated".
  std::string metric;
  std::vector<std::int64_t> first_bad;  ///< tensor coordinates of the first bad element
  double expected = 0;
  double got = 0;
  double bound = 0;
  std::string
      tolerance;  ///< tolerance of the case beyond the output's class, "abs=0.5 share=0.001"; or empty
  std::string tolerance_reason;  ///< the reason that the case gives for it
  std::string missed;  ///< the expected answer that was missed: "file", "reference" or "file and reference"
  std::optional<WrongElement> first;  ///< the first wrong element
  std::optional<WrongElement> worst;  ///< the element with the largest error, if it is not the first
  std::optional<Diagnosis> diagnosis;
  std::string tile_map;           ///< lines of a small picture that shows where the errors lie
  std::string input_hash;         ///< hash of the logical inputs
  std::string output_hash;        ///< hash of the logical outputs, without padding
  bool hash_is_portable = false;  ///< every output is exact: the hash must be equal on all devices
  /// What of the memory around buffers a stray write would be seen in: "both" sides, or for a kernel that
  /// knows of no guards by tensor, "x=after y=none". Empty: no buffer is bound.
  std::string guards;
  std::string matrix_extension;  ///< whose matrices the kernels multiply: "KHR", "NV"; empty: none do
  double reference_ms = 0;
  double gpu_ms = 0;  ///< wall time of upload, runs and download
  std::int64_t memory_bytes = 0;
  std::optional<Replay> replay;  ///< with --replay
};

/// The time of one dispatch label within a program, from a separate pass with timestamps around each
/// dispatch.
struct DispatchShare {
  std::string label;
  std::string role;  ///< "op" or "transition"
  double time_us = 0;
};

/// The energy of one program run, from a window in which the program ran back to back (--energy).
struct Energy {
  std::string source;         ///< what told it, and what its figure covers: "RAPL package-0 (the processor)"
  double joules = 0;          ///< for one program run: `watts` times `window_s` / `programs`
  double watts = 0;           ///< mean power in the window, idle power included
  double window_s = 0;        ///< from the first program of the window to the end of its last one
  std::int64_t programs = 0;  ///< that ran in it
  int readings = 0;           ///< of power, or different ones of a counter of energy
};

/// Kernel time of one program run: all its timed dispatches, barriers included. The figures up to `batch` and
/// the samples are computed from the row's blocks (describe_blocks), the output hash by record_of.
struct PerfResult {
  double time_us_min = 0, time_us_p25 = 0, time_us_p50 = 0, time_us_p75 = 0;
  double time_us_mean = 0, time_us_stdev = 0;
  double spread_pct = 0;  ///< (largest - smallest block median) / median
  double ci_pct = 0;      ///< half width of the median's interval over blocks, in percent of the median
  int blocks = 0;
  int samples = 0;
  int batch = 0;             ///< programs per sample
  int sets = 1;              ///< sets of inputs over which the timed programs rotate; 1: always the same
  int discarded = 0;         ///< samples that were discarded because the device's clock was down
  std::string stop;          ///< "interval" or "budget"
  double throughput_us = 0;  ///< per program when programs overlap (no barrier between them)
  double time_transition_us = 0;
  double setup_us = 0;  ///< time of the setup dispatches, which run once and are in no other time; 0: none
  double isolated_us =
      0;  ///< time of one program alone, with nothing before or alongside it; 0: not measured
  std::int64_t bytes = 0;
  std::int64_t bytes_read = 0;  ///< bytes that are read, part of `bytes`
  std::int64_t operations = 0;
  std::string ceiling;   ///< name of the ceiling for the impl's operations: "dot4x8"
  double peak_gbps = 0;  ///< see Roofline (op/roofline.h), as are the next five
  double peak_gops = 0;
  double pct_peak_bw = 0;
  double pct_peak_ops = 0;
  std::string limited_by;
  std::string suspect;
  std::string clock;  ///< "gpu" timestamps or "wall" time of batches
  std::string timer;  ///< "good", "coarse" (samples are under 50 units of the clock) or "broken"
  /// The clock probe's time at full clock divided by its time with the samples that were kept: below 1 the
  /// device ran slower; 0: no clock probe ran.
  double clock_ratio = 0;
  bool verified = false;    ///< the timed outputs equal the judged output
  double verified_pct = 0;  ///< share of the timed outputs' elements that were compared
  std::string output_hash;
  std::string impl_auto;  ///< impl auto: the impl that it chose
  /// impl auto: how much longer it took than the best impl that it could have chosen; computed from the rows'
  /// times (compared_rows.h).
  std::optional<double> regret_pct;
  /// Time divided by that of the slowest impl that the case names (each impl's fastest point of `tune`);
  /// absent if the case names only one impl; computed from the rows' times (compared_rows.h).
  std::optional<double> ratio;
  std::string ratio_to;  ///< name of that impl
  double compile_ms = 0;
  std::string spirv_hash;
  /// Hash of everything that the device runs: SPIR-V, specialization constants, workgroups, push constants,
  /// dispatches, bindings and their memory types. Rows with equal hashes are the same program.
  std::string program_hash;
  std::optional<std::int64_t>
      registers;  ///< per invocation, the largest of the dispatches; if the driver reports it
  std::optional<std::int64_t> spill_bytes;   ///< per invocation, the largest of the dispatches
  std::optional<std::int64_t> shared_bytes;  ///< per workgroup, the largest of the dispatches
  std::int64_t memory_bytes = 0;             ///< device memory of all its sets
  double submitted_ms = 0;       ///< wall time of the timed submissions, with warm-up and passes per dispatch
  std::optional<Energy> energy;  ///< with --energy, if the device tells it
  std::string no_energy;         ///< with --energy, of a device that tells it: why this row has none
  std::vector<DispatchShare> dispatches;
  std::vector<std::vector<double>> sample_us;  ///< raw samples by block
};

/// A row's time compared with its baseline's, sampled in the same rounds of blocks. Computed from the blocks
/// of both rows (compared_rows.h).
struct Comparison {
  std::string baseline;  ///< id of the baseline row; empty: the group has none
  /// Time divided by the baseline's: the median of the quotients of block medians, one pair of blocks per
  /// round; 0: not compared, `note` says why.
  double ratio = 0;
  double ratio_low = 0, ratio_high = 0;  ///< interval of the median over these quotients
  int blocks = 0;                        ///< pairs of blocks
  std::string note;
};

/// Where the wall time of a timed row went, apart from its submissions (PerfResult::submitted_ms).
struct TimeSpent {
  double judging_ms = 0;  ///< until its answer was found right and it could be timed
  double filling_ms = 0;  ///< allocating, filling, comparing and freeing its blocks' memory
  double heating_ms =
      0;  ///< part of the submissions: those before each block's samples, until the clock is up
  double resting_ms = 0;  ///< waiting for the device to cool down
};

/// One part of a chain's program: a node, or a copy of a tensor to another form.
struct ChainStep {
  std::string name;  ///< the node's; "a to buffer/4C1W" for a copy
  std::string op;
  std::string impl;
  bool is_transition = false;
  std::vector<std::string> reads;  ///< tensors, without constants that only this node has: "a as buffer/4W4C"
  std::vector<std::string> writes;  ///< likewise
};

/// How the tensors of a chain are laid out on the device.
struct ChainPlan {
  int transitions = 0;                ///< copies of a tensor to another form
  std::int64_t transition_bytes = 0;  ///< read and written by them
  std::vector<std::string> folded;    ///< nodes for which nothing runs: input and output are one resource
  std::int64_t peak_bytes = 0;        ///< device memory of the tensors between nodes
  bool is_exact = true;               ///< impl optimal or fastest: no other plan costs less
  std::string hash;                   ///< of the steps: equal hashes mean equal plans
  std::string times_run;              ///< impl fastest: id of the run that its times are from (--times)
  std::vector<ChainStep> steps;       ///< in the order in which they run
};

/// How a row ended by itself, if a rule of the expectations has changed its status.
struct OwnEnd {
  Status status = Status::Missing;
  std::string reason;
};

/// How one planned case ended.
struct Record {
  RowInfo info;
  Status status = Status::Missing;
  std::string reason;             ///< a sentence with numbers, for every status but PASS
  std::string retry;              ///< see RowEnd
  std::string driver_retry;       ///< see RowEnd
  bool stopped = false;           ///< see RowEnd
  std::optional<OwnEnd> own_end;  ///< EXPECTED_FAIL and UNEXPECTED_PASS: the end without the rule
  std::optional<AccuracyResult>
      accuracy;                    ///< mode accu, once judged; a perf row has the result of its judged output
  std::optional<PerfResult> perf;  ///< mode perf, PASS only: a wrong kernel has no time
  std::optional<ChainPlan> chain;  ///< chains, once planned
  std::optional<Comparison> comparison;  ///< mode perf, if the run compares it with another row
  std::int64_t validation_messages = 0;
  std::vector<std::string> validation_texts;  ///< the distinct ones, at most 100, oldest first
  std::string repro;                          ///< one line that runs this case again
  double total_ms = 0;             ///< wall time of the row, without making its group's data and reference
  std::optional<TimeSpent> spent;  ///< mode perf, once timed
};

/// The content of a run's journal so far: the source of every report.
struct RunReport {
  RunInfo run;
  std::vector<Record> records;     ///< one per planned row, in the plan's order
  bool complete = false;           ///< the run ended normally
  bool cut_off = false;            ///< the journal's last line was cut off by a kill
  std::size_t lines_left_out = 0;  ///< lines of a damaged journal that were not read, see salvage_journal()
};

/// Identifies a row in a report. A case of mode both has two rows, and with cache both its perf row is two.
struct RowKey {
  std::string id;
  std::string mode;
  std::string cache;  ///< "cold", else ""

  // NOLINTNEXTLINE(modernize-use-nullptr): the check takes what the compiler generates for a null pointer
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};
RowKey key_of(const RowInfo& info);

/// The forms that a row's case asks for: `RowInfo::forms` without the layouts that aliases stood for, which
/// `auto` may choose differently on another device or in another version. "x=buffer/CONV2D(4C)" becomes
/// "x=buffer/CONV2D".
std::string asked_forms(const RowInfo& info);

/// The mode in words: "accu", "perf", "perf, cold".
std::string mode_words(const RowInfo& info);

}  // namespace assay
