#pragma once

#include "harness/base/source_location.h"
#include "harness/base/status.h"
#include "harness/op/ceilings.h"
#include "harness/op/device_info.h"
#include "harness/op/expected.h"
#include "harness/op/timer_calibration.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Version of journal and reports; raised when a column or a field changes its meaning. Journals of older
/// versions are read: what they lack keeps its initial value.
inline constexpr int report_schema = 3;

/// A rule of the device's expectations that is to be looked at again.
struct RuleNote {
  std::string state;     ///< "expired" or "stale"
  SourceLocation where;  ///< the rule
  std::string match;     ///< its glob
  std::string reason;    ///< why the rule is there, with its link
  std::string note;      ///< what is so, and what to do
};

/// Which part of all rows a run has, where they are shared out among several runs (assay run --shard). What
/// is shared out are groups of rows that share their data, in the order of the whole plan.
struct ShardInfo {
  int index = 0;               ///< from 1 on
  int count = 0;               ///< 0: the run has all rows
  std::size_t all_groups = 0;  ///< of the whole plan
  std::size_t all_rows = 0;
  std::string plan_hash;                           ///< of all rows' ids: shards of one plan have the same
  std::vector<std::array<std::size_t, 3>> groups;  ///< places of its groups, see number_ranges() (shard.h)

  bool is_part() const { return count > 0; }
};

/// The first line of a journal: everything that the run's figures depend on.
struct RunInfo {
  int schema = report_schema;
  std::string run_id;       ///< "20260102T030405Z-1a2b3c"
  std::string started_utc;  ///< ISO 8601
  DeviceInfo device;
  std::string version;  ///< of assay, with the commit where known
  std::string compiler;
  std::string build_type;
  std::string host;  ///< name of the machine
  std::string os;
  std::string cpu;
  int cores = 0;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  ///< the Vulkan loader's variables that are set
  std::uint64_t seed = 0;
  /// Drawn when the run was planned: rows of mode perf are judged on data of this seed too, which no shader
  /// can know. 0: they were not.
  std::uint64_t secret_seed = 0;
  bool validation = false;
  bool robust_access = false;  ///< devices checked each access of shaders
  /// Hashes of what the rows are made of: "binary", "cases", "expectations", "shaders",
  /// "versus_shaders". A run is only gone
  /// on with where all are the same.
  std::map<std::string, std::string> inputs;
  /// What the line that runs a row again must repeat of the command line, beside the row's folder of shaders:
  /// "--device '1' --seed 7".
  std::string repro_options;
  TimerCalibration timer;
  Ceilings ceilings;  ///< nothing measured: the run has no row of mode perf, or was told to do without
  std::vector<RuleNote> rule_notes;  ///< told when the rows have ended
  ShardInfo shard;
  std::vector<std::string> merged;  ///< ids of the runs of shards that this one was put together from
};

/// Which case a record is about, in the words of its file.
struct RowInfo {
  std::string id;
  std::string op;
  std::string name;
  std::string impl;
  std::string group;        ///< rows of one group share their data: hash of op, parameters, fills and seed
  std::string model;        ///< which model the shape is from: "llama_3_1_8b"
  std::string layer;        ///< which of its layers: "mlp.down"
  std::int64_t calls = 0;   ///< of that layer in one step of the model; 0: not told
  std::int64_t tokens = 0;  ///< rows of activations that one program handles, by the op; 0: not told
  std::string dtype;        ///< of the op's first tensor
  std::string shape;        ///< of the op's first tensor: "1x96x16x9"
  std::string shapes;       ///< of every tensor: "x=1x96x16x9 y=1x24x32x18"; empty in older journals
  std::string params;       ///< canonical "name=value" pairs
  std::string forms;        ///< "x=buffer/4W4C y=buffer/CONV2D(4C)", in () what the alias stood for
  std::string tune;         ///< "local_size=128", or empty
  std::string fill;         ///< "x=normal scale=normal"
  std::string mode;         ///< "accu" or "perf": a case of mode both is planned twice
  std::string cache;        ///< mode perf: "hot" or "cold"; a case of cache both is planned twice
  std::string tier;
  std::uint64_t seed = 0;
  SourceLocation where;
  std::optional<std::string> shaders;  ///< the folder taken before the embedded sources; absent: none
  bool versus = false;                 ///< with the other version of the shaders (--versus-shaders)
  /// Id of the row of the same group, mode and cache that this one is compared with; empty: with none.
  std::string baseline;
  std::string baseline_note;  ///< why a row that is to be compared has no baseline
};

