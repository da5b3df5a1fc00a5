#include "harness/report/console/show.h"

#include "harness/base/statistics.h"
#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/report/console/labelled_text.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace assay {
namespace {

/// A label of a Graphviz graph.
std::string quoted_for_dot(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : printable(text))
    quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted + '"';
}

/// The edges of a plan's graph. Tensors that enter or leave are nodes of their own.
class DotEdges {
 public:
  explicit DotEdges(const ChainPlan& plan) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) add_step("step" + std::to_string(i), plan.steps[i]);
    for (const std::string& value : unread_) add(writer_.at(value), outside(value), value);
  }

  const std::string& text() const { return text_; }

 private:
  void add_step(const std::string& node, const ChainStep& step) {
    for (const std::string& value : step.reads) {
      const auto writer = writer_.find(value);
      add(writer == writer_.end() ? outside(value) : writer->second, node, value);
      unread_.erase(value);
    }
    for (const std::string& value : step.writes) {
      writer_[value] = node;
      unread_.insert(value);
    }
  }

  static std::string name_in(const std::string& value) { return value.substr(0, value.find(" as ")); }

  std::string outside(const std::string& value) {
    const std::string node = quoted_for_dot("outside " + name_in(value));
    if (named_.insert(node).second)
      text_ += "  " + node + " [shape=plaintext, label=" + quoted_for_dot(name_in(value)) + "]\n";
    return node;
  }

  void add(const std::string& from, const std::string& to, const std::string& value) {
    text_ += "  " + from + " -> " + to + " [label=" + quoted_for_dot(value) + "]\n";
  }

  std::string text_;
  std::map<std::string, std::string> writer_;  ///< by tensor and form
  std::set<std::string> unread_;
  std::set<std::string> named_;
};

std::string us(double value) {
  return fixed(value, 4) + " us";
}

std::string ms(double value) {
  return fixed(value, 3) + " ms";
}

std::string percent(double part, double whole) {
  return whole > 0 ? fixed(100 * part / whole, 1) + " %" : "";
}

std::string spent_lines(const TimeSpent& spent) {
  return ms(spent.judging_ms) + " checking outputs\n" + ms(spent.filling_ms) +
         " filling and comparing blocks' memory\n" + ms(spent.heating_ms) +
         " submissions to heat the device\n" + ms(spent.resting_ms) + " letting the device cool down";
}

void show_case(Page& page, const Record& record) {
  const RowInfo& info = record.info;
  page.line("reason", record.reason);
  if (record.own_end) {
    page.line("without rule",
              joined({std::string(name_of(record.own_end->status)), record.own_end->reason}, ": "));
  }
  page.line("retry", record.retry);
  page.line("driver retry", record.driver_retry);
  if (record.accuracy && record.accuracy->replay)
    page.line("run again", replay_text(*record.accuracy->replay));
  page.section("case");
  page.line("op", info.op);
  page.line("name", info.name);
  page.line("impl", info.impl);
  page.line("model", joined({info.model, info.layer,
                             info.calls > 0 ? std::to_string(info.calls) + " calls per step" : ""},
                            ", "));
  page.line("tokens", info.tokens > 0 ? std::to_string(info.tokens) : "");
  page.line("dtype", info.dtype);
  page.line("shape", info.shape);
  page.line("shapes", info.shapes);
  page.line("params", info.params);
  page.line("forms", info.forms);
  page.line("tune", info.tune);
  page.line("tuned", info.tuned);
  page.line("fill", info.fill);
  page.line("group", info.group);
  page.line("cache", info.cache);
  page.line("seed", std::to_string(info.seed));
  page.line("shaders", info.shaders.value_or("") + (info.versus ? " (the other version's)" : ""));
  if (!record.comparison) page.line("baseline", joined({info.baseline, info.baseline_note}, ", "));
  page.line("tier", info.tier);
  page.line("at", info.where.file + ":" + std::to_string(info.where.line) + ":" +
                      std::to_string(info.where.column));
  page.line("validation", record.validation_messages == 0 ? "0 messages from the layer" : layer_text(record));
  page.line("took", ms(record.total_ms) + " in all");
  if (record.spent) page.line("of that", spent_lines(*record.spent));
  page.line("again", record.repro);
}

std::string metric_line(const AccuracyResult& a) {
  for (const MetricWords& words : known_metrics()) {
    if (words.metric == a.metric) return a.metric + " (" + std::string(words.name) + ")";
  }
  return a.metric;
}

