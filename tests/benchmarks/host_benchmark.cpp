// The harness's own cost on the host, per step of a case: expansion, fills, packing, hashing, references,
// checks, writing reports.

#include "harness/cases/expansion/load.h"
#include "harness/cases/select.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/output_check.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/kernels/clock_probe.h"
#include "harness/report/writers/writers.h"
#include "harness/tensor/fill/fill.h"
#include "harness/tensor/pack.h"
#include "harness/tensor/tensor.h"
#include "ops/registry.h"
#include "tests/support/report_text.h"
#include "tests/support/temporary_folder.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

// NOLINTBEGIN(clang-analyzer-deadcode.DeadStores): `for (auto _ : state)`
namespace {

using namespace assay;

const std::vector<std::filesystem::path> case_folder{ASSAY_SOURCE_DIR "/cases"};

void set_bytes(benchmark::State& state, std::size_t bytes_per_iteration) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes_per_iteration));
}

HostTensor normal_tensor(DType dtype, const Shape& shape) {
  return make_filled(dtype, shape, {.kind = FillKind::Normal}, {}, {.seed = 1});
}

void expand_all_case_files(benchmark::State& state) {
  const Registry registry = ops::registry();
  std::size_t cases = 0;
  for (auto _ : state) {
    const LoadResult loaded = load_cases(case_folder, registry);
    cases = loaded.cases.size();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(cases));
}
BENCHMARK(expand_all_case_files)->Unit(benchmark::kMillisecond);

/// A case file of 10^6 points: 200 shapes, 100 quantizations, 2 fills, 25 pairs of forms.
std::string million_cases() {
  std::string shapes = "[1, 4, 3, 5]";
  for (int i = 1; i < 200; ++i) shapes += fmt::format(", [1, {}, {}, 5]", 4 + i % 50, 3 + i / 50);
  std::string qparams;
  for (int i = 0; i < 100; ++i) {
    qparams += fmt::format("{}{{x: {{scale: {}, zero_point: 1}}, y: {{scale: 0.02, zero_point: 2}}}}",
                           i == 0 ? "" : ",\n      ", 0.001 * (i + 1));
  }
  const std::string forms = "{each: [buffer/4W, buffer/4C, buffer/4C1W, buffer/4W4C, buffer/4H4W]}";
  return fmt::format(
      "op: q8ta_relu\ncases:\n  - name: million\n    shape: {{each: [{}]}}\n    qparams: {{each: [{}]}}\n"
      "    fill: {{each: [uniform, saturate]}}\n    forms: {{x: {}, y: {}}}\n",
      shapes, qparams, forms, forms);
}

void load_a_million_cases(benchmark::State& state) {
  const Registry registry = ops::registry();
  const test::TemporaryFolder folder;
  const std::vector<std::filesystem::path> files{folder.write("million.yaml", million_cases())};
  std::size_t cases = 0;
  for (auto _ : state) cases = load_cases(files, registry).cases.size();
  if (cases != 1'000'000) state.SkipWithError("there are not a million cases");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(cases));
}
BENCHMARK(load_a_million_cases)->Unit(benchmark::kMillisecond);

