#include "tests/faults/own_kernels/own_kernels.h"

#include "harness/engine/ceilings/ceilings_bench.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/spirv/spirv_optimized.h"
#include "tests/support/process.h"

#include <sstream>
#include <stdexcept>

namespace assay::test {
namespace {

constexpr const char* memory_tests = "Ways/DeviceMemoryTest.*/by_kernels";
constexpr const char* ceiling_tests = "KernelTest.*";

Variant variant_of(const Program& program) {
  return {program.dispatches.front().shader, program.dispatches.front().defines};
}

/// The variants of this file among all programs of the ceilings, and of bandwidth.comp those that
/// all_programs() leaves out.
std::vector<Variant> ceiling_variants(const std::string& file) {
  std::vector<Variant> variants;
  for (const Program& program : ceiling::all_programs()) {
    const Dispatch& dispatch = program.dispatches.front();
    // The optimizer does not know KHR's matrices, and their code is that of NV's.
    const bool is_khr = ask_for_khr_matrices(dispatch.defines);
    if (dispatch.shader == file && !is_khr) variants.push_back(variant_of(program));
  }
  if (file != "ceilings/bandwidth.comp") return variants;
  const ceiling::Grid grid{.workgroups = 1, .local_size = 32};
  for (const auto access : {ceiling::Access::Copy, ceiling::Access::Read, ceiling::Access::Write}) {
    for (const std::uint32_t vectors : {1U, 2U, 8U}) {
      for (const bool rounds : {false, true}) {
        const ceiling::Walk walk{.vectors = vectors, .rounds = rounds};
        variants.push_back(variant_of(
            ceiling::bandwidth_kernel(access, walk, grid, ceiling::chunk_bytes(walk, grid), 1).program));
      }
    }
  }
  return variants;
}

/// Plain code of matrices of 16 x 16, as on a device without matrices.
Variant matrix_variant(bool is_real) {
  return {"matrix_check.comp",
          {{"MATRICES", "0"},
           {"MATRICES_REAL", is_real ? "1" : "0"},
           {"FRAGMENT_M", "16"},
           {"FRAGMENT_N", "16"},
           {"FRAGMENT_K", is_real ? "16" : "32"},
           {"ELEMENTS", "0"},
           {"UNITS", "2"}}};
}

/// Plain code for sums of 8 or 16 columns.
Variant places_variant(int columns) {
  return {"matrix_places.comp",
          {{"MATRICES", "0"},
           {"FRAGMENT_N", std::to_string(columns)},
           {"ELEMENTS", std::to_string(columns / 2)},
           {"COLUMN_WORDS", std::to_string(columns / 4)}}};
}

OwnKernel ceiling_kernel(const std::string& file) {
  return {file, ASSAY_ENGINE_TEST, ceiling_tests, ceiling_variants(file)};
}

/// The rest of a line that begins with this; empty if it does not.
std::string rest_after(const std::string& line, const std::string& beginning) {
  return line.starts_with(beginning) ? line.substr(beginning.size()) : "";
}

/// A test's name, without its parameter and time.
std::string name_in(const std::string& text) {
  return text.substr(0, text.find_first_of(" ,"));
}

}  // namespace

std::vector<OwnKernel> own_kernels() {
  std::vector<OwnKernel> kernels{
      {"harness/poison.comp", ASSAY_GPU_TEST, memory_tests, {{"poison.comp", {}}}},
      {"harness/difference.comp", ASSAY_GPU_TEST, memory_tests, {{"difference.comp", {}}}},
      {"harness/workgroup_poison.comp",
       ASSAY_GPU_TEST,
       "WorkgroupMemoryTest.*",
       {{"workgroup_poison.comp", {}}}},
      // The other tests of the probe are about times.
      {"harness/clock_probe.comp",
       ASSAY_GPU_TEST,
       "ClockProbeTest.DoesSixteenStepsARoundInEveryInvocation",
       {{"clock_probe.comp", {}}}},
      {"harness/matrix_check.comp",
       ASSAY_ENGINE_TEST,
       "MatrixCheckTest.PlainCodeOfEveryVendorsShapeIsRight",
       {matrix_variant(false), matrix_variant(true)}},
      {"harness/matrix_places.comp",
       ASSAY_ENGINE_TEST,
       "MatrixCheckTest.PlainCodePlacesElementsAsKernelsExpect",
       {places_variant(8), places_variant(16)}}};
  OwnKernel keep{"ceilings/keep.glslh", ASSAY_ENGINE_TEST, ceiling_tests, {}};
  for (const char* name : {"bandwidth", "cooperative", "dot4x8", "empty", "fill", "fma"}) {
    const OwnKernel& kernel = kernels.emplace_back(ceiling_kernel(std::string("ceilings/") + name + ".comp"));
    keep.variants.insert(keep.variants.end(), kernel.variants.begin(), kernel.variants.end());
  }
  kernels.push_back(std::move(keep));
  return kernels;
}

std::vector<std::vector<std::uint32_t>> compiled(const OwnKernel& kernel,
                                                 const std::filesystem::path& folder) {
  gpu::ShaderOptions options{.directories = {}, .cache_directory = {}};
  if (!folder.empty()) options.directories.push_back(folder);
  gpu::ShaderLibrary library(options);
  std::vector<std::vector<std::uint32_t>> modules;
  for (const Variant& variant : kernel.variants)
    modules.push_back(gpu::optimized(library.compile(variant.shader, variant.defines).words));
  return modules;
}

TestsRun parse_tests(const std::string& output) {
  TestsRun run;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("[==========]") && run.ran > 0) break;  // failures are listed again
    if (const std::string began = rest_after(line, "[ RUN      ] "); !began.empty()) {
      run.unfinished = name_in(began);
      continue;
    }
    const std::string failed = rest_after(line, "[  FAILED  ] ");
    const bool passed = line.starts_with("[       OK ] ");
    const bool skipped = line.starts_with("[  SKIPPED ] ");
    if (failed.empty() && !passed && !skipped) continue;
    if (!skipped) ++run.ran;
    if (!failed.empty()) run.failed.push_back(name_in(failed));
    run.unfinished.clear();
  }
  return run;
}

TestsRun run_tests(const OwnKernel& kernel, const std::filesystem::path& folder) {
  // One thread: the figures are CPU seconds, and others may use the other cores. Mesa keeps nothing, as no
  // one runs a kernel with this fault again.
  Command command{.words = {kernel.executable, "--gtest_filter=" + kernel.tests},
                  .environment = {{"LP_NUM_THREADS", "1"}, {"GALLIVM_PERF", "nopt"}},
                  .directory = {}};
  if (!folder.empty()) {
    command.environment.emplace_back("ASSAY_TEST_SHADERS", folder.string());
    command.environment.emplace_back("MESA_SHADER_CACHE_DISABLE", "true");
  }
  const ProcessResult process = run(command);
  TestsRun result = parse_tests(process.out);
  const bool is_explained = process.exit_code == 0 ? result.failed.empty() && result.unfinished.empty()
                                                   : !result.failed.empty() || !result.unfinished.empty();
  if (!is_explained) {
    throw std::runtime_error("running '" + kernel.tests + "' of " + kernel.executable + ": exit code " +
                             std::to_string(process.exit_code) + "\n" + process.out + process.err);
  }
  return result;
}

}  // namespace assay::test