std::string first_bad_line(const AccuracyResult& a) {
  if (a.first) return element_text(*a.first);
  if (a.first_bad.empty()) return "";
  return bracketed(a.first_bad) + ": expected " + value_text(a.expected) + ", got " + value_text(a.got) +
         ", bound " + shortest(a.bound);
}

std::string flips_line(const AccuracyResult& a) {
  if (a.output_class != OutputClass::Banded && a.flips == 0) return "";
  return std::to_string(a.flips) + " at rounding ties, " + significant(a.expected_flips, 6) + " expected";
}

std::string output_hash_line(const AccuracyResult& a) {
  if (a.output_hash.empty()) return "";
  return a.output_hash + (a.hash_is_portable ? " (every output is exact: equal on all devices)"
                                             : " (may differ between devices)");
}

void show_accuracy(Page& page, const AccuracyResult& a) {
  page.section("accuracy");
  page.line("output", a.output);
  page.line("class", name_of(a.output_class));
  const std::string share =
      a.mismatches > 0 ? percent(static_cast<double>(a.mismatches), static_cast<double>(a.elements)) : "";
  page.line("elements", std::to_string(a.elements));
  page.line("wrong", joined({std::to_string(a.mismatches), share.empty() ? "" : "(" + share + ")"}, " "));
  page.line("largest error", significant(a.max_abs_err, 6));
  page.line("error/bound", significant(a.err_over_bound, 6));
  page.line("tie differences", flips_line(a));
  page.line("metric", metric_line(a));
  page.line("diagnosis", diagnosis_text(a));
  page.line("explained", a.diagnosis ? significant(a.diagnosis->share, 6) + " of the wrong elements" : "");
  page.line("first wrong", first_bad_line(a));
  page.line("worst", a.worst ? element_text(*a.worst) : "");
  page.line("differs from", a.missed.empty() ? "" : "the answer of the " + a.missed);
  page.line("tolerance", joined({a.tolerance, a.tolerance_reason}, ": "));
  page.line("map", a.tile_map);
  page.line("input hash", a.input_hash);
  page.line("output hash", output_hash_line(a));
  page.line("guards", a.guards);
  page.line("matrices",
            a.matrix_extension.empty() ? "" : "by VK_" + a.matrix_extension + "_cooperative_matrix");
  page.line("reference", ms(a.reference_ms) + " on the CPU");
  page.line("device", ms(a.gpu_ms) + " for upload, runs and download");
  page.line("memory", std::to_string(a.memory_bytes) + " bytes");
}

std::string rate(std::int64_t amount, double time_us, const std::string& unit) {
  if (amount <= 0 || !(time_us > 0)) return "";
  return readable(static_cast<double>(amount) / time_us / 1e3, 4) + " " + unit;
}

// One line per dispatch, in columns: label, role, time and its share of the sum.
std::string dispatch_lines(const std::vector<DispatchShare>& dispatches) {
  constexpr std::size_t share_width = 7;  // 100.0 %
  double sum = 0;
  std::size_t label_width = 0, role_width = 0, time_width = 0;
  for (const DispatchShare& dispatch : dispatches) {
    sum += dispatch.time_us;
    label_width = std::max(label_width, columns_of(printable(dispatch.label)));
    role_width = std::max(role_width, columns_of(printable(dispatch.role)));
    time_width = std::max(time_width, us(dispatch.time_us).size());
  }
  const auto filled = [](const std::string& text, std::size_t width) {
    return text + std::string(width - columns_of(text), ' ');
  };
  std::string lines;
  for (const DispatchShare& dispatch : dispatches) {
    const std::string time = us(dispatch.time_us), share = percent(dispatch.time_us, sum);
    lines +=
        joined({filled(printable(dispatch.label), label_width), filled(printable(dispatch.role), role_width),
                std::string(time_width - time.size(), ' ') + time,
                std::string(share_width - std::min(share_width, share.size()), ' ') + share},
               "  ");
    lines += '\n';
  }
  return lines;
}