void filter_and_plan_a_million_cases(benchmark::State& state) {
  const Registry registry = ops::registry();
  const test::TemporaryFolder folder;
  const std::vector<std::filesystem::path> files{folder.write("million.yaml", million_cases())};
  const LoadResult loaded = load_cases(files, registry);
  std::size_t groups = 0;
  for (auto _ : state) {
    const std::vector<const Case*> selected = select(loaded.cases, {.filter = "q8ta_relu/*"});
    groups = plan_rows(selected, std::nullopt).size();
  }
  if (groups != 40'000) state.SkipWithError("there are not 40,000 groups");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(loaded.cases.size()));
}
BENCHMARK(filter_and_plan_a_million_cases)->Unit(benchmark::kMillisecond);

void fill_normal_f32(benchmark::State& state) {
  const Shape shape{state.range(0), 4096};
  for (auto _ : state) benchmark::DoNotOptimize(normal_tensor(DType::F32, shape));
  set_bytes(state, static_cast<std::size_t>(numel(shape)) * 4);
}
BENCHMARK(fill_normal_f32)->Arg(256)->Arg(4096)->UseRealTime()->Unit(benchmark::kMillisecond);

void pack_int8(benchmark::State& state) {
  const auto layout = static_cast<Layout>(state.range(0));
  const HostTensor tensor = normal_tensor(DType::I8, {1, 96, 128, 72});
  const Physical physical({Storage::Buffer, layout}, DType::I8, tensor.shape());
  for (auto _ : state) benchmark::DoNotOptimize(pack(tensor, physical, Poison::A));
  set_bytes(state, tensor.bytes().size());
  state.SetLabel(std::string(name_of(layout)));
}
BENCHMARK(pack_int8)
    ->DenseRange(static_cast<int>(Layout::WP), static_cast<int>(Layout::P4H4W))
    ->UseRealTime();

void hash_tensor(benchmark::State& state) {
  const HostTensor tensor = normal_tensor(DType::F32, {1024, 4096});
  for (auto _ : state) benchmark::DoNotOptimize(hash_of(tensor));
  set_bytes(state, tensor.bytes().size());
}
BENCHMARK(hash_tensor)->Unit(benchmark::kMillisecond);

const Case& first_perf_case(const LoadResult& loaded, std::string_view op) {
  for (const Case& test_case : loaded.cases) {
    if (test_case.op->name == op && test_case.mode == Mode::Perf) return test_case;
  }
  throw std::runtime_error("no perf case of " + std::string(op));
}

void run_reference(benchmark::State& state, const char* op) {
  const Registry registry = ops::registry();
  const LoadResult loaded = load_cases(case_folder, registry);
  const Case& test_case = first_perf_case(loaded, op);
  const DataSet data = make_data_set(test_case);
  for (auto _ : state) benchmark::DoNotOptimize(test_case.op->reference(test_case.params, data.inputs));
  state.SetItemsProcessed(state.iterations() * data.expected.front().values.numel());
  state.SetLabel(test_case.id);
}
BENCHMARK_CAPTURE(run_reference, quantize_affine, "quantize_affine")->UseRealTime();
BENCHMARK_CAPTURE(run_reference, dequantize_affine, "dequantize_affine")->UseRealTime();
BENCHMARK_CAPTURE(run_reference, q8ta_pixel_shuffle, "q8ta_pixel_shuffle")->UseRealTime();

void judge_equal_outputs(benchmark::State& state) {
  const HostTensor got = normal_tensor(DType::F32, {1024, 4096});
  const Expected expected{.values = got};
  const TensorSpec spec{
      .name = "y", .role = TensorSpec::Role::Output, .dtype = got.dtype(), .shape = got.shape()};
  for (auto _ : state) benchmark::DoNotOptimize(check_output(Acceptance(spec, expected), got));
  set_bytes(state, got.bytes().size());
}
BENCHMARK(judge_equal_outputs)->UseRealTime()->Unit(benchmark::kMillisecond);

RunReport passing_report(const LoadResult& loaded) {
  RunReport report;
  report.run.run_id = "benchmark";
  report.complete = true;
  for (const Case& test_case : loaded.cases) {
    Record record;
    record.info = row_info({.test_case = &test_case, .mode = Mode::Accu}, {});
    record.status = Status::Pass;
    record.accuracy = AccuracyResult{.output = "y", .elements = 1000};
    report.records.push_back(record);
  }
  return report;
}

void write_accu_csv(benchmark::State& state) {
  const Registry registry = ops::registry();
  const RunReport report = passing_report(load_cases(case_folder, registry));
  for (auto _ : state) benchmark::DoNotOptimize(test::accu_csv(report));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(report.records.size()));
}
BENCHMARK(write_accu_csv)->Unit(benchmark::kMillisecond);

void match_a_glob_of_many_stars(benchmark::State& state) {
  const std::string text(2000, 'a');
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  pattern += "b";
  for (auto _ : state) benchmark::DoNotOptimize(glob_matches(pattern, text));
}
BENCHMARK(match_a_glob_of_many_stars);

void load_a_cached_shader(benchmark::State& state) {
  const test::TemporaryFolder cache;
  const gpu::ShaderOptions from_cache{.directories = {}, .cache_directory = cache.path()};
  gpu::ShaderLibrary(from_cache).compile("clock_probe.comp", {});
  for (auto _ : state) {
    gpu::ShaderLibrary library(from_cache);
    benchmark::DoNotOptimize(library.compile("clock_probe.comp", {}));
  }
}
BENCHMARK(load_a_cached_shader);

/// The intended time of a clock probe: 200 us on a CPU device, 80 us on a GPU.
void read_the_clock_probe(benchmark::State& state) {
  gpu::Instance instance;
  gpu::Device device(instance, gpu::select_devices(instance.devices(), {}).front());
  gpu::ShaderLibrary shaders;
  gpu::ClockProbe probe(device, shaders);
  for (auto _ : state) state.SetIterationTime(probe.time_ns(30) / 1e9);
  state.SetLabel(device.info().name);
}
BENCHMARK(read_the_clock_probe)->UseManualTime()->Unit(benchmark::kMicrosecond);

/// The harness's own clock on kernels of known relative length: the differences are as 1 to 2.
void time_multiples_of_a_kernel(benchmark::State& state) {
  gpu::Instance instance;
  gpu::Device device(instance, gpu::select_devices(instance.devices(), {}).front());
  gpu::ShaderLibrary shaders;
  static const std::uint32_t rounds = gpu::ClockProbeKernel(device, shaders).rounds_for(1e6, 30);
  const Program program =
      gpu::probe_program(device.info(), rounds * static_cast<std::uint32_t>(state.range(0)));
  const std::vector<Physical> tensors{
      Physical({Storage::Buffer, Layout::WP}, DType::F32, {gpu::probe_words(device.info())})};
  gpu::Executable executable(device, shaders, program, tensors, 0);
  gpu::Workspace memory(device, program, tensors, 0);
  for (auto _ : state) {
    const gpu::Timing timing = executable.time(memory, {.warm = 1, .batch = 2}, 30);
    state.SetIterationTime(timing.gpu_ns.value_or(timing.wall_ns) / 2 / 1e9);
  }
}
BENCHMARK(time_multiples_of_a_kernel)->DenseRange(1, 3)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
// NOLINTEND(clang-analyzer-deadcode.DeadStores)
