// What a person waits for: the binary, from the command to its end, and --watch, from a save to the answer.

#include "tests/cli/watching.h"

#include <benchmark/benchmark.h>

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
