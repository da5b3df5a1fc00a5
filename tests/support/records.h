#pragma once

// Records that the tests of all writers share.

#include "harness/report/journal/journal.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace assay::test {

inline RunInfo sample_run() {
  RunInfo run;
  run.run_id = "20260102T030405Z-1a2b3c";
  run.started_utc = "2026-01-02T03:04:05Z";
  run.device.name = "Acme GPU 9";
  run.device.type = "discrete";
  run.device.driver_name = "Acme";
  run.device.driver_info = "12.3";
  run.device.api_version = "1.3.250";
  run.device.uuid = "000102030405060708090a0b0c0d0e0f";
  run.device.features = {Feature::Storage8, Feature::CooperativeMatrixNv};
  run.device.extensions = {"VK_KHR_one", "VK_KHR_two"};
  run.device.textures = {{Storage::Texture2D, DType::F16, {16384, 8192, 1}, 1ULL << 40}};
  run.version = "0.1.0+b1a8850ccc06";
  run.compiler = "GCC 12.2.0";
  run.build_type = "Release";
  run.host = "rack7";
  run.os = "Linux 6.1";
  run.cpu = "Acme CPU";
  run.cores = 8;
  run.command = {"assay", "run", "cases/shuffle.yaml"};
  run.environment = {{"VK_DRIVER_FILES", "icd.json"}};
  run.seed = 18446744073709551615ULL;
  run.timer = {.period_ns = 1,
               .valid_bits = 64,
               .wrap_s = 1.8446744073709552e10,
               .step_ns = 32,
               .pair_ns_p50 = 32,
               .pair_ns_p95 = 32.5,
               .unit_ns = 32.5,
               .gpu_over_cpu = 1.0005,
               .cross_check = "submission"};
  run.ceilings = {.device_uuid = run.device.uuid,
                  .driver = "Acme 12.3",
                  .kernels = "0123456789abcdef0123456789abcdef",
                  .measured_utc = "2026-01-02T03:04:01Z",
                  .bandwidth = {{1 << 20, 2000, 2500, 1500}, {1 << 30, 500, 520, 480}},
                  .cache_bytes = 32 << 20,
                  .fp32_gops = 50000,
                  .fp16_gops = 100000,
                  .dot4x8_gops = 90000,
                  .dispatch_us = 2.25};
  return run;
}

inline RowInfo sample_case(const std::string& name, const std::string& mode = "accu",
                           const std::string& impl = "fused") {
  RowInfo info;
  info.id = "shuffle/" + name + "/1x16x4x8/4W4C.4W4C/" + impl;
  info.op = "shuffle";
  info.name = name;
  info.impl = impl;
  info.group = "00112233445566ff";
  info.dtype = "i8";
  info.shape = "1x16x4x8";
  info.params = "upscale_factor=2";
  info.forms = "x=buffer/4W4C y=buffer/4C1W";
  info.fill = "x=normal";
  info.mode = mode;
  if (mode == "perf") info.cache = "hot";
  info.tier = "ci";
  info.seed = 7;
  info.where = {"cases/shuffle.yaml", 12, 5};
  return info;
}

inline Record passed(const std::string& name) {
  Record record;
  record.info = sample_case(name);
  record.status = Status::Pass;
  record.accuracy.emplace();
  record.accuracy->output = "y";
  record.accuracy->elements = 512;
  record.accuracy->input_hash = "11112222333344445555666677778888";
  record.accuracy->output_hash = "9999aaaabbbbccccddddeeeeffff0000";
  record.accuracy->hash_is_portable = true;
  record.accuracy->reference_ms = 0.25;
  record.accuracy->gpu_ms = 1.5;
  record.accuracy->memory_bytes = 4096;
  record.repro = "assay run --filter " + record.info.id;
  record.total_ms = 2.125;
  return record;
}