// Numbers as text, a fixed count per line.
class Numbers {
 public:
  void add(const std::string& word) {
    constexpr std::size_t words_a_line = 10;
    if (count_ > 0) text_ += count_ % words_a_line == 0 ? "\n" : "  ";
    text_ += word;
    ++count_;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t count_ = 0;
};

std::string block_medians(const PerfResult& perf) {
  Numbers medians;
  for (const std::vector<double>& block : perf.sample_us) {
    medians.add(block.empty() ? "-" : readable(median(block), 6));
  }
  return medians.text();
}

void show_samples(Page& page, const PerfResult& perf) {
  page.section("samples, us by block");
  for (std::size_t i = 0; i < perf.sample_us.size(); ++i) {
    Numbers numbers;
    for (const double sample : perf.sample_us[i]) numbers.add(shortest(sample));
    page.line("block " + std::to_string(i + 1), perf.sample_us[i].empty() ? "none" : numbers.text());
  }
}

void show_sampling(Page& page, const PerfResult& p) {
  page.line("median", us(p.time_us_p50) + " +- " + fixed(p.ci_pct, 2) + " %");
  page.line("min, quartiles", us(p.time_us_min) + ", " + us(p.time_us_p25) + ", " + us(p.time_us_p75));
  page.line("mean", us(p.time_us_mean) + ", standard deviation " + us(p.time_us_stdev));
  page.line("spread", fixed(p.spread_pct, 2) + " % between the medians of blocks");
  page.line("block medians", block_medians(p));
  page.line("sampled", std::to_string(p.blocks) + " blocks, " + std::to_string(p.samples) +
                           " samples, batch " + std::to_string(p.batch) + " (programs per sample)");
  if (p.sets != 1) page.line("data", std::to_string(p.sets) + " sets of inputs in rotation");
  if (p.discarded > 0) {
    page.line("discarded", std::to_string(p.discarded) + " samples, taken while the device's clock was down");
  }
  page.line("ended by", p.stop);
  page.line("time source", p.clock);
  page.line("timer", p.timer);
  if (p.clock_ratio > 0) {
    page.line("full clock", significant(p.clock_ratio, 6) + " of it during the samples, by the clock probe");
  }
}

std::string of_ceiling(double percent, double peak, const std::string& unit) {
  const std::string limit = peak > 0 ? readable(peak, 6) + " " + unit : "limit";
  return percent > 0 ? significant(percent, 6) + " % of the device's " + limit : "";
}

void show_rates(Page& page, const PerfResult& p) {
  const std::string read = p.bytes_read > 0 ? " (" + std::to_string(p.bytes_read) + " of them read)" : "";
  page.line("must move",
            joined({std::to_string(p.bytes) + " bytes" + read, rate(p.bytes, p.time_us_p50, "GB/s"),
                    of_ceiling(p.pct_peak_bw, p.peak_gbps, "GB/s")},
                   ", "));
  page.line("must do",
            joined({std::to_string(p.operations) + " operations", rate(p.operations, p.time_us_p50, "GOP/s"),
                    of_ceiling(p.pct_peak_ops, p.peak_gops, "GOP/s")},
                   ", "));
  page.line("ceiling", p.ceiling);
  page.line("limited by", p.limited_by);
  page.line("suspect", p.suspect);
}

void show_energy(Page& page, const PerfResult& p) {
  if (!p.no_energy.empty()) page.line("energy", "none: " + p.no_energy);
  if (!p.energy) return;
  const Energy& energy = *p.energy;
  page.line("energy", joined({significant(energy.joules, 6) + " J", significant(energy.watts, 6) + " W",
                              fmt::format("{} programs in {} s, {} readings", energy.programs,
                                          significant(energy.window_s, 6), energy.readings)},
                             ", "));
  page.line("energy told by", energy.source);
}

// The facts about the program itself.
void show_program(Page& page, const PerfResult& p) {
  page.line("impl auto", p.impl_auto.empty() ? "" : "chose " + p.impl_auto);
  if (p.ratio) page.line("ratio", significant(*p.ratio, 6) + " of the time of impl " + p.ratio_to);
  if (p.regret_pct)
    page.line("regret", significant(*p.regret_pct, 6) + " % over the best impl that it could have chosen");
  page.line("compiled in", ms(p.compile_ms));
  if (p.registers) page.line("registers", std::to_string(*p.registers) + " per invocation");
  if (p.spill_bytes) page.line("spills", std::to_string(*p.spill_bytes) + " bytes per invocation");
  if (p.shared_bytes) page.line("shared memory", std::to_string(*p.shared_bytes) + " bytes per workgroup");
  if (p.submitted_ms > 0) page.line("timed for", ms(p.submitted_ms) + " in submissions");
  if (p.memory_bytes > 0) page.line("memory", std::to_string(p.memory_bytes) + " bytes in all sets");
  page.line("SPIR-V hash", p.spirv_hash);
  page.line("program hash", p.program_hash);
}

void show_time(Page& page, const Record& record) {
  const PerfResult& p = *record.perf;
  page.section(has_time(record) ? "time of one program run"
                                : "time of one program run: no result, the case ended as " +
                                      std::string(name_of(record.status)));
  show_sampling(page, p);
  if (const std::string why = why_imprecise(p); !why.empty())
    page.line("imprecise", why + ": do not decide from this time");
  if (p.throughput_us > 0)
    page.line("overlapping", us(p.throughput_us) + " per program, without a barrier between programs");
  if (p.setup_us > 0) page.line("setup", us(p.setup_us) + ", once, and in no other time");
  if (p.isolated_us > 0) page.line("alone", us(p.isolated_us) + " with nothing before or alongside it");
  page.line("transitions", us(p.time_transition_us) + " in dispatches that only change the layout");
  show_rates(page, p);
  show_energy(page, p);
  page.line("dispatches", dispatch_lines(p.dispatches));
  page.line("verified", p.verified ? "yes: the timed outputs equal the judged one" : "no");
  if (p.verified_pct > 0) page.line("compared", significant(p.verified_pct, 6) + " % of their elements");
  page.line("output hash", p.output_hash);
  show_program(page, p);
}

// "a, b"
std::string listed(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + text;
  return list;
}

// One line per step: what it reads and writes.
std::string step_lines(const std::vector<ChainStep>& steps) {
  std::string lines;
  for (const ChainStep& step : steps) {
    const std::string what = step.is_transition ? "copy" : step.name + " (" + step.op + "/" + step.impl + ")";
    lines += what + ": " + listed(step.reads) + " -> " + listed(step.writes) + '\n';
  }
  return lines;
}

void show_chain(Page& page, const ChainPlan& plan) {
  page.section("plan of the chain");
  page.line("transitions", std::to_string(plan.transitions) + " copies to another form, which move " +
                               std::to_string(plan.transition_bytes) + " bytes");
  page.line("folded", listed(plan.folded));
  page.line("memory", std::to_string(plan.peak_bytes) + " bytes for the tensors between nodes");
  page.line("exact", plan.is_exact ? "" : "no: the net is too tangled, a plan that costs less may exist");
  page.line("times from", plan.times_run.empty() ? "" : "run " + plan.times_run);
  page.line("steps", step_lines(plan.steps));
  page.line("plan hash", plan.hash);
}

void show_comparison(Page& page, const Comparison& c) {
  page.section("comparison");
  page.line("baseline", c.baseline);
  if (c.ratio > 0) {
    page.line("time", significant(c.ratio, 6) + " of the baseline's, between " + significant(c.ratio_low, 6) +
                          " and " + significant(c.ratio_high, 6));
  }
  page.line("rounds", std::to_string(c.blocks) + ", a block of each in every round");
  page.line("not compared", c.note);
}

}  // namespace

std::string plan_as_dot(const Record& record) {
  const ChainPlan& plan = *record.chain;
  std::string text = "digraph " + quoted_for_dot(record.info.id) + " {\n  node [shape=box]\n";
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const ChainStep& step = plan.steps[i];
    const std::string label = step.is_transition ? step.name : step.name + ": " + step.op + "/" + step.impl;
    text += "  step" + std::to_string(i) + " [label=" + quoted_for_dot(label) +
            (step.is_transition ? ", style=filled" : "") + "]\n";
  }
  return text + DotEdges(plan).text() + "}\n";
}

std::string show_text(const RunInfo& run, std::span<const Record* const> rows, const PageOptions& options) {
  Page page(options.color);
  for (const Record* record : rows) {
    page.verdict(*record);
    show_case(page, *record);
    if (record->accuracy) show_accuracy(page, *record->accuracy);
    if (record->chain) show_chain(page, *record->chain);
    if (record->perf) show_time(page, *record);
    if (record->perf && options.samples) show_samples(page, *record->perf);
    if (record->comparison) show_comparison(page, *record->comparison);
  }
  show_run(page, run);
  return page.text();
}

}  // namespace assay
