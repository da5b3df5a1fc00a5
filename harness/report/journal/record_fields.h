#pragma once

#include "harness/report/record/accuracy_result.h"
#include "harness/report/record/block.h"
#include "harness/report/record/row_end.h"
#include "harness/report/record/row_info.h"
#include "harness/report/record/run_info.h"

#include <concepts>
#include <type_traits>

namespace assay {

// The fields of what a journal holds, each named once for both directions: `fields(visit, x)` calls
// visit(name, member, rule) for every member, x const when it is written and mutable when it is read.

/// When a field is written.
struct FieldRule {
  bool always = false;  ///< in the journal also if it has its initial value
};
inline constexpr FieldRule always{.always = true};

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

template <class Visit>
void fields(Visit& visit, Is<TextureSupport> auto& x) {
  visit("storage", x.storage);
  visit("dtype", x.dtype);
  visit("max_extent", x.max_extent);
  visit("max_bytes", x.max_bytes);
  visit("sampled", x.sampled);
}

template <class Visit>
void fields(Visit& visit, Is<CooperativeShape> auto& x) {
  visit("rows", x.rows);
  visit("columns", x.columns);
  visit("depth", x.depth);
  visit("factors", x.factors);
  visit("sums", x.sums);
  visit("extension", x.extension);
  visit("saturates", x.saturates);
}

template <class Visit>
void fields(Visit& visit, Is<DeviceInfo> auto& x) {
  visit("name", x.name);
  visit("type", x.type);
  visit("driver_name", x.driver_name);
  visit("driver_info", x.driver_info);
  visit("api_version", x.api_version);
  visit("vendor_id", x.vendor_id);
  visit("device_id", x.device_id);
  visit("uuid", x.uuid);
  visit("pci_address", x.pci_address);
  visit("features", x.features);
  visit("extensions", x.extensions);
  visit("dot_product_accelerated", x.dot_product_accelerated);
  visit("cooperative_shapes", x.cooperative_shapes);
  visit("wrong_matrices", x.wrong_matrices);
  visit("max_workgroup_count", x.max_workgroup_count);
  visit("max_workgroup_size", x.max_workgroup_size);
  visit("max_workgroup_invocations", x.max_workgroup_invocations);
  visit("max_shared_bytes", x.max_shared_bytes);
  visit("max_push_constant_bytes", x.max_push_constant_bytes);
  visit("max_storage_buffer_range", x.max_storage_buffer_range);
  visit("max_storage_buffers_per_stage", x.max_storage_buffers_per_stage);
  visit("max_storage_images_per_stage", x.max_storage_images_per_stage);
  visit("max_sampled_images_per_stage", x.max_sampled_images_per_stage);
  visit("max_image_3d", x.max_image_3d);
  visit("max_image_2d", x.max_image_2d);
  visit("textures", x.textures);
  visit("subgroup_size", x.subgroup_size);
  visit("min_subgroup_size", x.min_subgroup_size);
  visit("max_subgroup_size", x.max_subgroup_size);
  visit("max_workgroup_subgroups", x.max_workgroup_subgroups);
  visit("shader_cores", x.shader_cores);
  visit("timestamp_period_ns", x.timestamp_period_ns);
  visit("timestamp_valid_bits", x.timestamp_valid_bits);
  visit("device_memory_bytes", x.device_memory_bytes);
  visit("as_if", x.as_if);
  visit("as_if_type", x.as_if_type);
}

template <class Visit>
void fields(Visit& visit, Is<TimerCalibration> auto& x) {
  visit("quality", x.quality);
  visit("note", x.note);
  visit("period_ns", x.period_ns);
  visit("valid_bits", x.valid_bits);
  visit("wrap_s", x.wrap_s);
  visit("step_ns", x.step_ns);
  visit("pair_ns_p50", x.pair_ns_p50);
  visit("pair_ns_p95", x.pair_ns_p95);
  visit("unit_ns", x.unit_ns);
  visit("gpu_over_cpu", x.gpu_over_cpu);
  visit("cross_check", x.cross_check);
}

template <class Visit>
void fields(Visit& visit, Is<BandwidthPoint> auto& x) {
  visit("footprint_bytes", x.footprint_bytes);
  visit("copy_gbps", x.copy_gbps);
  visit("read_gbps", x.read_gbps);
  visit("write_gbps", x.write_gbps);
}

template <class Visit>
void fields(Visit& visit, Is<Ceilings> auto& x) {
  visit("device_uuid", x.device_uuid);
  visit("driver", x.driver);
  visit("kernels", x.kernels);
  visit("measured_utc", x.measured_utc);
  visit("bandwidth", x.bandwidth);
  visit("cache_bytes", x.cache_bytes);
  visit("fp32_gops", x.fp32_gops);
  visit("fp16_gops", x.fp16_gops);
  visit("dot4x8_gops", x.dot4x8_gops);
  visit("coop_int8_gops", x.coop_int8_gops);
  visit("coop_fp16_gops", x.coop_fp16_gops);
  visit("dot4x8_kernel", x.dot4x8_kernel);
  visit("coop_int8_kernel", x.coop_int8_kernel);
  visit("coop_fp16_kernel", x.coop_fp16_kernel);
  visit("clock_ratio", x.clock_ratio);
  visit("host_load", x.host_load);
  visit("dispatch_us", x.dispatch_us);
}

template <class Visit>
void fields(Visit& visit, Is<SourceLocation> auto& x) {
  visit("file", x.file);
  visit("line", x.line);
  visit("column", x.column);
}

template <class Visit>
void fields(Visit& visit, Is<RuleNote> auto& x) {
  visit("state", x.state);
  visit("where", x.where);
  visit("match", x.match);
  visit("reason", x.reason);
  visit("note", x.note);
}

template <class Visit>
void fields(Visit& visit, Is<ShardInfo> auto& x) {
  visit("index", x.index);
  visit("count", x.count);
  visit("all_groups", x.all_groups);
  visit("all_rows", x.all_rows);
  visit("plan_hash", x.plan_hash);
  visit("groups", x.groups);
}

template <class Visit>
void fields(Visit& visit, Is<RunInfo> auto& x) {
  visit("schema", x.schema, always);
  visit("run_id", x.run_id, always);
  visit("started_utc", x.started_utc);
  visit("device", x.device);
  visit("version", x.version);
  visit("compiler", x.compiler);
  visit("build_type", x.build_type);
  visit("host", x.host);
  visit("os", x.os);
  visit("cpu", x.cpu);
  visit("cores", x.cores);
  visit("command", x.command);
  visit("environment", x.environment);
  visit("seed", x.seed);
  visit("validation", x.validation);
  visit("robust_access", x.robust_access);
  visit("inputs", x.inputs);
  visit("repro_options", x.repro_options);
  visit("timer", x.timer);
  visit("ceilings", x.ceilings);
  visit("rule_notes", x.rule_notes);
  visit("secret_seed", x.secret_seed);
  visit("energy", x.energy);
  visit("shard", x.shard);
  visit("merged", x.merged);
}

template <class Visit>
void fields(Visit& visit, Is<RowInfo> auto& x) {
  visit("id", x.id, always);
  visit("op", x.op);
  visit("name", x.name);
  visit("impl", x.impl);
  visit("group", x.group);
  visit("model", x.model);
  visit("layer", x.layer);
  visit("calls", x.calls);
  visit("tokens", x.tokens);
  visit("dtype", x.dtype);
  visit("shape", x.shape);
  visit("shapes", x.shapes);
  visit("params", x.params);
  visit("forms", x.forms);
  visit("tune", x.tune);
  visit("tuned", x.tuned);
  visit("fill", x.fill);
  visit("mode", x.mode, always);
  visit("cache", x.cache);
  visit("tier", x.tier);
  visit("seed", x.seed);
  visit("where", x.where);
  visit("shaders", x.shaders);
  visit("versus", x.versus);
  visit("baseline", x.baseline);
  visit("baseline_note", x.baseline_note);
}

template <class Visit>
void fields(Visit& visit, Is<WrongElement> auto& x) {
  visit("at", x.at);
  visit("expected", x.expected);
  visit("got", x.got);
  visit("bound", x.bound);
  visit("unwritten", x.unwritten);
  visit("relative", x.relative);
  visit("ulp", x.ulp);
  visit("before_rounding", x.before_rounding);
  visit("made_from", x.made_from);
}

template <class Visit>
void fields(Visit& visit, Is<Diagnosis> auto& x) {
  visit("word", x.word);
  visit("text", x.text);
  visit("share", x.share);
}

template <class Visit>
void fields(Visit& visit, Is<ReplayedAnswer> auto& x) {
  visit("hash", x.hash);
  visit("right", x.right);
  visit("runs", x.runs);
}

template <class Visit>
void fields(Visit& visit, Is<Replay> auto& x) {
  visit("runs", x.runs);
  visit("wrong", x.wrong);
  visit("hot_runs", x.hot_runs);
  visit("hot_wrong", x.hot_wrong);
  visit("answers", x.answers);
  visit("more_answers", x.more_answers);
}

template <class Visit>
void fields(Visit& visit, Is<AccuracyResult> auto& x) {
  visit("output", x.output);
  visit("class", x.output_class);
  visit("elements", x.elements);
  visit("mismatches", x.mismatches);
  visit("max_abs_err", x.max_abs_err);
  visit("err_over_bound", x.err_over_bound);
  visit("flips", x.flips);
  visit("expected_flips", x.expected_flips);
  visit("metric", x.metric);
  visit("first_bad", x.first_bad);
  visit("expected", x.expected);
  visit("got", x.got);
  visit("bound", x.bound);
  visit("tolerance", x.tolerance);
  visit("tolerance_reason", x.tolerance_reason);
  visit("missed", x.missed);
  visit("first", x.first);
  visit("worst", x.worst);
  visit("diagnosis", x.diagnosis);
  visit("tile_map", x.tile_map);
  visit("input_hash", x.input_hash);
  visit("output_hash", x.output_hash);
  visit("hash_is_portable", x.hash_is_portable);
  visit("guards", x.guards);
  visit("matrix_extension", x.matrix_extension);
  visit("reference_ms", x.reference_ms);
  visit("gpu_ms", x.gpu_ms);
  visit("memory_bytes", x.memory_bytes);
  visit("replay", x.replay);
}

template <class Visit>
void fields(Visit& visit, Is<DispatchShare> auto& x) {
  visit("label", x.label);
  visit("role", x.role);
  visit("time_us", x.time_us);
}

template <class Visit>
void fields(Visit& visit, Is<Energy> auto& x) {
  visit("source", x.source);
  visit("joules", x.joules);
  visit("watts", x.watts);
  visit("window_s", x.window_s);
  visit("programs", x.programs);
  visit("readings", x.readings);
}

/// Without the figures that record_of computes.
template <class Visit>
void fields(Visit& visit, Is<PerfResult> auto& x) {
  visit("sets", x.sets);
  visit("discarded", x.discarded);
  visit("stop", x.stop);
  visit("throughput_us", x.throughput_us);
  visit("time_transition_us", x.time_transition_us);
  visit("setup_us", x.setup_us);
  visit("isolated_us", x.isolated_us);
  visit("bytes", x.bytes);
  visit("bytes_read", x.bytes_read);
  visit("operations", x.operations);
  visit("ceiling", x.ceiling);
  visit("peak_gbps", x.peak_gbps);
  visit("peak_gops", x.peak_gops);
  visit("pct_peak_bw", x.pct_peak_bw);
  visit("pct_peak_ops", x.pct_peak_ops);
  visit("limited_by", x.limited_by);
  visit("suspect", x.suspect);
  visit("clock", x.clock);
  visit("timer", x.timer);
  visit("clock_ratio", x.clock_ratio);
  visit("verified", x.verified);
  visit("verified_pct", x.verified_pct);
  visit("impl_auto", x.impl_auto);
  visit("regret_pct", x.regret_pct);
  visit("ratio", x.ratio);
  visit("ratio_to", x.ratio_to);
  visit("compile_ms", x.compile_ms);
  visit("spirv_hash", x.spirv_hash);
  visit("program_hash", x.program_hash);
  visit("registers", x.registers);
  visit("spill_bytes", x.spill_bytes);
  visit("shared_bytes", x.shared_bytes);
  visit("memory_bytes", x.memory_bytes);
  visit("submitted_ms", x.submitted_ms);
  visit("energy", x.energy);
  visit("no_energy", x.no_energy);
  visit("dispatches", x.dispatches);
}

template <class Visit>
void fields(Visit& visit, Is<TimeSpent> auto& x) {
  visit("judging_ms", x.judging_ms);
  visit("filling_ms", x.filling_ms);
  visit("heating_ms", x.heating_ms);
  visit("resting_ms", x.resting_ms);
}

template <class Visit>
void fields(Visit& visit, Is<SystemState> auto& x) {
  visit("battery_pct", x.battery_pct);
  visit("battery_c", x.battery_c);
  visit("hottest_c", x.hottest_c);
  visit("governor", x.governor);
  visit("cpu_mhz", x.cpu_mhz);
  visit("gpu_mhz", x.gpu_mhz);
}

template <class Visit>
void fields(Visit& visit, Is<Block> auto& x) {
  visit("round", x.round, always);
  visit("skipped", x.skipped);
  visit("batch", x.batch, always);
  visit("samples_ns", x.samples_ns, always);
  visit("probe_ns", x.probe_ns);
  visit("wrong", x.wrong);
  visit("system", x.system);
}

template <class Visit>
void fields(Visit& visit, Is<ChainStep> auto& x) {
  visit("name", x.name);
  visit("op", x.op);
  visit("impl", x.impl);
  visit("transition", x.is_transition);
  visit("reads", x.reads);
  visit("writes", x.writes);
}

template <class Visit>
void fields(Visit& visit, Is<ChainPlan> auto& x) {
  visit("transitions", x.transitions);
  visit("transition_bytes", x.transition_bytes);
  visit("folded", x.folded);
  visit("peak_bytes", x.peak_bytes);
  visit("is_exact", x.is_exact);
  visit("hash", x.hash);
  visit("times_run", x.times_run);
  visit("steps", x.steps);
}

template <class Visit>
void fields(Visit& visit, Is<OwnEnd> auto& x) {
  visit("status", x.status, always);
  visit("reason", x.reason);
}

template <class Visit>
void fields(Visit& visit, Is<RowEnd> auto& x) {
  visit("status", x.status, always);
  visit("reason", x.reason);
  visit("retry", x.retry);
  visit("driver_retry", x.driver_retry);
  visit("stopped", x.stopped);
  visit("own_end", x.own_end);
  visit("perf", x.perf);
  visit("chain", x.chain);
  visit("validation_messages", x.validation_messages);
  visit("validation_texts", x.validation_texts);
  visit("total_ms", x.total_ms);
  visit("spent", x.spent);
}

}  // namespace assay
