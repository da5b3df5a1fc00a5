#include "harness/base/text.h"
#include "harness/report/console/ceilings_text.h"
#include "harness/report/console/labelled_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace assay {
namespace {

void show_device(Page& page, const DeviceInfo& device) {
  page.section("device");
  page.line("name", device.name);
  page.line("type", device.type);
  page.line("driver", joined({device.driver_name, device.driver_info}, " "));
  page.line("Vulkan", device.api_version);
  page.line("UUID", device.uuid);
}

/// One "name=value" per line.
std::string lines_of(const std::map<std::string, std::string>& pairs) {
  std::string lines;
  for (const auto& [name, value] : pairs) lines.append(name).append("=").append(value).append("\n");
  return lines;
}

/// "0 to 18 by 3, 20": the places of a shard's groups, at most the first 20 ranges.
std::string groups_text(const ShardInfo& shard) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, shard.groups.size()); ++i) {
    const auto& [first, last, step] = shard.groups[i];
    if (i > 0) text += ", ";
    text += first == last ? fmt::format("{}", first)
            : step == 1   ? fmt::format("{} to {}", first, last)
                          : fmt::format("{} to {} by {}", first, last, step);
  }
  if (shard.groups.size() > most) text += fmt::format(", and {} more ranges", shard.groups.size() - most);
  return text;
}

void show_division(Page& page, const RunInfo& run) {
  const ShardInfo& shard = run.shard;
  if (shard.is_part()) {
    page.line("shard",
              fmt::format("{} of {}: groups {} of {}, which have {} rows\nplan {}", shard.index, shard.count,
                          groups_text(shard), shard.all_groups, shard.all_rows, shard.plan_hash));
  }
  page.line("merged from", fmt::format("{}", fmt::join(run.merged, " ")));
}

void show_circumstances(Page& page, const RunInfo& run) {
  page.section("run");
  page.line("id", run.run_id + " (schema " + std::to_string(run.schema) + ")");
  page.line("started", run.started_utc);
  page.line("assay", joined({run.version, run.compiler, run.build_type}, ", "));
  page.line("host", joined({run.host, run.os}, ", "));
  page.line("CPU", run.cpu + ", " + std::to_string(run.cores) + " cores");
  std::string command;
  for (const std::string& word : run.command) command += (command.empty() ? "" : " ") + word;
  page.line("command", command);
  page.line("again with", run.repro_options);
  page.line("environment", lines_of(run.environment));
  page.line("inputs", lines_of(run.inputs));
  page.line("seed", std::to_string(run.seed));
  if (run.secret_seed != 0) page.line("secret seed", std::to_string(run.secret_seed));
  page.line("layer", run.validation ? "validation on" : "validation off");
  if (run.robust_access) page.line("access", "robust: the device checks each memory access of shaders");
  show_division(page, run);
}

std::string ns(double value) {
  return significant(value, 6) + " ns";
}

void show_timer(Page& page, const TimerCalibration& t) {
  page.section("timer");
  const bool measured = t.unit_ns > 0;
  if (measured || !t.note.empty()) {
    page.line("quality", joined({std::string(name_of(t.quality)), t.note}, ": "));
  }
  if (!measured) return page.line("unit", "not measured");
  page.line("unit", ns(t.unit_ns) + ", the larger of step and empty pair (95 %)");
  page.line("period", ns(t.period_ns) + " per tick");
  page.line("valid bits", std::to_string(t.valid_bits) + ", wraps after " + significant(t.wrap_s, 6) + " s");
  page.line("smallest step", ns(t.step_ns));
  page.line("empty pair", ns(t.pair_ns_p50) + " median, " + ns(t.pair_ns_p95) + " at 95 %");
  if (t.gpu_over_cpu > 0) {
    page.line("long dispatch",
              significant(t.gpu_over_cpu, 6) + " of its time on the CPU's clock (" + t.cross_check + ")");
  }
}

void show_rule_notes(Page& page, const std::vector<RuleNote>& notes) {
  if (notes.empty()) return;
  page.section("expectations");
  for (const RuleNote& rule : notes) {
    page.line("rule", fmt::format("{}  {}:{}:{}  {}  ({})\n{}", rule.state, rule.where.file, rule.where.line,
                                  rule.where.column, rule.match, rule.reason, rule.note));
  }
}

void show_ceilings(Page& page, const Ceilings& ceilings) {
  page.section("ceilings");
  for (const auto& [label, value] : ceiling_lines(ceilings)) page.line(label, value);
}

}  // namespace

void show_run(Page& page, const RunInfo& run) {
  show_device(page, run.device);
  show_circumstances(page, run);
  show_timer(page, run.timer);
  show_ceilings(page, run.ceilings);
  show_rule_notes(page, run.rule_notes);
}

}  // namespace assay
