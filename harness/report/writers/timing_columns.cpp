#include "harness/base/text.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"
#include "harness/report/writers/column_parts.h"

#include <utility>

namespace assay {
namespace {

using Perf = const PerfResult&;

// A column that is empty if there is no time, or it is withheld.
template <class Get>
Column timing(std::string name, std::string unit, std::string meaning, Get get) {
  return {std::move(name), std::move(unit), std::move(meaning), [get](const RunInfo&, const Record& record) {
            return has_time(record) ? get(*record.perf) : std::string();
          }};
}

Column time_us(std::string name, std::string meaning, double PerfResult::*member) {
  return timing(std::move(name), "us", std::move(meaning),
                [member](const PerfResult& perf) { return fixed(perf.*member, 4); });
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

std::string join_dispatches(const std::vector<DispatchShare>& dispatches) {
  std::string joined;
  for (const DispatchShare& dispatch : dispatches) {
    if (!joined.empty()) joined += ' ';
    joined += dispatch.label + "=" + fixed(dispatch.time_us, 4);
  }
  return joined;
}

// A column that is empty where no energy was measured.
template <class Get>
Column energy(std::string name, std::string unit, std::string meaning, Get get) {
  return timing(std::move(name), std::move(unit), std::move(meaning),
                [get](Perf p) { return p.energy ? get(p) : std::string(); });
}

std::string count_or_absent(const std::optional<std::int64_t>& count) {
  return count ? std::to_string(*count) : "";
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

}  // namespace

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
             "time per program when programs overlap; absent for those that update an output in place or "
             "join parts in one dispatch",
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

}  // namespace assay