inline Record failed(const std::string& name) {
  Record record = passed(name);
  record.status = Status::Fail;
  record.reason = "1 of 2 outputs is wrong";
  AccuracyResult& a = *record.accuracy;
  a.mismatches = 42;
  a.elements = 1536;
  a.max_abs_err = 3;
  a.err_over_bound = std::numeric_limits<double>::infinity();
  a.metric = "wrong_value";
  a.first_bad = {0, 3, 7, 2};
  a.expected = 12;
  a.got = 13;
  a.tile_map = "....\n.##.\n";
  a.guards = "x=after y=none";
  a.matrix_extension = "KHR";
  return record;
}

inline Record without_answer(const std::string& name, Status status, const std::string& reason) {
  Record record;
  record.info = sample_case(name);
  record.status = status;
  record.reason = reason;
  record.repro = "assay run --filter " + record.info.id;
  return record;
}

inline Record timed(const std::string& name, const std::string& impl, double median_us) {
  Record record;
  record.info = sample_case(name, "perf", impl);
  record.status = Status::Pass;
  record.perf.emplace();
  PerfResult& p = *record.perf;
  p.time_us_min = median_us * 0.5;
  p.time_us_p25 = median_us * 0.75;
  p.time_us_p50 = median_us;
  p.time_us_p75 = median_us * 1.25;
  p.time_us_mean = median_us * 1.125;
  p.time_us_stdev = 0.5;
  p.spread_pct = 1.5;
  p.ci_pct = 0.75;
  p.blocks = 2;
  p.samples = 4;
  p.batch = 10;
  p.stop = "interval";
  p.throughput_us = median_us * 0.875;
  p.bytes = 8000;
  p.bytes_read = 4000;
  p.ceiling = "bandwidth";
  p.peak_gbps = 25.6;
  p.pct_peak_bw = 12.5;
  p.limited_by = "latency";
  p.clock = "gpu";
  p.timer = "good";
  p.clock_ratio = 0.995;
  p.verified = true;
  p.verified_pct = 100;
  p.output_hash = "9999aaaabbbbccccddddeeeeffff0000";
  p.compile_ms = 12.5;
  p.spirv_hash = "abcdefabcdefabcdefabcdefabcdefab";
  p.program_hash = "0000111122223333444455556666777" + std::to_string(impl.size());
  p.registers = 24;
  p.memory_bytes = 8192;
  p.dispatches = {{"shuffle", "op", median_us}};
  p.sample_us = {{median_us * 0.5, median_us}, {median_us, median_us * 2}};
  record.repro = "assay run --mode perf --filter " + record.info.id;
  record.total_ms = 40;
  return record;
}

/// Text that breaks careless writers: separators, quotes, line ends, markup, controls, broken UTF-8.
inline const std::string nasty =
    std::string("a,\"b\"\r\nc\t<&>]]> \xC3\xA9 \xFF\xC0 \x1b[31m") + '\0' + "end";

/// One of each kind: what every writer must cope with.
inline std::vector<Record> all_kinds() {
  std::vector<Record> records = {passed("good"), failed("bad")};
  for (int i = 0; i <= static_cast<int>(Status::Interrupted); ++i) {
    const auto status = static_cast<Status>(i);
    records.push_back(
        without_answer("status_" + std::to_string(i), status, "because of " + std::to_string(i)));
  }
  Record odd = failed("odd");
  odd.reason = nasty;
  odd.info.params = nasty;
  odd.accuracy->tile_map = nasty;
  odd.accuracy->got = std::numeric_limits<double>::quiet_NaN();
  odd.accuracy->expected = -std::numeric_limits<double>::infinity();
  records.push_back(odd);
  records.push_back(timed("fast", "fused", 2.5));
  records.push_back(timed("fast", "unfused", 10));
  records.back().info.shaders = "my shaders";
  records.back().comparison =
      Comparison{.baseline = "shuffle/fast", .ratio = 4, .ratio_low = 3.5, .ratio_high = 4.5, .blocks = 10};
  Record withheld = timed("wrong", "fused", 1);
  withheld.status = Status::Fail;
  withheld.reason = "a wrong kernel has no time";
  records.push_back(withheld);
  return records;
}

inline RunReport report_of(std::vector<Record> records) {
  return {.run = sample_run(), .records = std::move(records), .complete = true};
}

}  // namespace assay::test