/// One wrong element, and what it was made from.
struct WrongElement {
  std::vector<std::int64_t> at;  ///< tensor coordinates
  double expected = 0;
  double got = 0;
  double bound = 0;
  bool unwritten = false;  ///< nothing was written there: `got` says nothing
  double relative = 0;     ///< error over |expected|; 0: the expected value is 0, or not finite
  double ulp = 0;          ///< floats: the error in units of the last place of the expected value
  std::optional<double> before_rounding;  ///< of the reference, where it has it, zero point included
  /// Elements of inputs that it depends on, where these are few, in order: "x[0,3]=1.5", "scale[0]=0.25".
  std::vector<std::string> made_from;
};

/// What kind of error the wrong elements of an output are, told from their values and places.
struct Diagnosis {
  std::string word;  ///< one of known_diagnoses() (words.h)
  std::string text;  ///< a sentence that explains the word here: "got is expected + 3, the zero point of y"
  double share = 0;  ///< of the wrong elements that it explains, 0.9 to 1
};

/// How right the answer is. Describes the worst output of the case.
struct AccuracyResult {
  std::string output;
  OutputClass output_class = OutputClass::Exact;
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  double max_abs_err = 0;
  double err_over_bound = 0;  ///< share of the bound that was spent; 0 for a perfect exact output
  std::int64_t flips = 0;     ///< banded: accepted off-by-ones
  double expected_flips = 0;
  /// What failed, one of: "", "wrong_value", "unwritten", "write_out_of_bounds", "depends_on_padding",
  /// "reads_out_of_bounds", "depends_on_old_output", "nondeterministic", "input_modified", "too_many_flips";
  /// or why a right answer proves little (MISTRUSTED): the trivial answer that would pass, "all_zeros",
  /// "constant", "copied_input" or "shifted", or "saturated".
  std::string metric;
  std::vector<std::int64_t> first_bad;  ///< tensor coordinates of the first bad element
  double expected = 0;
  double got = 0;
  double bound = 0;
  std::string tolerance;  ///< what the case tolerates beyond the class, "abs=0.5 share=0.001"; or empty
  std::string tolerance_reason;  ///< and why
  std::string missed;            ///< whose answer was missed: "file", "reference" or "file and reference"
  std::optional<WrongElement> first;  ///< of the wrong elements
  std::optional<WrongElement> worst;  ///< the one with the largest error, where it is another
  std::optional<Diagnosis> diagnosis;
  std::string tile_map;           ///< lines of a small picture of where the errors lie
  std::string input_hash;         ///< of the logical inputs
  std::string output_hash;        ///< of the logical outputs, padding excluded
  bool hash_is_portable = false;  ///< every output is exact: the hash must be equal on all devices
  double reference_ms = 0;
  double gpu_ms = 0;  ///< wall time of upload, runs and download
  std::int64_t memory_bytes = 0;
};

/// How fast one dispatch label is within a program, from a separate stamped pass.
struct DispatchShare {
  std::string label;
  std::string role;  ///< "op" or "transition"
  double time_us = 0;
};

