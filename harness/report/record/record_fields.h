#pragma once

#include "harness/report/record/events.h"

#include <concepts>
#include <limits>
#include <type_traits>

namespace assay {

// The fields of what a journal holds, each named once for both directions: `fields(visit, x)` calls
// visit(name, member, rule) for every member, x const when it is written and mutable when it is read.

/// Which journals have a field.
struct FieldRule {
  int since = 1;                                ///< the schema that it came with: older journals may lack it
  int until = std::numeric_limits<int>::max();  ///< the last schema that had it
  bool always = false;                          ///< schema 3: written even where it has its initial value
};
constexpr FieldRule since(int schema) {
  return {.since = schema};
}
constexpr FieldRule until(int schema) {
  return {.until = schema};
}
inline constexpr FieldRule always{.always = true};

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

template <class Visit>
void fields(Visit& visit, Is<TextureSupport> auto& x) {
  visit("storage", x.storage);
  visit("dtype", x.dtype);
  visit("max_extent", x.max_extent);
  visit("max_bytes", x.max_bytes);
  visit("sampled", x.sampled, since(3));
}

template <class Visit>
void fields(Visit& visit, Is<CooperativeShape> auto& x) {
  visit("rows", x.rows);
  visit("columns", x.columns);
  visit("depth", x.depth);
  visit("factors", x.factors);
  visit("sums", x.sums);
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
  visit("features", x.features);
  visit("extensions", x.extensions);
  visit("dot_product_accelerated", x.dot_product_accelerated);
  visit("cooperative_shapes", x.cooperative_shapes, since(3));
  visit("max_workgroup_count", x.max_workgroup_count);
  visit("max_workgroup_size", x.max_workgroup_size);
  visit("max_workgroup_invocations", x.max_workgroup_invocations);
  visit("max_shared_bytes", x.max_shared_bytes);
  visit("max_push_constant_bytes", x.max_push_constant_bytes);
  visit("max_storage_buffer_range", x.max_storage_buffer_range);
  visit("max_storage_buffers_per_stage", x.max_storage_buffers_per_stage);
  visit("max_storage_images_per_stage", x.max_storage_images_per_stage);
  visit("max_sampled_images_per_stage", x.max_sampled_images_per_stage, since(3));
  visit("max_image_3d", x.max_image_3d);
  visit("max_image_2d", x.max_image_2d);
  visit("textures", x.textures, since(2));
  visit("subgroup_size", x.subgroup_size);
  visit("min_subgroup_size", x.min_subgroup_size);
  visit("max_subgroup_size", x.max_subgroup_size);
  visit("max_workgroup_subgroups", x.max_workgroup_subgroups, since(3));
  visit("timestamp_period_ns", x.timestamp_period_ns);
  visit("timestamp_valid_bits", x.timestamp_valid_bits);
  visit("device_memory_bytes", x.device_memory_bytes);
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
  visit("dot4x8_kernel", x.dot4x8_kernel, since(3));
  visit("coop_int8_kernel", x.coop_int8_kernel, since(3));
  visit("coop_fp16_kernel", x.coop_fp16_kernel, since(3));
  visit("clock_ratio", x.clock_ratio, since(3));
  visit("host_load", x.host_load, since(3));
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
  visit("robust_access", x.robust_access, since(3));
  visit("inputs", x.inputs, since(3));
  visit("repro_options", x.repro_options, since(3));
  visit("timer", x.timer, since(2));
  visit("ceilings", x.ceilings, since(2));
  visit("rule_notes", x.rule_notes, since(3));
  visit("secret_seed", x.secret_seed, since(3));
  visit("shard", x.shard, since(3));
  visit("merged", x.merged, since(3));
}

template <class Visit>
void fields(Visit& visit, Is<RowInfo> auto& x) {
  visit("id", x.id, always);
  visit("op", x.op);
  visit("name", x.name);
  visit("impl", x.impl);
  visit("group", x.group, since(3));
  visit("model", x.model, since(3));
  visit("layer", x.layer, since(3));
  visit("calls", x.calls, since(3));
  visit("tokens", x.tokens, since(3));
  visit("dtype", x.dtype, since(3));
  visit("shape", x.shape);
  visit("shapes", x.shapes, since(3));
  visit("params", x.params);
  visit("forms", x.forms);
  visit("tune", x.tune);
  visit("fill", x.fill);
  visit("mode", x.mode, always);
  visit("cache", x.cache, since(2));
  visit("tier", x.tier);
  visit("seed", x.seed);
  visit("where", x.where);
  visit("shaders", x.shaders);
  visit("versus", x.versus, since(3));
  visit("baseline", x.baseline, since(3));
  visit("baseline_note", x.baseline_note, since(3));
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
  visit("tolerance", x.tolerance, since(3));
  visit("tolerance_reason", x.tolerance_reason, since(3));
  visit("missed", x.missed, since(3));
  visit("first", x.first, since(3));
  visit("worst", x.worst, since(3));
  visit("diagnosis", x.diagnosis, since(3));
  visit("tile_map", x.tile_map);
  visit("input_hash", x.input_hash);
  visit("output_hash", x.output_hash);
  visit("hash_is_portable", x.hash_is_portable);
  visit("reference_ms", x.reference_ms);
  visit("gpu_ms", x.gpu_ms);
  visit("memory_bytes", x.memory_bytes);
}

template <class Visit>
void fields(Visit& visit, Is<DispatchShare> auto& x) {
  visit("label", x.label);
  visit("role", x.role);
  visit("time_us", x.time_us);
}

template <class Visit>
void fields(Visit& visit, Is<PerfResult> auto& x) {
  visit("time_us_min", x.time_us_min, until(2));
  visit("time_us_p25", x.time_us_p25, until(2));
  visit("time_us_p50", x.time_us_p50, until(2));
  visit("time_us_p75", x.time_us_p75, until(2));
  visit("time_us_mean", x.time_us_mean, until(2));
  visit("time_us_stdev", x.time_us_stdev, until(2));
  visit("spread_pct", x.spread_pct, until(2));
  visit("ci_pct", x.ci_pct, until(2));
  visit("blocks", x.blocks, until(2));
  visit("samples", x.samples, until(2));
  visit("batch", x.batch, until(2));
  visit("sets", x.sets, since(2));
  visit("discarded", x.discarded, since(2));
  visit("stop", x.stop);
  visit("throughput_us", x.throughput_us);
  visit("time_transition_us", x.time_transition_us);
  visit("setup_us", x.setup_us, since(3));
  visit("isolated_us", x.isolated_us, since(3));
  visit("bytes", x.bytes);
  visit("bytes_read", x.bytes_read, since(2));
  visit("operations", x.operations);
  visit("ceiling", x.ceiling, since(3));
  visit("peak_gbps", x.peak_gbps, since(3));
  visit("peak_gops", x.peak_gops, since(3));
  visit("pct_peak_bw", x.pct_peak_bw, since(2));
  visit("pct_peak_ops", x.pct_peak_ops, since(2));
  visit("limited_by", x.limited_by, since(2));
  visit("suspect", x.suspect, since(2));
  visit("clock", x.clock);
  visit("timer", x.timer, since(2));
  visit("clock_ratio", x.clock_ratio, since(2));
  visit("verified", x.verified);
  visit("verified_pct", x.verified_pct, since(2));
  visit("output_hash", x.output_hash, until(2));
  visit("impl_auto", x.impl_auto, since(2));
  visit("regret_pct", x.regret_pct, since(2));
  visit("ratio", x.ratio, since(3));
  visit("ratio_to", x.ratio_to, since(3));
  visit("compile_ms", x.compile_ms);
  visit("spirv_hash", x.spirv_hash);
  visit("program_hash", x.program_hash, since(2));
  visit("registers", x.registers, since(2));
  visit("spill_bytes", x.spill_bytes, since(2));
  visit("shared_bytes", x.shared_bytes, since(2));
  visit("memory_bytes", x.memory_bytes, since(2));
  visit("submitted_ms", x.submitted_ms, since(2));
  visit("dispatches", x.dispatches);
  visit("sample_us", x.sample_us, until(2));
}

template <class Visit>
void fields(Visit& visit, Is<TimeSpent> auto& x) {
  visit("judging_ms", x.judging_ms);
  visit("filling_ms", x.filling_ms);
  visit("heating_ms", x.heating_ms);
  visit("resting_ms", x.resting_ms);
}

template <class Visit>
void fields(Visit& visit, Is<Comparison> auto& x) {
  visit("baseline", x.baseline);
  visit("ratio", x.ratio);
  visit("ratio_low", x.ratio_low);
  visit("ratio_high", x.ratio_high);
  visit("blocks", x.blocks);
  visit("note", x.note);
}

template <class Visit>
void fields(Visit& visit, Is<Block> auto& x) {
  visit("round", x.round, always);
  visit("skipped", x.skipped);
  visit("batch", x.batch, always);
  visit("samples_ns", x.samples_ns, always);
  visit("probe_ns", x.probe_ns);
  visit("output_hash", x.output_hash);
  visit("wrong", x.wrong);
}

template <class Visit>
void fields(Visit& visit, Is<RowEnd> auto& x) {
  visit("status", x.status, always);
  visit("reason", x.reason);
  visit("retry", x.retry);
  visit("perf", x.perf);
  visit("comparison", x.comparison);
  visit("validation_messages", x.validation_messages);
  visit("validation_texts", x.validation_texts, since(3));
  visit("total_ms", x.total_ms);
  visit("spent", x.spent);
  visit("repro", x.repro);
}

/// Of schemas 1 and 2: their journals hold a row's record as a whole.
template <class Visit>
void fields(Visit& visit, Is<Record> auto& x) {
  visit("case", x.info);
  visit("status", x.status);
  visit("reason", x.reason);
  visit("retry", x.retry, since(3));
  visit("accuracy", x.accuracy);
  visit("perf", x.perf);
  visit("comparison", x.comparison);
  visit("validation_messages", x.validation_messages);
  visit("validation_texts", x.validation_texts, since(3));
  visit("repro", x.repro);
  visit("total_ms", x.total_ms);
  visit("spent", x.spent);
}

}  // namespace assay
