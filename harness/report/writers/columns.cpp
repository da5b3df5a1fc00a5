#include "harness/report/writers/columns.h"

#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/record/device_name.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"

#include <string_view>
#include <utility>

namespace assay {
namespace {

using Columns = std::vector<Column>;

// A column that is empty in rows without accuracy.
template <class Get>
Column accuracy(std::string name, std::string unit, std::string meaning, Get get) {
  return {std::move(name), std::move(unit), std::move(meaning), [get](const RunInfo&, const Record& record) {
            return record.accuracy ? get(*record.accuracy) : std::string();
          }};
}

// A column that describes a wrong element, and is empty if there is none.
template <class Get>
Column wrong_element(std::string name, std::string unit, std::string meaning, Get get) {
  return accuracy(std::move(name), std::move(unit), std::move(meaning),
                  [get](const AccuracyResult& a) { return a.first_bad.empty() ? std::string() : get(a); });
}

// A column that is empty if there is no time, or it is withheld.
template <class Get>
Column timing(std::string name, std::string unit, std::string meaning, Get get) {
  return {std::move(name), std::move(unit), std::move(meaning), [get](const RunInfo&, const Record& record) {
            return has_time(record) ? get(*record.perf) : std::string();
          }};
}

Column text(std::string name, std::string meaning, std::string RowInfo::*member) {
  return {std::move(name), "text", std::move(meaning),
          [member](const RunInfo&, const Record& record) { return record.info.*member; }};
}

// A column that is empty if the number is not given.
Column count(std::string name, std::string meaning, std::int64_t RowInfo::*member) {
  return {std::move(name), "number", std::move(meaning), [member](const RunInfo&, const Record& record) {
            return record.info.*member > 0 ? std::to_string(record.info.*member) : "";
          }};
}

/// "0.1.0+b1a8850ccc06" names the commit after the plus.
std::string commit_of(const std::string& version) {
  const std::size_t plus = version.find('+');
  return plus == std::string::npos ? "" : version.substr(plus + 1);
}

Column time_us(std::string name, std::string meaning, double PerfResult::*member) {
  return timing(std::move(name), "us", std::move(meaning),
                [member](const PerfResult& perf) { return fixed(perf.*member, 4); });
}

std::string flag(bool value) {
  return value ? "true" : "false";
}

std::string percent_or_absent(double percent) {
  return percent > 0 ? fixed(percent, 2) : "";
}

std::string figure_or_absent(double figure) {
  return figure > 0 ? significant(figure, 6) : "";
}

std::string per_second(std::int64_t amount, double time_us) {
  if (amount <= 0 || !(time_us > 0)) return "";
  return significant(static_cast<double>(amount) / time_us / 1e3, 6);
}

std::string join_coordinates(const std::vector<std::int64_t>& coordinates) {
  std::string joined;
  for (const std::int64_t coordinate : coordinates) {
    if (!joined.empty()) joined += ' ';
    joined += std::to_string(coordinate);
  }
  return joined;
}

std::string join_dispatches(const std::vector<DispatchShare>& dispatches) {
  std::string joined;
  for (const DispatchShare& dispatch : dispatches) {
    if (!joined.empty()) joined += ' ';
    joined += dispatch.label + "=" + fixed(dispatch.time_us, 4);
  }
  return joined;
}

Columns run_columns() {
  return {
      {"schema", "number", "version of these columns; raised when one changes its name or meaning",
       [](const RunInfo&, const Record&) { return std::to_string(csv_schema); }},
      {"run_id", "text", "id of the run that the row belongs to",
       [](const RunInfo& run, const Record&) { return run.run_id; }},
      {"device", "text", "name of the device",
       [](const RunInfo& run, const Record&) { return run.device.name; }},
      {"driver", "text", "name and version of the driver",
       [](const RunInfo& run, const Record&) { return driver_of(run.device); }},
      {"commit", "text", "commit that assay was built from; with -dirty if files had been changed",
       [](const RunInfo& run, const Record&) { return commit_of(run.version); }},
      {"date", "text", "when the run began, UTC",
       [](const RunInfo& run, const Record&) { return run.started_utc; }},
  };
}

Columns case_columns() {
  return {
      text("case", "id of the case", &RowInfo::id),
      text("op", "the op", &RowInfo::op),
      text("impl", "the impl that ran", &RowInfo::impl),
      text("group",
           "rows of one group share inputs and expected outputs: hash of op, parameters, fills and seed",
           &RowInfo::group),
      text("dtype", "type of the op's first tensor", &RowInfo::dtype),
      text("shape", "shape of the op's first tensor, slowest dim first", &RowInfo::shape),
      text("shapes", "shape of every tensor, name=shape; of a chain without the constants of single nodes",
           &RowInfo::shapes),
      text("forms", "physical form of every tensor; after CONV2D, in (), the layout that it stood for",
           &RowInfo::forms),
      text("params", "parameters of the op, name=value", &RowInfo::params),
      text("tune", "specialization constants that the case sets", &RowInfo::tune),
      text("tuned",
           "defaults that the tuning file sets instead of the built-in ones, and the line of its entry; "
           "absent: none",
           &RowInfo::tuned),
      text("fill", "fill of every input; of a chain, constants=fill if the constants of its nodes have one",
           &RowInfo::fill),
      {"seed", "number", "seed of the input data",
       [](const RunInfo&, const Record& record) { return std::to_string(record.info.seed); }},
      text("tier", "smoke, ci or nightly", &RowInfo::tier),
      text("model", "the model that the shape is from", &RowInfo::model),
      text("layer", "the layer of that model", &RowInfo::layer),
      count("calls", "calls of that layer in one step of the model", &RowInfo::calls),
      count("tokens",
            "tokens of one step of the model: what the case says, else the rows of the activation, for ops "
            "that "
            "have tokens",
            &RowInfo::tokens),
      {"shaders", "text", "folder of shaders searched before the embedded ones (--shaders)",
       [](const RunInfo&, const Record& record) { return record.info.shaders.value_or(""); }},
  };
}

// A column that is empty for ops that are no chains.
template <class Get>
Column of_chain(std::string name, std::string unit, std::string meaning, Get get) {
  return {std::move(name), std::move(unit), std::move(meaning), [get](const RunInfo&, const Record& record) {
            return record.chain ? get(*record.chain) : std::string();
          }};
}

Columns chain_columns() {
  using Chain = const ChainPlan&;
  return {
      of_chain("transitions", "number", "chains: copies of a tensor to another form between nodes",
               [](Chain c) { return std::to_string(c.transitions); }),
      of_chain("transition_bytes", "bytes", "chains: bytes that these copies read and write",
               [](Chain c) { return std::to_string(c.transition_bytes); }),
      of_chain("folded", "number", "chains: nodes for which nothing runs, as they change nothing",
               [](Chain c) { return std::to_string(c.folded.size()); }),
      of_chain("peak_bytes", "bytes", "chains: device memory of the tensors between nodes",
               [](Chain c) { return std::to_string(c.peak_bytes); }),
      of_chain("plan_hash", "hash", "chains: hash of the planned steps and forms; equal hashes: equal plans",
               [](Chain c) { return c.hash; }),
      of_chain("planned_with_run", "text",
               "chains, impl fastest: id of the run whose times it was planned with",
               [](Chain c) { return c.times_run; }),
  };
}

Columns cache_columns() {
  return {text("cache",
               "hot (the same memory again and again) or cold (rotating sets, so that none is in a cache)",
               &RowInfo::cache)};
}

Columns verdict_columns() {
  return {
      {"status", "text", "how the case ended: PASS, FAIL or another status",
       [](const RunInfo&, const Record& record) { return std::string(name_of(record.status)); }},
      {"reason", "text", "why, with numbers; absent for PASS",
       [](const RunInfo&, const Record& record) { return record.reason; }},
      {"retry", "text", "result of a failed row's second try: REPRODUCED or ORDER_DEPENDENT",
       [](const RunInfo&, const Record& record) { return record.retry; }},
      {"driver_retry", "text",
       "what the driver failed to do at first and did when asked again, for a pipeline that other rows may "
       "share; absent: nothing",
       [](const RunInfo&, const Record& record) { return record.driver_retry; }},
  };
}

Columns place_columns() {
  return {
      {"validation_messages", "number", "messages from the Vulkan validation layer during the case",
       [](const RunInfo&, const Record& record) { return std::to_string(record.validation_messages); }},
      {"total_ms", "ms", "wall time of the whole case, without making its group's data and reference",
       [](const RunInfo&, const Record& record) { return fixed(record.total_ms, 3); }},
      {"matrix_extension", "text",
       "extension of the cooperative matrices that the kernels multiply: KHR or NV; absent if they multiply "
       "none",
       [](const RunInfo&, const Record& record) {
         return record.accuracy ? record.accuracy->matrix_extension : "";
       }},
      {"file", "text", "case file",
       [](const RunInfo&, const Record& record) { return record.info.where.file; }},
      {"line", "number", "line of the case in that file",
       [](const RunInfo&, const Record& record) { return std::to_string(record.info.where.line); }},
      {"repro", "text", "command that runs this case again",
       [](const RunInfo&, const Record& record) { return record.repro; }},
  };
}

using Accuracy = const AccuracyResult&;

Columns difference_columns() {
  return {
      accuracy("metric", "text", "what is wrong, such as wrong_value; absent if nothing is",
               [](Accuracy a) { return a.metric; }),
      accuracy("diagnosis", "text", "kind of error that explains the wrong elements, such as zero_point",
               [](Accuracy a) { return a.diagnosis ? a.diagnosis->word : ""; }),
      accuracy("diagnosis_text", "text", "the diagnosis in words, with the share that it explains",
               [](Accuracy a) { return diagnosis_text(a); }),
      accuracy("output", "text", "the output that the figures describe: the worst one",
               [](Accuracy a) { return a.output; }),
      accuracy("class", "text", "how the output is judged: exact, banded or bounded",
               [](Accuracy a) { return std::string(name_of(a.output_class)); }),
      accuracy("elements", "elements", "elements of the output",
               [](Accuracy a) { return std::to_string(a.elements); }),
      accuracy("mismatches", "elements", "elements that are wrong",
               [](Accuracy a) { return std::to_string(a.mismatches); }),
      accuracy("max_abs_err", "value", "largest absolute difference from the reference",
               [](Accuracy a) { return significant(a.max_abs_err, 6); }),
      accuracy("err_over_bound", "ratio",
               "largest share of an element's bound that was spent; above 1 is wrong",
               [](Accuracy a) { return significant(a.err_over_bound, 6); }),
      accuracy(
          "tie_differences", "elements", "banded: accepted differences of one at a rounding tie",
          [](Accuracy a) { return a.output_class == OutputClass::Banded ? std::to_string(a.flips) : ""; }),
      accuracy("expected_tie_differences", "elements", "banded: expected number of such differences",
               [](Accuracy a) {
                 return a.output_class == OutputClass::Banded ? significant(a.expected_flips, 6) : "";
               }),
      wrong_element("first_wrong_index", "coordinates",
                    "first wrong element, coordinates separated by blanks",
                    [](Accuracy a) { return join_coordinates(a.first_bad); }),
      wrong_element("expected", "value", "the expected value there, from the reference or the case's file",
                    [](Accuracy a) { return shortest(a.expected); }),
      wrong_element("got", "value", "the device's value there", [](Accuracy a) { return shortest(a.got); }),
      wrong_element("bound", "value", "largest absolute difference allowed there",
                    [](Accuracy a) { return shortest(a.bound); }),
      accuracy(
          "differs_from", "text",
          "what the outputs differ from: file (values of the case's file), reference, or file and reference",
          [](Accuracy a) { return a.missed; }),
      accuracy("tolerance", "text", "tolerance of the case beyond its output's class",
               [](Accuracy a) { return a.tolerance; }),
      accuracy("tolerance_reason", "text", "the case's reason for that tolerance",
               [](Accuracy a) { return a.tolerance_reason; }),
  };
}

Columns evidence_columns() {
  return {
      accuracy("input_hash", "hash", "hash of the logical inputs", [](Accuracy a) { return a.input_hash; }),
      accuracy("output_hash", "hash",
               "hash of the logical outputs, without padding; all NaNs count as equal, float32 below 2^-126 "
               "as zero",
               [](Accuracy a) { return a.output_hash; }),
      accuracy("hash_portable", "flag",
               "true: every output is exact and the hash must be equal on all devices",
               [](Accuracy a) { return flag(a.hash_is_portable); }),
      accuracy(
          "guards", "text",
          "where around a buffer's data a stray write is seen: both sides, or by tensor (after, none) for "
          "kernels that know of no guards",
          [](Accuracy a) { return a.guards; }),
      accuracy("reference_ms", "ms", "time of the CPU reference, or of reading its stored answer",
               [](Accuracy a) { return fixed(a.reference_ms, 3); }),
      accuracy("gpu_ms", "ms", "wall time of upload, runs and download",
               [](Accuracy a) { return fixed(a.gpu_ms, 3); }),
      accuracy("memory_bytes", "bytes", "device memory of the case, guards included",
               [](Accuracy a) { return std::to_string(a.memory_bytes); }),
      accuracy("replays", "number", "further runs of the row (--replay)",
               [](Accuracy a) { return a.replay ? std::to_string(a.replay->runs) : ""; }),
      accuracy("replays_wrong", "number", "those whose answer was wrong",
               [](Accuracy a) { return a.replay ? std::to_string(a.replay->wrong) : ""; }),
      accuracy("distinct_answers", "number", "different answers of these runs and the one before",
               [](Accuracy a) { return a.replay ? std::to_string(different_answers(*a.replay)) : ""; }),
  };
}

using Perf = const PerfResult&;

Columns time_columns() {
  return {
      time_us("time_us_min", "fastest sample, per program", &PerfResult::time_us_min),
      time_us("time_us_p25", "first quartile of the samples", &PerfResult::time_us_p25),
      time_us("time_us_p50", "median of the samples: the time", &PerfResult::time_us_p50),
      time_us("time_us_p75", "third quartile of the samples", &PerfResult::time_us_p75),
      time_us("time_us_mean", "mean of the samples", &PerfResult::time_us_mean),
      time_us("time_us_stdev", "standard deviation of the samples", &PerfResult::time_us_stdev),
      timing("ci_pct", "%", "half width of the median's interval over blocks, in percent of the median",
             [](Perf p) { return fixed(p.ci_pct, 2); }),
      timing(
          "imprecise", "text",
          "why nothing should be decided from the time: too few blocks, or a ci_pct above 10; absent: it is "
          "precise enough",
          [](Perf p) { return why_imprecise(p); }),
      timing("spread_pct", "%", "largest minus smallest block median, in percent of the median",
             [](Perf p) { return fixed(p.spread_pct, 2); }),
      timing("blocks", "number", "blocks of samples, each with fresh buffers",
             [](Perf p) { return std::to_string(p.blocks); }),
      timing("samples", "number", "samples in all blocks", [](Perf p) { return std::to_string(p.samples); }),
      timing("discarded", "number", "samples discarded because the device's clock was down",
             [](Perf p) { return std::to_string(p.discarded); }),
      timing("batch", "programs", "programs in one sample", [](Perf p) { return std::to_string(p.batch); }),
      timing("sets", "number", "sets of inputs over which the timed programs rotate; 1: always the same",
             [](Perf p) { return std::to_string(p.sets); }),
      timing("stop_reason", "text", "why sampling ended: interval (narrow enough) or budget (time was up)",
             [](Perf p) { return p.stop; }),
      timing("throughput_us", "us",
             "time per program when programs overlap; absent for those that update an output in place",
             [](Perf p) { return p.throughput_us > 0 ? fixed(p.throughput_us, 4) : ""; }),
      time_us("transition_us", "time of the dispatches that only change the layout",
              &PerfResult::time_transition_us),
      timing(
          "setup_us", "us",
          "time of the setup dispatches, which run once and are in no other time; absent if there are none",
          [](Perf p) { return p.setup_us > 0 ? fixed(p.setup_us, 4) : ""; }),
      timing("isolated_us", "us",
             "time of one program alone, with nothing before or alongside it; absent: not measured",
             [](Perf p) { return p.isolated_us > 0 ? fixed(p.isolated_us, 4) : ""; }),
      timing("dispatch_count", "number", "timed dispatches of a program",
             [](Perf p) { return p.dispatches.empty() ? "" : std::to_string(p.dispatches.size()); }),
      timing("dispatches", "us",
             "time of each dispatch, label=us, to show their shares: from a separate pass, whose timestamps "
             "cost time, so the sum is not time_us_p50",
             [](Perf p) { return join_dispatches(p.dispatches); }),
  };
}

Columns rate_columns() {
  return {
      timing("bytes", "bytes", "bytes that must move: inputs read once, outputs written once",
             [](Perf p) { return std::to_string(p.bytes); }),
      timing("bytes_read", "bytes", "part of bytes that is read",
             [](Perf p) { return std::to_string(p.bytes_read); }),
      timing("ops", "operations", "operations that must be done, 2 per multiply-add",
             [](Perf p) { return std::to_string(p.operations); }),
      timing("gbps", "GB/s", "bytes / time_us_p50, in 10^9 bytes per second",
             [](Perf p) { return per_second(p.bytes, p.time_us_p50); }),
      timing("gops", "GOP/s", "ops / time_us_p50, in 10^9 operations per second; absent if ops is 0",
             [](Perf p) { return per_second(p.operations, p.time_us_p50); }),
      timing("peak_gbps", "GB/s", "the device's bandwidth for this footprint and share of bytes read",
             [](Perf p) { return figure_or_absent(p.peak_gbps); }),
      timing("ceiling", "text",
             "the device's ceiling that the impl is compared with: bandwidth, fp32, fp16, dot4x8, coop_int8 "
             "or coop_fp16",
             [](Perf p) { return p.ceiling; }),
      timing("peak_gops", "GOP/s", "that ceiling, if it counts operations",
             [](Perf p) { return figure_or_absent(p.peak_gops); }),
      timing("pct_peak_bw", "%", "gbps in percent of peak_gbps",
             [](Perf p) { return percent_or_absent(p.pct_peak_bw); }),
      timing("pct_peak_ops", "%", "gops in percent of peak_gops",
             [](Perf p) { return percent_or_absent(p.pct_peak_ops); }),
      timing("limited_by", "text",
             "bandwidth or operations, whichever share is larger; if both are under 20 %: dispatches if the "
             "spacing of several is half of the time or more, latency if that of its dispatches is a quarter "
             "or more, else kernel",
             [](Perf p) { return p.limited_by; }),
      timing("suspect", "text",
             "why the time is impossible: above 105 % (on a CPU device: 200 %) of a ceiling that was "
             "measured on the device",
             [](Perf p) { return p.suspect; }),
      timing("time_source", "text", "gpu (timestamps) or wall (time of batches on the CPU)",
             [](Perf p) { return p.clock; }),
      timing("timer", "text", "good, coarse (a sample is under 50 units of the clock) or broken",
             [](Perf p) { return p.timer; }),
      timing("clock_ratio", "ratio",
             "time of fixed work at full clock / its time with the samples: below 1 the device was slower",
             [](Perf p) { return p.clock_ratio > 0 ? fixed(p.clock_ratio, 3) : ""; }),
      timing("verified", "flag", "true: the timed outputs equal the judged output",
             [](Perf p) { return flag(p.verified); }),
      timing("verified_pct", "%", "share of the timed outputs' elements that were compared",
             [](Perf p) { return percent_or_absent(p.verified_pct); }),
      timing("output_hash", "hash", "hash of the timed outputs, like that of the judged ones",
             [](Perf p) { return p.output_hash; }),
  };
}

// A column that is empty where no energy was measured.
template <class Get>
Column energy(std::string name, std::string unit, std::string meaning, Get get) {
  return timing(std::move(name), std::move(unit), std::move(meaning),
                [get](Perf p) { return p.energy ? get(p) : std::string(); });
}

Columns energy_columns() {
  return {
      energy("energy_j", "J",
             "energy of one program run, from a window after the timing (--energy); absent: not measured",
             [](Perf p) { return significant(p.energy->joules, 6); }),
      energy("gops_per_joule", "GOP/J", "ops / energy_j, in 10^9 operations per joule; absent if ops is 0",
             [](Perf p) { return gops_per_joule(p) > 0 ? significant(gops_per_joule(p), 6) : ""; }),
      energy("power_w", "W", "mean power in that window, idle power included",
             [](Perf p) { return significant(p.energy->watts, 6); }),
      energy("energy_readings", "number",
             "readings of power in that window, or different readings of a counter of energy",
             [](Perf p) { return std::to_string(p.energy->readings); }),
      energy("energy_source", "text", "what told the energy, and in () what the figure covers",
             [](Perf p) { return p.energy->source; }),
  };
}

std::string count_or_absent(const std::optional<std::int64_t>& count) {
  return count ? std::to_string(*count) : "";
}

Columns program_columns() {
  return {
      timing("chosen_impl", "text", "impl auto: the impl that it chose", [](Perf p) { return p.impl_auto; }),
      timing("regret_pct", "%", "impl auto: how much longer it took than the best impl of the same forms",
             [](Perf p) { return p.regret_pct ? fixed(*p.regret_pct, 2) : ""; }),
      timing("ratio_to_slowest", "ratio",
             "time_us_p50 / that of the slowest impl that the case names (each with its fastest point of "
             "tune), in the same forms, cache and shaders; absent if the case names one impl",
             [](Perf p) { return p.ratio ? significant(*p.ratio, 6) : ""; }),
      timing("slowest_impl", "text", "the slowest impl, which ratio_to_slowest refers to",
             [](Perf p) { return p.ratio_to; }),
      timing("compile_ms", "ms", "GLSL to pipeline, all dispatches",
             [](Perf p) { return fixed(p.compile_ms, 3); }),
      timing("registers", "number",
             "registers per invocation, the largest of the dispatches; if the driver reports them",
             [](Perf p) { return count_or_absent(p.registers); }),
      timing("spills", "bytes", "bytes of spilled registers per invocation, the largest of the dispatches",
             [](Perf p) { return count_or_absent(p.spill_bytes); }),
      timing("shared_bytes", "bytes", "shared memory per workgroup, the largest of the dispatches",
             [](Perf p) { return count_or_absent(p.shared_bytes); }),
      timing("memory_mb", "MB", "device memory of all sets, in 10^6 bytes",
             [](Perf p) {
               return p.memory_bytes > 0 ? fixed(static_cast<double>(p.memory_bytes) / 1e6, 3) : "";
             }),
      timing("spirv_hash", "hash", "hash of the SPIR-V of all dispatches",
             [](Perf p) { return p.spirv_hash; }),
      timing("program_hash", "hash",
             "hash of everything that the device runs: SPIR-V, specialization constants, workgroups, push "
             "constants, bindings, memory",
             [](Perf p) { return p.program_hash; }),
  };
}

// A column that is empty in rows that are not compared with another.
template <class Get>
Column comparison(std::string name, std::string unit, std::string meaning, Get get) {
  return {std::move(name), std::move(unit), std::move(meaning), [get](const RunInfo&, const Record& record) {
            return record.comparison ? get(*record.comparison) : std::string();
          }};
}

// A column about the ratio, also empty if there is none.
template <class Get>
Column ratio(std::string name, std::string unit, std::string meaning, Get get) {
  return comparison(std::move(name), std::move(unit), std::move(meaning),
                    [get](const Comparison& c) { return c.ratio > 0 ? get(c) : std::string(); });
}

Columns comparison_columns() {
  return {
      comparison("baseline", "text", "id of the row that this one is compared with",
                 [](const Comparison& c) { return c.baseline; }),
      ratio("ratio_to_baseline", "ratio",
            "time / the baseline's: median of the quotients of block medians, one per round",
            [](const Comparison& c) { return significant(c.ratio, 6); }),
      ratio("ratio_to_baseline_low", "ratio", "lower end of that median's interval",
            [](const Comparison& c) { return significant(c.ratio_low, 6); }),
      ratio("ratio_to_baseline_high", "ratio", "upper end of that median's interval",
            [](const Comparison& c) { return significant(c.ratio_high, 6); }),
      ratio("ratio_to_baseline_blocks", "number", "rounds in which both were sampled",
            [](const Comparison& c) { return std::to_string(c.blocks); }),
      comparison("comparison_note", "text", "why there is no ratio",
                 [](const Comparison& c) { return c.note; }),
  };
}

Columns named(const Columns& columns, std::initializer_list<std::string_view> names) {
  Columns chosen;
  for (const std::string_view name : names) {
    for (const Column& column : columns) {
      if (column.name == name) chosen.push_back(column);
    }
  }
  return chosen;
}

Columns without(Columns columns, std::string_view name) {
  std::erase_if(columns, [&](const Column& column) { return column.name == name; });
  return columns;
}

Columns joined(std::initializer_list<Columns> parts) {
  Columns all;
  for (const Columns& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

std::vector<Column> accu_columns() {
  // Accuracy rows have the built-in defaults, whatever the tuning file says.
  return joined({run_columns(), without(case_columns(), "tuned"), verdict_columns(), difference_columns(),
                 evidence_columns(), chain_columns(), place_columns()});
}

std::vector<Column> perf_columns() {
  return joined({run_columns(), case_columns(), cache_columns(), verdict_columns(), time_columns(),
                 rate_columns(), energy_columns(), program_columns(), chain_columns(), comparison_columns(),
                 place_columns()});
}

Column mode_column() {
  return text("mode", "accu or perf", &RowInfo::mode);
}

Column device_key_column() {
  return {"device_key", "text", "identifies the device: its UUID, for a CPU its name",
          [](const RunInfo& run, const Record&) { return device_key(run); }};
}

Column robust_access_column() {
  return {"robust_access", "flag", "true: the device checked each memory access of shaders (--robust-access)",
          [](const RunInfo& run, const Record&) { return flag(run.robust_access); }};
}

// The hash of the timed outputs, else of the judged ones.
Column any_output_hash_column() {
  return {"output_hash", "hash", "hash of the logical outputs", [](const RunInfo&, const Record& record) {
            if (has_time(record) && !record.perf->output_hash.empty()) return record.perf->output_hash;
            return record.accuracy ? record.accuracy->output_hash : std::string();
          }};
}

std::vector<Column> history_columns() {
  return joined({run_columns(),
                 {device_key_column()},
                 named(case_columns(), {"case"}),
                 {mode_column()},
                 cache_columns(),
                 named(verdict_columns(), {"status"}),
                 named(time_columns(), {"time_us_p50", "ci_pct"}),
                 named(difference_columns(), {"err_over_bound"}),
                 {any_output_hash_column()},
                 named(case_columns(), {"tune"}),
                 named(program_columns(), {"program_hash"}),
                 {robust_access_column()},
                 named(case_columns(), {"tuned"})});
}

std::vector<Column> pivot_case_columns() {
  const Columns forms{{"forms", "text", "form of every tensor, as the case asks for it",
                       [](const RunInfo&, const Record& record) { return asked_forms(record.info); }}};
  return joined({named(perf_columns(), {"case", "op", "impl", "shape"}), forms,
                 named(perf_columns(), {"params", "tune", "tuned", "fill", "cache"})});
}

std::vector<Column> pivot_device_columns() {
  Columns columns = named(perf_columns(), {"status", "time_us_p50", "ci_pct", "gbps", "pct_peak_bw"});
  columns.push_back({"ratio_to_first",
                     "ratio",
                     "time_us_p50 / that of the case's first row on this device; absent if it has only one "
                     "impl and tune point",
                     {}});
  return joined(
      {columns, named(energy_columns(), {"energy_j", "gops_per_joule", "power_w", "energy_source"})});
}

std::string markdown_table(const std::vector<Column>& columns) {
  std::string table = "| column | unit | meaning |\n|---|---|---|\n";
  for (const Column& column : columns) {
    table += "| `" + column.name + "` | " + column.unit + " | " + column.meaning + " |\n";
  }
  return table;
}

}  // namespace assay