/// Kernel time of one program run (all its timed dispatches, barriers included). The figures up to `batch`,
/// the hash of the outputs and the samples are computed from the row's blocks (describe_blocks).
struct PerfResult {
  double time_us_min = 0, time_us_p25 = 0, time_us_p50 = 0, time_us_p75 = 0;
  double time_us_mean = 0, time_us_stdev = 0;
  double spread_pct = 0;  ///< (largest - smallest block median) / median
  double ci_pct = 0;      ///< half width of the median's interval over blocks, of the median
  int blocks = 0;
  int samples = 0;
  int batch = 0;             ///< programs per sample
  int sets = 1;              ///< of inputs that the timed programs take turns over; 1: always the same
  int discarded = 0;         ///< samples that were taken while the device's clock was down, and thrown away
  std::string stop;          ///< "interval" or "budget"
  double throughput_us = 0;  ///< per program when programs overlap (no barrier between them)
  double time_transition_us = 0;
  double setup_us = 0;     ///< of its setup dispatches, which run once and are in none of the times; 0: none
  double isolated_us = 0;  ///< of one program that nothing runs before or beside; 0: not measured
  std::int64_t bytes = 0;
  std::int64_t bytes_read = 0;  ///< of them
  std::int64_t operations = 0;
  std::string ceiling;   ///< of operations, the impl's: "dot4x8"
  double peak_gbps = 0;  ///< see Roofline (op/roofline.h), as are the next five
  double peak_gops = 0;
  double pct_peak_bw = 0;
  double pct_peak_ops = 0;
  std::string limited_by;
  std::string suspect;
  std::string clock;  ///< "gpu" timestamps or "wall" time of batches
  std::string timer;  ///< "good", "coarse" (samples are under 50 units of the clock) or "broken"
  /// The clock probe's time when the device runs at full clock over its time beside the samples that were
  /// kept: below 1 the device ran slower; 0: no clock probe ran.
  double clock_ratio = 0;
  bool verified = false;    ///< the timed outputs equal the judged output
  double verified_pct = 0;  ///< share of the timed outputs' elements that were compared
  std::string output_hash;
  std::string impl_auto;  ///< impl auto: the impl that it chose
  /// impl auto: how much longer it took than the best impl of its rivals; computed from their times
  /// (compared_rows.h).
  std::optional<double> regret_pct;
  /// Time over that of the slowest impl that the case names, the fastest of its points of `tune`; absent
  /// where it names one impl alone; computed from their times (compared_rows.h).
  std::optional<double> ratio;
  std::string ratio_to;  ///< name of that impl
  double compile_ms = 0;
  std::string spirv_hash;
  /// Of all that the device runs: SPIR-V, specialization, workgroups, push constants, dispatches, what is
  /// bound and in which memory type. Rows of equal hash are the same program.
  std::string program_hash;
  std::optional<std::int64_t> registers;     ///< per invocation, the largest of the dispatches; where told
  std::optional<std::int64_t> spill_bytes;   ///< per invocation, the same
  std::optional<std::int64_t> shared_bytes;  ///< per workgroup, the same
  std::int64_t memory_bytes = 0;             ///< device memory of all its sets
  double submitted_ms = 0;  ///< wall time of its timed submissions, warm-up and stamped passes included
  std::vector<DispatchShare> dispatches;
  std::vector<std::vector<double>> sample_us;  ///< raw samples by block
};

/// How a row's time compares with that of the row it is held against: sampled in the same rounds of blocks.
/// Computed from the blocks of both (compared_rows.h).
struct Comparison {
  std::string baseline;  ///< id of that row; empty: the group has none
  /// Time over the baseline's: the median of the quotients of block medians, a pair of blocks for each
  /// round; 0: not compared, `note` says why.
  double ratio = 0;
  double ratio_low = 0, ratio_high = 0;  ///< the median's interval over those quotients
  int blocks = 0;                        ///< pairs of blocks
  std::string note;
};

/// Where the wall time of a timed row went, beside its submissions (PerfResult::submitted_ms).
struct TimeSpent {
  double judging_ms = 0;  ///< until it was found right and could be timed
  double filling_ms = 0;  ///< its blocks' memory: got, filled, compared, given back
  double heating_ms = 0;  ///< of the submissions: those before each block's samples, until the clock is up
  double resting_ms = 0;  ///< for the device to cool down
};

/// How one planned case ended.
struct Record {
  RowInfo info;
  Status status = Status::Missing;
  std::string reason;  ///< of every status but PASS, a sentence with numbers
  std::string retry;   ///< see RowEnd
  std::optional<AccuracyResult>
      accuracy;  ///< mode accu, once judged; perf rows carry the verdict on the judged output
  std::optional<PerfResult> perf;        ///< mode perf, PASS only: a wrong kernel has no time
  std::optional<Comparison> comparison;  ///< mode perf, when the run compares it with another row
  std::int64_t validation_messages = 0;
  std::vector<std::string> validation_texts;  ///< the different ones among them, at most 100, oldest first
  std::string repro;                          ///< one line that runs this case again
  double total_ms = 0;             ///< wall time of this row, without making its group's data and reference
  std::optional<TimeSpent> spent;  ///< mode perf, once timed
};

}  // namespace assay
