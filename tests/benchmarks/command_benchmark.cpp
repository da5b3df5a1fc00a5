// The waiting times of a user: the binary from start to end, and --watch from a save to the answer.

#include "tests/cli/watching.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <string>

namespace assay::test {
namespace {

void run_a_filtered_case(benchmark::State& state) {
  const TemporaryFolder folder;
  for (auto _ : state) {
    const ProcessResult result =
        assay({"run", ASSAY_SOURCE_DIR "/cases/q8ta_pixel_shuffle.yaml", "--filter",
               "q8ta_pixel_shuffle/*1x16x4x4*", "--mode", "accu", "--out", folder / "out"});
    if (result.exit_code != 0) return state.SkipWithError(result.err.c_str());
  }
}
BENCHMARK(run_a_filtered_case)->UseRealTime()->Unit(benchmark::kMillisecond);

/// A run's cost for each of many small cases of one shader, the start of the command included.
void run_small_cases(benchmark::State& state) {
  constexpr int seeds = 1000;
  std::string text =
      "op: quantize_affine\ncases:\n  - name: tiny\n    shape: [6, 9]\n"
      "    block_size: {each: [[1, -1], [-1, 1], [2, 3]]}\n    seed: {each: [0";
  for (int seed = 1; seed < seeds; ++seed) text += ", " + std::to_string(seed);
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", text + "]}\n");
  for (auto _ : state) {
    const ProcessResult result =
        assay({"run", cases, "--mode", "accu", "--out", folder / "out", "--overwrite"});
    if (result.exit_code != 0) return state.SkipWithError(result.err.c_str());
  }
  state.counters["ms_per_case"] = benchmark::Counter(
      3 * seeds * 1e-3, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(run_small_cases)->UseRealTime()->Unit(benchmark::kMillisecond);

struct Family {
  const char* name;
  const char* filter;  ///< of the ids of one op or more
};
constexpr std::array families{
    Family{"q8ta_clone", "q8ta_clone/*"},         Family{"quantize", "quantize_*:q8ta_quantize/*"},
    Family{"choose_qparams", "choose_qparams_*"}, Family{"pixel_shuffle", "*pixel_shuffle/*"},
    Family{"linear", "*linear_*:q8ta_linear/*"},  Family{"convolution", "*conv2d*"}};

/// Rows that one worker judges in a second where all caches are warm: the first run, which is not timed,
/// fills them.
void judge_rows_of_a_family(benchmark::State& state, const Family& family) {
  const TemporaryFolder folder;
  const auto run = [&] {
    return assay({"run", ASSAY_SOURCE_DIR "/cases", "--tier", "smoke", "--mode", "accu", "--filter",
                  family.filter, "--out", folder / "out", "--overwrite"});
  };
  const ProcessResult listed = assay(
      {"list", ASSAY_SOURCE_DIR "/cases", "--tier", "smoke", "--mode", "accu", "--filter", family.filter});
  const auto rows = static_cast<double>(std::ranges::count(listed.out, '\n'));
  run();
  for (auto _ : state) {
    const ProcessResult result = run();
    if (result.exit_code != 0) return state.SkipWithError(result.err.c_str());
  }
  state.counters["rows_per_s"] = benchmark::Counter(rows, benchmark::Counter::kIsIterationInvariantRate);
}
const bool registered_families = [] {
  for (const Family& family : families)
    benchmark::RegisterBenchmark((std::string("judge_rows_of/") + family.name).c_str(),
                                 judge_rows_of_a_family, family)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  return true;
}();

void list_all_cases(benchmark::State& state) {
  for (auto _ : state) assay({"list"});
}
BENCHMARK(list_all_cases)->UseRealTime()->Unit(benchmark::kMillisecond);

void answer_a_saved_shader(benchmark::State& state) {
  Watching watching;
  std::string text = Watching::shader();
  for (auto _ : state) {
    watching.write_shader(text += "// another line\n");
    watching.wait_for_run();
  }
}
BENCHMARK(answer_a_saved_shader)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::test
