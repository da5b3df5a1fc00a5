#pragma once

#include "harness/report/record.h"

#include <concepts>
#include <type_traits>

namespace assay {

// The fields of what a journal holds, each named once for both directions: `fields(visit, x)` calls
// visit(name, member) for every member, x const when it is written and mutable when it is read.

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

template <class Visit>
void fields(Visit& visit, Is<TextureSupport> auto& x) {
  visit("storage", x.storage);
  visit("dtype", x.dtype);
  visit("max_extent", x.max_extent);
  visit("max_bytes", x.max_bytes);
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
  visit("max_workgroup_count", x.max_workgroup_count);
  visit("max_workgroup_size", x.max_workgroup_size);
  visit("max_workgroup_invocations", x.max_workgroup_invocations);
  visit("max_shared_bytes", x.max_shared_bytes);
  visit("max_push_constant_bytes", x.max_push_constant_bytes);
  visit("max_storage_buffer_range", x.max_storage_buffer_range);
  visit("max_storage_buffers_per_stage", x.max_storage_buffers_per_stage);
  visit("max_storage_images_per_stage", x.max_storage_images_per_stage);
  visit("max_image_3d", x.max_image_3d);
  visit("max_image_2d", x.max_image_2d);
  visit("textures", x.textures);
  visit("subgroup_size", x.subgroup_size);
  visit("min_subgroup_size", x.min_subgroup_size);
  visit("max_subgroup_size", x.max_subgroup_size);
  visit("timestamp_period_ns", x.timestamp_period_ns);
  visit("timestamp_valid_bits", x.timestamp_valid_bits);
  visit("device_memory_bytes", x.device_memory_bytes);
}

template <class Visit>
void fields(Visit& visit, Is<RunInfo> auto& x) {
  visit("schema", x.schema);
  visit("run_id", x.run_id);
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
  visit("timer_unit_ns", x.timer_unit_ns);
}

template <class Visit>
void fields(Visit& visit, Is<SourceLocation> auto& x) {
  visit("file", x.file);
  visit("line", x.line);
  visit("column", x.column);
}

template <class Visit>
void fields(Visit& visit, Is<CaseInfo> auto& x) {
  visit("id", x.id);
  visit("op", x.op);
  visit("name", x.name);
  visit("impl", x.impl);
  visit("shape", x.shape);
  visit("params", x.params);
  visit("forms", x.forms);
  visit("tune", x.tune);
  visit("fill", x.fill);
  visit("mode", x.mode);
  visit("tier", x.tier);
  visit("seed", x.seed);
  visit("where", x.where);
  visit("shaders", x.shaders);
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
  visit("time_us_min", x.time_us_min);
  visit("time_us_p25", x.time_us_p25);
  visit("time_us_p50", x.time_us_p50);
  visit("time_us_p75", x.time_us_p75);
  visit("time_us_mean", x.time_us_mean);
  visit("time_us_stdev", x.time_us_stdev);
  visit("spread_pct", x.spread_pct);
  visit("ci_pct", x.ci_pct);
  visit("blocks", x.blocks);
  visit("samples", x.samples);
  visit("batch", x.batch);
  visit("stop", x.stop);
  visit("throughput_us", x.throughput_us);
  visit("time_transition_us", x.time_transition_us);
  visit("bytes", x.bytes);
  visit("operations", x.operations);
  visit("clock", x.clock);
  visit("verified", x.verified);
  visit("output_hash", x.output_hash);
  visit("compile_ms", x.compile_ms);
  visit("spirv_hash", x.spirv_hash);
  visit("dispatches", x.dispatches);
  visit("sample_us", x.sample_us);
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
void fields(Visit& visit, Is<Record> auto& x) {
  visit("case", x.info);
  visit("status", x.status);
  visit("reason", x.reason);
  visit("accuracy", x.accuracy);
  visit("perf", x.perf);
  visit("comparison", x.comparison);
  visit("validation_messages", x.validation_messages);
  visit("repro", x.repro);
  visit("total_ms", x.total_ms);
}

}  // namespace assay
